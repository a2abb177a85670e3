from types import SimpleNamespace

import keras
import numpy as np
import pytest

from kerasnmt import zoo
from kerasnmt.models import Ensemble, load_model
from kerasnmt.tasks import Calibration, Confidence, Translator, task_of
from kerasnmt.text import (
    CharacterTokenizer,
    PunctuationTokenizer,
    SentencePieceTokenizer,
    WordTokenizer,
)
from kerasnmt.token_confidence import token_confidence
from kerasnmt.zoo import from_preset
from tests.conftest import WORDS
from tests.numerics import fill
from tests.serving.runtimes.onnx_models import TEXTS, make

pytestmark = pytest.mark.usefixtures("eagerly")

OPTIONS = {"beam_size": 3, "max_length": 10}
CALIBRATION = Calibration(0.8, 0.3, 40)


def equal(one, other):
    """Check that two confidences are equal, to the precision of float32."""
    assert (one.text, one.words, one.tokens) == (other.text, other.words, other.tokens)
    for name in ("score", "probabilities", "entropies", "margins", "log_probability", "entropy"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-4)


def test_numbers_of_tokens_by_hand():
    p = np.array([[[0.5, 0.25, 0.25, 0.0], [0.125, 0.125, 0.25, 0.5]]])
    logarithms = np.where(p > 0, np.log(np.where(p > 0, p, 1)), -1e9).astype("float32")
    ids = np.array([[0, 2]], "int32")
    for xp in (np, keras.ops):
        found = {name: np.array(one) for name, one in token_confidence(xp, logarithms, ids).items()}
        np.testing.assert_allclose(found["log_probability"], np.log([[0.5, 0.25]]), rtol=1e-6)
        np.testing.assert_allclose(found["entropy"], [[1.5 * np.log(2), 1.75 * np.log(2)]])
        np.testing.assert_allclose(found["margin"], [[0.25, -0.25]], rtol=1e-6)


def test_probabilities_are_the_softmax_of_the_model(make_translator_model):
    model = make_translator_model()
    source, target = model.source_tokenizer, model.target_tokenizer
    bias = model.decoder.generator.bias.numpy()
    bias[target.space_ids] += 3.0
    bias[3] -= 3.0
    model.decoder.generator.bias.assign(bias)
    (found,) = model.confidence(["two dogs run ."], **OPTIONS, no_repeat_ngram=2)
    ids = [*target.tokenize([found.text]).to_list()[0], 3]
    inputs = {
        "source_ids": np.array([[*source.tokenize(["two dogs run ."]).to_list()[0], 3]]),
        "target_ids": np.array([[2, *ids[:-1]]]),
    }
    logits = np.asarray(model(inputs)[0], "float64")
    p = np.exp(logits - np.log(np.exp(logits).sum(-1, keepdims=True)))
    own = p[np.arange(len(ids)), ids]
    others = np.where(np.arange(p.shape[1]) == np.array(ids)[:, None], 0, p).max(axis=1)
    # One character is one token. Spaces belong to the next word.
    of_word = np.cumsum([False] + [one == " " for one in found.text])
    assert found.words == found.text.split() and len(found.words) > 1
    for word in range(len(found.words)):
        of_this = np.flatnonzero(of_word == word) - 1 if word else np.flatnonzero(of_word[1:] == 0)
        assert found.probabilities[word] == pytest.approx(own[of_this].prod(), rel=1e-4)
        entropies = -(p * np.log(p)).sum(axis=1)[of_this]
        assert found.entropies[word] == pytest.approx(entropies.max(), rel=1e-4)
        margins = (own - others)[of_this]
        assert found.margins[word] == pytest.approx(margins.min(), abs=1e-5)
    assert found.entropy == pytest.approx(-(p * np.log(p)).sum(axis=1).mean(), rel=1e-4)
    assert found.margin == pytest.approx((own - others).min(), abs=1e-5)
    assert found.tokens == len(ids)
    # The end token belongs to no word.
    assert found.probability == pytest.approx(found.probabilities.prod() * own[-1], rel=1e-4)
    assert found.calibrated_probabilities is found.calibrated_probability is None
    assert found.of_text == found.probability


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("pointer_generator_gru", {}),
        ("hard_monotonic_lstm", {"order": 1}),
        ("transformer_tiny", {}),
        *(
            pytest.param(name, parts, marks=pytest.mark.thorough("another model"))
            for name, parts in [
                ("bahdanau_gru", {}),
                ("cgru", {"num_layers": 2, "coverage": 0.5}),
                ("encoder_decoder_gru", {}),
                ("hard_attention_lstm", {}),
                ("history_attention_gru", {}),
                ("luong_local_p_lstm", {}),
                ("pointer_generator_lstm", {"own_pointer": True}),
                ("transformer_tiny", {"decoder": "ssru"}),
            ]
        ),
    ],
)
def test_every_model_agrees_with_its_scores(name, parts):
    model = make(name, **parts)
    options = {**OPTIONS, "min_length": 3, "length_penalty": 0.0}
    found = model.confidence(TEXTS, **options)
    translations = model.translate(TEXTS, **options)
    assert [one.text for one in found] == translations
    scores = model.score(TEXTS, translations)
    for one, text, score in zip(found, TEXTS, scores, strict=True):
        assert one.log_probability == pytest.approx(one.score, abs=1e-4)
        assert (one.tokens > 0) == bool(text.strip())
        ended = one.tokens == len(one.words) + 1
        if ended and "<unk>" not in one.text:
            assert one.log_probability == pytest.approx(score, abs=1e-4)
        assert (one.probabilities >= 0).all() and (one.probabilities <= 1 + 1e-6).all()
        assert (one.margins <= one.probabilities + 1e-6).all() and (one.entropies >= -1e-6).all()
    again = model.confidence(TEXTS[::-1], batch_size=2, **options)[::-1]
    for one, other in zip(found, again, strict=True):
        equal(one, other)


def test_texts_without_tokens(word_model):
    for one in word_model.confidence(["", "  "], **OPTIONS):
        assert (one.text, one.words, one.tokens, one.score) == ("", [], 0, 0.0)
        assert (one.probability, one.entropy, one.margin) == (1.0, 0.0, 1.0)
        assert one.probabilities.shape == one.entropies.shape == (0,)
        assert one.document()["words"] == []
    assert word_model.confidence([], **OPTIONS) == []
    with pytest.raises(ValueError, match="beam_sise"):
        word_model.confidence("dog", beam_sise=1)


def test_words_outside_the_vocabulary_are_copied(make_pointer_model):
    model = make_pointer_model(seed=56)
    found = model.confidence(TEXTS, **OPTIONS)
    assert any("zeb" in one.words for one in found)
    for one in found:
        assert one.words == one.text.split() and (one.probabilities > 0).all()


def test_an_output_with_probabilities_of_zero():
    model = make("bahdanau_gru")
    model.compile(loss="sparsemax")
    found = model.confidence("two dogs run .", **OPTIONS)
    assert np.isfinite([*found.probabilities, *found.entropies, *found.margins]).all()
    assert (found.margins >= 0).any() and np.isfinite(found.log_probability)
    source, target = (
        np.array([[*WordTokenizer(WORDS).tokenize([text]).to_list()[0], 3]])
        for text in ("two dogs run .", found.text)
    )
    target_ids = np.insert(target[:, :-1], 0, 2, axis=1)
    every, _ = model.inspect({"source_ids": source, "target_ids": target_ids})
    p = np.exp(np.asarray(every[0], "float64"))
    assert (p == 0).any()
    entropies = -np.where(p > 0, p * np.log(np.where(p > 0, p, 1)), 0).sum(axis=1)
    np.testing.assert_allclose(found.entropies, entropies[: len(found.words)], atol=1e-5)


def test_an_ensemble_has_the_mean_probabilities():
    models = [make("bahdanau_gru", seed=seed) for seed in (56, 57)]
    ensemble = Ensemble(models)
    found = ensemble.confidence("two dogs run .", **OPTIONS)
    source, target = (
        np.array([[*WordTokenizer(WORDS).tokenize([text]).to_list()[0], 3]])
        for text in ("two dogs run .", found.text)
    )
    inputs = {"source_ids": source, "target_ids": np.insert(target[:, :-1], 0, 2, axis=1)}
    p = np.mean([np.exp(np.asarray(one.inspect(inputs)[0][0])) for one in models], axis=0)
    own = p[np.arange(target.shape[1]), target[0]]
    np.testing.assert_allclose(found.probabilities, own[: len(found.words)], rtol=1e-4)


def numbers(*probabilities):
    """Numbers of tokens, whose margins are their probabilities minus 0.5."""
    p = np.array(probabilities)
    return {"log_probability": np.log(p), "entropy": 1 - p, "margin": p - 0.5}


@pytest.mark.parametrize(
    ("kind", "tokens", "text", "words", "parts"),
    [
        ("words", ["two", "dogs", "</s>"], "two dogs", ["two", "dogs"], [[0], [1]]),
        (
            "sentencepiece",
            ["▁Two", "▁do", "gs", ".", "</s>"],
            "Two dogs.",
            ["Two", "dogs."],
            [[0], [1, 2, 3]],
        ),
        ("sentencepiece", ["▁a", "<unk>", "</s>"], "a⁇", ["a⁇"], [[0, 1]]),
        (
            "words_and_punctuation",
            ["￭(￭", "dog", "￭)", "runs", "</s>"],
            "(dog) runs",
            ["(dog)", "runs"],
            [[0, 1, 2], [3]],
        ),
        ("characters", ["a", "▁", "b", "c", "</s>"], "a bc", ["a", "bc"], [[0], [1, 2, 3]]),
        ("characters", ["a", "▁", "</s>"], "a ", ["a"], [[0, 1]]),
        ("characters", ["犬", "が", "</s>"], "犬が", ["犬", "が"], [[0], [1]]),
        (
            "sentencepiece",
            ["▁犬", "が寝る", "。", "</s>"],
            "犬が寝る。",
            ["犬", "が寝る", "。"],
            [[0], [1], [2]],
        ),
        ("sentencepiece", ["▁ฉัน", "รัก", "คุณ"], "ฉันรักคุณ", ["ฉัน", "รัก", "คุณ"], [[0], [1], [2]]),
        (
            "characters",
            ["e", "\u0301", "▁", "é", "</s>"],
            "e\u0301 é",
            ["e\u0301", "é"],
            [[0, 1], [2, 3]],
        ),
        ("words", ["<unk>", "a", "</s>"], "⁇ a", ["⁇", "a"], [[0], [1]]),
        (
            "sentencepiece",
            ["▁犬", "<unk>", "寝", "</s>"],
            "犬⁇寝",
            ["犬", "⁇", "寝"],
            [[0], [1], [2]],
        ),
        ("words", ["</s>"], "", [], []),
    ],
)
def test_words_of_tokens(kind, tokens, text, words, parts):
    p = np.linspace(0.9, 0.3, len(tokens))
    found = Confidence.of_tokens(text, -1.0, tokens, kind, numbers(*p))
    assert found.words == words
    np.testing.assert_allclose(found.probabilities, [p[part].prod() for part in parts])
    np.testing.assert_allclose(found.entropies, [(1 - p[part]).max() for part in parts])
    np.testing.assert_allclose(found.margins, [(p[part] - 0.5).min() for part in parts])
    assert found.probability == pytest.approx(p.prod())


def test_the_best_tokens_of_real_tokenizers():
    """Words are those of the text, for each kind of tokenizer and a script without spaces."""
    english, japanese = (
        ["Two dogs run.", "A man (old) reads."] * 5,
        ["犬が走る。", "男が本を読む。"] * 5,
    )
    trained = [
        (CharacterTokenizer.train(english), english),
        (PunctuationTokenizer.train(english), english),
        (SentencePieceTokenizer.train(english, vocabulary_size=22), english),
        (SentencePieceTokenizer.train(japanese, vocabulary_size=15), japanese),
        (CharacterTokenizer.train(japanese), japanese),
    ]
    for tokenizer, texts in trained:
        model = zoo.bahdanau_gru(tokenizer, embedding_dim=6, units=5)
        fill(model, 3, scale=1.3)
        for one in model.confidence(texts[:2], beam_size=1, max_length=20, min_length=8):
            assert "".join(one.words) == "".join(one.text.split())
            if texts is english:
                assert one.words == one.text.split()
            assert one.log_probability <= np.log(one.probabilities).sum() + 1e-6


def test_sentences_are_joined(word_model):
    text = "two dogs run. A man reads."
    joined = word_model.confidence(text, split_sentences=True, **OPTIONS)
    parts = word_model.confidence(["two dogs run.", "A man reads."], **OPTIONS)
    assert word_model.translate([text], split_sentences=True, **OPTIONS) == [joined.text]
    assert joined.words == [word for one in parts for word in one.words]
    assert joined.log_probability == pytest.approx(sum(one.log_probability for one in parts))
    tokens = [one.tokens for one in parts]
    mean = np.average([one.entropy for one in parts], weights=tokens)
    assert joined.entropy == pytest.approx(mean) and joined.tokens == sum(tokens)
    of_texts = [
        Confidence.of_tokens(text, 0.0, text.split(), "words", numbers(*p), CALIBRATION)
        for text, p in [("a b c", (0.5, 0.6, 0.7)), ("d", (0.9,)), ("", ())]
    ]
    # An empty translation of a sentence, which is its end token alone, counts as a word.
    ended = Confidence.of_tokens("", 0.0, ["</s>"], "words", numbers(0.01), CALIBRATION)
    score = 0.8 * np.log(0.01 / 0.99) + 0.3
    assert ended.calibrated_probability == pytest.approx(1 / (1 + np.exp(-score)))
    both = Confidence.joined([*of_texts, ended])
    shares = [one.calibrated_probability for one in [*of_texts, ended]]
    mean = (3 * shares[0] + shares[1] + shares[3]) / 5
    assert both.calibrated_probability == pytest.approx(mean)
    words = of_texts[0].calibrated_probabilities
    assert shares[0] == pytest.approx(words.mean()) and words.min() < shares[0] < words.max()
    assert shares[2] == 1.0 and len(both.calibrated_probabilities) == 4


def test_all_translations_of_the_beam(make_pointer_model):
    model = make_pointer_model(seed=56)
    options = {**OPTIONS, "length_penalty": 0.0, "min_length": 3}
    found = model.n_best_confidence(TEXTS, **options)
    ranked = model.n_best(TEXTS, **options)
    assert [[one.text for one in row] for row in found] == [[t for t, _ in row] for row in ranked]
    assert max(map(len, found)) == 3 and min(map(len, found)) == 1
    for row, pairs, best in zip(found, ranked, model.confidence(TEXTS, **options), strict=True):
        equal(row[0], best)
        for one, (_, score) in zip(row, pairs, strict=True):
            assert one.score == pytest.approx(score, abs=1e-5)
            assert one.log_probability == pytest.approx(score, abs=1e-4)
            assert one.words == one.text.split()
    model.calibration = CALIBRATION
    for one in model.n_best_confidence(TEXTS[0], **options):
        logits = np.log(one.probabilities) - np.log1p(-one.probabilities)
        expected = 1 / (1 + np.exp(-(0.8 * logits + 0.3)))
        np.testing.assert_allclose(one.calibrated_probabilities, expected, atol=1e-6)


def test_calibration_changes_no_probability(word_model, make_translator_model):
    model = make_translator_model()
    model.calibration = CALIBRATION
    one, plain = (m.confidence("two dogs", **OPTIONS) for m in (model, word_model))
    equal(one, plain)
    logits = np.log(one.probabilities) - np.log1p(-one.probabilities)
    expected = 1 / (1 + np.exp(-(0.8 * logits + 0.3)))
    np.testing.assert_allclose(one.calibrated_probabilities, expected)
    assert one.calibrated_probability == pytest.approx(expected.mean())
    assert one.of_words is one.calibrated_probabilities
    document = one.document()
    assert document["calibrated_probability"] == pytest.approx(one.of_text, abs=1e-6)
    assert [word["word"] for word in document["words"]] == one.words
    assert plain.document().keys() | {"calibrated_probability"} == document.keys()
    model.calibration = None
    assert "calibration" not in model._searcher(OPTIONS).description


def test_a_model_keeps_its_calibration(make_translator_model, tmp_path):
    model = make_translator_model()
    sources, few = ["two dogs run .", "a man reads .", "dog"], {"beam_size": 1, "max_length": 4}
    references = [*model.translate(sources[:1], **few), "c d", "ed"]
    before = model.confidence(sources, **few)
    found = model.calibrate(sources, references, **few)
    assert found == Calibration.fit(before, references) == model.calibration
    expected = model.confidence("two dogs", **few)
    assert expected.calibrated_probability is not None
    model.save(tmp_path / "model.keras")
    model.save_to_preset(tmp_path / "preset", weights="float32")
    for loaded in (load_model(tmp_path / "model.keras"), from_preset(tmp_path / "preset")):
        assert loaded.calibration == found
        one = loaded.confidence("two dogs", **few)
        equal(one, expected)
        assert one.calibrated_probability == pytest.approx(expected.calibrated_probability)
    assert Ensemble([model, model]).calibration is None
    with pytest.raises(ValueError, match="as many references as sources"):
        model.calibrate(sources, references[:2], **few)
    with pytest.raises(ValueError, match="right and wrong words"):
        model.calibrate([""], ["a"], **few)


def test_older_exports_have_numbers_of_whole_translations_too():
    outputs = {
        "translation": np.array([b"a"]),
        "score": np.array([-1.0]),
        "target_tokens": np.array([[b"a", b"</s>"]]),
        **{name: values[None] for name, values in numbers(0.5, 0.9).items()},
        "calibration": np.array([[0.8, 0.3, 0.5, -0.2, 0.1, 40]]),
    }
    (found,) = Confidence.of_batch(outputs, "words")
    # The logit of 0.5 is 0.
    assert found.calibrated_probability == pytest.approx(1 / (1 + np.exp(-0.3)))


def test_models_without_probabilities():
    plain = SimpleNamespace(signatures={}, fields=("text",), description={}, source_lengths=None)
    with pytest.raises(ValueError, match="gives probabilities of tokens"):
        Translator(plain).confidence(["a"])


def test_unknown_words_that_are_replaced():
    model = make("bahdanau_gru", seed=50)
    plain = Translator(task_of(model, **OPTIONS)).confidence(["zeb runs . zeb"])[0]
    (found,) = Translator(task_of(model, replace_unknown=True, **OPTIONS)).confidence(
        ["zeb runs . zeb"]
    )
    assert found.words == found.text.split() and len(found.words) == len(plain.words)
    np.testing.assert_allclose(found.probabilities, plain.probabilities, rtol=1e-5)
