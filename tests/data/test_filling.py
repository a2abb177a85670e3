import numpy as np
import pytest

from kerasnmt.data import batches, describe_batches
from kerasnmt.text import WordTokenizer

PAIRS = [(" ".join("ab"[: 1 + n % 2] * n), " ".join("a" * m)) for n in range(1, 29) for m in (n, 9)]


@pytest.fixture(scope="module")
def tokenizer():
    return WordTokenizer.train(PAIRS, 6)


def pairs_in(dataset):
    """Return the ids of each row that is not padding, in order, without padding."""
    for inputs, targets, weights in dataset.as_numpy_iterator():
        np.testing.assert_array_equal(weights, targets != 0)
        for row in zip(inputs["source_ids"], inputs["target_ids"], targets, strict=True):
            if row[-1].any():
                yield tuple(tuple(ids[ids != 0].tolist()) for ids in row)


@pytest.mark.parametrize(
    "options",
    [
        {"batch_size": 4},
        pytest.param({"tokens_per_batch": 60}, marks=pytest.mark.thorough("another size")),
        {"tokens_per_batch": 60, "few_shapes": False},
    ],
    ids=str,
)
def test_the_same_batches_have_few_shapes(tokenizer, options):
    options = {"max_length": 30, "shuffle": False, **options}
    plain, filled = (batches(PAIRS, tokenizer, fill=fill, **options) for fill in (False, True))
    assert list(pairs_in(filled)) == list(pairs_in(plain))
    before, after = describe_batches(plain), describe_batches(filled)
    assert (after.batches, after.sentences) == (before.batches, before.sentences)
    assert after.target_tokens == before.target_tokens
    widths = {width for shape in after.shapes for width in shape[1:]}
    assert widths <= {8, 10, 13, 17, 22, 28, 30}
    rows = {(max(shape[1:]), shape[0]) for shape in after.shapes}
    narrow, wide = (4, 4) if "batch_size" in options else (60 // 8, 60 // 29)
    assert {(8, narrow), (30, wide)} <= rows
    assert len(rows) == len({widest for widest, _ in rows})


def test_contexts_and_alignments_are_filled(tokenizer):
    ((inputs, targets, _),) = batches(
        [("a b a", "a b")],
        tokenizer,
        alignments=[[(0, 1)]],
        contexts=["a " * 8],
        batch_size=3,
        max_length=20,
        shuffle=False,
        fill=True,
    )
    assert targets.shape == (3, 8)
    assert inputs["context_ids"].shape == (3, 10)
    assert inputs["alignments"].shape == (3, 8, 8)
    assert not np.any(targets[1:]) and not np.any(inputs["alignments"][1:])
    np.testing.assert_array_equal(np.nonzero(inputs["alignments"][0]), [[1], [0]])
