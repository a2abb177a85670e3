"""Show, attend and tell, compared with its equations in NumPy.

`tests/zoo/test_every_model.py` tests the common properties of models.
"""

import keras
import numpy as np
import pytest
import tensorflow as tf

from kerasnmt import layers, zoo
from kerasnmt.models import CaptionModel, Seq2Seq
from kerasnmt.serving.contract.caption_contract import CaptionContract
from kerasnmt.tasks import task_of
from kerasnmt.text import WordTokenizer
from kerasnmt.zoo import show_attend_tell_lstm
from tests.numerics import additive, fill, log_softmax, lstm, sigmoid, softmax

SIZES = {"image_size": 8, "filters": (3, 4), "embedding_dim": 6, "units": 5, "dropout": 0.0}
IMAGES = np.random.default_rng(2).integers(0, 256, (3, 8, 8, 3), "uint8")
TARGETS = np.array([[12, 5, 7, 3], [4, 3, 0, 0], [9, 11, 3, 0]], "int32")
TARGET_IDS = np.where(TARGETS, np.pad(TARGETS, ((0, 0), (1, 0)), constant_values=2)[:, :4], 0)
INPUTS = {"images": IMAGES, "target_ids": TARGET_IDS}


def make(target=13, **options):
    return fill(show_attend_tell_lstm(target, **{**SIZES, **options}), scale=0.7)


def by_hand(model, row):
    """Compute logits and attention weights of one caption, by the equations of the paper."""
    encoder, decoder = model.encoder, model.decoder
    regions = np.array(encoder.backbone(IMAGES[row : row + 1].astype("float32")))
    a = regions.reshape(-1, 4) + np.array(encoder.positions.embeddings)
    # The layers f_init,h and f_init,c.
    first = (projection.get_weights() for projection in model.bridge.projections)
    states = [np.tanh(a.mean(axis=0) @ w + b) for w, b in first]
    w_gate, b_gate = decoder.cell.gate.get_weights()
    w_input, b_input = decoder.cell.input_projection.get_weights()
    (w_context,) = decoder.cell.context_projection.get_weights()
    l_h, l_z = decoder.readout.get_weights()
    l_o, bias = decoder.generator.get_weights()
    words = np.array(decoder.embedding.embeddings)
    logits, weights = [], []
    for word in TARGET_IDS[row]:
        h, _ = states
        alpha = softmax(additive(decoder.cell.attention.score, h, a))
        z = sigmoid(h @ w_gate + b_gate) * (alpha @ a)
        x = words[word] @ w_input + b_input + z @ w_context
        h, states = lstm(x, states, *decoder.cell.cell.get_weights())
        logits.append((words[word] + h @ l_h + z @ l_z) @ l_o + bias)
        weights.append(alpha)
    return np.array(logits), np.array(weights)


def test_equations_of_the_paper():
    model = make(doubly_stochastic=0.5)
    logits, records = model(INPUTS), model.attend(INPUTS)
    assert model.encoder.grid == (2, 2) and records["weights"].shape == (3, 4, 4)
    expected = [by_hand(model, row) for row in range(3)]
    for row, (by_row, weights) in enumerate(expected):
        real = TARGETS[row] != 0
        np.testing.assert_allclose(logits[row][real], by_row[real], atol=1e-4)
        np.testing.assert_allclose(records["weights"][row][real], weights[real], atol=1e-5)
    # -log p of each word and lambda sum_i (1 - sum_t alpha_i)^2 of each caption, over the words.
    model.compile(label_smoothing=0.0)
    total = 0.0
    for row, (by_row, weights) in enumerate(expected):
        real = TARGETS[row] != 0
        total -= log_softmax(by_row)[real, TARGETS[row][real]].sum()
        total += 0.5 * ((1 - weights[real].sum(axis=0)) ** 2).sum()
    loss = model.compute_loss(INPUTS, TARGETS, model(INPUTS))
    np.testing.assert_allclose(loss, total / np.count_nonzero(TARGETS), rtol=1e-4)


def test_shapes_of_weights():
    model = make(doubly_stochastic=0.5)
    assert isinstance(model, CaptionModel)
    # Convolutions, positions; the first states; and of the decoder words, gates, attention, output.
    encoder = (27 + 1) * 3 + (27 + 1) * 4 + 4 * 4
    bridge = 2 * (4 + 1) * 5
    cell = (6 + 1) * 20 + 4 * 20 + 5 * 20 + 5 + 1
    attention = (4 + 1) * 5 + 5 * 5 + 5
    output = (5 + 4) * 6 + (6 + 1) * 13
    assert model.count_params() == encoder + bridge + 13 * 6 + cell + attention + output
    assert make(positions=False).count_params() == model.count_params() - 16


def test_images_of_floats():
    model = make()
    floats = {**INPUTS, "images": IMAGES.astype("float32")}
    np.testing.assert_allclose(model(floats), model(INPUTS), atol=1e-5)


def test_fit_save_load_and_caption(tmp_path):
    tokenizer = WordTokenizer(list("abcdefghi"))
    model = make(tokenizer)
    model.compile(keras.optimizers.Adam(0.02), label_smoothing=0.1, run_eagerly=True)
    history = model.fit(INPUTS, TARGETS, epochs=3, verbose=0).history["loss"]
    assert np.isfinite(history).all() and history[-1] < history[0]
    model.save(tmp_path / "model.keras")
    copy = keras.saving.load_model(tmp_path / "model.keras")
    assert type(copy) is CaptionModel and copy.source_tokenizer is None
    np.testing.assert_array_equal(copy(INPUTS), model(INPUTS))
    options = {"beam_size": 2, "min_length": 3, "max_length": 6}
    found = model.search({"images": IMAGES}, **options)
    expected = [text.decode() for text in tokenizer.detokenize(found.ids[:, 0]).numpy()]
    assert copy.caption(IMAGES, **options) == expected and all(expected)
    # One by one, from files, and next to invalid files.
    files = [tf.io.encode_png(image).numpy() for image in IMAGES]
    assert copy.caption([*files, b"none"], batch_size=1, **options) == [*expected, ""]
    assert copy.caption([], **options) == []
    # For all containers of images.
    for images in (tuple(files), tf.constant(IMAGES), iter(IMAGES)):
        assert copy.caption(images, **options) == expected


def small_backbone():
    images = keras.Input((32, 32, 3))
    return keras.Model(images, keras.layers.Conv2D(4, 32)(keras.layers.Rescaling(0.01)(images)))


def backbone_of_keras_applications():
    # With random weights, because no weights can be downloaded here.
    return keras.applications.MobileNetV3Small(
        input_shape=(32, 32, 3), include_top=False, weights=None, alpha=0.35, minimalistic=True
    )


@pytest.mark.parametrize(
    "make_backbone",
    [
        small_backbone,
        pytest.param(
            backbone_of_keras_applications, marks=pytest.mark.thorough("a small one shows it")
        ),
    ],
)
def test_a_backbone_of_ones_own(make_backbone, tmp_path):
    model = make(backbone=make_backbone())
    assert model.encoder.image_shape == (32, 32, 3) and model.encoder.grid == (1, 1)
    images = np.random.default_rng(0).integers(0, 256, (2, 32, 32, 3), "uint8")
    inputs = {"images": images, "target_ids": TARGET_IDS[:2]}
    model.save(tmp_path / "model.keras")
    copy = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(copy(inputs), model(inputs), atol=1e-5)


def test_what_does_not_fit(tmp_path):
    model = make()
    for verb in ("translate", "score", "align"):  # methods of a model that reads text
        assert not hasattr(model, verb)
    for method in (lambda: model.caption(IMAGES), lambda: model.export(tmp_path / "1")):
        with pytest.raises(
            ValueError,
            match=r"Expected a model with tokenizers for text\..* arrays to model\.search",
        ):
            method()
    with pytest.raises(ValueError, match=r"Received: image_size=10, filters=\(3, 4\)"):
        make(image_size=10)
    of_any_size = keras.Sequential([keras.Input((None, None, 3)), keras.layers.Conv2D(4, 3)])
    pooled = keras.Sequential([keras.Input((8, 8, 3)), keras.layers.GlobalAveragePooling2D()])
    for backbone in (of_any_size, pooled):
        with pytest.raises(ValueError, match=r"with known sizes except the batch\. Received: "):
            make(backbone=backbone)
    with pytest.raises(ValueError, match=r"Expected loss_weight >= 0"):
        make(doubly_stochastic=-1.0)
    with pytest.raises(ValueError, match=r"Expected images of shape \(batch, 8, 8, 3\)"):
        model({**INPUTS, "images": IMAGES[:, :4]})
    with pytest.raises(
        ValueError, match=r"uint8 array \[height, width, channels\]\. Received: nda"
    ):
        make(WordTokenizer(["a"])).caption(IMAGES.astype("float32"), max_length=3)
    for images in (None, b"png", "image.png", 7):
        with pytest.raises(ValueError, match=r"Expected a list of images\. Received: images="):
            make(WordTokenizer(["a"])).caption(images, max_length=3)
    copying = zoo.pointer_generator_gru(13, embedding_dim=6, units=5).decoder
    with pytest.raises(ValueError, match=r"that does not copy, because an image has no words"):
        CaptionModel(model.encoder, model.bridge, copying)


@pytest.mark.usefixtures("eagerly")
def test_a_decoder_without_attention():
    plain, cell = make(WordTokenizer(["a", "b"])), layers.LSTMCell(5, name="cell")
    decoder = layers.RecurrentDecoder(
        keras.layers.Embedding(6, 4),
        layers.FirstStateDecoderCell(cell),
        layers.StateReadout(),
        layers.VocabularyProjection(6),
    )
    bridge = layers.DenseBridge(cell.state_size)
    task = task_of(CaptionModel(plain.encoder, bridge, decoder, plain.target_tokenizer))
    assert [*task.exported] == ["serving_default"]
    assert CaptionContract().signature_problems({}) == ["no signature 'serving_default'"]
    with pytest.raises(ValueError, match=r"Expected a model for prefixes\. Received: a prefix for"):
        task.progress({"image": b"", "prefix": "a"})


def test_it_is_not_among_those_that_translate():
    with pytest.raises(ValueError, match=r"name of a Seq2Seq, .*, a CaptionModel\.$"):
        zoo.get_model("show_attend_tell_lstm", Seq2Seq)
