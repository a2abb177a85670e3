"""A Keras layer as the recurrent cell of a decoder."""

import functools

import keras
import numpy as np
import pytest
import tensorflow as tf

from kerasnmt import layers, zoo
from kerasnmt.models import Seq2Seq
from kerasnmt.serving import Translator, load_export
from kerasnmt.text import CharacterTokenizer

UNITS = 4
SOURCE = np.array([[5, 6, 7, 3], [4, 3, 0, 0]], "int32")
TARGET_IDS = np.array([[2, 5, 4, 6, 7], [2, 7, 0, 0, 0]], "int32")
TARGETS = np.array([[5, 4, 6, 7, 3], [7, 3, 0, 0, 0]], "int32")
INPUTS = {"source_ids": SOURCE, "target_ids": TARGET_IDS}
LAYERS = {"lstm": keras.layers.LSTM, "gru": keras.layers.GRU, "simple": keras.layers.SimpleRNN}


def attention():
    return layers.Attention(layers.GeneralScore(UNITS))


CELLS = {
    "luong": lambda cell: layers.LuongDecoderCell(cell, attention()),
    "first state": layers.FirstStateDecoderCell,
    # These run step by step with any cell.
    "bahdanau": lambda cell: layers.BahdanauDecoderCell(cell, attention()),
    "feeding": lambda cell: layers.InputFeedingDecoderCell(cell, attention()),
}


def fused(kind="lstm"):
    return layers.FusedCell(LAYERS[kind](UNITS, return_sequences=True))


def make(cell, decoder_cell="luong", tokenizer=None):
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
        source_tokenizer=tokenizer,
    )
    rng = np.random.default_rng(1)
    model.set_weights([0.8 * rng.normal(size=weight.shape) for weight in model.get_weights()])
    return model


@functools.cache
def shared(kind="lstm", decoder_cell="luong"):
    """A model that tests must not change."""
    return make(fused(kind), decoder_cell)


def run_eagerly(function):
    return function


def run_graph(function):
    return tf.function(function, autograph=False)


def run_xla(function):
    return tf.function(function, autograph=False, jit_compile=True)


def graph_marks(kind, decoder_cell):
    """Return the marks of a test that traces a graph. One decoder cell of each kind is enough."""
    if (kind, decoder_cell) in (("gru", "luong"), ("lstm", "feeding")):
        return [pytest.mark.graph]
    return [pytest.mark.graph, pytest.mark.thorough("another layer or cell shows the graph")]


def eager_marks(kind, decoder_cell):
    """Return the marks of an eager test. Only the LSTM runs with all decoder cells."""
    if kind == "lstm" or (kind, decoder_cell) in FEW:
        return []
    return [pytest.mark.thorough("the LSTM shows this cell, another cell this layer")]


FEW = [("gru", "first state"), ("gru", "feeding"), ("simple", "luong"), ("simple", "bahdanau")]


@pytest.mark.parametrize(
    ("kind", "decoder_cell", "run"),
    [
        *(
            pytest.param(kind, decoder_cell, run_eagerly, marks=eager_marks(kind, decoder_cell))
            for kind in LAYERS
            for decoder_cell in CELLS
        ),
        *(
            pytest.param(kind, decoder_cell, run_graph, marks=graph_marks(kind, decoder_cell))
            for kind in LAYERS
            for decoder_cell in CELLS
        ),
        pytest.param("lstm", "luong", run_xla, marks=pytest.mark.graph),
        pytest.param(
            "gru",
            "first state",
            run_xla,
            marks=[pytest.mark.graph, pytest.mark.thorough("XLA compiles the LSTM as well")],
        ),
    ],
)
def test_steps_equal_the_full_pass(kind, decoder_cell, run):
    model = shared(kind, decoder_cell)
    inputs = {key: tf.constant(value) for key, value in INPUTS.items()}
    expected = tf.nn.log_softmax(run(model)(inputs))
    states, memory = model.encode(inputs)
    # Two hypotheses, the second always one word behind.
    states = keras.tree.map_structure(lambda state: tf.stack([state, state], 1), states)
    step = run(model.step)
    for t, ids in enumerate(TARGET_IDS.T):
        received, _, states = step(tf.constant(np.stack([ids, ids[::-1]], 1)), states, memory)
        np.testing.assert_allclose(received[:, 0], expected[:, t], atol=1e-5)


@pytest.mark.parametrize("decoder_cell", ["luong", "first state"])
def test_the_layer_itself_runs_over_a_target(decoder_cell):
    decoder = shared("lstm", decoder_cell).decoder
    assert decoder.loop is decoder.cell.cell.layer
    assert isinstance(decoder.loop, keras.layers.LSTM)
    assert not isinstance(shared("lstm", "bahdanau").decoder.loop, keras.layers.LSTM)


def test_equals_our_own_cell():
    theirs, ours = shared(), make(layers.LSTMCell(UNITS))
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
@pytest.mark.thorough("exports a model, only to see that no op of cuDNN is in the graph")
def test_is_exported(tmp_path):
    model = make(fused(), tokenizer=CharacterTokenizer("abcd"))
    translations = model.translate(["abc", "d"], max_length=6)
    model.export(tmp_path / "export" / "1", max_length=6)
    assert Translator(load_export(tmp_path / "export")).translate(["abc", "d"]) == translations
    graph = load_export(tmp_path / "export").signatures["serving_default"].graph.as_graph_def()
    ops = {node.op for function in graph.library.function for node in function.node_def}
    assert not any("Cudnn" in op for op in ops)


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


def test_what_the_layer_has_to_return():
    with pytest.raises(ValueError, match=r"Received: return_sequences=False, return_state=False"):
        layers.FusedCell(keras.layers.LSTM(4))
    with pytest.raises(ValueError, match=r"Received: return_sequences=True, return_state=True"):
        layers.FusedCell(keras.layers.GRU(4, return_sequences=True, return_state=True))


@pytest.mark.parametrize("name", ["luong_dot_lstm", "luong_general_gru"])
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
