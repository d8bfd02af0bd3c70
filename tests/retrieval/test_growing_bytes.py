from recherche.retrieval.growing_bytes import GrowingBytes


def test_bytes_grow_in_place_unless_somebody_reads_them():
    growing = GrowingBytes()
    before = growing.data
    growing.append(b"ab")
    assert (growing.data is before, bytes(before)) == (True, b"ab")
    growing.share()
    growing.append(b"c")
    assert (bytes(before), bytes(growing.data)) == (b"ab", b"abc")


def test_of_two_that_share_each_grows_alone():
    one, other = GrowingBytes(), GrowingBytes()
    one.append(b"a")
    one.share_with(other)
    assert one.data is other.data
    one.append(b"b")
    other.append(b"c")
    assert (bytes(one.data), bytes(other.data)) == (b"ab", b"ac")


def test_a_reader_does_not_keep_shared_bytes_from_growing():
    growing = GrowingBytes()
    growing.append(b"ab")
    with memoryview(growing.data) as reader:
        growing.share()
        growing.append(b"c")
        assert (bytes(reader), bytes(growing.data)) == (b"ab", b"abc")
