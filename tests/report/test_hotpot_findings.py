from pathlib import Path

import pytest

from recherche.report.hotpot_findings import hotpot_caption, hotpot_findings, hotpot_headline
from recherche.report.hotpot_results import HotpotRun, read_hotpot_run
from tests.report.made_up_hotpot_run import write_hotpot_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> HotpotRun:
    return read_hotpot_run(write_hotpot_run(tmp_path_factory.mktemp("hotpot")))


def test_the_headline_says_what_is_left_with_most_paragraphs(run: HotpotRun):
    headline = hotpot_headline(run)
    assert headline.title == "350 questions of HotpotQA among distractors, asked of 3 models"
    assert headline.sentence.startswith("Direct answers with 8 paragraphs: in random order phi 0.880, mamba 0.580,")
    assert "; with the facts last phi 0.977," in headline.sentence


def test_claims_are_held_against_intervals(run: HotpotRun):
    verdicts = {finding.sentence.partition(":")[0]: finding.verdict for finding in hotpot_findings(run)}
    assert verdicts == {
        "phi, direct, 8 paragraphs": "holds",
        "mamba, direct, 8 paragraphs": "holds",
        "hybrid, direct, 8 paragraphs": "holds",
        "phi, random order, 8 paragraphs": "does not hold",
        "mamba, random order, 8 paragraphs": "holds",
        "hybrid, random order, 8 paragraphs": "cannot be told",
    }


def test_few_questions_tell_nothing(tmp_path: Path):
    run = read_hotpot_run(write_hotpot_run(tmp_path, num=4))
    assert {finding.verdict for finding in hotpot_findings(run)} == {"cannot be told"}


def test_a_search_is_told_beside_its_own_two_paragraphs(run: HotpotRun):
    sentence = next(f.sentence for f in hotpot_findings(run) if f.sentence.startswith("mamba, random"))
    assert "0.797 [0.752, 0.836], 0.972 of that with two beside 0.580" in sentence


def test_the_caption_says_how_questions_were_chosen(run: HotpotRun):
    caption = " ".join(hotpot_caption(run))
    for words in ("350 questions of hotpot_dev_distractor_v1.json", "1,234 of 7,380", "4 worked-out examples"):
        assert words in caption


def test_nothing_measured_is_said_so(tmp_path: Path):
    (tmp_path / "hotpot.json").write_text("{}")
    run = read_hotpot_run(tmp_path)
    assert hotpot_headline(run).title == "Nothing is measured yet"
    assert (hotpot_findings(run), hotpot_caption(run)) == ([], [])
