"""Inputs of a search: a dict, ids alone, or no ids."""

import numpy as np
import pytest
from keras import ops

from kerasnmt import zoo
from kerasnmt.ids import END_ID
from kerasnmt.layers import RecurrentEncoder
from kerasnmt.models import Seq2Seq
from kerasnmt.models.search_model import SearchModel

REGIONS = np.random.default_rng(4).normal(size=(3, 4, 2)).astype("float32")
REGIONS[1, 3] = REGIONS[2, 1:] = 0.0  # no regions
SOURCE = {
    "source_ids": np.array([[4, 1, 5, 3], [5, 3, 0, 0]]),
    "extended_source_ids": np.array([[4, 7, 5, 3], [5, 3, 0, 0]]),
}


class Seeing(SearchModel):
    """Model whose words depend on the mean of its image, with equal attention weights."""

    has_attention = True
    copies = False

    def __init__(self):
        super().__init__()

    def encode(self, inputs, steps=0):
        regions = inputs["regions"]
        mask = ops.any(regions != 0.0, axis=-1)
        return [ops.zeros_like(regions[:, 0, 0])], {"seen": ops.mean(regions, 1), "mask": mask}

    def memory_mask(self, memory):
        return memory["mask"]

    def step(self, ids, states, memory):
        (time,) = states
        words = ops.arange(7, dtype="float32") + 3 * time[..., None] ** 2
        logits = ops.sin(words * memory["seen"][:, None, :1]) + ops.cos(words)
        logits = ops.where(ops.arange(7) == END_ID, -9.0, logits)
        weights = ops.zeros((*ops.shape(ids), 4)) + 0.25
        return ops.log_softmax(logits), {"weights": weights}, [time + 1]


@pytest.mark.parametrize(
    "options",
    [
        {"beam_size": 1, "max_length_ratio": 1.0, "max_length_margin": 1},
        {"beam_size": 3, "coverage_penalty": 0.3},
        {"samples": 2, "seed": 1},
    ],
    ids=str,
)
def test_a_model_that_reads_no_ids(options):
    model = Seeing()
    together = model.search({"regions": REGIONS}, max_length=5, **options)
    for row in range(3):
        alone = model.search({"regions": REGIONS[row : row + 1]}, max_length=5, **options)
        np.testing.assert_array_equal(alone.ids[0], together.ids[row])
        np.testing.assert_allclose(alone.scores[0], together.scores[row], atol=1e-5)
    if "max_length_ratio" in options:
        # By the number of regions: 4 + 1, 3 + 1, 1 + 1.
        assert np.count_nonzero(together.ids[:, 0], axis=1).tolist() == [5, 4, 2]


def test_samples_depend_on_what_is_read():
    options = {"samples": 1, "max_length": 8}
    rng = np.random.default_rng(0)
    drawn = [
        Seeing().search(
            {"regions": REGIONS[:1], "other_ids": rng.integers(9, size=(1, 3))}, **options
        )
        for _ in range(6)
    ]
    assert len({tuple(np.array(found.ids).flat) for found in drawn}) > 1


def test_ids_alone_and_inputs_with_target_ids():
    model = zoo.pointer_generator_gru(7, embedding_dim=4, units=5, dropout=0.0)
    options = {"samples": 3, "max_length": 5}
    expected = model.search(SOURCE, **options)
    more = {"target_ids": np.ones((2, 2), int), "alignments": np.ones((2, 2, 4), "float32")}
    more["targets"] = np.ones((2, 2), int)
    np.testing.assert_array_equal(model.search({**SOURCE, **more}, **options).ids, expected.ids)
    ids = SOURCE["source_ids"]
    alone = model.search({"source_ids": ids}, **options).ids
    np.testing.assert_array_equal(model.search(ids, **options).ids, alone)


class WithKinds(RecurrentEncoder):
    """Encoder that also reads the kind of each word, by which it scales the annotation."""

    reads = ("source_ids", "kinds")

    def build(self, source_ids_shape, kinds_shape):
        super().build(source_ids_shape)

    def call(self, source_ids, kinds, training=False):
        annotations, mask, states = super().call(source_ids, training=training)
        return annotations * ops.cast(kinds, annotations.dtype)[..., None], mask, states


def test_an_encoder_with_an_input_of_its_own():
    plain = zoo.bahdanau_gru(7, embedding_dim=4, units=5, dropout=0.0)
    encoder = WithKinds.from_config(plain.encoder.get_config())
    model = Seq2Seq(encoder, plain.bridge, plain.decoder)
    encoder.set_weights(plain.encoder.get_weights())
    source = {"source_ids": SOURCE["source_ids"]}
    ones, twos = (np.full((2, 4), kind) for kind in (1, 2))
    options = {"beam_size": 3, "max_length": 6}
    expected = plain.search(source, **options)
    for kinds in (ones, ones.astype("int32"), ones.tolist()):
        found = model.search({**source, "kinds": kinds}, **options)
        np.testing.assert_array_equal(found.ids, expected.ids)
        np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-5)
    others = model.search({**source, "kinds": twos}, **options)
    assert not np.allclose(others.scores, expected.scores, rtol=1e-3)
    with pytest.raises(ValueError, match=r"^Expected integers as kinds\. Received: float64\."):
        model.search({**source, "kinds": ones * 1.5})
    with pytest.raises(ValueError, match=r"^Expected a dict with source_ids, kinds as inputs\."):
        model.search(source)
    model.compile("sgd", run_eagerly=True)
    inputs = {**source, "kinds": ones, "target_ids": np.array([[2, 4], [2, 5]])}
    targets = np.array([[4, 3], [5, 3]])
    again = model.fit(inputs, targets, verbose=0).history["loss"]
    plain.compile("sgd", run_eagerly=True)
    plain.set_weights(model.get_weights())
    assert np.isfinite(again[0])
    loss, *_ = plain.evaluate({**source, "target_ids": inputs["target_ids"]}, targets, verbose=0)
    np.testing.assert_allclose(model.evaluate(inputs, targets, verbose=0)[0], loss, rtol=1e-5)
