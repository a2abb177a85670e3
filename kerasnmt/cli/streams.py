"""Translations that a command writes word by word."""

from typing import Any, TextIO

from kerasnmt.kinds import kind_of


def check_streams(fields: tuple[str, ...], **others: bool) -> None:
    """Check that requests with these fields can be streamed.

    Args:
        fields: Names of the fields.
        **others: Whether each other option is given that adds something to the translations.

    Raises:
        ValueError: If they are no texts, or another option is given.
    """
    given = [f"--{name.replace('_', '-')}" for name, is_given in others.items() if is_given]
    if given:
        raise ValueError(
            f"Expected --stream without {' and '.join(given)}, because it writes nothing but the "
            "translations."
        )
    if not kind_of(fields).translates:
        raise ValueError(f"Expected texts with --stream. Received: {' and '.join(fields)}.")


def write_words(translator: Any, request: dict[str, list], done: int, file: TextIO) -> None:
    """Write the translation of each text as a line, each piece as soon as it is made.

    Args:
        translator: A `kerasnmt.tasks.Translator`.
        request: Texts and, if there are any, their contexts and prefixes.
        done: Number of texts before them.
        file: File to write to, which is flushed after each piece.
    """
    none = [None] * len(request["text"])
    columns = (request.get(name, none) for name in ("text", "context", "prefix"))
    for number, (text, context, prefix) in enumerate(zip(*columns, strict=True), start=done + 1):
        for progress in translator.progress(
            text, context=context, prefix=prefix, first_number=number
        ):
            # The line ends with the last step, before warnings about its answer.
            end = "" if progress.score is None else "\n"
            for text in filter(None, (progress.piece, end)):
                file.write(text)
                file.flush()
