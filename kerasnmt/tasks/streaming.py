"""Words of an answer while the search makes them, from the tokens of its hypotheses."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

import numpy as np

from kerasnmt.decoding.search_options import SearchOptions
from kerasnmt.ids import PAD_ID
from kerasnmt.tasks.served_model import ABSENT_SCORE, Progress
from kerasnmt.text.sentence_ends import join_texts, separator
from kerasnmt.text.word_indices import UNSPACED

# Kinds of tokens that a further token cannot make longer.
_WHOLE = ("words", "words_and_punctuation")
_UNSPACED = re.compile(UNSPACED)
_JOINERS = "\u200c\u200d"
_REPLACEMENT = "\ufffd"  # also stands for the first bytes of a character whose others are missing


class TextStep(NamedTuple):
    """What a step of a search tells about the hypotheses of one text.

    See `kerasnmt.decoding.StepOutputs`; here, `[hypotheses]` is the shape of each array.
    """

    ids: Sequence[int]
    parents: Sequence[int]
    live: Sequence[bool]
    ended: Sequence[bool]
    ranks: np.ndarray
    unfinished: bool


def check_streams(options: SearchOptions) -> None:
    """Check that a search gives one answer.

    Raises:
        ValueError: If it draws several samples.
    """
    if options.samples > 1:
        raise ValueError(
            "Expected samples=1 or a search, to stream the one answer. Received: "
            f"samples={options.samples}"
        )


def settled_words(
    steps: Iterable[TextStep], decode: Callable[[list[list[int]]], Sequence[str]], kind: str
) -> Iterator[Progress]:
    """Yield the words that no further step can change, as soon as there are some.

    These are the words that all live hypotheses share. So nothing is taken back, and the pieces
    together are the answer. A word is complete when the next one begins, or at once if tokens are
    words. In scripts without spaces between words, each character is complete at once.

    Args:
        steps: Steps of the search for one text.
        decode: Function from the tokens of several hypotheses to their texts. A further token must
            only append to the text.
        kind: Kind of the tokens; see `kerasnmt.text.Tokenizer`.

    Yields:
        The progress of each step; the last has a score.

    Raises:
        ValueError: If the answer does not begin with the pieces: the tokenizer does more than
            append, or the constraints of the search make everything impossible at its end.
    """
    hypotheses: list[list[int]] = []
    done = ""
    for step in steps:
        grown = zip(step.parents, step.ids, strict=True)
        hypotheses = [
            [*(hypotheses[parent] if hypotheses else []), *([number] if number != PAD_ID else [])]
            for parent, number in grown
        ]
        if not step.unfinished:
            best = int(np.argmax(step.ranks))
            score = float(step.ranks[best])
            (text,) = decode([hypotheses[best]]) if score > ABSENT_SCORE else [""]
            _check_kept(done, text)
            yield Progress(text[len(done) :], "", score)
            return
        live = [slot for slot, is_live in enumerate(step.live) if is_live]
        if not live:
            continue
        whole = [kind in _WHOLE or step.ended[slot] for slot in live]
        texts = [
            text if is_whole else text.rstrip(_REPLACEMENT)
            for text, is_whole in zip(decode([hypotheses[s] for s in live]), whole, strict=True)
        ]
        _check_kept(done, texts[0])
        end = _last_end(texts, whole, len(done))
        piece, done = texts[0][len(done) : end], texts[0][:end]
        best = int(np.argmax(step.ranks[live]))
        yield Progress(piece, texts[best][end:])


def _check_kept(done: str, text: str) -> None:
    """Check that a text begins with the words that were yielded."""
    if not text.startswith(done):
        raise ValueError(
            f"Expected a translation that begins with the words so far, {done!r}. Received: "
            f"{text!r}. Translate the text as a whole: here, its end changes its beginning."
        )


def _last_end(texts: Sequence[str], whole: Sequence[bool], start: int) -> int:
    """Return the last place after `start` where the same words end in all texts, or `start`."""
    shared = takewhile(lambda characters: len({*characters}) == 1, zip(*texts, strict=False))
    for place in range(len([*shared]), start, -1):
        if all(_word_ends(text, place, one) for text, one in zip(texts, whole, strict=True)):
            return place
    return start


def _word_ends(text: str, place: int, whole: bool) -> bool:
    """Return whether a word ends before a place, where `whole` says so for the end of the text."""
    if place == len(text):
        return whole
    last, following = text[place - 1], text[place]
    if last.isspace() or following in _JOINERS or unicodedata.category(following)[0] == "M":
        return False
    return following.isspace() or any(_UNSPACED.match(one) for one in (last, following))


def joined(sentences: Iterable[Iterable[Progress]]) -> Iterator[Progress]:
    """Join the progress of the sentences of a text; see `kerasnmt.text.sentence_ends.join_texts`.

    The last progress has the sum of the scores.
    """
    texts, scores, sent = [""], [], ""
    for sentence in sentences:
        before = next((text for text in reversed(texts) if text), None)
        between = "" if before is None else separator(before)
        texts.append("")
        for piece, provisional, score in sentence:
            first = "" if texts[-1] else between
            texts[-1] += piece
            addition = first + piece if piece else ""
            sent += addition
            if score is not None:
                scores.append(score)
            ahead = provisional if piece or not provisional else first + provisional
            yield Progress(addition, ahead)
    if sent != join_texts([text for text in texts if text]):
        raise ValueError(
            f"Expected sentences without the control character U+001E. Received: {sent!r}. "
            "Translate the text as a whole."
        )
    yield Progress("", "", float(np.sum(np.array(scores, "float32"))))


def as_text_step(outputs: Any) -> TextStep:
    """Return `StepOutputs` of a batch of one text, without its records."""
    ids, parents, live, ended, ranks, unfinished = (np.asarray(one)[0] for one in outputs[:6])
    return TextStep(
        ids.tolist(), parents.tolist(), live.tolist(), ended.tolist(), ranks, bool(unfinished)
    )
