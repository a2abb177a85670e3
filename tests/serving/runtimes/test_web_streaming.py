"""Words of streams, and confidence in words, in JavaScript and in Python."""

import random

import numpy as np
import pytest

from kerasnmt.calibration import Calibration
from kerasnmt.serving.runtimes.web.export import write_scripts
from kerasnmt.tasks import Confidence
from kerasnmt.tasks.served_model import Progress
from kerasnmt.tasks.streaming import TextStep, joined, settled_words
from kerasnmt.token_confidence import token_confidence

# Two units of UTF-16, joined symbols, marks, scripts without spaces, and the start of a character.
CHARACTERS = [*"ab  犬が\u3099\u0301é👩👍🏽\u200d\u3000\xa0\ufffd。"]


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scripts")
    write_scripts(folder)
    return folder


def grown(draw, size):
    """Return random steps of a search, whose ids are code points."""
    steps, texts, ended = [], [""], [False]
    for time in range(9):
        last = time == 8
        parents = [draw.randrange(len(texts)) for _ in range(size)]
        ids = [0 if ended[one] else ord(draw.choice(CHARACTERS)) for one in parents]
        texts = [texts[one] + chr(i) * (i > 0) for one, i in zip(parents, ids, strict=True)]
        ended = [ended[one] or last or draw.random() < 0.05 for one in parents]
        ranks = np.array([-draw.random() for _ in range(size)])
        steps.append((TextStep(ids, parents, [True] * size, ended, ranks, not last), [*texts]))
    return steps


WORDS_OF_STEPS = """import { SettledWords } from "./streaming.js";
answer = data.map(([kind, steps]) => {
  const words = new SettledWords(({ text }) => text, kind);
  return steps.map(({ slots, best, unfinished }) =>
    words.after({ live: slots, best: [slots[best]], isUnfinished: () => unfinished,
      rank: ({ score }) => score }));
});"""


def test_words_are_those_of_python(scripts, in_node):
    draw = random.Random(3)
    kinds = ["characters", "sentencepiece", "words"]
    searches = [(kinds[i % 3], grown(draw, 1 + i % 4)) for i in range(120)]
    data = [
        (
            kind,
            [
                {
                    "slots": [
                        {"text": text, "ended": ended, "score": rank}
                        for text, ended, rank in zip(texts, one.ended, one.ranks, strict=True)
                    ],
                    "best": int(one.ranks.argmax()),
                    "unfinished": one.unfinished,
                }
                for one, texts in steps
            ],
        )
        for kind, steps in searches
    ]

    def decode(rows):
        return ["".join(map(chr, row)) for row in rows]

    for found, (kind, steps) in zip(in_node(scripts, WORDS_OF_STEPS, data), searches, strict=True):
        expected = settled_words((one for one, _ in steps), decode, kind)
        assert [tuple(one.values()) for one in found] == [*map(tuple, expected)]


def test_a_changed_beginning_is_refused(scripts, in_node):
    data = [["I am here"], ["I"]]
    program = """import { SettledWords } from "./streaming.js";
    const words = new SettledWords(({ text }) => text, "words");
    const row = ([text]) => ({ live: [{ text }], isUnfinished: () => true, rank: () => 0 });
    words.after(row(data[0]));
    try { words.after(row(data[1])); } catch (error) { answer = error.message; }"""
    start = 'Expected a translation that begins with the words so far, "I am here". Received: "I".'
    assert in_node(scripts, program, data).startswith(start)


SENTENCES = [
    ["A b.", "C."],
    ["", "A b.", "", "C."],
    ["犬。", "猫。」", "dog.", "！", "x"],
    ["犬。", "」", "x"],
    [""],
    ["a\u0301", " b "],
    ["a\x1e", "b"],
]


def test_sentences_are_joined_as_in_python(scripts, in_node):
    program = """import { joined } from "./streaming.js";
    async function* progress(text) {
      for (const place of text.split("").keys()) {
        yield { piece: "", provisional: text.slice(place), score: null };
        yield { piece: text[place], provisional: text.slice(place + 1), score: null };
      }
      yield { piece: "", provisional: "", score: -1 };
    }
    const made = async (sentences) => {
      const all = [];
      for await (const one of joined(sentences.map(progress))) all.push(Object.values(one));
      return all;
    };
    answer = [];
    for (const one of data) answer.push(await made(one).catch((error) => error.message));"""

    def progress(text):
        for place, character in enumerate(text):
            yield Progress("", text[place:])
            yield Progress(character, text[place + 1 :])
        yield Progress("", "", -1.0)

    *found, refused = in_node(scripts, program, SENTENCES)
    for one, sentences in zip(found, SENTENCES, strict=False):
        assert [*map(tuple, one)] == [*map(tuple, joined(map(progress, sentences)))]
    assert refused.startswith("Expected sentences without the control character U+001E. Received: ")


TOKENS = {
    "sentencepiece": [
        ["▁Two", "▁dog", "s", ".", "</s>"],
        ["▁犬", "が", "寝る", "。", "</s>"],
        ["▁", "a", "<unk>", "▁", "</s>"],
        ["</s>"],
        [],
    ],
    "characters": [[*"▁a b▁", "</s>"], ["<unk>", "x", "▁"]],
    "words": [["the dog", "<unk>", "</s>"]],
    "words_and_punctuation": [["(￭", "a", "￭'s", "￭)", "b", "</s>"]],
}


@pytest.mark.parametrize("calibration", [None, Calibration(0.7, 0.2, 9)], ids=bool)
def test_confidence_in_words_is_that_of_python(scripts, in_node, calibration):
    rng = np.random.default_rng(4)
    program = """import { Confidence, tokenConfidence } from "./confidence.js";
    const made = data.rows.map(([kind, tokens, ids, gains]) => {
      const judged = ids.map((id, place) => ({ logProbability: gains[place][id],
        ...tokenConfidence(gains[place], id) }));
      return Confidence.ofTokens({ text: "x", score: -2 }, tokens, kind, judged, data.calibration);
    });
    const probability = made[0].probability;
    answer = [...made, Confidence.joined(made), { ...made[0], probability }];"""
    rows, expected = [], []
    for kind, tokens in ((kind, one) for kind, many in TOKENS.items() for one in many):
        logits = rng.normal(size=(len(tokens), 5)) * 3
        gains = (logits - np.logaddexp.reduce(logits, axis=1)[:, None]).astype("float32")
        ids = rng.integers(0, 5, len(tokens))
        numbers = token_confidence(np, gains, ids)
        one = Confidence.of_tokens("x", -2.0, tokens, kind, numbers, calibration)
        expected.append(one)
        rows.append((kind, tokens, ids.tolist(), gains.tolist()))
    data = {"rows": rows, "calibration": calibration and calibration.document()}
    *found, first = in_node(scripts, program, data)
    assert first["probability"] == pytest.approx(expected[0].probability, rel=1e-5)
    for ours, theirs in zip(found, [*expected, Confidence.joined(expected)], strict=True):
        assert ours["text"] == theirs.text
        assert ours["words"] == theirs.words
        assert ("calibratedProbability" in ours) == (calibration is not None)
        assert ours["tokens"] == theirs.tokens
        for name in set(ours) - {"text", "words"}:
            snake = "".join(f"_{one.lower()}" if one.isupper() else one for one in name)
            np.testing.assert_allclose(ours[name], getattr(theirs, snake), rtol=1e-5, atol=1e-6)
