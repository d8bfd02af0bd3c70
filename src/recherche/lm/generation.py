"""Generate with searches, in five lines: prompts in, text and searches out.

    model, tokenizer = load_language_model("./my-mamba")
    [written] = generate_with_search(model, tokenizer, [book + "\\nQuestion: Who is Ishmael?\\nAnswer:"])
    print(written.answer_text)
    for search in written.searches:
        print(search.query, search.status.name, search.found)

Everything that `model.generate` takes may be given too. Where its own conventions are wanted, `searching` makes what
`model.generate(custom_generate=...)` takes.

Reference: Wen, Dang & Lyu (2024), Section 5.1, https://arxiv.org/abs/2402.18510
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, final

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from recherche.errors import ConfigError
from recherche.lm.budget import Budget
from recherche.lm.codec import Codec
from recherche.lm.custom_generate import ListeningGenerate
from recherche.lm.decode_loop import EndReason, TextListener
from recherche.lm.listener import PlainListener
from recherche.lm.markers import Markers, MarkerWatcher
from recherche.lm.prompt_state import PromptState
from recherche.lm.reading import Tell
from recherche.lm.session import TextSearch, TextSession
from recherche.retrieval.retriever import Retriever


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What one row wrote.

    Attributes:
        prompt: what it was given; with a state, its text and the question.
        text: everything after the prompt, queries, markers and passages included.
        answer_text: what the model has written itself outside queries.
        searches: what it asked, and what came of it.
        tokens: ids after the prompt.
        generated: True where the model chose the token, False where it was inserted.
        reason: why the row stopped.
    """

    prompt: str
    text: str
    answer_text: str
    searches: tuple[TextSearch, ...]
    tokens: tuple[int, ...]
    generated: tuple[bool, ...]
    reason: EndReason


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Searching:
    """How a model searches.

    Attributes:
        markers: what stands around queries and passages; None: the tokenizer's own search tokens, or if it has none
            the default markers as text.
        budget: what the searches of an answer may cost.
        retriever: the bounds of a single search.
    """

    markers: Markers | None = None
    budget: Budget = field(default_factory=Budget)
    retriever: Retriever = field(default_factory=Retriever)

    def session(self, codec: Codec, ids: Sequence[int], stop_strings: Sequence[str]) -> TextSession:
        """The session of a row with this prompt."""
        return TextSession(
            codec,
            ids,
            watcher=MarkerWatcher(codec.tokenizer, self.markers),
            context=self.retriever.text(codec.prompt_text(ids)),
            budget=self.budget,
            stop_strings=stop_strings,
        )


def searching(
    tokenizer: Any, how: Searching | None = None, *, stop_strings: Sequence[str] = (), streamer: Any = None
) -> ListeningGenerate:
    """What `model.generate(**inputs, custom_generate=...)` takes, so that the model searches while it generates.

    >>> # model.generate(**inputs, custom_generate=searching(tokenizer), do_sample=True, max_new_tokens=200)

    With `return_dict_in_generate=True`, the listeners in the output's `rows` hold the searches of each row.
    """
    codec, chosen = Codec(tokenizer), how or Searching()
    return ListeningGenerate(lambda ids: chosen.session(codec, ids, stop_strings), streamer=streamer)


def generate_with_search(
    model: Any,
    tokenizer: Any,
    prompts: Sequence[str],
    how: Searching | None = None,
    *,
    stop_strings: Sequence[str] = (),
    state: PromptState | None = None,
    tell: Tell | None = None,
    **generate_kwargs: Any,
) -> list[Written]:
    """Let the model answer each prompt, searching the prompt and what it has written.

    Args:
        how: markers, budget and bounds of the searches.
        stop_strings: texts that end a row when the model writes them outside a query.
        state: a prompt that was read before; `prompts` are then what follows it.
        tell: hears the progress of reading long prompts: tokens read, and all of them.
        generate_kwargs: as for `model.generate`; greedy and 256 new tokens unless said otherwise.

    Raises:
        ConfigError: beams, an encoder-decoder, no cache, no prompt, or a prompt longer than the model's positions.
        CodecError: the tokenizer cannot write a prompt.
    """
    codec, chosen = Codec(tokenizer), how or Searching()
    call = _Call(model, codec, prompts, state, tell, generate_kwargs)
    return call.run(lambda ids: chosen.session(codec, ids, stop_strings))


def generate_plain(
    model: Any,
    tokenizer: Any,
    prompts: Sequence[str],
    *,
    stop_strings: Sequence[str] = (),
    state: PromptState | None = None,
    tell: Tell | None = None,
    **generate_kwargs: Any,
) -> list[Written]:
    """The same without searches: what the model writes is only text.

    Raises:
        ConfigError, CodecError: as for `generate_with_search`.
    """
    codec = Codec(tokenizer)
    call = _Call(model, codec, prompts, state, tell, generate_kwargs)
    return call.run(lambda ids: PlainListener(codec.stream(ids), stop_strings))


class _Call:
    """Prompts as tensors, one call of `generate`, and its rows as results."""

    def __init__(
        self,
        model: Any,
        codec: Codec,
        prompts: Sequence[str],
        state: PromptState | None,
        tell: Tell | None,
        options: dict[str, Any],
    ) -> None:
        if isinstance(prompts, str) or not prompts or not all(prompts):
            raise ConfigError("Give a list of prompts, none of them empty.")
        if options.get("num_return_sequences", 1) != 1:
            raise ConfigError(
                "One result belongs to one prompt, got num_return_sequences; give the prompt several times."
            )
        self._model, self._state, self._tell = model, state, tell
        self._prompts = prompts
        if state is None:
            self._ids = [codec.encode_prompt(prompt) for prompt in prompts]
        else:
            self._ids = [[*state.ids, *codec.encode_passage(state.ids, prompt)] for prompt in prompts]
        self._streamer = options.pop("streamer", None)
        self._options = {"max_new_tokens": 256, "do_sample": False, **options}

    def run(self, open_listener: Callable[[Sequence[int]], TextListener]) -> list[Written]:
        """Generate, and gather what each row did."""
        longest = max(map(len, self._ids))
        tokens, mask = self._padded(longest)
        method = ListeningGenerate(open_listener, streamer=self._streamer, state=self._state, tell=self._tell)
        output = self._model.generate(
            tokens, attention_mask=mask, custom_generate=method, return_dict_in_generate=True, **self._options
        )
        return [self._written(row, output, longest) for row in range(len(self._prompts))]

    def _padded(self, longest: int) -> tuple[Int[Tensor, "b t"], Int[Tensor, "b t"]]:
        """Ids padded on the left with anything, and the mask that hides it."""
        mask = torch.tensor([[0] * (longest - len(ids)) + [1] * len(ids) for ids in self._ids])
        tokens = torch.tensor([[ids[0]] * (longest - len(ids)) + ids for ids in self._ids])
        return tokens.to(self._model.device), mask.to(self._model.device)

    def _written(self, row: int, output: Any, longest: int) -> Written:
        listener, length = output.rows.listeners[row], output.rows.lengths[row]
        listener.finish()
        sampled: Bool[Tensor, " n"] = output.rows.sampled[row, :length]
        before = "" if self._state is None else self._state.text
        return Written(
            prompt=before + self._prompts[row],
            text=listener.text,
            answer_text=listener.answer_text,
            searches=tuple(listener.searches),
            tokens=tuple(output.sequences[row, longest : longest + length].tolist()),
            generated=tuple(sampled.tolist()),
            reason=output.rows.reasons[row],
        )
