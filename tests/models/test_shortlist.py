"""Search restricted to listed ids."""

import itertools

import keras
import numpy as np
import pytest

from kerasnmt import zoo
from kerasnmt.decoding import Terms
from kerasnmt.models import Ensemble
from kerasnmt.shortlist import Shortlist
from tests.numerics import fill, log_softmax

SOURCE = np.array([[5, 9, 4, 10, 3], [6, 6, 3, 0, 0], [3, 0, 0, 0, 0]], "int32")
LISTED = np.array([0, 1, 2, 3, 5, 7, 8, 11], "int32")
SEARCHES = {
    "beam": {"beam_size": 3, "n_best": 3},
    "greedy": {"beam_size": 1},
    "samples": {"samples": 3, "n_best": 2, "seed": 5},
}
thorough = pytest.mark.thorough("another search of the same models")
TINY = {"units": 8, "num_heads": 2, "hidden_units": 8, "encoder_layers": 1, "decoder_layers": 1}


def made(name, seed=0, source=11, target=13, **options):
    sizes = TINY if name.startswith("transformer") else {"embedding_dim": 6, "units": 6}
    return fill(getattr(zoo, name)(source, target, dropout=0.0, **sizes, **options), seed)


@pytest.fixture(scope="module")
def models():
    return {
        "projection": made("bahdanau_gru"),
        "tied": made("bahdanau_gru", tie_embeddings=True),
        "transformer": made("transformer_tiny"),
        "ensemble": Ensemble([made("bahdanau_gru", 1), made("luong_general_lstm", 2)]),
    }


@pytest.mark.parametrize(
    ("kind", "search"),
    [
        ("projection", "beam"),
        ("transformer", "greedy"),
        ("tied", "samples"),
        ("ensemble", "beam"),
        *(
            pytest.param(kind, search, marks=thorough)
            for kind, search in [
                ("projection", "samples"),
                ("tied", "beam"),
                ("ensemble", "greedy"),
            ]
        ),
    ],
)
def test_the_whole_vocabulary_gives_the_same(models, kind, search):
    options = {"max_length": 7, **SEARCHES[search]}
    plain = models[kind].search(SOURCE, **options)
    every = np.pad(np.arange(13, dtype="int32"), (0, 3))
    listed = models[kind].search(SOURCE, listed_ids=every, **options)
    np.testing.assert_array_equal(listed.ids, plain.ids)
    np.testing.assert_allclose(listed.scores, plain.scores, rtol=1e-6)


@pytest.mark.parametrize("kind", ["projection", "tied", "transformer"])
@pytest.mark.parametrize("padding", [0, 5])
def test_a_list_is_the_vocabulary_of_the_softmax(models, kind, padding):
    model, ids = models[kind], np.pad(LISTED, (0, padding))
    options = {"beam_size": 4, "n_best": 4, "max_length": 6, "length_penalty": 0.0}
    found = model.search(SOURCE, listed_ids=ids, **options)
    assert set(np.unique(found.ids)) <= set(LISTED)
    for rank in range(4):
        targets = np.array(found.ids[:, rank])
        shifted = np.concatenate([np.full((3, 1), 2), targets[:, :-1]], axis=1)
        logits = np.array(model({"source_ids": SOURCE, "target_ids": shifted}))[..., LISTED]
        numbers = np.searchsorted(LISTED, targets)
        log = np.take_along_axis(log_softmax(logits), numbers[..., None], axis=-1)[..., 0]
        expected = np.sum(np.where(targets > 0, log, 0.0), axis=1)
        np.testing.assert_allclose(found.scores[:, rank], expected, rtol=1e-4)


def test_entmax_gives_padding_no_probability():
    layer = fill(keras.Sequential([_Projection()]), 0).layers[0]
    features = np.random.default_rng(0).normal(size=(2, 3, 4)).astype("float32")
    every = layer.next_log_probability(layer(features))
    rows = layer.output_rows(np.pad(np.arange(9, dtype="int32"), (0, 2)))
    found = np.array(layer.next_log_probability(rows.logits(features)))
    np.testing.assert_allclose(found[..., :9], every, rtol=1e-6)
    assert (found[..., 9:] <= -5e8).all()


def _Projection():
    from kerasnmt.layers import VocabularyProjection

    layer = VocabularyProjection(9, normalizer="entmax15")
    layer.build((None, 4))
    layer.built = True
    return layer


def test_prefixes_terms_trees_and_repetitions(models):
    model, options = models["projection"], {"beam_size": 3, "max_length": 8}
    opens, closes = np.ones(13, bool), np.ones(13, bool)
    terms = Terms(
        np.array([[[11, 7], [5, 0]]] * 3, "int32"), np.array([[1, 0]] * 3, "int32"), opens, closes
    )
    prefix = np.array([[8, 7], [8, 0], [0, 0]], "int32")
    found, tree = model.search(
        SOURCE,
        prefix_ids=prefix,
        terms=terms,
        listed_ids=LISTED,
        with_tree=True,
        no_repeat_ngram=3,
        **options,
    )
    for row, target in enumerate(np.array(found.ids[:, 0]).tolist()):
        assert target[: np.count_nonzero(prefix[row])] == prefix[row][prefix[row] > 0].tolist()
        assert (11, 7) in itertools.pairwise(target)
        assert 5 not in target
        assert set(target) <= set(LISTED.tolist())
    assert set(np.unique(tree.ids)) <= set(LISTED.tolist())


@pytest.mark.parametrize("options", [{"beam_size": 3}, {"beam_size": 1}])
def test_single_steps_compute_the_same(models, options):
    model = models["transformer"]
    options = {"max_length": 6, **options}
    expected = model.search(SOURCE[:1], listed_ids=LISTED, **options)
    begin, advance = model.search_steps(**options)
    now, outputs = begin({"source_ids": SOURCE[:1]}, listed_ids=LISTED)
    ranks, seen = outputs.ranks, [np.array(outputs.ids)]
    while np.array(outputs.unfinished).any():
        now, outputs = advance(now)
        ranks = outputs.ranks
        seen.append(np.array(outputs.ids))
    np.testing.assert_allclose(np.max(ranks), expected.scores[0, 0], rtol=1e-6)
    assert set(np.unique(seen)) <= set(LISTED.tolist())


@pytest.mark.parametrize("name", ["pointer_generator_gru", "hard_attention_lstm"])
def test_models_that_cannot(name):
    model = fill(getattr(zoo, name)(11, embedding_dim=6, units=6, dropout=0.0), 0)
    with pytest.raises(ValueError, match="that only projects features"):
        model.search(SOURCE, listed_ids=LISTED)


@pytest.mark.parametrize(
    "listed", [[4, 5, 6, 7, 8, 9], [], [0, 1, 2, 3, 7, 5], [0, 1, 2, 3, 5, 5], [1, 1, 2, 3, 5]]
)
def test_lists_without_the_special_ids_or_an_order(models, listed):
    with pytest.raises(ValueError, match="that begin with the special ids 0, 1, 2 and 3, in asc"):
        models["projection"].search(SOURCE, listed_ids=np.array(listed, "int32"))


def test_lists_of_a_batch():
    table = [[0, 0], [0, 0], [0, 0], [0, 0], [9, 0], [12, 6], [9, 8]]
    shortlist = Shortlist(table, [10, 6], 13)
    assert shortlist.listed_ids([[4, 5, 3], [4, 3, 0]]).tolist() == [0, 1, 2, 3, 6, 9, 10, 12]
    assert shortlist.listed_ids([[3]], [[7, 0]]).tolist() == [0, 1, 2, 3, 6, 7, 10]
    again = Shortlist.of(shortlist.document())
    np.testing.assert_array_equal(again.table, table)
    np.testing.assert_array_equal(again.frequent, [0, 1, 2, 3, 6, 10])
    assert (again.target_size, again.vocabulary) == (13, "")
    assert Shortlist.of(None) is None
    with pytest.raises(ValueError, match="Expected a shortlist, with table"):
        Shortlist.of({"table": "no"})
