"""The model of lm-evaluation-harness, with the real package; a processor of logits makes random models search."""

import json
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from lm_eval import simple_evaluate
from lm_eval.api.instance import Instance
from lm_eval.models.huggingface import HFLM
from lm_eval.tasks import TaskManager

from recherche.errors import ConfigError
from recherche.lm import harness
from recherche.lm.codec import Codec
from recherche.lm.folder import save_searching
from recherche.lm.generation import generate_with_search
from recherche.lm.harness import SearchingHarnessModel
from recherche.lm.harness_documents import task_file
from recherche.lm.markers import add_search_tokens
from recherche.text_queries import write
from recherche.texts import TEXT_TASKS, Ask, examples
from tests.lm.test_generation import dictate
from tests.lm.tiny_models import tiny_model
from tests.lm.tokenizers import tiny_tokenizer

CONTEXTS = ("Ada Berg: 555-1234\nAnswer:", "Bo: 7\nAnswer:", "Cy Dow: 123\nDi Ek: 55\nAnswer:", "E: 1\nAnswer:")
SETTINGS = ({"until": ["\n"], "max_gen_toks": 6}, {"until": "a", "max_gen_toks": 9, "temperature": 0.0})


@pytest.fixture(scope="module", params=["llama", "mamba"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny model that has search tokens."""
    path = tmp_path_factory.mktemp("models") / request.param
    tokenizer = tiny_tokenizer("byte-level")
    model = tiny_model(request.param, tokenizer)
    add_search_tokens(model, tokenizer)
    save_searching(model, tokenizer, path)
    return path


def loaded(folder: Path, **options: Any) -> SearchingHarnessModel:
    return SearchingHarnessModel(str(folder), device="cpu", batch_size=3, **options)


def generation(settings: tuple[dict[str, Any], ...] = SETTINGS) -> list[Instance]:
    return [
        Instance("generate_until", {}, (context, settings[i % len(settings)]), i) for i, context in enumerate(CONTEXTS)
    ]


def test_answers_stand_in_the_order_of_the_requests(folder: Path) -> None:
    model = loaded(folder)
    got = model.generate_until(generation(), disable_tqdm=True)
    for request, answer in zip(generation(), got, strict=True):
        context, settings = request.args
        [alone] = generate_with_search(
            model.model,
            model.tokenizer,
            [context],
            max_new_tokens=settings["max_gen_toks"],
            stop_strings=settings["until"],
        )
        assert answer == alone.answer_text.split(settings["until"][0])[0]


def test_loglikelihoods_are_those_of_hf(folder: Path) -> None:
    pairs = [Instance("loglikelihood", {}, (context, " 555"), i) for i, context in enumerate(CONTEXTS)]
    theirs = HFLM(str(folder), device="cpu", batch_size=3)
    assert loaded(folder).loglikelihood(pairs, disable_tqdm=True) == theirs.loglikelihood(pairs, disable_tqdm=True)


def test_without_search_it_generates_as_hf(folder: Path) -> None:
    theirs = HFLM(str(folder), device="cpu", batch_size=3).generate_until(generation(), disable_tqdm=True)
    assert loaded(folder, search=False).generate_until(generation(), disable_tqdm=True) == theirs


def test_a_chat_template_is_refused_while_searching(folder: Path) -> None:
    with pytest.raises(ConfigError, match="leave out --apply_chat_template"):
        loaded(folder).apply_chat_template([{"role": "user", "content": "Who?"}])


def right_answers(task: str, n: int, num: int) -> list[str]:
    """What a model writes that searches as the trace says, the longest prompt first."""
    chosen = sorted(examples(TEXT_TASKS[task](n=n), num, seed=0), key=lambda one: (-len(one.prompt), one.prompt))
    return [
        "".join(f"<search>{write(part.query)}</search>" if isinstance(part, Ask) else part.text for part in one.trace)
        for one in chosen
    ]


@pytest.mark.parametrize(("search", "accuracy"), [(True, 1.0), (False, 0.0)], ids=["searching", "without searching"])
def test_an_evaluation_counts_answers_that_searches_lead_to(
    folder: Path, monkeypatch: pytest.MonkeyPatch, search: bool, accuracy: float
) -> None:
    texts = right_answers("variables", 8, 3)
    processor = dictate(monkeypatch, Codec(loaded(folder).tokenizer), texts)
    monkeypatch.setattr(harness, "generate_with_search", partial(generate_with_search, logits_processor=[processor]))
    manager = TaskManager(include_defaults=False, metadata={"n": 8, "num": 5, "seed": 0})
    result = simple_evaluate(
        model="recherche", model_args={"pretrained": str(folder), "search": search}, device="cpu", batch_size=3,
        tasks=[str(task_file("variables"))], limit=3, task_manager=manager,
        gen_kwargs="max_gen_toks=200", bootstrap_iters=0, verbosity=None,
    )  # fmt: skip
    assert result["results"]["recherche_variables"]["exact_match,none"] == accuracy
    assert result["n-samples"]["recherche_variables"] == {"original": 5, "effective": 3}


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["mamba"], indirect=True)
def test_the_command_line_of_lm_eval_knows_model_and_tasks(folder: Path, tmp_path: Path) -> None:
    files = ",".join(str(task_file(name)) for name in ("phonebook", "needle"))
    command = [
        sys.executable, "-m", "lm_eval", "--model", "recherche", "--model_args", f"pretrained={folder},search=True",
        "--tasks", files, "--limit", "2", "--batch_size", "2", "--device", "cpu", "--gen_kwargs", "max_gen_toks=8",
        "--metadata", json.dumps({"tokens": 300}), "--output_path", str(tmp_path),
    ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True, text=True, cwd=tmp_path)
    [path] = tmp_path.rglob("results_*.json")
    results = json.loads(path.read_text())["results"]
    assert set(results) == {"recherche_phonebook", "recherche_needle"}
