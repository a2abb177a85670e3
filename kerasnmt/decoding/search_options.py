"""Options of a search, each declared once."""

import inspect
import json
import math
import operator
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import Field, dataclass, field, fields
from numbers import Integral, Real
from types import NoneType
from typing import Any, Literal, Self, cast, get_args

import numpy as np

from kerasnmt.ids import PAD_ID, START_ID, UNKNOWN_ID
from kerasnmt.nearest_name import unknown_name_message

_BOUNDS = {"ge": operator.ge, "gt": operator.gt, "le": operator.le}
# The types of values that an option of each type takes, and their names in messages. The numbers of
# NumPy are numbers, and a bool is no number.
_TYPES: dict[Any, tuple[type, str]] = {
    int: (Integral, "an integer"),
    float: (Real, "a finite number"),
    bool: (bool, "True, False"),
    NoneType: (NoneType, "None"),
    Mapping[str, str]: (Mapping, "a dict"),
}
# Functions that read a value of the command line: JSON, and numbers and words as Python has them.
_READERS: tuple[Callable[[str], Any], ...] = (
    int,
    float,
    json.loads,
    {"True": True, "False": False, "None": None}.__getitem__,
)


def option(
    default: Any,
    description: str,
    *,
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
) -> Any:
    """Declare an option as the field of a dataclass.

    Args:
        default: Default value of the option. None switches the option off.
        description: One line that describes the option.
        least: Smallest value.
        above: Number that every value must exceed.
        most: Largest value.

    Returns:
        The field. Its metadata contains `description`, and the range as `ge`, `gt` and `le`.
    """
    metadata = {"description": description, "ge": least, "gt": above, "le": most}
    return field(default=default, metadata=metadata)


def described(cls: type) -> type:
    """Add the descriptions of the options to the docstring of their class."""
    cls.__doc__ = "\n".join(
        [
            inspect.getdoc(cls) or "",
            "\nAttributes:",
            *(f"    {one.name}: {one.metadata['description']}" for one in fields(cls)),
            "\nRaises:",
            "    ValueError: If an option has a wrong type or value, or contradicts another one.",
        ]
    )
    return cls


@described
@dataclass(frozen=True)
class SearchOptions:
    """Options of the search for the best sequences, for every model.

    The default is beam search. `beam_size=1` is greedy search. `samples=1` draws one sequence
    instead of searching, and equal samples are merged.

    Sequences of n tokens with the probability p are ranked by their score:

        score = log(p) / lp + cp
        lp = ((5 + n) / 6)^length_penalty
        cp = coverage_penalty sum_i log(min(sum_t a_{t,i}, 1))

    With `length_normalization="length"`, lp = n^length_penalty. a_{t,i} is the attention of token t
    to source position i, so a coverage penalty needs a model with attention.

    Source: Wu et al. (2016), "Google's neural machine translation system", equation 14.
    """

    beam_size: int = option(
        5, "Hypotheses kept at each step; 1 is greedy search.", least=1, most=1000
    )
    length_penalty: float = option(
        0.6, "Exponent of the length penalty, which divides log-probabilities; 0 for none.", least=0
    )
    length_normalization: Literal["wu", "length"] = option(
        "wu", "Base of the length penalty: wu for (5 + length) / 6, length for the length."
    )
    coverage_penalty: float = option(
        0.0, "Weight of the penalty for source words without attention; 0 for none.", least=0
    )
    min_length: int = option(
        1, "Minimum number of tokens of a sequence, with the end token.", least=1, most=10**5
    )
    max_length: int = option(
        100,
        "Maximum number of tokens of a sequence, with the end token; longer sources are truncated.",
        least=1,
        most=10**5,
    )
    max_length_ratio: float | None = option(
        None,
        "Maximum number of tokens per source token, plus max_length_margin; at most max_length.",
        above=0,
    )
    max_length_margin: int = option(
        10, "Number of tokens that max_length_ratio allows in addition.", least=0, most=10**5
    )
    no_repeat_ngram: int = option(
        0, "Size of the n-grams that must not be repeated; 0 for no rule.", least=0, most=10**5
    )
    allow_unknown: bool | None = option(
        None,
        "Whether sequences may contain the unknown token; null for true, but false for a model "
        "that copies.",
    )
    samples: int = option(
        0, "Number of sequences to draw instead of searching; 0 to search.", least=0, most=1000
    )
    temperature: float = option(
        1.0, "Divisor of log-probabilities; values below 1 favor probable samples.", above=0
    )
    top_k: int = option(
        0,
        "Number of most probable tokens to draw samples from; 0 for all tokens.",
        least=0,
        most=2**31 - 1,
    )
    top_p: float = option(
        1.0, "Total probability of the most probable tokens to draw samples from.", above=0, most=1
    )
    seed: int = option(
        0, "Seed of samples; equal texts get equal samples.", least=0, most=2**31 - 1
    )

    def __post_init__(self) -> None:
        for one in fields(self):
            _check(one, getattr(self, one.name))
        if self.min_length > self.max_length:
            raise ValueError(
                f"Expected min_length from 1 to max_length, {self.max_length}. "
                f"Received: min_length={self.min_length}"
            )
        if self.samples and self.coverage_penalty:
            raise ValueError(
                "Expected coverage_penalty=0 with samples. Received: "
                f"coverage_penalty={self.coverage_penalty}, samples={self.samples}"
            )
        defaults = {one.name: one.default for one in fields(self)}
        for name in ("temperature", "top_k", "top_p", "seed"):
            if not self.samples and getattr(self, name) != defaults[name]:
                raise ValueError(
                    f"Expected samples=1 or more with {name}, an option of samples. "
                    f"Received: {name}={getattr(self, name)} without samples."
                )

    @classmethod
    def from_keywords(cls, keywords: dict[str, Any]) -> Self:
        """Create the options from a user's keywords.

        Raises:
            ValueError: If an option is unknown, has a wrong type or value, or contradicts another
                one.
        """
        known = [one.name for one in fields(cls)]
        for name in keywords:
            if name not in known:
                raise ValueError(unknown_name_message(name, known, "search option"))
        # JSON does not take the numbers of NumPy.
        plain = {
            name: value.item() if isinstance(value, np.generic) else value
            for name, value in keywords.items()
        }
        return cls(**plain)

    @classmethod
    def with_changes(cls, keywords: dict[str, Any], changes: Iterable[str]) -> dict[str, Any]:
        """Return a user's keywords with changes, and check them.

        Args:
            keywords: Options, for example of a preset.
            changes: Names and values of other options, such as `beam_size=8`. Each value is read
                as the type of its option. Later changes win.

        Returns:
            Keywords of `from_keywords`.

        Raises:
            ValueError: If a change has another form, and see `from_keywords`.
        """
        declared = {one.name: one for one in fields(cls)}
        keywords = dict(keywords)
        for change in changes:
            name, equals, text = change.partition("=")
            if not equals:
                raise ValueError(
                    "Expected a search option and its value, such as beam_size=8. Received: "
                    f"{change!r}"
                )
            keywords[name] = _parsed(declared[name], text) if name in declared else text
        cls.from_keywords(keywords)
        return keywords

    @property
    def hypotheses(self) -> int:
        """Number of sequences that a search keeps for each row, and can return at most."""
        return self.samples or self.beam_size

    def never_ids(self, copies: bool) -> tuple[int, ...]:
        """Return the tokens that no sequence contains.

        Args:
            copies: Whether the model copies unknown words.
        """
        refused = copies if self.allow_unknown is None else not self.allow_unknown
        return (PAD_ID, START_ID, UNKNOWN_ID) if refused else (PAD_ID, START_ID)

    def max_lengths(self, source_lengths: Any) -> Any:
        """Return the maximum number of tokens of each row's sequences.

        Args:
            source_lengths: Numbers of source tokens, int32 `[batch]`.

        Returns:
            Int32 `[batch]`.
        """
        from keras import ops  # not at the top: recipes and help texts must not import Keras

        if self.max_length_ratio is None:
            return ops.full_like(source_lengths, self.max_length)
        lengths = ops.ceil(self.max_length_ratio * ops.cast(source_lengths, "float32"))
        # An int32 does not hold the lengths of a huge ratio.
        lengths = ops.cast(ops.minimum(lengths, self.max_length), "int32") + self.max_length_margin
        return ops.clip(lengths, self.min_length, self.max_length)


def _check(one: Field, value: Any) -> None:
    """Raise a `ValueError` if an option has a wrong type or is out of its range."""
    if not _has_type(one, value):
        names = ", ".join(_TYPES[kind][1] if kind in _TYPES else repr(kind) for kind in _types(one))
        expected = " or ".join(names.rsplit(", ", 1))
        raise ValueError(f"Expected {expected} as {one.name}. Received: {one.name}={value!r}")
    bounds = {name: one.metadata[name] for name in _BOUNDS if one.metadata[name] is not None}
    if value is not None and not all(_BOUNDS[name](value, bounds[name]) for name in bounds):
        raise ValueError(f"Expected {one.name} {_range(**bounds)}. Received: {one.name}={value!r}")


def _parsed(one: Field, text: str) -> Any:
    """Return the value of an option that a text stands for, or the text if it stands for none."""
    for read in _READERS:
        with suppress(ValueError, KeyError, RecursionError):
            value = read(text)
            if _has_type(one, value):
                return value
    return text


def _types(one: Field) -> tuple[Any, ...]:
    """Return the types of a union, the values of a Literal, or the type."""
    return get_args(one.type) or (one.type,)


def _has_type(one: Field, value: Any) -> bool:
    """Return whether a value has a type of an option."""
    return any(_is_of(value, kind) for kind in _types(one))


def _is_of(value: Any, kind: Any) -> bool:
    """Return whether a value has a type of `_TYPES`, or is this value of a Literal."""
    if kind not in _TYPES:
        return value == kind
    if not isinstance(value, _TYPES[kind][0]) or isinstance(value, bool) != (kind is bool):
        return False
    return kind is not float or math.isfinite(cast(float, value))


def _range(ge: float | None = None, gt: float | None = None, le: float | None = None) -> str:
    """Describe a range: `from 1 to 1000`, `above 0 and at most 1`, `>= 0` or `> 0`."""
    if le is None:
        return f">= {ge}" if gt is None else f"> {gt}"
    return f"from {ge} to {le}" if gt is None else f"above {gt} and at most {le}"
