"""What an export that translates promises."""

from collections.abc import Callable, Mapping
from typing import ClassVar

import numpy as np

from kerasnmt.serving.export_contract import ODD_TEXTS, ExportContract, Outputs
from kerasnmt.serving.weight_problems import WEIGHT_TOLERANCE, weight_problems

# What an export holds translations of, for its check: texts of several lengths, so that there is
# padding; nothing to translate; signs no vocabulary holds.
EXAMPLE_TEXTS = ("Two dogs run.", "A man in a red shirt is reading a book .", "", "   ", "naïve 🙂")

ABSENT_SCORE = -1e9


class TranslationContract(ExportContract):
    """What a `TextModule` promises: of each text the translation, the best ones, the attention."""

    kind = "one that translates"
    inputs: ClassVar = {"text": "texts"}
    outputs: ClassVar = {
        "serving_default": {
            "translation": ("string", ("batch",)),
            "score": ("float32", ("batch",)),
        },
        "n_best": {
            "translations": ("string", ("batch", "beam")),
            "scores": ("float32", ("batch", "beam")),
        },
        "attention": {
            "source_tokens": ("string", ("batch", "source_length")),
            "target_tokens": ("string", ("batch", "target_length")),
            "weights": ("float32", ("batch", "target_length", "source_length")),
            "generate_probability": ("float32", ("batch", "target_length")),
        },
    }
    answer = "translation"
    answers = "translations"
    row = "text"
    example_rows = tuple((text,) for text in EXAMPLE_TEXTS)
    odd_values: ClassVar = {"text": ODD_TEXTS}
    optional_signatures = frozenset({"attention"})  # a model without attention lacks it
    optional_outputs = frozenset({"generate_probability"})  # only a pointer-generator has it

    def further_checks(self) -> dict[str, Callable[[Outputs, Outputs], tuple[list[str], str]]]:
        """Returns the checks of `n_best` and of `attention`."""
        return {"n_best": self._check_n_best, "attention": self._check_attention}

    def n_best_problems(
        self, default: Mapping[str, np.ndarray], n_best: Mapping[str, np.ndarray]
    ) -> list[str]:
        """Checks that `n_best` is a ranking whose best is what `serving_default` returns.

        Args:
            default: The outputs of `serving_default`: `translation` and `score`, [batch].
            n_best: The outputs of `n_best` for the same texts: `translations` and `scores`,
                [batch, beam].

        Returns:
            Scores that are not finite or not in falling order, a best that is another, and absent
            hypotheses that are not written as an empty text and -1e9.
        """
        translations, scores = n_best["translations"], n_best["scores"]
        if not scores.shape[1]:
            return ["n_best has no hypotheses"]
        absent = scores <= ABSENT_SCORE / 2
        problems = []
        if not (np.isfinite(scores).all() and np.isfinite(default["score"]).all()):
            problems.append("scores are not finite")
        if (scores[:, 1:] > scores[:, :-1]).any():
            problems.append("n_best is not in the order of its scores")
        if (translations[absent] != b"").any() or (
            scores[absent] != np.float32(ABSENT_SCORE)
        ).any():
            problems.append("absent hypotheses of n_best are not written as an empty text and -1e9")
        if absent[:, :1].any():
            problems.append("n_best has no hypothesis at all for a text")
        best = {"translation": translations[:, 0], "score": scores[:, 0]}
        problems += [f"best of n_best, {problem}" for problem in self.differences(default, best)]
        return problems

    def attention_problems(self, attention: Mapping[str, np.ndarray]) -> list[str]:
        """Checks that tokens are padded on the right and that weights are shares of a source.

        Args:
            attention: The outputs of `attention`: `source_tokens` [batch, source_length],
                `target_tokens` [batch, target_length], `weights` [batch, target_length,
                source_length], and of a pointer-generator `generate_probability` [batch,
                target_length].

        Returns:
            Real tokens behind padding, weights that are negative or not finite, weights of padding
            that are not 0, and target tokens whose weights sum to nothing or to more than 1.
            (Around a predicted place, as with Luong's local-p, they sum to less.) Of
            `generate_probability`, values outside [0, 1], to 1e-3, and those of padding that are
            not 0.
        """
        weights = attention["weights"]
        real = {side: attention[f"{side}_tokens"] != b"" for side in ("source", "target")}
        problems = [
            f"{side}_tokens has an empty string before a token"
            for side, mask in real.items()
            if (mask[:, 1:] & ~mask[:, :-1]).any()
        ]
        problems += weight_problems(weights, real["target"], real["source"])
        if "generate_probability" in attention:
            probability = attention["generate_probability"]
            wrong = probability[~(np.abs(probability - 0.5) <= 0.5 + WEIGHT_TOLERANCE)]
            if wrong.size:
                problems.append(f"generate_probability has {wrong[0]:.4f} where 0 to 1 is expected")
            if (probability[~real["target"]] != 0).any():
                problems.append("generate_probability of padding is not 0")
        return problems

    def _check_n_best(self, default: Outputs, n_best: Outputs) -> tuple[list[str], str]:
        found = f"beam of {n_best['scores'].shape[1]}, best first"
        return self.n_best_problems(default, n_best), found

    def _check_attention(self, _: Outputs, attention: Outputs) -> tuple[list[str], str]:
        found = "weights sum to at most 1 over the source"
        if "generate_probability" in attention:
            found += ", generate_probability is from 0 to 1"
        return self.attention_problems(attention), f"{found}, 0 on padding"
