"""Fields of `kerasnmt translate --confidence`."""

import warnings
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from kerasnmt.cli.records import Record

WithConfidence = Annotated[
    bool,
    typer.Option(
        "--confidence",
        help="Add a tab and the share of words that should be right, from 0 to 1, and a tab and "
        "each word with the probability that it is right, as word:0.98.",
    ),
]


def confidence_fields(one: Any) -> Record:
    """Return the fields of a `kerasnmt.tasks.Confidence`."""
    words = [
        {"word": word, "probability": round(probability, 4)}
        for word, probability in zip(one.words, one.of_words, strict=True)
    ]
    return {"confidence": round(one.of_text, 4), "words": words}


def written_words(words: Sequence[Record]) -> str:
    """Return the words of `confidence_fields` as text."""
    return " ".join(f"{one['word']}:{one['probability']:.2f}" for one in words)


def warn_without_calibration(found: Sequence[Any]) -> None:
    """Warn if a `kerasnmt.tasks.Confidence` is not calibrated."""
    if any(one.calibrated_probability is None for one in found):
        warnings.warn(
            "the model has no calibration, so the probabilities are its own: of the whole "
            "translation, and of each word",
            stacklevel=2,
        )
