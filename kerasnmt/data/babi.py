"""Stories with questions in the format of the bAbI tasks, without TensorFlow."""

import os
from typing import NamedTuple

from kerasnmt.data.lines import checked_lines


class StoryQuestion(NamedTuple):
    """Question about a story.

    Attributes:
        story: Sentences before the question, oldest first, without other questions.
        question: Text of the question.
        answer: One word, or several words joined by commas.
        supporting: Indices of the sentences of `story` that support the answer, counted from 0, in
            the order of the file.
    """

    story: tuple[str, ...]
    question: str
    answer: str
    supporting: tuple[int, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """Sentences, question and answer, to train a tokenizer."""
        return (*self.story, self.question, self.answer)


def read_babi(path: str | os.PathLike) -> list[StoryQuestion]:
    """Read a file of the bAbI tasks.

    Each line is `ID sentence` or `ID question TAB answer TAB supporting IDs`. IDs count the lines
    of a story from 1; a new story starts with the ID 1. Supporting IDs are separated by spaces, and
    refer to sentences before the question; there may be none. Spaces around a sentence, a question
    or an answer are removed.

    Source: Weston et al. (2015), "Towards AI-complete question answering: a set of prerequisite toy
    tasks".

    Args:
        path: Path of UTF-8 text, plain or compressed with gzip, bzip2 or xz.

    Returns:
        The questions, in order.

    Raises:
        ValueError: If the file is missing, empty, damaged or not UTF-8, has no question, or has a
            line of another form, with an ID out of order, or with a supporting ID that is not an
            earlier sentence. The error names the line.
    """
    questions: list[StoryQuestion] = []
    story: list[str] = []
    index: dict[int, int] = {}  # index of each sentence in the story, by ID
    last = 0
    for number, line in enumerate(checked_lines(path), start=1):
        where = f"path={str(path)!r}, line {number}."
        columns = line.decode().split("\t")
        written, _, text = columns[0].partition(" ")
        text = text.strip()
        if not _is_id(written) or not text or len(columns) not in (1, 3):
            raise ValueError(
                "Expected `ID sentence` or `ID question TAB answer TAB supporting IDs`. "
                f"Received: a line of another form, {where}"
            )
        line_id = int(written)
        if line_id == 1:
            story, index = [], {}
        elif line_id != last + 1:
            raise ValueError(
                f"Expected the ID {last + 1}, or 1 for a new story. Received: {line_id}, {where}"
            )
        last = line_id
        if len(columns) == 1:
            index[line_id] = len(story)
            story.append(text)
            continue
        answer, supporting = columns[1].strip(), columns[2].split()
        if not answer:
            raise ValueError(f"Expected an answer after the question. Received: none, {where}")
        for one in supporting:
            if not _is_id(one) or int(one) not in index:
                raise ValueError(
                    "Expected supporting IDs of sentences of the story before the question. "
                    f"Received: {one!r}, {where}"
                )
        questions.append(
            StoryQuestion(tuple(story), text, answer, tuple(index[int(one)] for one in supporting))
        )
    if not questions:
        raise ValueError(
            "Expected at least one line `ID question TAB answer TAB supporting IDs`. "
            f"Received: path={str(path)!r}, which has none."
        )
    return questions


def _is_id(text: str) -> bool:
    return text.isascii() and text.isdecimal() and int(text) > 0
