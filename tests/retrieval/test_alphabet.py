from recherche.retrieval.alphabet import Alphabet, beyond_ascii


def test_an_alphabet_is_sorted_and_knows_its_word_characters():
    alphabet = Alphabet("é−٣\u00a0")
    assert alphabet.beyond == ("\u00a0", "é", "٣", "−")
    assert alphabet.words == {"é", "٣"}


def test_alphabets_are_told_apart_by_which_object_they_are():
    assert Alphabet("é") != Alphabet("é")


def test_only_characters_beyond_ascii_are_collected():
    assert beyond_ascii("aé_\n世é".encode()) == {"é", "世"}
    assert beyond_ascii(b"abc") == set()
