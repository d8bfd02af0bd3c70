"""docs/errata.md counts truly: every erratum is there once, and each pair that it names is a test."""

import json
import re

from tests.house.source import ROOT

NUM_PROOFS, PROSE_PROOFS = 32, 13
NUM_PATTERNS, PROSE_PATTERNS = 28, {"E13", "E20", "E28"}
ENTRY = re.compile(r"^(\d+)\. (.*?)(?=^\d+\. |^## |\Z)", re.MULTILINE | re.DOTALL)
NAMED_TEST = re.compile(r"`(test_\w+)`")


def errata() -> str:
    return (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")


def missing_tests(text: str) -> list[str]:
    """Tests that the text names and that no test file defines."""
    sources = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    return [name for name in NAMED_TEST.findall(text) if f"def {name}(" not in sources]


def entries(text: str) -> dict[int, str]:
    return {int(number): body for number, body in ENTRY.findall(text)}


def test_every_erratum_of_the_proofs_has_a_pair_or_a_reason():
    found = entries(errata())
    assert sorted(found) == list(range(1, NUM_PROOFS + 1))
    paired = [number for number, body in found.items() if "Pair:" in body]
    prose = [number for number, body in found.items() if "Prose" in body]
    assert not set(paired) & set(prose)
    assert (len(paired), len(prose)) == (NUM_PROOFS - PROSE_PROOFS, PROSE_PROOFS)
    assert f"{len(paired)} have a pair and {len(prose)} are prose" in errata()


def test_every_erratum_of_the_patterns_has_a_pair_or_a_reason():
    patterns = errata().partition("## Retrieval patterns")[2]
    pairs, _, prose = patterns.partition("**Prose.**")
    assert {f"E{i}" for i in range(1, NUM_PATTERNS + 1)} <= set(re.findall(r"E\d+", patterns))
    assert set(re.findall(r"E\d+(?=:)", prose)) == PROSE_PATTERNS
    data = json.loads((ROOT / "tests" / "retrieval" / "data" / "errata.json").read_text(encoding="utf-8"))
    vectors = {re.match(r"E\d+", erratum["name"]).group() for erratum in data}
    by_name = set(re.findall(r"(E\d+) (?:(?!E\d+ )[\s\S])*?`test_", pairs))
    assert vectors | by_name == {f"E{i}" for i in range(1, NUM_PATTERNS + 1)} - PROSE_PATTERNS
    assert f"{NUM_PATTERNS - len(PROSE_PATTERNS)} have a pair and {len(PROSE_PATTERNS)} are prose" in errata()


def test_every_test_that_the_errata_name_exists():
    assert missing_tests(errata()) == []


def test_a_test_that_does_not_exist_is_named():
    assert missing_tests("`test_of_nothing_at_all`") == ["test_of_nothing_at_all"]
