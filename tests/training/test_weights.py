"""Weights of the training pairs of a recipe."""

import numpy as np
import pytest

from kerasnmt.training import Recipe
from kerasnmt.training.batches import RecipeBatches
from kerasnmt.training.corpora import Corpora
from kerasnmt.training.tokenizers import train_tokenizers
from kerasnmt.zoo import bahdanau_gru

ROWS = "weight\tde\ten\n2\teins eins\tone\n0\tzwei\ttwo two two\n0.5\tdrei\tthree three\n"


def recipe(**train):
    return Recipe.from_dict(
        {
            "model": {"name": "bahdanau_gru"},
            "tokenizer": {side: {"kind": "words"} for side in ("source", "target")},
            "data": {"train": train, "validation": {"builtin": 3}},
            "training": {"batch_size": 3},
        }
    )


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "rows.tsv").write_text(ROWS)
    rows = [line.split("\t") for line in ROWS.splitlines()[1:]]
    for name, texts in zip(("weights", "de", "en"), zip(*rows, strict=True), strict=True):
        (tmp_path / name).write_text("".join(f"{text}\n" for text in texts))
    return tmp_path


def test_weights_of_a_column_or_a_file_reach_the_batches(folder):
    (folder / "three").write_text(ROWS.split("\n", 1)[1])
    parallel = {"source": folder / "en", "target": folder / "de", "weights": folder / "weights"}
    pairs = {"pairs": folder / "rows.tsv", "columns": ["en", "de"]}
    for train in (
        {**pairs, "weight": "weight"},
        {"pairs": folder / "three", "columns": [3, 2], "weight": 1},
        {**pairs, "weights": folder / "weights"},
        parallel,
    ):
        train = {
            name: str(one) if name in ("pairs", "source", "target", "weights") else one
            for name, one in train.items()
        }
        one = recipe(**train)
        corpora = Corpora(one.data)
        assert corpora.weights == [2.0, 0.0, 0.5]
        assert Recipe.from_dict(one.model_dump(mode="json", exclude_none=True)) == one
    tokenizers = train_tokenizers(one.tokenizer, corpora.own)
    model = bahdanau_gru(*tokenizers.values(), units=4)
    ((_, targets, weights),) = RecipeBatches(one, corpora, model).training()
    lengths = np.count_nonzero(targets, axis=1).tolist()
    # Two words and the end, with the weight 2; one word and the end, with 0 and 0.5.
    assert sorted(zip(lengths, np.max(weights, axis=1).tolist(), strict=True)) == [
        (2, 0.0),
        (2, 0.5),
        (3, 2.0),
    ]
    assert sorted(np.sum(weights, axis=1).tolist()) == [0.0, 1.0, 6.0]


def test_weights_that_cannot_be_used(folder):
    pairs = {"pairs": str(folder / "rows.tsv"), "columns": ["en", "de"]}
    weights = str(folder / "weights")
    for train, message in (
        ({**pairs, "weight": 1}, r"should have weight, a column of pairs, by number or by name"),
        ({"pairs": weights, "weight": 3}, r"should have weight, a column of pairs"),
        ({**pairs, "weight": "weight", "weights": weights}, "either weight or weights"),
        ({**pairs, "pairs": str(folder / "r*.tsv"), "weight": "weight"}, "with a pattern"),
    ):
        with pytest.raises(ValueError, match=f"'data.train' .*{message}"):
            recipe(**train)
    with pytest.raises(ValueError, match=r"least 0 as the weight .*'one', the weight of pair 1 in"):
        _ = Corpora(recipe(**pairs, weights=str(folder / "en")).data).weights
