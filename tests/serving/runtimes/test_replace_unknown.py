"""Replacement of unknown words of a translation by the source words to which they attend."""

from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf

from kerasnmt import zoo
from kerasnmt.decoding import Hypotheses
from kerasnmt.serving import Translator, load_export
from kerasnmt.tasks import TranslationTask
from kerasnmt.text import CharacterTokenizer, WordTokenizer

pytestmark = pytest.mark.usefixtures("eagerly")

WORDS = ["is", "ist", "."]
IS, IST, STOP, UNKNOWN, END = 4, 5, 6, 1, 3


def fake_model():
    """Return a model that writes "⁇ ist ⁇ ⁇", with attention to positions 0, 1, 2 and the end."""

    def search(inputs, *, max_length, n_best, with_records, **options):
        batch, length = tf.unstack(tf.shape(inputs["source_ids"]))
        ids = tf.constant([[UNKNOWN, IST, UNKNOWN, UNKNOWN, END] + [0] * (max_length - 5)])
        looks = tf.constant([[0, 1, 2, 99, 99] + [0] * (max_length - 5)])
        at_end = tf.where(looks == 99, length - 1, tf.minimum(looks, length - 1))
        # The end token gets the largest weight of the fourth word, position 1 the next.
        weights = 0.6 * tf.one_hot(at_end, length) + 0.4 * tf.one_hot(tf.ones_like(looks), length)
        tile = (batch, n_best, 1)
        return Hypotheses(
            tf.tile(ids[None], tile),
            tf.zeros((batch, n_best)),
            {"weights": tf.tile(weights[None], (*tile, 1))} if with_records else {},
        )

    tokenizer = WordTokenizer(WORDS)
    return SimpleNamespace(
        name="fake",
        source_tokenizer=tokenizer,
        target_tokenizer=tokenizer,
        weights=[],
        search=search,
        has_attention=True,
        reads_context=False,
        copies=False,
        calibration=None,
    )


OPTIONS = {"beam_size": 2, "max_length": 6}
TEXTS = tf.constant(["Ann is old", "Bob is ill .", ""])


def decoded(strings):
    return [text.decode() for text in strings.numpy().ravel()]


def test_by_default_they_stay():
    module = TranslationTask(fake_model(), **OPTIONS)
    assert decoded(module.signatures["serving_default"](TEXTS)["translation"]) == [
        "⁇ ist ⁇ ⁇"
    ] * 2 + [""]


def test_each_becomes_the_word_it_attends_to():
    module = TranslationTask(fake_model(), replace_unknown=True, **OPTIONS)
    expected = ["Ann ist old is", "Bob ist ill is", ""]
    assert decoded(module.signatures["serving_default"](TEXTS)["translation"]) == expected
    # The fake search finds each twice, of which one stays.
    best_two = [text for best in expected for text in (best, "")]
    assert decoded(module.signatures["n_best"](TEXTS)["translations"]) == best_two
    attended = module.signatures["attention"](TEXTS)
    assert decoded(attended["target_tokens"][0]) == ["Ann", "ist", "old", "is", "</s>"]
    assert decoded(attended["source_tokens"][0]) == ["<unk>", "is", "<unk>", "</s>", ""]
    np.testing.assert_allclose(attended["weights"][0, 0, :2], [0.6, 0.4])
    assert module.description["replace_unknown"] is True


def test_the_dictionary_translates():
    dictionary = {"old": "alt", "is": "sehr alt", "Eve": "Eva"}
    module = TranslationTask(fake_model(), replace_unknown=True, dictionary=dictionary, **OPTIONS)
    expected = ["Ann ist alt sehr alt", "Bob ist ill sehr alt", ""]
    assert decoded(module.signatures["serving_default"](TEXTS)["translation"]) == expected
    # A word that is written as two words counts as two in alignments.
    tokens = decoded(module.signatures["attention"](TEXTS)["target_tokens"][0])
    assert tokens == ["Ann", "ist", "alt", "sehr alt", "</s>"]
    assert module.codec.target_tokenizer.word_indices([*tokens[:4], "."]) == [0, 1, 2, 3, 5]


def test_what_is_not_text_is_served_as_text():
    module = TranslationTask(fake_model(), replace_unknown=True, **OPTIONS)
    odd = tf.constant([b"\xff\xfe is old"])
    assert decoded(module.signatures["serving_default"](odd)["translation"]) == [
        "\ufffd\ufffd ist old is"
    ]
    assert decoded(module.signatures["attention"](odd)["target_tokens"])[0] == "\ufffd\ufffd"


def test_a_cut_source_has_fewer_words():
    module = TranslationTask(fake_model(), replace_unknown=True, beam_size=1, max_length=5)
    long = tf.constant(["Ann is old . Bob is ill"])
    assert decoded(module.signatures["serving_default"](long)["translation"]) == ["Ann ist old is"]


@pytest.mark.thorough("exports once more what the module computes, which the other tests look at")
def test_translate_and_export_agree(tmp_path):
    tokenizer = WordTokenizer(list("abcdefg"))
    model = zoo.bahdanau_gru(tokenizer, units=4, embedding_dim=4)
    model.decoder.generator.bias.assign(np.where(np.arange(11) == UNKNOWN, 9.0, 0.0))
    options = {"beam_size": 2, "max_length": 4, "replace_unknown": True}
    dictionary = {"new": "neu"}
    texts = ["new", "other"]
    assert model.translate(texts, **options) == ["new new new new", "other other other other"]
    translations = model.translate(texts, dictionary=dictionary, **options)
    assert translations == ["neu neu neu neu", "other other other other"]
    model.export(tmp_path / "1", dictionary=dictionary, **options)
    assert Translator(load_export(tmp_path)).translate(texts) == translations


def test_what_does_not_fit():
    tokenizer = WordTokenizer(WORDS)
    for name, why in (
        ("encoder_decoder_gru", "has no attention"),
        ("pointer_generator_gru", "already copies"),
    ):
        with pytest.raises(ValueError, match=rf"attention that does not copy.*{name}.*{why}"):
            zoo.get_model(name)(tokenizer, units=4).translate(["is"], replace_unknown=True)
    for name in ("replace_unknown", "split_sentences"):
        with pytest.raises(ValueError, match=f"Expected True or False as {name}.*{name}='no'"):
            TranslationTask(fake_model(), **{name: "no"})
    with pytest.raises(ValueError, match=r"Expected replace_unknown=True with a dictionary"):
        TranslationTask(fake_model(), dictionary={"a": "b"})
    with pytest.raises(ValueError, match=r"Expected a dictionary .* without empty words"):
        TranslationTask(fake_model(), replace_unknown=True, dictionary={"a": ""})
    model = fake_model()
    model.target_tokenizer = model.source_tokenizer = CharacterTokenizer(["a", "b"])
    with pytest.raises(ValueError, match="tokens that are words, for a dictionary"):
        TranslationTask(model, replace_unknown=True, dictionary={"a": "b"})
    TranslationTask(model, replace_unknown=True)
    model.source_tokenizer = SimpleNamespace(kind="sentencepiece")
    with pytest.raises(ValueError, match="replace_unknown=True with sentencepiece and characters"):
        TranslationTask(model, replace_unknown=True)
