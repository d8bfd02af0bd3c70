import numpy as np

from recherche.tasks.rows import Prompts, Targets, batch_of, example_of_row
from recherche.tasks.symbols import number_vocab

JUNK = 77
KEYS = np.array([5, 6], dtype=np.uint64)
PROMPTS = Prompts(np.array([[0, 9, 1], [0, 1, JUNK]]), np.array([3, 2]))
TARGETS = Targets(np.array([[4, JUNK], [10, 5]]), np.array([[True, True], [False, True]]), np.array([1, 2]))


def test_prompt_and_target_meet_without_a_gap_and_padding_is_zero():
    batch = batch_of(KEYS, PROMPTS, TARGETS)
    assert batch.tokens.tolist() == [[0, 9, 1, 4], [0, 1, 10, 5]]
    assert batch.loss_mask.tolist() == [[False, False, False, True], [False, False, False, True]]
    assert batch.answers.tolist() == [4, 5]
    assert batch.lengths.tolist() == [4, 4]


def test_the_width_is_that_of_the_longest_row():
    short = Targets(TARGETS.tokens, TARGETS.loss_mask, np.array([1, 1]))
    batch = batch_of(KEYS, PROMPTS, short)
    assert batch.tokens.tolist() == [[0, 9, 1, 4], [0, 1, 10, 0]]


def test_a_row_reads_as_tokens():
    example = example_of_row(batch_of(KEYS, PROMPTS, TARGETS), number_vocab(3), row=1, problem={"x": 1})
    assert (example.prompt, example.target) == (("<s>", "<d>"), ("2", "NO"))
    assert (example.loss_mask, example.answer, example.problem) == ((0, 1), "NO", {"x": 1})
