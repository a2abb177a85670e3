"""Translation of texts with a vocabulary shortlist."""

import re

import numpy as np
import pytest
import tensorflow as tf

from kerasnmt.data import builtin_corpus
from kerasnmt.shortlist import Shortlist
from kerasnmt.tasks import Explorer, TranslationTask, Translator
from kerasnmt.tasks.shortlists import ShortlistInGraph, vocabulary_digest
from kerasnmt.text import SentencePieceTokenizer, WordTokenizer
from kerasnmt.zoo import bahdanau_gru, pointer_generator_gru
from tests.numerics import fill

pytestmark = pytest.mark.usefixtures("eagerly")
TEXTS = ["a dog .", "", "two men"]
OPTIONS = {"beam_size": 3, "max_length": 10}
PAIRS = [("das Haus", "the house"), ("das Buch", "the book"), ("ein Buch", "a book")]


@pytest.fixture(scope="module")
def model():
    """A model of pieces with a short shortlist, which tests must not change."""
    sentences = [text for pair in builtin_corpus(300) for text in (pair.source, pair.target)]
    model = bahdanau_gru(SentencePieceTokenizer.train(sentences, 150), embedding_dim=6, units=6)
    rng = np.random.default_rng(3)
    table = rng.integers(4, 150, size=(150, 2))
    model.shortlist = Shortlist(table, [10, 20], 150, vocabulary_digest(model))
    return fill(model, 3, scale=0.9)


def test_likely_words_of_pairs():
    words = [WordTokenizer(sorted({w for p in PAIRS for w in p[i].split()})) for i in (0, 1)]
    model = bahdanau_gru(*words, embedding_dim=4, units=4)
    made = model.make_shortlist(*zip(*PAIRS, strict=True), size=1, frequent=1)

    def likely(word):
        ids = made.table[words[0].tokenize([word]).to_list()[0]]
        return [one.decode() for one in words[1].tokens(tf.constant(ids)).numpy()[0] if one]

    found = [likely(word) for word in ("das", "Haus", "Buch", "ein")]
    assert found == [["the"], ["house"], ["book"], ["a"]]
    # "book" and "the" are equally frequent; the first id counts.
    assert made.frequent.tolist() == [0, 1, 2, 3, words[1].tokenize(["book"]).to_list()[0][0]]


def test_lists_in_a_graph_are_those_of_numpy(model):
    ids = np.array([[5, 7, 3, 0], [9, 9, 140, 3]], "int32")
    others = np.array([[[8, 0]], [[149, 11]]], "int32")
    lists = tf.function(ShortlistInGraph(model), autograph=False)
    for more in ([], [others]):
        expected = model.shortlist.listed_ids(ids, *more)
        np.testing.assert_array_equal(lists(ids, *more), expected)


def test_only_listed_pieces_are_written(model):
    tokenizer = model.source_tokenizer
    found = model.n_best(TEXTS, shortlist=True, batch_size=1, **OPTIONS)
    assert found != model.n_best(TEXTS, batch_size=1, **OPTIONS)
    for text, ranked in zip(TEXTS, found, strict=True):
        ids = [*tokenizer.tokenize([text]).to_list()[0], 3]
        listed = model.shortlist.listed_ids(np.array([ids]))
        inputs = {"source_ids": np.array([ids])}
        hypotheses = model.search(inputs, listed_ids=listed, n_best=3, **OPTIONS)
        for (_, score), expected in zip(ranked, hypotheses.scores[0], strict=False):
            assert not text or score == pytest.approx(float(expected), rel=1e-5)
    assert found[1] == [("", 0.0)]


def test_another_shortlist_replaces_it_at_once(model, monkeypatch):
    before = model.n_best(TEXTS[0], shortlist=True, **OPTIONS)
    other = Shortlist(model.shortlist.table[::-1], [30], 150, model.shortlist.vocabulary)
    monkeypatch.setattr(model, "shortlist", other)
    after = model.n_best(TEXTS[0], shortlist=True, **OPTIONS)
    ids = np.array([[*model.source_tokenizer.tokenize(TEXTS[:1]).to_list()[0], 3]])
    found = model.search(ids, listed_ids=other.listed_ids(ids), n_best=3, **OPTIONS)
    assert after[0][1] == pytest.approx(float(found.scores[0, 0]), rel=1e-5)
    assert after != before


def test_a_stream_is_the_translation(model):
    for text in TEXTS:
        whole = model.translate(text, shortlist=True, **OPTIONS)
        assert "".join(model.stream(text, shortlist=True, **OPTIONS)) == whole


def test_prefixes_and_terms_outside_the_list(model):
    options = {"batch_size": 1, "shortlist": True, **OPTIONS}
    found = model.translate(TEXTS[::2], prefixes=["Zwei Hunde", "Mann"], **options)
    assert found[0].startswith("Zwei Hunde") and found[1].startswith("Mann")
    found = model.translate(TEXTS[::2], terms=[["Hund"], [["Frau", "Haus"]]], **options)
    assert "Hund" in re.findall(r"\w+", found[0])
    assert {"Frau", "Haus"} & {*re.findall(r"\w+", found[1])}
    plain = model.translate(TEXTS[::2], **options)
    banned = [[text.split()[0]] for text in plain]
    found = model.translate(TEXTS[::2], forbidden=banned, **options)
    assert all(word[0] not in text.split() for word, text in zip(banned, found, strict=True))


def test_questions_about_a_translation(model):
    task = TranslationTask(model, shortlist=True, **OPTIONS)
    translator, explorer = Translator(task), Explorer(task)
    (sure,) = translator.confidence(TEXTS[:1])
    assert sure.text == translator.translate(TEXTS[0])
    assert translator.description["shortlist"]
    # The probabilities of given words are those of the whole vocabulary.
    np.testing.assert_allclose(
        translator.score(TEXTS[:1], ["Hund"]), model.score(TEXTS[:1], ["Hund"]), rtol=1e-6
    )
    # The list has the ids of a prefix and of terms.
    request = {"text": TEXTS[0], "terms": "Hund"}
    found = explorer.search(request, explorer.encode(request, "Zwei")[:-1]).texts[0]
    assert found == translator.translate(TEXTS[0], prefixes="Zwei", terms=["Hund"])


@pytest.mark.parametrize("fault", ["none", "vocabulary", "decoder"])
def test_errors(model, fault):
    words = WordTokenizer(["a", "b"])
    make = pointer_generator_gru if fault == "decoder" else bahdanau_gru
    other = make(words, embedding_dim=4, units=4)
    if fault == "none":
        match = "a model with a shortlist, .* bahdanau_gru, which has none"
    elif fault == "vocabulary":
        other.shortlist = model.shortlist
        match = "150 source and 150 target ids for bahdanau_gru, with other tokens"
    else:
        match = "Received: PointerGeneratorDecoder. Search without a shortlist"
        with pytest.raises(ValueError, match=match):
            other.make_shortlist(["a"], ["b"])
    with pytest.raises(ValueError, match=match):
        other.translate(["a"], shortlist=True)


def test_wrong_arguments(model):
    with pytest.raises(ValueError, match="targets"):
        model.make_shortlist(["a", "b"], ["a"])
    with pytest.raises(ValueError, match="size to be at least 1"):
        model.make_shortlist(["a"], ["a"], size=0)


def test_a_saved_model_keeps_it(model, tmp_path):
    from kerasnmt.models import load_model

    model.save(tmp_path / "model.keras")
    loaded = load_model(tmp_path / "model.keras", compile=False)
    assert loaded.shortlist.document() == model.shortlist.document()
    assert loaded.translate(TEXTS, shortlist=True, **OPTIONS) == model.translate(
        TEXTS, shortlist=True, **OPTIONS
    )
