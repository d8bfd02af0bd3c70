import numpy as np
import pytest

from recherche._rng import numpy_generator
from recherche.experiments.demo.rows import HELD_OUT_PROSE, Mixture, PackedRows, TaughtTask, prose_tokens
from tests.lm.taught import tiny_writer

PROSE = np.arange(5000) % 50
TASKS = (TaughtTask(name="phonebook", least=1, most=3), TaughtTask(name="variables", least=3, most=4, weight=0.5))


@pytest.fixture(scope="module")
def writer():
    return tiny_writer()


def rows(writer, **fields):
    return PackedRows(Mixture(**{"tasks": TASKS, "tokens": 600} | fields), writer, PROSE)


def test_rows_are_of_full_length_and_a_function_of_their_key(writer):
    packed = rows(writer)
    batch = packed.sample_batch(numpy_generator(0, "rows"), 4)
    assert batch.tokens.shape == batch.loss_mask.shape == (4, 601)
    assert batch.lengths.tolist() == [601] * 4
    again = packed.row(int(batch.keys[2]))
    assert batch.tokens[2].tolist() == list(again.ids)
    assert batch.loss_mask[2].tolist() == list(again.written)


def test_a_row_of_prose_is_a_piece_of_it_with_a_loss_at_a_part(writer):
    row = rows(writer, filler_share=1.0).row(1)
    assert 0.2 < np.mean(row.written) < 0.4
    assert list(row.ids) == [(row.ids[0] + i) % 50 for i in range(601)]


def test_what_a_search_inserts_has_no_loss_and_what_the_model_writes_has(writer):
    row = rows(writer, filler_share=0.0, search_share=1.0).row(2)
    start, found = writer.markers.start, writer.markers.found
    at = {token: [i for i, id_ in enumerate(row.ids) if id_ == token] for token in (start, found)}
    assert at[start]
    assert len(at[start]) == len(at[found])
    assert all(row.written[i] for i in at[start])
    assert not any(row.written[i] for i in at[found])


def test_without_searches_no_marker_is_in_a_row(writer):
    row = rows(writer, filler_share=0.0, search_share=0.0).row(3)
    assert not {writer.markers.start, writer.markers.found} & set(row.ids)


def test_the_first_token_of_a_direct_answer_has_a_loss_in_a_part_of_them(writer):
    packed, draws = rows(writer, search_share=0.0), numpy_generator(0, "texts")
    texts = [packed._text(draws) for _ in range(60)]
    wholes = [not any(a and not b for a, b in zip(text.written, text.written[1:], strict=False)) for text in texts]
    assert all(wholes)
    written = [sum(text.written) for text in texts if "Question" in writer.codec.decode(text.ids)]
    assert len(set(written)) > 1


def test_texts_that_do_not_fit_leave_the_row_to_prose(writer):
    assert set(rows(writer, filler_share=0.0, tokens=8).row(4).ids) <= set(PROSE.tolist())


def test_a_row_may_be_filled_with_lines_of_texts_without_a_loss(writer):
    row = rows(writer, filler_share=1.0, lines_share=1.0).row(6)
    assert len(row.ids) == 601
    assert not any(row.written)
    assert writer.codec.decode(row.ids).count("\n") > 10


def test_another_size_has_the_same_mixture(writer):
    packed = rows(writer)
    assert packed.size == 600
    assert len(packed.at_size(40).row(5).ids) == 41


def test_the_last_part_of_the_prose_is_held_out(writer):
    text = "one two three four five six seven eight nine ten. " * 40
    taught, held_out = prose_tokens(writer, text)
    assert writer.codec.decode(np.concatenate([taught, held_out]).tolist()) == text
    assert len(held_out) == pytest.approx(HELD_OUT_PROSE * (len(taught) + len(held_out)), abs=1)
