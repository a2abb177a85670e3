"""A Keras layer as the recurrent cell of a decoder."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from kerasnmt import layers, zoo
from kerasnmt.models import Seq2Seq
from tests.numerics import fill

UNITS = 4
SOURCE = np.array([[5, 6, 7, 3], [4, 3, 0, 0]], "int32")
TARGET_IDS = np.array([[2, 5, 4, 6, 7], [2, 7, 0, 0, 0]], "int32")
TARGETS = np.array([[5, 4, 6, 7, 3], [7, 3, 0, 0, 0]], "int32")
INPUTS = {"source_ids": SOURCE, "target_ids": TARGET_IDS}


def attention():
    return layers.Attention(layers.GeneralScore(UNITS))


CELLS = {
    "luong": lambda cell: layers.LuongDecoderCell(cell, attention()),
    "first state": layers.FirstStateDecoderCell,
    # This runs step by step with any cell.
    "bahdanau": lambda cell: layers.BahdanauDecoderCell(cell, attention()),
}


def fused():
    return layers.FusedCell(keras.layers.LSTM(UNITS, return_sequences=True))


def make(cell, decoder_cell="luong"):
    model = Seq2Seq(
        encoder=layers.RecurrentEncoder(
            keras.layers.Embedding(8, 3), [layers.ForwardLayer(layers.GRUCell(UNITS))]
        ),
        bridge=layers.DenseBridge(cell.state_size),
        decoder=layers.RecurrentDecoder(
            keras.layers.Embedding(8, 3),
            CELLS[decoder_cell](cell),
            layers.AttentionalReadout(5),
            layers.VocabularyProjection(8),
        ),
    )
    return fill(model, seed=1, scale=0.8)


@pytest.mark.parametrize(
    "decoder_cell",
    [
        "luong",
        pytest.param("first state", marks=pytest.mark.thorough("another decoder cell shows it")),
    ],
)
def test_the_layer_itself_runs_over_a_target(decoder_cell):
    decoder = make(fused(), decoder_cell).decoder
    assert decoder.loop is decoder.cell.cell.layer
    assert isinstance(decoder.loop, keras.layers.LSTM)
    assert not isinstance(make(fused(), "bahdanau").decoder.loop, keras.layers.LSTM)


def test_equals_our_own_cell():
    theirs, ours = make(fused()), make(layers.LSTMCell(UNITS))
    layer, cell = theirs.decoder.cell.cell.layer, ours.decoder.cell
    kernel, recurrent, bias = layer.get_weights()
    project, project_bias = theirs.decoder.cell.input_projection.get_weights()
    for part in ("encoder", "bridge"):
        getattr(ours, part).set_weights(getattr(theirs, part).get_weights())
    for part in ("embedding", "readout", "generator"):
        getattr(ours.decoder, part).set_weights(getattr(theirs.decoder, part).get_weights())
    cell.attention.set_weights(theirs.decoder.cell.attention.get_weights())
    # The two linear layers are one; ours adds 1 to the forget gate by itself.
    bias = project_bias @ kernel + bias
    bias[UNITS : 2 * UNITS] -= 1.0
    cell.input_projection.set_weights([project @ kernel, bias])
    cell.cell.set_weights([recurrent])
    np.testing.assert_allclose(ours(INPUTS), theirs(INPUTS), atol=1e-5)


@pytest.mark.thorough("trains; tests/zoo trains other models, and saves this cell")
def test_learns_and_saves(tmp_path):
    model = make(fused())
    model.compile(keras.optimizers.Adam(0.02), run_eagerly=True)
    losses = model.fit(INPUTS, TARGETS, epochs=4, verbose=0).history["loss"]
    assert losses[-1] < losses[0]
    model.save(tmp_path / "model.keras")
    copy = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(copy(INPUTS), model(INPUTS))
    assert copy.decoder.loop is copy.decoder.cell.cell.layer


@pytest.mark.graph
@pytest.mark.parametrize(
    "fused",
    [True, pytest.param(False, marks=pytest.mark.thorough("a cell that is no layer of Keras"))],
)
def test_where_there_is_a_gpu_the_full_pass_is_cudnns(fused, monkeypatch):
    """Check only the graphs that TensorFlow traces if it reports a GPU."""
    devices = tf.config.list_logical_devices
    monkeypatch.setattr(
        tf.config,
        "list_logical_devices",
        lambda kind=None: ["GPU:0"] if kind == "GPU" else devices(kind),
    )
    model = zoo.luong_general_lstm(8, units=4, embedding_dim=3, fused=fused)
    ids = tf.TensorSpec((None, None), tf.int32)

    def cudnn(function, *inputs):
        graph = tf.function(function, autograph=False).get_concrete_function(*inputs).graph
        definition = graph.as_graph_def()
        nodes = [*definition.node]
        for inner in definition.library.function:
            nodes += inner.node_def
        return {node.op for node in nodes if "Cudnn" in node.op}

    def gradients(inputs):
        with tf.GradientTape() as tape:
            total = tf.reduce_sum(model(inputs, training=True))
        return tape.gradient(total, [weight.value for weight in model.trainable_weights])

    expected = {"CudnnRNNV3", "CudnnRNNBackpropV3"} if fused else set()
    assert cudnn(gradients, {"source_ids": ids, "target_ids": ids}) == expected
    # Exports run on any machine.
    assert cudnn(lambda source: model.search(source, max_length=5).ids, ids) == set()


@pytest.mark.parametrize(
    "name",
    [
        "luong_dot_lstm",
        pytest.param("luong_general_gru", marks=pytest.mark.thorough("another cell shows it")),
    ],
)
def test_zoo(name):
    model = zoo.get_model(name)(8, units=4, embedding_dim=3, fused=True)
    assert isinstance(model.decoder.loop, keras.layers.LSTM | keras.layers.GRU)
    plain = zoo.get_model(name)(8, units=4, embedding_dim=3)
    # The layer's kernel, units by its gates, in place of gates straight from the embeddings; an
    # The LSTM of Keras has one bias. The GRU of Keras has two, and ours has one.
    gates = 16 if name.endswith("lstm") else 12
    more = (3 * 4 + 4 + 4 * gates + gates) - (3 * gates + gates)
    assert model.count_params() - plain.count_params() == more
    for options in ({"input_feeding": True}, {"num_layers": 2}):
        with pytest.raises(ValueError, match=r"Expected fused=False with input feeding or with"):
            zoo.get_model(name)(8, units=4, embedding_dim=3, fused=True, **options)
