from recherche.errors import QueryError
from recherche.retrieval.outcome import Found, RefusedError, Status

NOT_REFUSED = {Status.OK, Status.NO_MATCH, Status.UNSET_GROUP, Status.EMPTY_RESULT}


def test_every_outcome_but_four_is_a_refusal():
    assert {status for status in Status if not status.refused} == NOT_REFUSED


def test_every_outcome_says_in_a_sentence_what_it_is():
    assert len({status.value for status in Status}) == len(Status)
    assert all(status.value[-1] != "." for status in Status)


def test_a_refusal_is_a_query_error_with_a_name():
    refusal = RefusedError(Status.TIMEOUT, "too late")
    assert isinstance(refusal, QueryError)
    assert (refusal.status, str(refusal)) == (Status.TIMEOUT, "too late")


def test_an_outcome_without_a_result_has_no_tokens_and_no_span():
    assert Found(Status.NO_MATCH)[:3] == (Status.NO_MATCH, None, None)
