from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from kerasnmt import viz
from kerasnmt.data import batches
from kerasnmt.text import WordTokenizer
from kerasnmt.training import AttentionImages
from kerasnmt.zoo import pointer_generator_gru

PAIRS = [("two dogs run", "zwei hunde laufen hier"), ("dogs run", "hunde laufen"), ("run", "lauft")]


@pytest.fixture
def model():
    tokenizer = WordTokenizer.train(PAIRS, 12)

    def attend(inputs):
        """Return weights that identify their places: row t, column i has t + i / 100."""
        (batch, rows), columns = inputs["target_ids"].shape, inputs["source_ids"].shape[1]
        weights = np.arange(rows)[:, None] + np.arange(columns) / 100
        return {"weights": tf.constant(np.stack([weights] * batch), "float32")}

    return SimpleNamespace(source_tokenizer=tokenizer, target_tokenizer=tokenizer, attend=attend)


@pytest.fixture
def callback(model, tmp_path):
    pairs = tf.data.Dataset.from_tensor_slices(tuple(map(list, zip(*PAIRS, strict=True))))
    dataset = batches(pairs, model.source_tokenizer, shuffle=False)
    callback = AttentionImages(tmp_path, dataset, sentences=2)
    callback.set_model(model)
    return callback


def test_labels_and_weights_without_padding(callback, monkeypatch):
    drawn = []

    def attention_figure(weights, source, target, title, *, generate_probability, coverage):
        assert generate_probability is None
        np.testing.assert_allclose(coverage, weights.sum(axis=0))
        drawn.append((weights, source, target, title))
        return draw(weights / 10, source, target, title)

    draw = viz.attention_figure
    monkeypatch.setattr(viz, "attention_figure", attention_figure)
    callback.on_train_begin()
    callback.on_epoch_end(4)
    callback.on_train_end()
    weights, source, target, title = drawn[0]
    assert source == ["two", "dogs", "run", "</s>"]
    assert target == ["zwei", "hunde", "laufen", "hier", "</s>"]
    assert title == "epoch 5"
    np.testing.assert_allclose(weights, np.arange(5)[:, None] + np.arange(4) / 100, rtol=1e-6)
    assert drawn[1][1:3] == (["dogs", "run", "</s>"], ["hunde", "laufen", "</s>"])
    assert len(drawn) == 2


@pytest.mark.thorough("draws another model")
def test_pointer_generator(tmp_path, monkeypatch):
    drawn = []

    def attention_figure(weights, source, target, title, *, generate_probability, coverage):
        drawn.append((weights, source, target, generate_probability, coverage))
        return draw(weights, source, target, title, generate_probability=generate_probability)

    draw = viz.attention_figure
    monkeypatch.setattr(viz, "attention_figure", attention_figure)
    tokenizer = WordTokenizer(["dogs", "run"])  # ids 4 and 5
    model = pointer_generator_gru(tokenizer, embedding_dim=6, units=5)
    pairs = [("two dogs run", "two two run or walk"), ("dogs", "run")]
    dataset = batches(pairs, tokenizer, shuffle=False, extended_vocabulary=True)
    callback = AttentionImages(tmp_path, dataset, sentences=2)
    callback.set_model(model)
    callback.on_train_begin()
    callback.on_epoch_end(0)
    callback.on_train_end()
    weights, source, target, probability, coverage = drawn[0]
    assert source == ["<unk>", "dogs", "run", "</s>"]
    assert target == ["<unk>", "<unk>", "run", "<unk>", "<unk>", "</s>"]
    fed = {"source_ids": [[1, 4, 5, 3]], "target_ids": [[2, 1, 1, 5, 1, 1]]}
    records = model.attend({name: np.array(ids) for name, ids in fed.items()})
    np.testing.assert_allclose(weights, records["weights"][0], atol=1e-6)
    np.testing.assert_allclose(probability, records["generate_probability"][0], atol=1e-6)
    np.testing.assert_allclose(coverage, np.sum(records["weights"][0], axis=0), atol=1e-6)
    assert [one[3].shape for one in drawn] == [(6,), (2,)]


def test_tensorboard_finds_a_picture_of_each_sentence_and_epoch(callback, tmp_path):
    callback.on_train_begin()
    for epoch in range(2):
        callback.on_epoch_end(epoch)
    callback.on_train_end()
    events = EventAccumulator(str(tmp_path / "attention")).Reload()
    assert events.Tags()["tensors"] == ["attention/1", "attention/2"]
    pictures = events.Tensors("attention/1")
    assert [event.step for event in pictures] == [0, 1]
    width, height, encoded = pictures[0].tensor_proto.string_val[:3]
    image = tf.io.decode_png(encoded)
    assert image.shape[:2] == (int(height), int(width))
    assert image.numpy().std() > 10  # something is drawn
