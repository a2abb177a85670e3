"""Columns of `kerasnmt translate --confidence`."""

import warnings
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import typer

WithConfidence = Annotated[
    bool,
    typer.Option(
        "--confidence",
        help="Add a tab and the share of words that should be right, from 0 to 1, and a tab and "
        "each word with the probability that it is right, as word:0.98.",
    ),
]


def confidence_columns(found: Sequence[Any]) -> list[Iterable[str]]:
    """Return the two columns of each `kerasnmt.tasks.Confidence`; warn if it is not calibrated."""
    if any(one.calibrated_probability is None for one in found):
        warnings.warn(
            "the model has no calibration, so the probabilities are its own: of the whole "
            "translation, and of each word",
            stacklevel=2,
        )
    words = (
        " ".join(f"{word}:{p:.2f}" for word, p in zip(one.words, one.of_words, strict=True))
        for one in found
    )
    return [(f"{one.of_text:.4f}" for one in found), words]
