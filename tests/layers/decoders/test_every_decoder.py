"""Common properties of all decoders: steps, hypotheses, padding and half precision."""

import numpy as np
import pytest
import tensorflow as tf
from keras import ops, tree

from kerasnmt.layers import Decoder
from tests.layers.decoders.tiny_decoders import (
    DECODERS,
    POINTERS,
    SOURCE_IDS,
    TARGET_IDS,
    TARGETS,
    V,
    given,
    make,
)
from tests.numerics import dtype_policy
from tests.runs import eager, graph, xla

others = [pytest.mark.thorough("the cells are tested by themselves, too")]
some = pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=others if name.startswith("fused") else []) for name in DECODERS],
)


def targets_of(decoder):
    return TARGETS if decoder.copies else np.where(TARGETS < V, TARGETS, 1)


@pytest.mark.parametrize(
    ("name", "run"),
    [
        *((name, eager) for name in DECODERS),
        *(
            pytest.param(name, run, marks=pytest.mark.graph)
            for name, run in (
                ("fused lstm, feeding", graph),
                ("shared, sigmoid, coverage", xla),
            )
        ),
        *(
            pytest.param(
                *(name, run),
                marks=[pytest.mark.graph, pytest.mark.thorough("XLA compiles the other as well")],
            )
            for name, run in (
                ("own pointer", graph),
                ("fused lstm, luong", xla),
                ("hard, monotonic", graph),
                ("hard, jumps", xla),
            )
        ),
    ],
)
def test_steps_equal_the_full_pass(name, run):
    """Each step has two hypotheses, and the second reads other words."""
    decoder = make(name)
    states, memory = given(decoder)
    targets = TARGET_IDS, TARGET_IDS[::-1]
    full = [run(decoder)(tf.constant(ids), states, memory) for ids in targets]
    states = tree.map_structure(lambda state: ops.stack([state, state], 1), states)
    step = run(decoder.step)
    for t in range(TARGET_IDS.shape[1]):
        ids = tf.constant(np.stack([ids[:, t] for ids in targets], axis=1))
        outputs, step_records, states = step(ids, states, memory)
        received = np.exp(decoder.next_log_probability(outputs))
        for k, (outputs, records) in enumerate(full):
            expected = np.exp(decoder.next_log_probability(outputs))
            np.testing.assert_allclose(received[:, k], expected[:, t], atol=1e-5)
            for key, record in records.items():
                np.testing.assert_allclose(step_records[key][:, k], record[:, t], atol=1e-5)


@some
def test_padding_changes_nothing(name):
    decoder = make(name)
    wide = np.pad(SOURCE_IDS, ((0, 0), (0, 3)))
    targets = targets_of(decoder)

    def run(source_ids, target_ids, targets, rows=slice(None)):
        with tf.GradientTape() as tape:
            states, memory = given(decoder, source_ids, rows)
            outputs, records = decoder(target_ids[rows], states, memory)
            loss, mean, *_ = decoder.log_probability(outputs, targets[rows])
            real = ops.cast(targets[rows] != 0, "float32")
            total = ops.sum(real * (loss + 0.1 * mean))
            total += sum(decoder.added_losses(records, target_ids[rows]), start=0.0)
        gradients = tape.gradient(
            total, [w.value for w in decoder.trainable_weights], unconnected_gradients="zero"
        )
        gradients = [tf.convert_to_tensor(gradient) for gradient in gradients]
        return np.array(loss)[targets[rows] != 0], total, gradients

    narrow = run(SOURCE_IDS, TARGET_IDS, targets)
    pad = ((0, 0), (0, 2))
    padded = run(wide, np.pad(TARGET_IDS, pad), np.pad(targets, pad))
    np.testing.assert_allclose(padded[0], narrow[0], atol=1e-5)
    np.testing.assert_allclose(padded[1], narrow[1], atol=1e-4)
    for one, other in zip(narrow[2], padded[2], strict=True):
        np.testing.assert_allclose(one, other, atol=1e-4)
    alone = run(SOURCE_IDS[:, :3], TARGET_IDS, targets, slice(1, 2))[0]
    np.testing.assert_allclose(alone, narrow[0][4:], atol=1e-5)


@pytest.mark.parametrize(
    ("name", "policy"),
    [
        *((name, "mixed_bfloat16") for name in DECODERS if not name.startswith("fused")),
        *(
            pytest.param(
                name, "mixed_float16", marks=pytest.mark.thorough("another precision, scaled")
            )
            for name in POINTERS
        ),
    ],
)
def test_half_precision(name, policy):
    with dtype_policy(policy):
        decoder = make(name)
        targets = targets_of(decoder)
        with tf.GradientTape() as tape:
            outputs, _ = decoder(TARGET_IDS, *given(decoder))
            log_probability, mean, *_ = decoder.log_probability(outputs, targets)
            # Like the start of an optimizer that scales the loss.
            scaled = 2.0**15 * ops.sum(log_probability * (targets != 0)) / 7
        gradients = tape.gradient(scaled, [w.value for w in decoder.trainable_weights])
    assert log_probability.dtype == mean.dtype == "float32"
    assert not decoder.copies or outputs["pointer"].dtype == "float32"
    assert np.all(np.isfinite(log_probability)) and np.all(np.isfinite(mean))
    np.testing.assert_allclose(
        np.exp(decoder.next_log_probability(outputs)).sum(-1), 1.0, atol=1e-5
    )
    for gradient in gradients:
        if gradient is not None:
            assert np.all(np.isfinite(tf.convert_to_tensor(gradient)))


def test_what_a_decoder_need_not_declare():
    decoder = Decoder()
    assert not (decoder.copies or decoder.has_attention or decoder.has_heads or decoder.measures)
