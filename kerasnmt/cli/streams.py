"""Translations that a command writes word by word."""

from typing import Any, TextIO


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
