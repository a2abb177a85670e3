"""Words that a stream yields, from hand-made steps of a search."""

import numpy as np
import pytest

from kerasnmt.tasks.served_model import ABSENT_SCORE, Progress
from kerasnmt.tasks.streaming import TextStep, joined, settled_words
from kerasnmt.text.sentence_ends import join_texts

PIECES = [
    "",
    "⁇",
    "",
    "",
    "▁I",
    "▁am",
    "▁he",
    "re",
    ",",
    "▁",
    "犬",
    "が",
    "。",
    "ab",
    "é",
    "\u0301",
]
EGO, AM, HE, RE, COMMA, SPACE, DOG, GA, STOP, AB, E, ACCENT = range(4, 16)
END = 3


def as_pieces(hypotheses):
    return ["".join(PIECES[one] for one in row).replace("▁", " ").lstrip() for row in hypotheses]


def as_words(hypotheses):
    return [" ".join(PIECES[one].strip("▁") for one in row if one > END) for row in hypotheses]


def greedy(*ids):
    """Return the steps of a greedy search."""
    last = len(ids) - 1
    return [
        TextStep([number], [0], [True], [time == last], np.array([-1.0]), time < last)
        for time, number in enumerate(ids)
    ]


def pieces(steps, decode=as_pieces, kind="sentencepiece"):
    return [one.piece for one in settled_words(steps, decode, kind) if one.piece]


def test_a_word_is_complete_when_the_next_one_begins():
    assert pieces(greedy(EGO, AM, HE, RE, COMMA, AM, END)) == ["I", " am", " here,", " am"]


def test_a_whole_word_is_complete_at_once():
    progress = [*settled_words(greedy(EGO, AM, END), as_words, "words")]
    assert progress == [Progress("I", ""), Progress(" am", ""), Progress("", "", -1.0)]


def test_each_character_of_a_script_without_spaces_is_complete_when_no_mark_follows():
    assert pieces(greedy(EGO, SPACE, DOG, GA, ACCENT, STOP, AB, AB, END)) == [
        *("I", " 犬", "が\u0301", "。", "abab")
    ]


def test_the_first_bytes_of_a_character_wait_for_the_others():
    def decode(hypotheses):
        return [bytes(row).decode(errors="replace") for row in hypotheses]

    steps = greedy(*"a犬 b".encode())
    progress = [*settled_words(steps, decode, "characters")]
    assert [one.piece for one in progress] == ["", "", "", "a", "犬", " b"]
    assert not any("\ufffd" in one.piece + one.provisional for one in progress)


def test_a_beam_gives_the_words_that_all_live_hypotheses_share():
    steps = [
        # ids, parents, live, ended, ranks, unfinished
        ([EGO, HE], [0, 0], [True, True], [False, False], [-1.0, -1.5], True),
        ([AM, HE], [0, 0], [True, True], [False, False], [-1.1, -1.2], True),
        ([AM, HE], [0, 0], [True, True], [False, False], [-1.3, -1.2], True),
        # "I am he" has ended, and "I am am" cannot outrank it any more.
        ([AM, END], [0, 1], [False, True], [False, True], [-2.0, -1.3], True),
        ([AM, 0], [0, 1], [False, True], [False, True], [-2.5, -1.3], False),
    ]
    steps = [TextStep(*step[:4], np.array(step[4]), step[5]) for step in steps]
    assert [*settled_words(steps, as_pieces, "sentencepiece")] == [
        Progress("", "I"),
        Progress("I", " am"),
        Progress(" am", " he"),
        Progress(" he", ""),
        Progress("", "", -1.3),
    ]


def test_an_end_and_a_longer_word_share_only_the_words_before():
    """The text may end with "he", or go on with "here"."""
    steps = [
        TextStep([EGO], [0], [True], [False], np.array([-1.0]), True),
        TextStep([AM], [0], [True], [False], np.array([-1.0]), True),
        TextStep([HE], [0], [True], [False], np.array([-1.0]), True),
        TextStep([END, RE], [0, 0], [True] * 2, [True, False], np.array([-2.0, -1.0]), True),
        TextStep([0, END], [0, 1], [True] * 2, [True, True], np.array([-2.0, -1.5]), False),
    ]
    assert pieces(steps) == ["I", " am", " here"]


def test_an_impossible_answer_is_empty():
    steps = [
        TextStep([0, 0], [0, 0], [False] * 2, [False] * 2, np.array([-1e9] * 2), True),
        TextStep([0, 0], [0, 1], [False] * 2, [True] * 2, np.array([-1e9] * 2), False),
    ]
    assert [*settled_words(steps, as_pieces, "words")] == [Progress("", "", ABSENT_SCORE)]


def test_text_that_a_token_changes_later_is_refused():
    def decode(hypotheses):
        return [text.removesuffix(" ,") for text in as_words(hypotheses)]

    words = settled_words(greedy(EGO, AM, COMMA, COMMA, END), decode, "words")
    assert [next(words).piece for _ in range(3)] == ["I", " am", ""]
    changing = iter([["I am"], ["I"]])
    with pytest.raises(ValueError, match="begins with the words so far, 'I am'"):
        [*settled_words(greedy(EGO, AM, END), lambda rows: next(changing), "words")]


SENTENCES = [
    ["A b.", "C."],
    ["", "A b.", "", "C."],
    ["犬。", "猫。」", "dog.", "！", "x"],
    ["犬。", "」", "x"],
    [""],
    ["a\u0301", " b "],
]


@pytest.mark.parametrize("sentences", SENTENCES, ids=str)
def test_sentences_are_joined_as_whole_ones_are(sentences):
    def progress(text):
        """Yield a character at a time, the rest of the text provisionally, and the score."""
        for place, character in enumerate(text):
            yield Progress("", text[place:])
            yield Progress(character, text[place + 1 :])
        yield Progress("", "", -1.0)

    done, made = "", [*joined(map(progress, sentences))]
    whole = join_texts(sentences)
    for piece, provisional, _ in made:
        done += piece
        assert whole.startswith(done + provisional)
    assert done == whole
    assert [one.score for one in made] == [None] * (len(made) - 1) + [-len(sentences)]


def test_a_control_character_between_sentences_is_refused():
    with pytest.raises(ValueError, match="without the control character"):
        [*joined([[Progress("a\x1e", "", -1.0)], [Progress("b", "", -1.0)]])]
