import numpy as np

from recherche.tasks.protocols import DirectAnswer, Lookup, SearchAnswer, WorkedAnswer

LOOKUP = Lookup(query=np.array([[20, 21], [22, 23]]), found=np.array([30, 8]), answers=np.array([30, 5]))
START, END = 6, 7


def test_a_direct_target_is_the_answer():
    targets = DirectAnswer().write(LOOKUP)
    assert targets.tokens.tolist() == [[30], [5]]
    assert targets.loss_mask.all()
    assert targets.lengths.tolist() == [1, 1] == [DirectAnswer().max_target(2)] * 2


def test_a_searching_target_shows_query_result_and_answer_and_only_the_result_is_given():
    targets = SearchAnswer().write(LOOKUP)
    assert targets.tokens.tolist() == [[START, 20, 21, END, 30, 30], [START, 22, 23, END, 8, 5]]
    assert targets.loss_mask.tolist() == [[True, True, True, True, False, True]] * 2
    assert targets.lengths.tolist() == [6, 6] == [SearchAnswer().max_target(2)] * 2


def test_a_worked_target_is_the_work_of_each_row_and_the_answer():
    work = (np.array([[40, 41], [42, 99]]), np.array([2, 1]))
    targets = WorkedAnswer().write(Lookup(LOOKUP.query, LOOKUP.found, LOOKUP.answers, work))
    assert targets.tokens.tolist() == [[40, 41, 30], [42, 5, 0]]
    assert targets.loss_mask.tolist() == [[True] * 3, [True, True, False]]
    assert targets.lengths.tolist() == [3, 2]
    assert WorkedAnswer().max_target(9, 2) == 3
