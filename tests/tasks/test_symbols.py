from recherche.tasks import symbols
from recherche.tasks.symbols import SYMBOLS, number_vocab


def test_ids_are_places_in_the_vocabulary():
    vocab = number_vocab(12)
    named = (symbols.BEGIN_ID, symbols.END_OF_DATA_ID, symbols.EDGE_ID, symbols.RECORD_ID, symbols.YES_ID)
    named += (symbols.NO_ID, symbols.START_ID, symbols.END_ID, symbols.FAILED_ID)
    assert vocab.decode(list(named)) == SYMBOLS
    assert vocab.id_of("12") == symbols.FAILED_ID + 12
