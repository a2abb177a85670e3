"""Tokenizers in JavaScript give the same ids and texts as those in Python.

Node and Python have different versions of Unicode. So texts have characters that Python knows. Of
these, later versions gave a few lowercase letters an uppercase letter. Where two segmentations have
the same probability, other versions of SentencePiece choose differently than JavaScript.
"""

import base64
import io
import json
import random
import unicodedata
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
import sentencepiece

import kerasnmt
from kerasnmt.data import builtin_corpus
from kerasnmt.serving.runtimes.web.export import write_scripts
from kerasnmt.text import whole_words
from kerasnmt.text.without_tensorflow import plain_tokenizer

PRESETS = Path(kerasnmt.__file__).parent / "presets"
SPACES = "\t\n\v\f\r▁"
OWN = ["<x>", "dog", "①", "ab", "the d", "▁a", "é"]
ODD = ["", " ", "  ", *SPACES, *"\x85\u2028\x1c\x1e\0\ufeff\u200b\u00a0\u3000\u200d\u0301\ufffd"]
ODD += [*"🏽ﬁé￭⁇(“İIẞßΣ", "👩‍👩‍👧", "👍🏽", "e\u0301", "\u1100\u1161", "ﾊﾟ", "'s", "’s", " . "]
ODD += [
    "<s>",
    "</s>",
    "<unk>",
    "<0x41>",
    "<V;3.>",
    "<n-1>a",
    "<<x>",
    "\U000f0001",
    *OWN,
    "the ",
    "0",
    "00",
]
UNKNOWN_WORDS = ["x", "</s>", "é", " "]
CHARACTERS = [chr(number) for number in range(0x110000) if not 0xD800 <= number < 0xE000]
CHARACTERS = [one for one in CHARACTERS if unicodedata.category(one) != "Cn"]
PROGRAM = """
import { tokenKinds } from "./terms.js";
import { tokenizer } from "./tokenizers.js";
answer = data.map(({ config, texts, ids, unknown }) => {
  const one = tokenizer(config);
  return {
    kind: one.kind,
    entries: one.entries,
    sources: texts.map((text) => one.normalizeSource(text)),
    encoded: texts.map((text) => one.encode(text)),
    split: texts.map((text) => one.split(text)).map(({ ids, words }) => [ids, words]),
    phrases: texts.map((text) => one.phrases(text).map(({ ids, words }) => [ids, words])),
    kinds: [...tokenKinds(one)],
    decoded: ids.map((row) => one.decode(row, unknown)),
    tokens: ids.map((row) => one.tokens(row, unknown)),
  };
})"""
thorough = pytest.mark.thorough("the same tokenizers on many more texts")


def texts_of_all_scripts(rng, count):
    """Draw sentences, texts of one script or of many, of odd characters, and of random bytes."""
    scripts = defaultdict(list)
    for character in CHARACTERS:
        scripts[unicodedata.name(character, "?").partition(" ")[0]].append(character)
    marks = [one for one in CHARACTERS if unicodedata.category(one)[0] == "M"]
    sentences = [
        text for pair in builtin_corpus(300, "test") for text in (pair.source, pair.target)
    ]

    def draw():
        characters = scripts[rng.choice([*scripts])]
        text = rng.choice(
            [
                rng.choice(sentences),
                "".join(rng.choices(characters, k=rng.randrange(20))),
                "".join(rng.choice(rng.choice([*scripts.values()])) for _ in range(12)),
                "".join(rng.choice([rng.choice(characters), rng.choice(marks)]) for _ in range(9)),
                "".join(rng.choices(ODD, k=rng.randrange(20))),
                rng.randbytes(rng.randrange(20)).decode("utf-8", "replace"),
            ]
        )
        place = rng.randrange(len(text) + 1)
        return f"{text[:place]}{rng.choice(['', *ODD])}{text[place:]}"

    texts = [draw() for _ in range(count)]
    return ["", " ", *(one for one in texts if "Cn" not in map(unicodedata.category, one))]


def serialized(name, **config):
    return {"registered_name": f"kerasnmt>{name}", "config": config}


def pieces(corpus, normalization=None, **options):
    """Train a small model of SentencePiece."""
    model = io.BytesIO()
    special = {"pad_id": 0, "unk_id": 1, "bos_id": 2, "eos_id": 3}
    options = {"vocab_size": 600, "hard_vocab_limit": False, "minloglevel": 2, **special, **options}
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(corpus), model_writer=model, **options
    )
    model = base64.b64encode(model.getvalue()).decode()
    return serialized("SentencePieceTokenizer", model=model, normalization=normalization)


@pytest.fixture(scope="module")
def presets():
    """The tokenizers of SentencePiece of the presets."""
    return {
        f"{path.parent.name} {side}": config
        for path in sorted(PRESETS.glob("*/tokenizer.json"))
        for side, config in json.loads(path.read_text()).items()
        if config["class_name"] == "SentencePieceTokenizer"
    }


@pytest.fixture(scope="module")
def tokenizers(tmp_path_factory, presets):
    """Serialized tokenizers by name."""
    rule = tmp_path_factory.mktemp("rule") / "rule.tsv"
    rule.write_text("".join(f"{ord(one):X}\t20\n" for one in SPACES))
    corpus = [pair.source for pair in builtin_corpus(300)]
    corpus += ["ガ é　ß ﬁ①½", "犬が寝る。", "Ελλάδα", "مرحبا", "👩‍👩‍👧", "नमस्ते"] * 5
    spaces = {"remove_extra_whitespaces": False, "add_dummy_prefix": False}
    lowercase = [one for one in CHARACTERS if one.upper() != one]
    return {
        "nfc": pieces(corpus, "nfc", normalization_rule_tsv=str(rule), unk_surface="⁇"),
        "nfkc": pieces(corpus, normalization_rule_name="nfkc", treat_whitespace_as_suffix=True),
        "bytes": pieces(corpus, normalization_rule_name="nmt_nfkc_cf", byte_fallback=True),
        "spaces": pieces(corpus, normalization_rule_name="identity", **spaces),
        "own": pieces(corpus, user_defined_symbols=OWN, control_symbols=["<c>"], vocab_size=300),
        "bpe": pieces(corpus, model_type="bpe", byte_fallback=True, user_defined_symbols=OWN),
        "preset": presets["tatoeba_en_fr_gru shared"],  # segments 000 in two equally probable ways
        "words": serialized("WordTokenizer", words=["the", "dog", ".", "a"]),
        "plain": serialized("PlainWordTokenizer", words=["the", "dog", "i\u0307", "ß", "a(a", "ﬁ"]),
        "punctuation": serialized("PunctuationTokenizer", words=["the", "dog", "￭.", "(￭", "￭'s"]),
        "characters": serialized("CharacterTokenizer", characters=[*"abc .é☃"]),
        "folded": serialized("CharacterTokenizer", characters=[*"abcß .éıiσά"], fold_case=True),
        "tags": serialized(
            "CharacterTokenizer", characters=[*"abc .<>é", "<x>", "<V;3.>", "<n-1>"]
        ),
        "decomposed": serialized(
            "CharacterTokenizer",
            characters=[*"abe \u0301\u1100\u1161", "<x>"],
            normalization="nfd",
        ),
        "default tags": serialized(
            "CharacterTokenizer", characters=[*"abc .<>é", "<x>", "<y>"], default_tags="<y>"
        ),
        "all folded": serialized("CharacterTokenizer", characters=lowercase, fold_case=True),
    }


def check_equal(configs, count, in_node, folder):
    """Check that the tokenizers in JavaScript are equal to those in Python."""
    rng = random.Random(count)
    texts = texts_of_all_scripts(rng, count)
    asked, expected = [], []
    for config in configs.values():
        plain = plain_tokenizer(config)
        size, copies = len(plain.entries), plain.kind != "sentencepiece"
        numbers = range(-copies, size + len(UNKNOWN_WORDS) * copies)
        ids = [rng.choices(numbers, k=rng.randrange(12)) for _ in range(count)]
        unknown = UNKNOWN_WORDS * copies
        config = {name: config[name] for name in ("registered_name", "config")}
        asked.append({"config": config, "texts": texts, "ids": ids, "unknown": unknown})
        read = [text.encode() for text in texts]
        expected.append(
            {
                "kind": plain.kind,
                "entries": plain.entries,
                "sources": [plain.normalize_source(text).decode() for text in read],
                "encoded": plain.encode(read),
                "split": [[*plain.split(text)] for text in read],
                "phrases": [[[*form] for form in plain.phrases(text)] for text in read],
                "kinds": np.dot([2, 1], plain.word_places).tolist(),
                "decoded": plain.decode(ids, [unknown] * len(ids)),
                "tokens": [plain.tokens(row, unknown) for row in ids],
            }
        )
    write_scripts(folder)
    for name, found, wanted in zip(configs, in_node(folder, PROGRAM, asked), expected, strict=True):
        for part, values in wanted.items():
            assert found[part] == values, (name, part)


def test_tokenizers_are_equal(tokenizers, in_node, tmp_path):
    check_equal(tokenizers, 500, in_node, tmp_path)


def test_places_of_words_are_equal(in_node, tmp_path):
    rng = random.Random(4)
    texts = texts_of_all_scripts(rng, 500)
    phrases = [
        text[(at := rng.randrange(len(text) + 1)) : at + rng.randrange(1, 9)] for text in texts
    ]
    pairs = [(phrase, text) for phrase, text in zip(phrases, texts, strict=True) if phrase]
    write_scripts(tmp_path)
    program = """import { occurs, opens } from "./terms.js";
    answer = [data.pairs.map((pair) => occurs(...pair)), data.characters.filter(opens)];"""
    data = {"pairs": pairs, "characters": CHARACTERS}
    found, apart = in_node(tmp_path, program, data)
    expected = [whole_words.occurs(*pair) for pair in pairs]
    assert 0.2 < np.mean(expected) < 0.8
    assert found == expected
    differing = {*apart} ^ {one for one in CHARACTERS if whole_words.opens(one)}
    assert differing <= {*"〻ꧏ𖿣"}, differing  # signs whose names do not tell their script


def test_terms_that_cannot_be_written(tokenizers, in_node, tmp_path):
    write_scripts(tmp_path)
    program = """
    import { encodedTerms, parsedTerms, unmetTerms } from "./terms.js";
    import { tokenizer } from "./tokenizers.js";
    const phrases = (text) => tokenizer(data).phrases(text).map(({ ids }) => ids);
    const unmet = (line, text) => unmetTerms(parsedTerms(line), [false], text);
    answer = [
      encodedTerms(parsedTerms("龘dog"), phrases, 9),
      // A word that replaces an unknown word counts.
      ...[unmet("!zeb", "a zeb"), unmet("zeb", "a zeb"), unmet("zeb", "a")],
    ];"""
    assert in_node(tmp_path, program, tokenizers["nfc"]) == [
        {"alternatives": [], "known": [False]},
        ['the translation has "zeb", which must not occur'],
        [],
        ['the translation lacks "zeb", which has words or characters that the model cannot write'],
    ]


@thorough
def test_tokenizers_are_equal_on_10_000_texts(tokenizers, in_node, tmp_path):
    check_equal(tokenizers, 10_000, in_node, tmp_path)


@pytest.mark.thorough("trained models of SentencePiece, by the same code")
def test_presets_are_equal(presets, in_node, tmp_path):
    assert len(presets) > 4
    check_equal(presets, 10_000, in_node, tmp_path)


def test_halves_of_pairs_are_unknown(tokenizers, in_node, tmp_path):
    write_scripts(tmp_path)
    program = """
    import { tokenizer } from "./tokenizers.js";
    answer = tokenizer(data).split("a\\ud83d b\\udc15")"""
    assert in_node(tmp_path, program, tokenizers["words"]) == {
        "ids": [1, 1],
        "words": ["a\ufffd", "b\ufffd"],
    }


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: serialized("OtherTokenizer", words=[]), "Received: OtherTokenizer"),
        (lambda: serialized("toString"), "Received: toString"),
        (lambda: pieces(["a b c d"], model_type="char"), "Received: a model of type 4"),
    ],
)
def test_other_tokenizers_are_refused(make, message, in_node, tmp_path):
    write_scripts(tmp_path)
    program = """
    import { tokenizer } from "./tokenizers.js";
    try { tokenizer(data); } catch (error) { answer = error.message; }"""
    assert message in in_node(tmp_path, program, make())
