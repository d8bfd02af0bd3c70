import pytest

from recherche.errors import ConfigError
from recherche.experiments.sweep_grid import find_sweep, parse_sweep, shipped_sweeps
from recherche.training.curriculum import Fixed, Mixed


def test_a_point_for_each_task_model_and_size(tiny_sweep):
    cells = parse_sweep(tiny_sweep, source="tiny").cells(0)
    assert [name.rpartition("-")[0] for name in cells] == [
        "mqar-n16-attention",
        "mqar-n16-linear-rnn-dstate1",
        "mqar-n16-linear-rnn-dstate4",
        "index-n4-attention",
        "index-n4-linear-rnn-dstate1",
        "index-n4-linear-rnn-dstate4",
    ]
    assert all(name.endswith(cell.config.hash) for name, cell in cells.items())


def test_a_point_carries_its_own_training_and_sizes(tiny_sweep):
    mqar, _, _, index, rnn, _ = parse_sweep(tiny_sweep, source="tiny").cells(3).values()
    assert (mqar.sizes, index.sizes) == ((8, 16), (2, 4))
    assert mqar.config.plans[0].curriculum == Mixed(sizes=(8, 16))
    assert index.config.plans[0].curriculum == Fixed()
    assert (index.config.plans[0].num_steps, rnn.config.plans[0].num_steps) == (2, 3)
    assert (len(index.config.model.layers), len(rnn.config.model.layers)) == (1, 2)
    assert (rnn.config.architecture, rnn.config.size, rnn.config.seed) == ("linear-rnn", "d_state 1", 3)
    assert rnn.config.evaluation.validate_on == "questions"


def test_widths_run_beside_the_other_lists(tiny_sweep):
    text = tiny_sweep.replace("{mixer: attention, n_heads: 2}", "{mixer: attention, n_heads: [1, 2]}, d_model: [8, 16]")
    names = list(parse_sweep(text, source="tiny").cells(0))
    assert [name.rpartition("-")[0] for name in names[:2]] == [
        "mqar-n16-attention-dmodel8-nheads1",
        "mqar-n16-attention-dmodel16-nheads2",
    ]


def test_the_seed_changes_every_hash(tiny_sweep):
    grid = parse_sweep(tiny_sweep, source="tiny")
    assert not set(grid.cells(0)) & set(grid.cells(1))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("d_model: 8", "dmodel: 8", "tiny is not a sweep: dmodel: 'dmodel' is unknown; did you mean 'd_model'"),
        ("summary:", "sumary:", "did you mean 'summary'"),
        ("measured_n", "measure_n", "did you mean 'measured_n'"),
        ("repeat", "repeats", "models.linear-rnn.repeats: 'repeats' is unknown; did you mean 'repeat'"),
        ("[1, 4]", "[1, 4], d_ffn: [8]", "run side by side, but have lengths"),
        ("d_model: 8", "d_model: [", "tiny is not YAML"),
        ("  attention:", "  ../attention:", "String should match pattern"),
        ("n: [4]", "n: []", "at least 1 item"),
    ],
)
def test_a_bad_file_is_refused_with_the_place(tiny_sweep, old, new, message):
    with pytest.raises(ConfigError, match=message.replace("[", r"\[")):
        parse_sweep(tiny_sweep.replace(old, new, 1), source="tiny")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("mixer: linear-rnn", "mixer: linear-rn", "There is no mixer 'linear-rn'; did you mean linear-rnn"),
        ("name: mqar", "name: mqr", "did you mean mqar"),
        ("n_keys: 4", "n_key: 4", "did you mean n_keys"),
        ("n: [8, 16]", "n: [8, 17]", "MQAR needs an even number of tokens, got n = 17"),
        ("n: [8, 16]", "n: [8, 64]", "needs a key for each of its 8 pairs"),
        ("n_heads: 2", "n_heads: 3", "n_heads=3, n_kv_heads=3; choose n_heads among the divisors of 8"),
        ("n_heads: 2", "nheads: 2", "nheads"),
        ("num_steps: 2", "num_step: 2", "mqar for attention cannot be run: .*did you mean 'num_steps'"),
        ("num_steps: 2, ", "", "num_steps: Field required"),
    ],
)
def test_a_point_that_cannot_be_run_is_named_before_anything_runs(tiny_sweep, old, new, message):
    with pytest.raises(ConfigError, match=message):
        parse_sweep(tiny_sweep.replace(old, new, 1), source="tiny").cells(0)


def test_shipped_sweeps_can_be_run_and_those_of_recall_have_at_least_eight_mixers():
    assert set(shipped_sweeps()) >= {"recall-quick", "recall-zoology"}
    for name, text in shipped_sweeps().items():
        num_mixers = 8 if name.startswith("recall-") else 1
        cells = parse_sweep(text, source=name).cells(0)
        assert len({cell.config.architecture for cell in cells.values()}) >= num_mixers


def test_a_sweep_is_found_by_name_or_by_file(tiny_sweep, tmp_path):
    (tmp_path / "mine.yaml").write_text(tiny_sweep)
    assert find_sweep(str(tmp_path / "mine.yaml"), "quick")[0] == "mine"
    assert find_sweep("recall", "quick")[0] == "recall-quick"


@pytest.mark.parametrize(
    ("name", "preset", "message"),
    [
        ("recal", "quick", "There is no sweep 'recal'; did you mean recall"),
        ("recall", "quik", "There is no preset of recall 'quik'; did you mean quick"),
        ("absent.yaml", "quick", "Cannot read the sweep absent.yaml"),
    ],
)
def test_an_unknown_sweep_is_answered_with_the_nearest(name, preset, message):
    with pytest.raises(ConfigError, match=message):
        find_sweep(name, preset)
