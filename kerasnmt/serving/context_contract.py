"""What an export promises that reads a context beside each text."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from kerasnmt.serving.export_contract import ODD_TEXTS
from kerasnmt.serving.translation_contract import WEIGHT_TOLERANCE, TranslationContract

_DEFAULT, _N_BEST, _ATTENTION = TranslationContract.outputs.values()
_STORY = "Mary went to the bathroom .\nJohn moved to the hallway ."


class ContextContract(TranslationContract):
    """What a `ContextTextModule` promises: a `TranslationContract` with a context for each text."""

    kind = "one that reads a context"
    inputs: ClassVar = {"text": "texts", "context": "contexts"}
    outputs: ClassVar = {
        "serving_default": _DEFAULT,
        "n_best": _N_BEST,
        "attention": {
            **_ATTENTION,
            "context_tokens": ("string", ("batch", "context_length")),
            "context_weights": ("float32", ("batch", "target_length", "context_length")),
            "context_probability": ("float32", ("batch", "target_length")),
        },
    }
    # Texts and contexts of several lengths, so that there is padding; nothing of one, of both;
    # signs no vocabulary holds.
    example_rows = (
        ("Where is Mary ?", _STORY),
        ("Where is John ?", ""),
        ("", _STORY),
        ("Who is naïve 🙂 ?", f"{_STORY} Daniel is naïve 🙂 ." * 3),
        ("   ", " "),
    )
    odd_values: ClassVar = {
        "text": ODD_TEXTS,
        "context": {**ODD_TEXTS, "100,000 characters": b"Mary went to the bathroom . " * 3600},
    }
    optional_outputs = frozenset({"generate_probability", "context_probability"})

    def attention_problems(self, attention: Mapping[str, np.ndarray]) -> list[str]:
        """Checks the weights of the source and of the context; see `TranslationContract`.

        Args:
            attention: The outputs of `attention`: as for a translation, `context_tokens` [batch,
                context_length] and `context_weights` [batch, target_length, context_length], and
                maybe `context_probability` [batch, target_length].

        Returns:
            What is wrong with the weights of either text, and with the probabilities: those of
            generating and of copying from the context that sum to more than 1, to 1e-3.
        """
        problems = super().attention_problems(attention)
        context = {
            "source_tokens": attention["context_tokens"],
            "target_tokens": attention["target_tokens"],
            "weights": attention["context_weights"],
        }
        found = super().attention_problems(context)
        problems += [f"of the context, {one}" for one in found]
        if {"context_probability", "generate_probability"} <= attention.keys():
            probability = attention["context_probability"]
            wrong = probability < 0
            wrong |= probability + attention["generate_probability"] > 1 + WEIGHT_TOLERANCE
            if wrong.any():
                problems.append(
                    f"context_probability has {probability[wrong][0]:.4f} where 0 to 1, less "
                    "generate_probability, is expected"
                )
            if (probability[attention["target_tokens"] == b""] != 0).any():
                problems.append("context_probability of padding is not 0")
        return problems
