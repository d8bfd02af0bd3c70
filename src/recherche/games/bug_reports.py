"""Programs that show a failure with nothing but torch and transformers, made for pasting into a bug report.

Each program makes the model from a fixed seed, does the same thing in two ways on the tokens of the check, and prints
the relative error between them, max |a - b| / max |b|. Rounding alone gives less than 1e-4 in float32.

Reference: Wolf et al. (2020), Transformers, https://arxiv.org/abs/1910.03771
"""

from types import MappingProxyType

_HEAD = """\
# The check '{check}' of a recurrent state fails. What is printed last should be below 1e-4.
import copy

import torch
import transformers
{recipe}
torch.set_grad_enabled(False)
print("transformers", transformers.__version__, "torch", torch.__version__)

def relative_error(found, expected):
    return float((found - expected).abs().max() / expected.abs().max())

def draw(rows, length, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(4, model.config.get_text_config().vocab_size, (rows, length), generator=generator)

"""

_CHUNKS = """\
tokens = draw(2, 131)
whole = model(tokens, use_cache=False{all_positions}).logits
given, start, errors = {cache}, 0, []
for part in tokens.split({size}, dim=1):
    end = start + part.shape[1]
    out = model(part, use_cache=True, **given{positions})
    given = {{"{name}": out.get("{name}", given.get("{name}"))}}
    errors.append(relative_error(out.logits, whole[:, start:end]))
    start = end
print("the first chunk that is wrong, from 0:", next((i for i, error in enumerate(errors) if error > 1e-4), None))
print("relative error", max(errors))
"""

_BATCH = """\
lengths, then = (5, 23, 16), draw(3, 3, seed=1)
mask = (torch.arange(23) < torch.tensor(lengths)[:, None]).long(){flip}
tokens = draw(3, 23)
padded = torch.full_like(tokens, model.config.get_text_config().vocab_size - 1)  # a token like others
padded[mask.bool()] = torch.cat([row[:length] for row, length in zip(tokens, lengths)])
"""

_PADDING = (
    _BATCH
    + """\
out = model(padded, attention_mask=mask, use_cache=True{positions})
errors = []
for row, length in enumerate(lengths):
    alone = model(tokens[row : row + 1, :length], use_cache=False).logits[0, -1]
    errors.append(relative_error(out.logits[row, {last}], alone))
print("relative error", max(errors))
"""
)

_AFTER_PADDING = (
    _BATCH
    + """\
out = model(padded, attention_mask=mask, use_cache=True{positions})
texts, errors = padded, []
for place, token in enumerate(then.split(1, dim=1), start=1):
    texts, mask = torch.cat([texts, token], dim=1), torch.cat([mask, torch.ones_like(token)], dim=1)
    inputs = model.prepare_inputs_for_generation(
        texts, next_sequence_length=1, attention_mask=mask, use_cache=True, {name}=out.{name}{positions}
    )
    out = model(**inputs)
    for row, length in enumerate(lengths):
        alone = torch.cat([tokens[row, :length], then[row, :place]])[None]
        errors.append(relative_error(out.logits[row, -1], model(alone, use_cache=False).logits[0, -1]))
print("relative error", max(errors))
"""
)

_READ = """\
def read(model, tokens, cache, start):
    given = {{}} if cache is None else {{"{name}": cache}}
    for place, token in enumerate(tokens.split(1, dim=1), start=start):
        out = model(token, use_cache=True, **given{positions})
        given = {{"{name}": out.get("{name}", given.get("{name}"))}}
    return out.logits[:, -1], given["{name}"]

tokens, other = draw(2, 29), draw(2, 30, seed=1)
"""

_FORK = (
    _READ
    + """\
_, cache = read(model, tokens[:, :21], {new}, 0)
expected, _ = read(model, tokens[:, 21:], cache, 21)
_, cache = read(model, tokens[:, :21], {new}, 0)
read(model, other[:, :9], copy.deepcopy(cache), 21)  # a copy reads something else
found, _ = read(model, tokens[:, 21:], cache, 21)  # the original must not notice
print("relative error", relative_error(found, expected))
"""
)

_RESUME = (
    _READ
    + """\
twin = copy.deepcopy(model)  # stands for the same model in another process, which has read another text
read(twin, other, {new}, 0)
_, cache = read(model, tokens[:, :21], {new}, 0)
kept = copy.deepcopy(cache)
expected, _ = read(model, tokens[:, 21:], cache, 21)
found, _ = read(twin, tokens[:, 21:], kept, 21)
print("relative error", relative_error(found, expected))
"""
)

_GENERATE = """\
tokens = draw(1, 12)
settings = dict(attention_mask=torch.ones_like(tokens), min_new_tokens=24, max_new_tokens=24, do_sample=False)
with_cache, without = (model.generate(tokens, use_cache=choice, **settings)[0, 12:] for choice in (True, False))
print("with cache   ", with_cache.tolist())
print("without cache", without.tolist())
print("share of tokens that differ", float((with_cache != without).float().mean()))
"""

_NAME = """\
tokens = draw(2, 22)
expected = model(tokens, use_cache=False).logits[:, -1]
cache, errors = model(tokens[:, :21], use_cache=True).get("{name}", {new}), []
for wrong in ("cache", "past_key_values", "cache_params", "state"):
    try:
        out = model(tokens[:, 21:], use_cache=True, **{{wrong: copy.deepcopy(cache)}}{positions})
    except (TypeError, ValueError):
        continue
    errors.append(relative_error(out.logits[:, -1], expected))
    print("the cache was taken as", wrong)
print("relative error", max(errors))
"""

_LEFT = {"flip": ".flip(1)", "last": "-1"}
_RIGHT = {"flip": "", "last": "length - 1"}

TEMPLATES: MappingProxyType[str, tuple[str, dict[str, str]]] = MappingProxyType(
    {
        "token by token": (_CHUNKS, {"size": "1"}),
        **{f"chunks of {size}": (_CHUNKS, {"size": str(size)}) for size in (2, 3, 7, 64)},
        "positions by default": (_CHUNKS, {"size": "1"}),
        "left padding": (_PADDING, _LEFT),
        "right padding": (_PADDING, _RIGHT),
        "on after left padding": (_AFTER_PADDING, _LEFT),
        "on after right padding": (_AFTER_PADDING, _RIGHT),
        "fork": (_FORK, {}),
        "new process": (_RESUME, {}),
        "generate": (_GENERATE, {}),
        "wrong name": (_NAME, {}),
    }
)
"""What the program of each check does, and the words that its blanks are filled with."""

_COUNTED = "(mask.cumsum(1) - 1).clamp(min=0)"
_POSITIONS = {
    _CHUNKS: "torch.arange(start, end)[None]",
    _PADDING: _COUNTED,
    _AFTER_PADDING: _COUNTED,
    _FORK: "torch.full_like(token, place)",
    _RESUME: "torch.full_like(token, place)",
    _NAME: "torch.full((2, 1), 21)",
}


def bug_report(check: str, recipe: str, *, cache_name: str, takes_positions: bool, returns_cache: bool) -> str:
    """The program that shows how a check fails.

    Args:
        check: the name of the check.
        recipe: statements after which `model` is the model.
        cache_name: the argument that takes the cache, and the part of the output that holds it.
        takes_positions: whether forward takes position_ids.
        returns_cache: whether forward makes and returns a cache; if not, one of the library's own is given to it.
    """
    body, words = TEMPLATES[check]
    given = takes_positions and body in _POSITIONS and check != "positions by default"
    own = "transformers.DynamicCache(config=model.config)"
    blanks = {
        "check": check,
        "recipe": recipe.strip(),
        "name": cache_name,
        "positions": f", position_ids={_POSITIONS[body]}" if given else "",
        "all_positions": ", position_ids=torch.arange(131)[None]" if given else "",
        "new": "None" if returns_cache else own,
        "cache": "{}" if returns_cache else f'{{"{cache_name}": {own}}}',
    }
    return (_HEAD + body).format(**blanks, **words)
