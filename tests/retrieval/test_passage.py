from recherche.retrieval.outcome import Status
from recherche.retrieval.passage import Passage


def test_an_outcome_without_a_result_has_no_text_and_no_place():
    assert Passage(Status.NO_MATCH) == (Status.NO_MATCH, None, None, None, None, None, "", None, None, None, None)


def test_every_field_is_documented():
    assert all(f"        {name}: " in (Passage.__doc__ or "") for name in Passage._fields)
