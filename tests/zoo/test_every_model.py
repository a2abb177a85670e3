"""What holds for every model of the zoo that translates, on tiny sizes."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import tree

from kerasnmt import zoo
from kerasnmt.ids import START_ID, UNKNOWN_ID
from kerasnmt.models import Seq2Seq
from kerasnmt.serving import Translator, check_export, load_export
from kerasnmt.text import CharacterTokenizer, WordTokenizer

pytestmark = pytest.mark.long

TINY = {"embedding_dim": 6, "units": 4, "dropout": 0.0}
TINY_TRANSFORMER = {
    **{"units": 6, "num_heads": 3, "hidden_units": 5, "encoder_layers": 1, "decoder_layers": 2},
    **{"dropout": 0.0, "attention_dropout": 0.0},
}
SOURCE = np.array([[5, 9, 4, 10, 3], [6, 6, 3, 0, 0], [3, 0, 0, 0, 0]], "int32")
TARGETS = np.array([[12, 5, 7, 3], [4, 3, 0, 0], [9, 11, 3, 0]], "int32")
TARGET_IDS = np.where(TARGETS, np.pad(TARGETS, ((0, 0), (1, 0)), constant_values=2)[:, :4], 0)
INPUTS = {"source_ids": SOURCE, "target_ids": TARGET_IDS}
# For models that copy: 10 of the first source is outside the vocabulary, and the target's 12 is it.
COPYING = {
    "source_ids": np.where(SOURCE == 10, 1, SOURCE),
    "extended_source_ids": np.where(SOURCE == 10, 13, SOURCE),
    "target_ids": np.where(TARGET_IDS == 12, 1, TARGET_IDS),
}
COPIED_TARGETS = np.where(TARGETS == 12, 13, TARGETS)
# For models that read a context: 14 stands in the first one alone, and is in no target.
CONTEXT = np.array([[14, 7, 13, 4, 3], [9, 5, 3, 0, 0], [3, 0, 0, 0, 0]], "int32")
IN_CONTEXT = {
    **COPYING,
    "context_ids": np.where(CONTEXT > 12, 1, CONTEXT),
    "extended_context_ids": CONTEXT,
}

# Of all weights, with source 11 (13 where words are copied), target 13, and tiny sizes.
PARAMETERS = {
    "bahdanau_gru": 1067,
    "bahdanau_lstm": 1215,
    "concat_gru": 813,
    "context_attention_gru": 2128,
    "dense_scorer_gru": 1068,
    "encoder_decoder_gru": 723,
    "encoder_decoder_lstm": 561,
    "history_attention_gru": 1203,
    "luong_concat_lstm": 643,
    "luong_cosine_lstm": 604,
    "luong_dot_lstm": 603,
    "luong_general_gru": 563,
    "luong_general_lstm": 619,
    "luong_local_m_lstm": 619,
    "luong_local_p_lstm": 639,
    "luong_location_lstm": 1003,
    "luong_scaled_dot_lstm": 603,
    "pointer_generator_gru": 1087,
    "pointer_generator_lstm": 1246,
    "pointer_network_lstm": 876,
    "transformer_base": 1186,
    "transformer_tiny": 1210,
}
NAMES = zoo.list_models(Seq2Seq)
# Every name with its defaults, and the options that change what a model is made of.
OPTIONS = {
    **{name: (name, {}) for name in NAMES},
    "bahdanau_lstm coverage": ("bahdanau_lstm", {"coverage": 1.0}),
    "dense_scorer_gru coverage": ("dense_scorer_gru", {"coverage": 0.0}),
    "history_attention_gru coverage": ("history_attention_gru", {"coverage": 0.1}),
    "luong_general_lstm feeding": ("luong_general_lstm", {"input_feeding": True}),
    "luong_local_p_lstm feeding coverage": (
        "luong_local_p_lstm",
        {"input_feeding": True, "coverage": 0.5, "width": 2},
    ),
    "luong_local_m_lstm feeding": ("luong_local_m_lstm", {"input_feeding": True, "width": 1}),
    "luong_general_gru wide encoder": (
        "luong_general_gru",
        {"encoder_units": 6, "input_feeding": True},
    ),
    "luong_general_lstm fused": ("luong_general_lstm", {"fused": True}),
    "luong_dot_lstm stacked": ("luong_dot_lstm", {"num_layers": 2, "embedding_dim": 4}),
    "encoder_decoder_gru stacked": ("encoder_decoder_gru", {"num_layers": 3}),
    "encoder_decoder_lstm tied": (
        "encoder_decoder_lstm",
        {"num_layers": 2, "tie_embeddings": True, "units": 6},
    ),
    "pointer_generator_lstm coverage": ("pointer_generator_lstm", {"coverage": 0.1}),
    "pointer_network_lstm coverage": ("pointer_network_lstm", {"coverage": 0.0}),
    "transformer_tiny learned": (
        "transformer_tiny",
        {"max_positions": 9, "tie_embeddings": False, "decoder_layers": 1},
    ),
}
# One of each, through the export and its check. (Bahdanau's: tests/serving/test_export.py; those
# that copy: tests/serving/test_check.py.)
FAMILIES = [
    "encoder_decoder_gru",
    "history_attention_gru",
    "luong_local_p_lstm",
    "transformer_tiny",
]
every = pytest.mark.parametrize(("name", "options"), OPTIONS.values(), ids=OPTIONS)


def sizes(name):
    return TINY_TRANSFORMER if name.startswith("transformer") else TINY


def make(name, source=11, target=13, **options):
    if name.startswith(("pointer", "context")):
        source = target if isinstance(target, int) else source
        target = None
    model = zoo.get_model(name)(source, target, **{**sizes(name), **options})
    rng = np.random.default_rng(0)
    model.set_weights([0.7 * rng.normal(size=weight.shape) for weight in model.get_weights()])
    return model


def example(model):
    if "context_ids" in model.encoder.reads:
        return IN_CONTEXT, COPIED_TARGETS
    return (COPYING, COPIED_TARGETS) if model.copies else (INPUTS, TARGETS)


def log_probabilities(model, outputs):
    return model.decoder.next_log_probability(outputs)


def test_parameters():
    assert {name: make(name).count_params() for name in NAMES} == PARAMETERS


def run_eagerly(function):
    return function


def run_graph(function):
    return tf.function(function, autograph=False)


def run_xla(function):
    return tf.function(function, autograph=False, jit_compile=True)


# XLA, search and JAX take seconds for each: one of every decoder cell, window and kind of
# score.
COMPILED = [
    "context_attention_gru",
    "encoder_decoder_gru stacked",
    "dense_scorer_gru coverage",
    "history_attention_gru coverage",
    "luong_cosine_lstm",
    "luong_location_lstm",
    "luong_local_p_lstm feeding coverage",
    "luong_local_m_lstm",
    "pointer_generator_lstm coverage",
    "pointer_network_lstm",
    "transformer_tiny",
]
# Of these what `make test` has in a graph, under XLA, in search and on JAX.
ALWAYS = [
    "history_attention_gru coverage",
    "luong_local_p_lstm feeding coverage",
    "pointer_generator_lstm coverage",
    "transformer_tiny",
]


def marks(name, always=ALWAYS):
    return [] if name in always else [pytest.mark.thorough]


@pytest.mark.parametrize(
    ("name", "options", "run"),
    [
        *(
            pytest.param(*OPTIONS[name], run_eagerly, id=name)
            for name in OPTIONS
            if name not in ALWAYS
        ),
        *(
            pytest.param(*OPTIONS[name], run_graph, id=f"{name} graph", marks=marks(name))
            for name in OPTIONS
        ),
        *(
            pytest.param(*OPTIONS[name], run_xla, id=f"{name} xla", marks=marks(name))
            for name in COMPILED
        ),
    ],
)
def test_steps_equal_the_full_pass(name, options, run):
    model = make(name, **options)
    inputs, _ = example(model)
    inputs = {key: tf.constant(value, tf.int32) for key, value in inputs.items()}
    expected = log_probabilities(model, run(model)(inputs))
    attended = run(model.attend)(inputs) if model.has_attention else {}
    states, memory = model.encode(inputs, steps=4)
    states = tree.map_structure(lambda state: state[:, None], states)
    step = run(model.step)
    for t in range(4):
        ids = inputs["target_ids"][:, t : t + 1]
        received, records, states = step(ids, states, memory)
        np.testing.assert_allclose(received[:, 0], expected[:, t], atol=1e-5)
        assert records.keys() == attended.keys()
        for key, record in records.items():
            np.testing.assert_allclose(record[:, 0], attended[key][:, t], atol=1e-5)


@pytest.mark.parametrize(
    "name",
    [
        "bahdanau_gru",
        "history_attention_gru",
        "luong_general_lstm feeding",
        "pointer_generator_lstm coverage",
        "transformer_tiny",
    ],
)
def test_products_of_a_search_step_are_of_matrices(name):
    """Those of more axes are called Tensordot; each asks for its sizes by nine ops."""
    name, options = OPTIONS[name]
    model = make(name, **options)
    search = tf.function(
        lambda ids: model.search(ids, beam_size=2, max_length=3).ids, autograph=False
    )
    graph = search.get_concrete_function(tf.TensorSpec((None, None), tf.int32)).graph
    bodies = [
        function
        for function in graph.as_graph_def().library.function
        if "while_body" in function.signature.name
    ]
    names = [node.name for function in bodies for node in function.node_def]
    assert any("MatMul" in name for name in names)
    assert not [name for name in names if "Tensordot" in name]


@every
def test_padding_changes_nothing(name, options):
    model = make(name, **options)
    inputs, targets = example(model)
    longer = {key: np.pad(value, ((0, 0), (0, 3))) for key, value in inputs.items()}
    outputs, more_outputs = model(inputs), model(longer)
    expected = log_probabilities(model, outputs)
    # The longer texts have more places for words outside the vocabulary.
    received = log_probabilities(model, more_outputs)[:, :4, : expected.shape[-1]]
    np.testing.assert_allclose(received[TARGETS != 0], expected[TARGETS != 0], atol=1e-5)
    more_targets = np.pad(targets, ((0, 0), (0, 3)))
    losses = [
        model.compute_loss(inputs, targets, outputs),
        model.compute_loss(longer, more_targets, more_outputs),
    ]
    np.testing.assert_allclose(losses[1], losses[0], atol=1e-5)
    if not model.has_attention:
        return
    attended, more = model.attend(inputs), model.attend(longer)
    for key in (key for key in attended if key.endswith("weights")):
        expected, received = attended[key][TARGETS != 0], more[key][:, :4][TARGETS != 0]
        np.testing.assert_allclose(received[:, :5], expected, atol=1e-5)
        assert not np.any(received[:, 5:])


@pytest.mark.parametrize(
    ("name", "options"),
    [pytest.param(*OPTIONS[name], id=name, marks=marks(name)) for name in COMPILED],
)
def test_search_in_a_batch_equals_search_alone(name, options):
    model = make(name, **options)
    given, _ = example(model)
    sources = {key: given[key] for key in given if key != "target_ids"}
    options = {"beam_size": 3, "n_best": 3, "max_length": 6}
    together = model.search(given, **options)
    for row, length in enumerate([5, 3, 1]):
        alone = model.search(
            {key: ids[row : row + 1, :length] for key, ids in sources.items()}, **options
        )
        np.testing.assert_array_equal(alone.ids[0], together.ids[row])
        np.testing.assert_allclose(alone.scores[0], together.scores[row], atol=1e-4)
    # The score is the log-probability that the whole pass gives.
    best = together.ids[:, 0].numpy()
    target_ids = np.where(best, np.pad(best, ((0, 0), (1, 0)), constant_values=START_ID)[:, :6], 0)
    target_ids = np.where(target_ids < 13, target_ids, UNKNOWN_ID)
    outputs = model({**given, "target_ids": target_ids})
    chosen, _ = model.decoder.log_probability(outputs, tf.constant(best))
    scores = tf.reduce_sum(tf.where(best != 0, chosen, 0.0), axis=1)
    lengths = np.count_nonzero(best, axis=1)
    np.testing.assert_allclose(
        scores / ((5 + lengths) / 6) ** 0.6, together.scores[:, 0], atol=1e-4
    )


@pytest.mark.parametrize(
    ("name", "eagerly"),
    [
        *(pytest.param(name, True, id=name) for name in NAMES if name not in FAMILIES),
        *(
            pytest.param(name, False, id=f"{name} graph", marks=marks(name, FAMILIES))
            for name in NAMES
        ),
    ],
)
def test_fit_save_load_and_for_each_family_export(name, eagerly, tmp_path):
    model = make(name, WordTokenizer(list("abcdefg")), CharacterTokenizer("abcdefghi"))
    model.compile(keras.optimizers.Adam(0.02), label_smoothing=0.1, run_eagerly=eagerly)
    inputs, targets = INPUTS, TARGETS
    if model.copies:  # its one vocabulary has 11 ids
        inputs = {"source_ids": SOURCE, "target_ids": np.minimum(TARGET_IDS, 10)}
        inputs |= dict.fromkeys(model.encoder.reads, SOURCE)
        targets = np.minimum(TARGETS, 10)
    history = model.fit(inputs, targets, epochs=3, verbose=0).history["loss"]
    assert np.isfinite(history).all() and history[-1] < history[0]
    model.save(tmp_path / "model.keras")
    copy = keras.saving.load_model(tmp_path / "model.keras")
    tree.map_structure(np.testing.assert_array_equal, copy(inputs), model(inputs))
    if name in FAMILIES:
        texts = ["a b unheard", "", "g"]
        translations = copy.translate(texts, beam_size=2, max_length=8)
        assert len(translations) == 3 and translations[1] == ""
        assert model.translate(texts, beam_size=2, max_length=8) == translations
        model.export(tmp_path / "export" / "1", beam_size=2, max_length=8)
        served = load_export(tmp_path / "export")
        assert Translator(served).translate(texts) == translations
        assert ("attention" in served.signatures) == model.has_attention
        report = check_export(tmp_path / "export")
        assert report.passed, report


@every
def test_every_weight_learns(name, options):
    model = make(name, **options)
    model.compile(label_smoothing=0.1)
    inputs, targets = example(model)
    with tf.GradientTape() as tape:
        loss = model.compute_loss(inputs, targets, model(inputs, training=True))
    gradients = tape.gradient(loss, [weight.value for weight in model.trainable_weights])
    for weight, gradient in zip(model.trainable_weights, gradients, strict=True):
        assert gradient is not None, weight.path
        gradient = tf.convert_to_tensor(gradient).numpy()
        assert np.isfinite(gradient).all(), weight.path
        # The softmax cancels one bias; where to look is no matter of the keys in another score.
        if not weight.path.endswith("output_layer/bias"):
            assert np.abs(gradient).max() > 1e-8, weight.path


@pytest.mark.parametrize("name", ["encoder_decoder_gru", "encoder_decoder_lstm"])
def test_without_attention(name):
    model = make(name, WordTokenizer(list("abcdefg")), CharacterTokenizer("abcdefghi"))
    assert model.search(tf.constant(SOURCE), max_length=4, with_records=True).records == {}
    with pytest.raises(ValueError, match=rf"Expected a model with attention.*{name}"):
        model.attend(INPUTS)
    with pytest.raises(ValueError, match=r"Expected a model with attention"):
        model({**INPUTS, "alignments": np.ones((3, 4, 5), "float32")})


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("luong_dot_lstm", {"num_layers": 0}, r"Expected num_layers >= 1. Received: num_layers=0"),
        ("encoder_decoder_gru", {"num_layers": 0}, r"Expected num_layers >= 1"),
        ("luong_dot_lstm", {"coverage": 1.0}, r"Expected an attention without coverage"),
        ("luong_dot_lstm", {"fused": True, "num_layers": 2}, r"Expected fused=False"),
        ("bahdanau_gru", {"coverage": -1.0}, r"Expected loss_weight >= 0"),
        ("pointer_generator_gru", {"target": 12}, r"Expected one tokenizer \(or size\)"),
        ("pointer_network_lstm", {"target": 12}, r"Received: source=11, target=12"),
    ],
)
def test_options_that_do_not_fit(name, options, message):
    with pytest.raises(ValueError, match=message):
        zoo.get_model(name)(11, **options)


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("luong")])
def test_odd_units(name):
    with pytest.raises(ValueError, match=r"Expected units even and above 0.*Received: units=5"):
        zoo.get_model(name)(11, units=5)


@pytest.mark.parametrize("encoder_units", [0, 5])
def test_encoder_units_without_halves(encoder_units):
    message = rf"Expected encoder_units even and above 0.*Received: encoder_units={encoder_units}"
    with pytest.raises(ValueError, match=message):
        zoo.luong_general_gru(11, units=4, encoder_units=encoder_units)


def test_encoder_units():
    """The memory has their size; a dense layer makes the decoder's states of the encoder's."""
    sizes = {"embedding_dim": 3, "units": 4}
    same = zoo.luong_general_lstm(11, **sizes)
    assert zoo.luong_general_lstm(11, encoder_units=4, **sizes).count_params() == (
        same.count_params()
    )
    model = zoo.luong_general_lstm(11, encoder_units=10, **sizes)
    assert model.encoder.memory_units == 10
    assert [layer.units for layer in model.bridge.projections] == [4, 4]
    encoder = 11 * 3 + 2 * (3 * 20 + 5 * 20 + 20)  # embeddings; W, U and b of each direction
    bridge = 2 * (2 * (5 + 5) * 4 + 4)  # h and c of both directions to h, and to c
    cell = 11 * 3 + 3 * 16 + 4 * 16 + 16
    attention = 10 * 4
    readout = (10 + 4) * 3
    generator = 3 * 11 + 11
    assert model.count_params() == encoder + bridge + cell + attention + readout + generator


@pytest.mark.parametrize("options", [{"num_layers": 2, "embedding_dim": 4}, {"fused": True}])
def test_encoder_units_and_other_cells(options):
    model = zoo.luong_general_lstm(11, units=4, encoder_units=6, **options)
    ids = np.array([[5, 6, 3]], "int32")
    assert model({"source_ids": ids, "target_ids": ids}).shape == (1, 3, 11)
    assert model.search(ids, beam_size=2, max_length=3).ids.shape == (1, 1, 3)
