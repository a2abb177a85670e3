"""Common properties of all models of the zoo with a search: numbers, search and gradients."""

import numpy as np
import pytest
import tensorflow as tf
from keras import tree

from kerasnmt.ids import START_ID, UNKNOWN_ID
from tests.runs import eager, graph, xla
from tests.zoo.tiny_models import (
    COMPILED,
    NAMES,
    OPTIONS,
    REPEATED,
    TARGETS,
    alone,
    example,
    log_probabilities,
    make,
    marks,
    shared,
    thorough,
)

pytestmark = pytest.mark.long("builds every model of the zoo, with its options")

# All weights, with source 11 (13 if words are copied), target 13, and tiny sizes.
PARAMETERS = {
    "bahdanau_gru": 1067,
    "bahdanau_lstm": 1215,
    "cgru": 1025,
    "concat_gru": 813,
    "context_attention_gru": 2128,
    "dense_scorer_gru": 1068,
    "encoder_decoder_gru": 723,
    "encoder_decoder_lstm": 561,
    "hard_attention_lstm": 619,
    "hard_monotonic_lstm": 619,
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
ALWAYS_SEARCHED = [
    "luong_local_p_lstm feeding coverage",
    "transformer_tiny",
]


def repeated(case):
    return [thorough] if case in REPEATED else []


def some(cases):
    return [pytest.param(case, marks=repeated(case)) for case in cases]


@pytest.mark.parametrize("name", some(PARAMETERS))
def test_parameters(name):
    assert shared(name).count_params() == PARAMETERS[name]


@pytest.mark.parametrize("name", some(NAMES))
def test_no_two_weights_share_a_path(name):
    paths = [weight.path for weight in shared(name).weights]
    assert len(set(paths)) == len(paths)


@pytest.mark.parametrize(
    ("case", "run"),
    [
        *(pytest.param(case, eager, id=case, marks=repeated(case)) for case in OPTIONS),
        *(pytest.param(case, graph, id=f"{case} graph", marks=thorough) for case in OPTIONS),
        *(pytest.param(case, xla, id=f"{case} xla", marks=thorough) for case in COMPILED),
    ],
)
def test_steps_equal_the_full_pass(case, run):
    model = shared(case)
    inputs, _ = example(model)
    inputs = {key: tf.cast(value, tf.int32) for key, value in inputs.items()}
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
        "pointer_generator_gru",
        "transformer_tiny",
        pytest.param("bahdanau_gru", marks=thorough),
        pytest.param("context_attention_gru", marks=thorough),
    ],
)
def test_a_step_of_search_drops_nothing(name):
    model = make(name, dropout=0.5)
    inputs, _ = example(model)
    states, memory = model.encode(inputs, steps=1)
    states = tree.map_structure(lambda state: state[:, None], states)
    found = [model.step(inputs["target_ids"][:, :1], states, memory)[0] for _ in range(2)]
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize(
    "case",
    [
        "transformer_tiny",
        pytest.param("luong_general_lstm feeding", marks=thorough),
        pytest.param("bahdanau_gru", marks=thorough),
        pytest.param("history_attention_gru", marks=thorough),
        pytest.param("pointer_generator_lstm coverage", marks=thorough),
    ],
)
def test_products_of_a_search_step_are_of_matrices(case):
    """A product with more axes is a `Tensordot`, which needs nine ops for the shape."""
    model = shared(case)
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


@pytest.mark.parametrize("case", some(OPTIONS))
def test_padding_changes_nothing(case):
    model = shared(case)
    inputs, targets = example(model)
    longer = {
        key: rows if key == "images" else np.pad(rows, ((0, 0), (0, 3)))
        for key, rows in inputs.items()
    }
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
    "case", [pytest.param(case, marks=marks(case, ALWAYS_SEARCHED)) for case in COMPILED]
)
def test_search_in_a_batch_equals_search_alone(case):
    model = shared(case)
    given, _ = example(model)
    sources = {key: given[key] for key in given if key != "target_ids"}
    options = {"beam_size": 3, "n_best": 3, "max_length": 6}
    together = model.search(given, **options)
    for row in range(3):
        found = model.search(alone(sources, row), **options)
        np.testing.assert_array_equal(found.ids[0], together.ids[row])
        np.testing.assert_allclose(found.scores[0], together.scores[row], atol=1e-4)
    # The score is the log-probability of a whole pass.
    best = together.ids[:, 0].numpy()
    target_ids = np.where(best, np.pad(best, ((0, 0), (1, 0)), constant_values=START_ID)[:, :6], 0)
    target_ids = np.where(target_ids < 13, target_ids, UNKNOWN_ID)
    outputs = model({**given, "target_ids": target_ids})
    chosen, *_ = model.decoder.log_probability(outputs, tf.constant(best))
    scores = tf.reduce_sum(tf.where(best != 0, chosen, 0.0), axis=1)
    lengths = np.count_nonzero(best, axis=1)
    np.testing.assert_allclose(
        scores / ((5 + lengths) / 6) ** 0.6, together.scores[:, 0], atol=1e-4
    )


@pytest.mark.parametrize("case", some(OPTIONS))
def test_every_weight_learns(case):
    model = shared(case)
    inputs, targets = example(model)
    with tf.GradientTape() as tape:
        loss = model.compute_loss(inputs, targets, model(inputs, training=True))
    gradients = tape.gradient(loss, [weight.value for weight in model.trainable_weights])
    for weight, gradient in zip(model.trainable_weights, gradients, strict=True):
        assert gradient is not None, weight.path
        gradient = tf.convert_to_tensor(gradient).numpy()
        assert np.isfinite(gradient).all(), weight.path
        # The softmax cancels this bias.
        if not weight.path.endswith("output_layer/bias"):
            assert np.abs(gradient).max() > 1e-8, weight.path
