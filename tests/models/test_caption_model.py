"""Show, attend and tell, compared with its equations in NumPy, and common properties of models."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec

import keras
import numpy as np
import pytest
import tensorflow as tf

from kerasnmt import zoo
from kerasnmt.models import CaptionModel, Seq2Seq
from kerasnmt.text import WordTokenizer
from kerasnmt.zoo import show_attend_tell_lstm

SIZES = {"image_size": 8, "filters": (3, 4), "embedding_dim": 6, "units": 5, "dropout": 0.0}
IMAGES = np.random.default_rng(2).integers(0, 256, (3, 8, 8, 3), "uint8")
TARGETS = np.array([[12, 5, 7, 3], [4, 3, 0, 0], [9, 11, 3, 0]], "int32")
TARGET_IDS = np.where(TARGETS, np.pad(TARGETS, ((0, 0), (1, 0)), constant_values=2)[:, :4], 0)
INPUTS = {"images": IMAGES, "target_ids": TARGET_IDS}


def make(target=13, seed=0, **options):
    model = show_attend_tell_lstm(target, **{**SIZES, **options})
    rng = np.random.default_rng(seed)
    model.set_weights([0.7 * rng.normal(size=weight.shape) for weight in model.get_weights()])
    return model


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def log_softmax(x):
    x = x - x.max(axis=-1, keepdims=True)
    return x - np.log(np.exp(x).sum(axis=-1, keepdims=True))


def by_hand(model, row):
    """Compute logits and attention weights of one caption, by the equations of the paper."""
    encoder, decoder = model.encoder, model.decoder
    regions = np.array(encoder.backbone(IMAGES[row : row + 1].astype("float32")))
    a = regions.reshape(-1, 4) + np.array(encoder.positions.embeddings)
    h, c = (np.tanh(a.mean(axis=0) @ w + b) for w, b in (p.get_weights() for p in states_of(model)))
    score = decoder.cell.attention.score
    w_memory, b_memory = score.memory_projection.get_weights()
    (w_query,) = score.query_projection.get_weights()
    energy = np.array(score.energy)[:, 0]
    w_gate, b_gate = decoder.cell.gate.get_weights()
    w_input, b_input = decoder.cell.input_projection.get_weights()
    (w_context,) = decoder.cell.context_projection.get_weights()
    (w_state,) = decoder.cell.cell.get_weights()
    l_h, l_z = decoder.readout.get_weights()
    l_o, bias = decoder.generator.get_weights()
    words = np.array(decoder.embedding.embeddings)
    logits, weights = [], []
    for word in TARGET_IDS[row]:
        e = np.tanh(a @ w_memory + b_memory + h @ w_query) @ energy
        alpha = np.exp(e) / np.exp(e).sum()
        z = sigmoid(h @ w_gate + b_gate) * (alpha @ a)
        i, f, g, o = np.split(words[word] @ w_input + b_input + z @ w_context + h @ w_state, 4)
        c = sigmoid(f + 1) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        logits.append((words[word] + h @ l_h + z @ l_z) @ l_o + bias)
        weights.append(alpha)
    return np.array(logits), np.array(weights)


def states_of(model):
    """Compute the layers f_init,h and f_init,c."""
    return model.bridge.projections


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


RUNS = [
    pytest.param(lambda function: function, id="eager"),
    *(
        pytest.param(
            lambda function, compiled=compiled: tf.function(
                function, jit_compile=compiled, autograph=False
            ),
            id="xla" if compiled else "graph",
            marks=[pytest.mark.graph, pytest.mark.thorough("other models show the graph")],
        )
        for compiled in (False, True)
    ),
]


@pytest.mark.parametrize("run", RUNS)
def test_steps_equal_the_full_pass(run):
    model = make()
    inputs = {name: tf.constant(value) for name, value in INPUTS.items()}
    expected = tf.nn.log_softmax(run(model)(inputs))
    weights = run(model.attend)(inputs)["weights"]
    states, memory = run(model.encode)(inputs)
    states = keras.tree.map_structure(lambda state: state[:, None], states)
    step = run(model.step)
    for t in range(4):
        received, records, states = step(inputs["target_ids"][:, t : t + 1], states, memory)
        np.testing.assert_allclose(received[:, 0], expected[:, t], atol=1e-5)
        np.testing.assert_allclose(records["weights"][:, 0], weights[:, t], atol=1e-5)


def test_padding_and_neighbours_change_nothing():
    model = make(doubly_stochastic=0.3)
    model.compile(label_smoothing=0.1)
    expected = np.array(model(INPUTS))
    longer = {**INPUTS, "target_ids": np.pad(TARGET_IDS, ((0, 0), (0, 3)))}
    received = np.array(model(longer))
    np.testing.assert_allclose(received[:, :4][TARGETS != 0], expected[TARGETS != 0], atol=1e-5)
    losses = [
        model.compute_loss(inputs, targets, model(inputs))
        for inputs, targets in ((INPUTS, TARGETS), (longer, np.pad(TARGETS, ((0, 0), (0, 3)))))
    ]
    np.testing.assert_allclose(losses[1], losses[0], rtol=1e-5)
    for row in range(3):
        alone = {name: value[row : row + 1] for name, value in INPUTS.items()}
        np.testing.assert_allclose(model(alone)[0], expected[row], atol=1e-5)
    floats = {**INPUTS, "images": IMAGES.astype("float32")}
    np.testing.assert_allclose(model(floats), expected, atol=1e-5)


@pytest.mark.parametrize("options", [{"beam_size": 3, "n_best": 2}, {"samples": 2, "seed": 4}])
def test_search_in_a_batch_equals_search_alone(options):
    model = make()
    options = {**options, "max_length": 5, "with_records": True}
    together = model.search({"images": IMAGES}, **options)
    assert together.records["weights"].shape[2:] == (5, 4)
    for row in range(3):
        alone = model.search({"images": IMAGES[row : row + 1]}, **options)
        np.testing.assert_array_equal(alone.ids[0], together.ids[row])
        np.testing.assert_allclose(alone.scores[0], together.scores[row], atol=1e-4)
    # The score is the log-probability of a whole pass.
    ids = np.array(together.ids[:, 0])
    target_ids = np.where(ids, np.pad(ids, ((0, 0), (1, 0)), constant_values=2)[:, :5], 0)
    inputs = {"images": IMAGES, "target_ids": target_ids}
    chosen = np.array(model.token_log_probability(inputs, ids))
    lengths = np.count_nonzero(ids, axis=1)
    scores = np.where(ids, chosen, 0).sum(axis=1) / ((5 + lengths) / 6) ** 0.6
    np.testing.assert_allclose(scores, together.scores[:, 0], atol=1e-4)


def test_every_weight_learns():
    model = make(doubly_stochastic=0.1)
    model.compile()
    with tf.GradientTape() as tape:
        loss = model.compute_loss(INPUTS, TARGETS, model(INPUTS, training=True))
    gradients = tape.gradient(loss, [weight.value for weight in model.trainable_weights])
    for weight, gradient in zip(model.trainable_weights, gradients, strict=True):
        gradient = tf.convert_to_tensor(gradient).numpy()
        assert np.isfinite(gradient).all() and np.abs(gradient).max() > 1e-8, weight.path


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


def test_it_is_not_among_those_that_translate():
    with pytest.raises(ValueError, match=r"name of a Seq2Seq, .*, a CaptionModel\.$"):
        zoo.get_model("show_attend_tell_lstm", Seq2Seq)


SCRIPT = """
import json
import sys

for name in ("tensorflow", "tensorflow_text", "tf_keras"):
    sys.modules[name] = None
import numpy as np

from kerasnmt.zoo import show_attend_tell_lstm

given = dict(np.load(sys.argv[1]))
model = show_attend_tell_lstm(13, doubly_stochastic=0.2, **json.loads(sys.argv[3]))
model.set_weights([given[f"{i}"] for i in range(len(model.weights))])
inputs = {name: given[name] for name in ("images", "target_ids")}
found = model.search({"images": given["images"]}, beam_size=1, max_length=5)
made = {"logits": model(inputs), "weights": model.attend(inputs)["weights"], "ids": found.ids}
made["scores"] = found.scores
model.compile("sgd", label_smoothing=0.1)
made["losses"] = model.fit(inputs, given["targets"], epochs=2, verbose=0).history["loss"]
np.savez(sys.argv[2], **{name: np.asarray(value) for name, value in made.items()})
"""


@pytest.mark.thorough("starts JAX; test_without_tensorflow.py trains on it")
def test_equals_tensorflow_on_jax(tmp_path):
    if find_spec("jax") is None:
        pytest.skip("jax is not installed")
    model = make(doubly_stochastic=0.2)
    weights = {str(i): weight for i, weight in enumerate(model.get_weights())}
    np.savez(tmp_path / "given.npz", **INPUTS, targets=TARGETS, **weights)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, "given.npz", "made.npz", json.dumps(SIZES)],
        cwd=tmp_path,
        env={**os.environ, "KERAS_BACKEND": "jax", "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    made = dict(np.load(tmp_path / "made.npz"))
    np.testing.assert_allclose(made["logits"], model(INPUTS), atol=1e-4)
    np.testing.assert_allclose(made["weights"], model.attend(INPUTS)["weights"], atol=1e-5)
    found = model.search({"images": IMAGES}, beam_size=1, max_length=5)
    np.testing.assert_array_equal(made["ids"], found.ids)
    np.testing.assert_allclose(made["scores"], found.scores, atol=1e-4)
    model.compile("sgd", label_smoothing=0.1)
    losses = model.fit(INPUTS, TARGETS, epochs=2, verbose=0).history["loss"]
    np.testing.assert_allclose(made["losses"], losses, rtol=1e-4)
    assert losses[-1] < losses[0]
