import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from recherche.cli.app import app
from recherche.experiments.files import write_json
from recherche.experiments.presets import default_config
from recherche.models.language_model import LanguageModel
from recherche.training.checkpoint import save_weights

RUN = CliRunner()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An untrained model in a run folder; what it says is nonsense, how it is shown is not."""
    folder = tmp_path_factory.mktemp("run")
    config = default_config("mamba", "retrieval", 6)
    write_json(folder / "config.json", config.model_dump(mode="json"))
    save_weights(folder / "model.safetensors", LanguageModel(config.model), config_hash=config.hash)
    return folder


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    path = tmp_path / "triangle.edgelist"
    path.write_text("ann bob\nbob cid  # closes soon\ncid ann\n")
    return path


def test_a_graph_is_decided_and_the_truth_stands_beside(run: Path, graph: Path):
    result = RUN.invoke(app, ["ask", str(graph), "--run", str(run), "--show-searches"])
    assert result.exit_code == 0, result.output
    assert "3 vertices, 3 edges:  1 ~ 2  2 ~ 3  3 ~ 1" in result.stdout
    assert "1 = ann  2 = bob  3 = cid" in result.stdout
    assert "trained for graphs of 6 vertices" in result.stdout
    assert "truth    NO" in result.stdout


def test_a_graph_can_come_from_standard_input(run: Path):
    result = RUN.invoke(app, ["ask", "-", "--run", str(run), "--json"], input="1 2\n2 3\n")
    record = json.loads(result.stdout)
    assert (record["edges"], record["names"], record["truth"]) == ([[1, 2], [2, 3]], ["1", "2", "3"], "YES")
    assert len(record["trace"]) == len(record["retrieved"])


def test_searches_are_listed_with_what_they_found(run: Path, graph: Path, monkeypatch: pytest.MonkeyPatch):
    from recherche.experiments.runs import Answer, Run
    from recherche.retrieval.outcome import Status
    from recherche.retrieval.session import Search

    search = Search(
        status=Status.OK,
        query=("1", "~"),
        asked="a [pattern]",
        query_span=(11, 15),
        span=(3, 4),
        tokens=("2",),
        result_span=(15, 16),
    )
    answer = Answer(
        tokens=("<StartSearch>", "1", "~", "<EndSearch>", "2", "NO"),
        retrieved=(False, False, False, False, True, False),
        answer="NO",
        searches=(search,),
    )
    monkeypatch.setattr(Run, "generate", lambda self, prompt: answer)
    shown = RUN.invoke(app, ["ask", str(graph), "--run", str(run), "--show-searches"])
    assert "1 ~" in shown.stdout
    assert "a [pattern]" in shown.stdout
    record = json.loads(RUN.invoke(app, ["ask", str(graph), "--run", str(run), "--json"]).stdout)
    assert record["retrieved"] == [0, 0, 0, 0, 1, 0]
    assert record["searches"] == [
        {"query": "1 ~", "pattern": "a [pattern]", "status": "OK", "result": ["2"], "span": [3, 4]}
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a b\nb a\n", "repeated"),
        ("a a\n", "self loop"),
        ("a b c\n", "expected two names"),
        ("a b\nb c\nc d\nd e\ne f\nf g\n", "vocabulary 1..6"),
    ],
    ids=["repeated edge", "self loop", "bad line", "too many vertices"],
)
def test_a_bad_graph_is_refused(run: Path, tmp_path: Path, content: str, message: str):
    path = tmp_path / "bad.edgelist"
    path.write_text(content)
    result = RUN.invoke(app, ["ask", str(path), "--run", str(run)])
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path, graph: Path):
    result = RUN.invoke(app, ["ask", str(graph), "--run", str(tmp_path)])
    assert result.exit_code == 2
    assert "is not a run" in result.stderr
