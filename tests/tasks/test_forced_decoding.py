from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf

from kerasnmt.tasks import TranslationTask, Translator, task_of
from kerasnmt.text import WordTokenizer

pytestmark = pytest.mark.usefixtures("eagerly")
models = pytest.mark.parametrize(
    "name",
    [
        "pointer_generator_gru",
        pytest.param("pointer_network_lstm", marks=pytest.mark.thorough("another model shows it")),
    ],
)

# The vocabulary's 13 ids end with "." as 12: unknown words of a source have 13, 14, …
SOURCES = ["Zoë reads two Bücher", "dog"]
TARGETS = ["Bücher reads Zeitung dog", ". Bücher"]
SOURCE_IDS = [[1, 11, 7, 1, 3], [5, 3]]
EXTENDED_SOURCE_IDS = [[13, 11, 7, 14, 3], [5, 3]]
TARGET_IDS = [[2, 1, 11, 1, 5], [2, 12, 1]]
SOURCE_TOKENS = [["Zoë", "reads", "two", "Bücher", "</s>"], ["dog", "</s>"]]
TARGET_TOKENS = [["Bücher", "reads", "<unk>", "dog", "</s>"], [".", "<unk>", "</s>"]]


@pytest.mark.parametrize(
    "batch_size", [1, pytest.param(64, marks=pytest.mark.thorough("another batch size"))]
)
def test_a_model_that_copies_is_fed_extended_ids(make_pointer_model, batch_size):
    tokenizer = make_pointer_model().source_tokenizer

    def attend(inputs):
        """Return weights 100 extended_source_ids + target_ids, which show the inputs."""
        fed = {name: tf.cast(ids, "float32") for name, ids in inputs.items()}
        extended, target = fed["extended_source_ids"], fed["target_ids"]
        weights = 100 * extended[:, None] + target[:, :, None]
        of_source = tf.reduce_sum(fed["source_ids"], axis=1, keepdims=True)
        return {"weights": weights, "generate_probability": of_source + target}

    model = SimpleNamespace(
        name="told",
        copies=True,
        has_attention=True,
        reads_context=False,
        source_tokenizer=tokenizer,
        target_tokenizer=tokenizer,
        attend=attend,
        search=None,
        calibration=None,
        weights=[],
    )
    found = Translator(TranslationTask(model)).forced_attention(
        SOURCES, TARGETS, batch_size=batch_size
    )
    for row, one in enumerate(found):
        assert one.source_tokens == SOURCE_TOKENS[row]
        assert one.target_tokens == TARGET_TOKENS[row]
        source, target = np.array(EXTENDED_SOURCE_IDS[row]), np.array(TARGET_IDS[row])
        np.testing.assert_array_equal(one.weights, 100 * source + target[:, None])
        np.testing.assert_array_equal(one.generate_probability, sum(SOURCE_IDS[row]) + target)


@models
def test_records_match_the_model(make_pointer_model, name):
    model = make_pointer_model(name)
    found = Translator(task_of(model)).forced_attention(SOURCES, TARGETS)
    for row, one in enumerate(found):
        ids = {
            "source_ids": SOURCE_IDS[row],
            "extended_source_ids": EXTENDED_SOURCE_IDS[row],
            "target_ids": TARGET_IDS[row],
        }
        records = model.attend({name: np.array([row], "int32") for name, row in ids.items()})
        assert one.weights.shape == (len(TARGET_IDS[row]), len(SOURCE_IDS[row]))
        np.testing.assert_allclose(one.weights, records["weights"][0], atol=1e-5)
        if name == "pointer_network_lstm":
            assert one.generate_probability is None
            continue
        assert one.generate_probability.dtype == np.float32
        np.testing.assert_allclose(
            one.generate_probability, records["generate_probability"][0], atol=1e-5
        )
        assert 0 < one.generate_probability.min() < one.generate_probability.max() < 1


def test_a_model_that_does_not_copy(make_translator_model):
    model = make_translator_model(source=WordTokenizer(["two", "dogs"]))
    (one,) = Translator(task_of(model)).forced_attention(["two cats dogs"], ["ab-"])
    assert one.source_tokens == ["two", "<unk>", "dogs", "</s>"]
    assert one.target_tokens == ["a", "b", "<unk>", "</s>"]
    assert one.generate_probability is None
    inputs = {"source_ids": np.array([[4, 1, 5, 3]]), "target_ids": np.array([[2, 4, 5, 1]])}
    np.testing.assert_allclose(one.weights, model.attend(inputs)["weights"][0], atol=1e-5)


@pytest.mark.parametrize(
    ("sources", "targets", "options", "message"),
    [
        ("dog", ["dog"], {}, "Expected one string of targets, because sources is one string"),
        (["dog"], [], {}, "Received: 1 sources, 0 targets"),
        (["dog"], ["dog"], {"batch_size": 0}, "Received: batch_size=0"),
    ],
)
def test_wrong_arguments(word_model, sources, targets, options, message):
    with pytest.raises(ValueError, match=message):
        Translator(task_of(word_model)).forced_attention(sources, targets, **options)


def test_score_is_the_sum_over_the_target(word_model):
    sources, targets = ["two dogs run .", "cat", ""], ["abc d", "", "e"]
    found = word_model.score(sources, targets)
    for source, target, score in zip(sources, targets, found, strict=True):
        ids = word_model.source_tokenizer.tokenize([source]).to_list()[0]
        target_ids = [*word_model.target_tokenizer.tokenize([target]).to_list()[0], 3]
        logits = word_model(
            {
                "source_ids": np.array([[*ids, 3]], "int32"),
                "target_ids": np.array([[2, *target_ids[:-1]]], "int32"),
            }
        )
        log_probabilities = tf.nn.log_softmax(logits[0]).numpy()
        expected = sum(log_probabilities[i, token] for i, token in enumerate(target_ids))
        assert score == pytest.approx(expected, abs=1e-4)
    assert word_model.score(sources, targets, batch_size=1) == pytest.approx(found, abs=1e-4)


@models
def test_score_of_words_outside_the_vocabulary(make_pointer_model, name):
    model = make_pointer_model(name)
    inputs = {
        "source_ids": np.array(SOURCE_IDS[:1], "int32"),
        "extended_source_ids": np.array(EXTENDED_SOURCE_IDS[:1], "int32"),
        "target_ids": np.array([[2, 1, 7]], "int32"),
    }
    targets = np.array([[14, 7, 3]], "int32")
    expected = np.sum(model.token_log_probability(inputs, targets))
    (score,) = model.score(SOURCES[:1], ["Bücher two"])
    assert score == pytest.approx(expected, abs=1e-4)
    assert -40 < score < 0
    if name == "pointer_network_lstm":  # of the words of another source it knows nothing
        assert model.score(["dog"], ["man"])[0] < -60
