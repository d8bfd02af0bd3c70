from uuid import UUID

from recherche.texts.keyvalue import KeyValue


def test_pairs_are_random_uuids_that_never_repeat():
    pairs = [line.split(": ") for line in KeyValue(n=2000).example(1).context.splitlines()]
    ids = [UUID(text) for pair in pairs for text in pair]
    assert len(set(ids)) == 4000
    assert {uuid.version for uuid in ids} == {4}
    assert {str(uuid)[0] for uuid in ids} == set("0123456789abcdef")


def test_the_answer_belongs_to_the_key_that_is_asked_for():
    example = KeyValue(n=9).example(4)
    pairs = dict(line.split(": ") for line in example.context.splitlines())
    wanted = example.question.split("value of ")[1].split("?")[0]
    assert example.answers == (pairs[wanted],)
