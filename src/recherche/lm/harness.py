"""A model of lm-evaluation-harness that searches its own context while it generates.

    lm_eval --model recherche --model_args pretrained=FOLDER,search=True --tasks $(recherche text harness phonebook)

Everything but `generate_until` is that of lm-eval's model `hf`: how the model is loaded, loglikelihoods, batch sizes.
lm-eval 0.4.13 has no plug-ins, but a task that is given by the path of its file is loaded before the model is made. The
files in harness_tasks/ name functions of this module, so that the model is known by then.

Reference: Gao et al. (2024), The Language Model Evaluation Harness, https://doi.org/10.5281/zenodo.12608602
"""

from typing import Any, final

from lm_eval.api.instance import Instance
from lm_eval.api.registry import register_model
from lm_eval.models.huggingface import HFLM
from lm_eval.models.utils import Collator, normalize_gen_kwargs, postprocess_generated_text
from transformers.utils.logging import tqdm

from recherche.errors import ConfigError
from recherche.lm.generation import generate_with_search
from recherche.lm.harness_documents import documents as documents
from recherche.lm.harness_documents import graded as graded


@final
@register_model("recherche")
class SearchingHarnessModel(HFLM):
    """lm-eval's `hf`, which searches while it generates.

    What counts as generated is what the model has written itself outside queries: no markers, no passages. A prompt is
    never cut to fit; one that is longer than the model's positions is an error.
    """

    def __init__(self, pretrained: Any, search: bool = True, **options: Any) -> None:
        """Load the model.

        Args:
            pretrained: the folder of the model and its tokenizer.
            search: False to generate as lm-eval's `hf` does.
            options: all other arguments of `hf`.
        """
        super().__init__(pretrained, **options)
        self._searches = search

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        """Answers to the requests, in their order.

        Raises:
            ConfigError: a prompt that is longer than an attention model's positions, or beams.
            CodecError: a prompt that the tokenizer cannot write.
        """
        if not self._searches:
            return super().generate_until(requests, disable_tqdm=disable_tqdm)
        size = self._detect_batch_size() if self.batch_size == "auto" else int(self.batch_size)
        order = Collator(
            [request.args for request in requests],
            sort_fn=lambda arguments: (-len(arguments[0]), arguments[0]),
            group_by="gen_kwargs",
            group_fn=lambda arguments: arguments[1],
        )
        answers: list[str] = []
        with tqdm(total=len(requests), disable=disable_tqdm or self.rank != 0, desc="Searching and generating") as bar:
            for chunk in order.get_batched(n=size):
                prompts, settings = zip(*chunk, strict=True)
                written = self._written(prompts, settings[0])
                for prompt, answer in zip(prompts, written, strict=True):
                    self.cache_hook.add_partial("generate_until", (prompt, settings[0]), answer)
                answers += written
                bar.update(len(prompts))
        return order.get_original(answers)

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        """A chat as one text.

        Raises:
            ConfigError: the model searches; the text of a prompt never becomes a control token then.
        """
        if self._searches:
            raise ConfigError(
                "A chat template writes control tokens into the prompt, and a model that searches reads them as plain "
                "text; leave out --apply_chat_template, or give search=False."
            )
        return super().apply_chat_template(chat_history, add_generation_prompt=add_generation_prompt)

    def _written(self, prompts: tuple[str, ...], settings: dict[str, Any]) -> list[str]:
        """What the model answers to some prompts, up to the first text that ends an answer."""
        options: dict[str, Any] = dict(normalize_gen_kwargs(settings, self.max_gen_toks))
        until, max_new_tokens = options.pop("until"), options.pop("max_gen_toks")
        if not options["do_sample"]:
            options.pop("temperature", None)
        rows = generate_with_search(
            self.model, self.tokenizer, prompts, stop_strings=until, max_new_tokens=max_new_tokens, **options
        )
        return [postprocess_generated_text(row.answer_text, until, None) for row in rows]
