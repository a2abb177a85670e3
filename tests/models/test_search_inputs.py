"""Inputs of a search: a dict, ids alone, or no ids."""

import numpy as np
import pytest
from keras import ops

from kerasnmt import zoo
from kerasnmt.ids import END_ID
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
    np.testing.assert_array_equal(model.search({**SOURCE, **more}, **options).ids, expected.ids)
    ids = SOURCE["source_ids"]
    alone = model.search({"source_ids": ids}, **options).ids
    np.testing.assert_array_equal(model.search(ids, **options).ids, alone)
