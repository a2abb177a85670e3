"""The options of a search."""

from dataclasses import dataclass, fields
from typing import Any, Self

from keras import ops

from kerasnmt.nearest_name import unknown_name_message


@dataclass(frozen=True)
class SearchOptions:
    """How the best sequences are searched, the same for every model.

    Beam search by default; `beam_size=1` is greedy search, and `samples=1` draws a sequence in
    place of searching for the best.

    Attributes:
        beam_size: number of sequences kept at each step. Not used where samples are drawn.
        length_penalty: alpha, the exponent of the length by which the log-probabilities of
            sequences are divided to rank them; 0 for none, larger values favour longer sequences.
        length_normalization: `"wu"` divides by ((5 + length) / 6) ** alpha (Wu et al., 2016,
            equation 14), `"length"` by length ** alpha.
        coverage_penalty: beta; beta sum_i log(min(sum_t a_{t,i}, 1)) is added to the rank, so that
            source words count that were never attended to (Wu et al., 2016, equation 14). 0 for
            none; for models with attention.
        min_length: fewest tokens of a sequence, the end token included.
        max_length: most tokens of a sequence, the end token included; what is open then is taken
            as it is. Of text, the source is cut there as well.
        max_length_ratio: if given, a sequence has at most this many times as many tokens as its
            source, plus `max_length_margin`, and never more than `max_length`.
        max_length_margin: see `max_length_ratio`.
        no_repeat_ngram: no sequence holds the same so many tokens in a row twice; 0 for no rule.
        samples: if given, so many sequences are drawn from the model, equal ones are merged, and
            they are ranked as others are.
        temperature: of samples; log-probabilities are divided by it. Below 1 likely tokens become
            more likely.
        top_k: of samples; only the so many most probable tokens are drawn. 0 for all.
        top_p: of samples; only the fewest most probable tokens are drawn whose probabilities add
            up to so much.
        seed: of samples. The same seed draws the same for the same source, wherever it stands in a
            batch.

    Raises:
        ValueError: an option is out of range, or does not go with another.
    """

    beam_size: int = 5
    length_penalty: float = 0.6
    length_normalization: str = "wu"
    coverage_penalty: float = 0.0
    min_length: int = 1
    max_length: int = 100
    max_length_ratio: float | None = None
    max_length_margin: int = 10
    no_repeat_ngram: int = 0
    samples: int = 0
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        ratio = self.max_length_ratio
        ranges = {
            "beam_size": (1 <= self.beam_size <= 1000, "beam_size from 1 to 1000"),
            "length_penalty": (self.length_penalty >= 0, "length_penalty >= 0"),
            "length_normalization": (
                self.length_normalization in ("wu", "length"),
                "length_normalization 'wu' or 'length'",
            ),
            "coverage_penalty": (self.coverage_penalty >= 0, "coverage_penalty >= 0"),
            "max_length": (1 <= self.max_length <= 10**5, "max_length from 1 to 100000"),
            "min_length": (
                1 <= self.min_length <= self.max_length,
                f"min_length from 1 to max_length, {self.max_length}",
            ),
            "max_length_ratio": (ratio is None or ratio > 0, "max_length_ratio > 0"),
            "max_length_margin": (
                0 <= self.max_length_margin <= 10**5,
                "max_length_margin from 0 to 100000",
            ),
            "no_repeat_ngram": (
                0 <= self.no_repeat_ngram <= 10**5,
                "no_repeat_ngram from 0 to 100000",
            ),
            "samples": (0 <= self.samples <= 1000, "samples from 0 to 1000"),
            "temperature": (self.temperature > 0, "temperature > 0"),
            "top_k": (0 <= self.top_k < 2**31, "top_k from 0 to 2147483647"),
            "top_p": (0 < self.top_p <= 1, "top_p above 0 and at most 1"),
            "seed": (0 <= self.seed < 2**31, "seed from 0 to 2147483647"),
        }
        for name, (holds, expected) in ranges.items():
            if not holds:
                raise ValueError(f"Expected {expected}. Received: {name}={getattr(self, name)!r}")
        if self.samples and self.coverage_penalty:
            raise ValueError(
                "Expected coverage_penalty=0 where samples are drawn. Received: "
                f"coverage_penalty={self.coverage_penalty}, samples={self.samples}"
            )
        defaults = {field.name: field.default for field in fields(self)}
        for name in ("temperature", "top_k", "top_p", "seed"):
            if not self.samples and getattr(self, name) != defaults[name]:
                raise ValueError(
                    f"Expected samples=1 or more with {name}, which says how they are drawn. "
                    f"Received: {name}={getattr(self, name)} without samples."
                )

    @classmethod
    def from_keywords(cls, keywords: dict[str, Any]) -> Self:
        """Makes the options of keywords that a user gave.

        Raises:
            ValueError: there is no such option, or one is out of range, or does not go with
                another.
        """
        known = [field.name for field in fields(cls)]
        for name in keywords:
            if name not in known:
                raise ValueError(unknown_name_message(name, known, "search option"))
        return cls(**keywords)

    @property
    def hypotheses(self) -> int:
        """The number of sequences that are kept for a row, the most that can be returned."""
        return self.samples or self.beam_size

    def max_lengths(self, source_lengths: Any) -> Any:
        """Return the most tokens of each row's sequences.

        Args:
            source_lengths: numbers of source tokens, int32 `[batch]`.

        Returns:
            int32 `[batch]`.
        """
        if self.max_length_ratio is None:
            return ops.full_like(source_lengths, self.max_length)
        lengths = self.max_length_ratio * ops.cast(source_lengths, "float32")
        lengths = ops.cast(ops.ceil(lengths), "int32") + self.max_length_margin
        return ops.clip(lengths, self.min_length, self.max_length)
