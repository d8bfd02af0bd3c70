"""Text as it comes: nothing early, nothing late, nothing lost."""

from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recherche.lm.text_stream import TextStream
from recherche.lm.token_bytes import TokenBytes

TABLE = TokenBytes(
    {byte: bytes([byte]) for byte in range(256)} | {256: b" a", 257: "é".encode(), 258: b""}, {300: "<s>"}
)
IDS = st.lists(st.sampled_from([*range(0x40, 0x44), *range(0x80, 0x100), 32, 256, 257, 258, 300, 999]), max_size=40)


def whole_text(ids: list[int], lead: bytes = b"") -> str:
    """The oracle: all bytes between two control tokens at once."""
    parts = []
    for is_control, run in groupby((index for index in ids if index != 999), key=lambda index: index in TABLE.control):
        if is_control:
            parts += [TABLE.control[index] for index in run]
        else:
            data = [TABLE.ordinary[index] for index in run]
            if lead:
                data[0], lead = data[0].removeprefix(lead), b""
            parts.append(b"".join(data).decode(errors="replace"))
    return "".join(parts)


def streamed(ids: list[int], lead: bytes = b"") -> list[str]:
    stream = TextStream(TABLE, lead)
    return [*map(stream.push, ids), stream.flush()]


@given(IDS, st.sampled_from([b"", b" "]))
def test_what_comes_piece_by_piece_is_the_whole(ids, lead):
    assert "".join(streamed(ids, lead)) == whole_text(ids, lead)


PIECES = {
    "cut character": ([0xC3, 0xA9], ["", "é", ""]),
    "four bytes": ([*"😀".encode()], ["", "", "", "😀", ""]),
    "cut at the end": ([0x41, 0xE2, 0x82], ["A", "", "", "\ufffd"]),
    "cut by a letter": ([0xE2, 0x82, 0x41], ["", "", "\ufffdA", ""]),
    "cut by a control token": ([0xE2, 0x82, 300], ["", "", "\ufffd<s>", ""]),
    "no character": ([0x80, 0xFF], ["\ufffd", "\ufffd", ""]),
    "no token": ([999, 0x41], ["", "A", ""]),
}


@pytest.mark.parametrize(("ids", "pieces"), PIECES.values(), ids=PIECES)
def test_a_character_is_told_with_its_last_byte(ids, pieces):
    assert streamed(ids) == pieces


def test_only_the_first_ordinary_token_loses_the_space_before_a_text():
    assert streamed([300, 256, 256], b" ") == ["<s>", "a", " a", ""]
    assert streamed([0x41, 256], b" ") == ["A", " a", ""]
    assert streamed([256], b"") == [" a", ""]


def test_tokens_decoded_one_by_one_would_lose_cut_characters():
    assert "".join(whole_text([index]) for index in [0xC3, 0xA9]) != whole_text([0xC3, 0xA9])
