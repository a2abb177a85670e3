"""The Transformer in a model: search with caches, training, and parts of other models."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import ops

from kerasnmt import layers, zoo
from kerasnmt.decoding import SearchOptions, search
from kerasnmt.ids import END_ID, PAD_ID, START_ID
from kerasnmt.models import Ensemble, Seq2Seq
from kerasnmt.text import WordTokenizer
from tests.numerics import dtype_policy
from tests.zoo.tiny_models import SOURCE, TINY_TRANSFORMER


def make(seed=0, scale=1.0, source=11, target=None, **options):
    model = zoo.transformer_tiny(source, target, **{**TINY_TRANSFORMER, **options})
    rng = np.random.default_rng(seed)
    for weight in model.weights:
        if len(weight.shape) == 2:  # random norms would make all words alike
            weight.assign(scale * rng.normal(size=weight.shape))
    return model


def search_by_full_passes(model, source_ids, prefix_ids=None, n_best=1, **options):
    """Search without caches, where the decoder reads all words again at each step."""
    options = SearchOptions.from_keywords(options)
    _, memory = model.encode({"source_ids": source_ids})
    rows, length = source_ids.shape[0], options.max_length

    def step(ids, states, memory):
        words, time = states
        now = ops.arange(length, dtype="int32") == time[..., None]
        words = ops.where(now, ids[..., None], words)
        found = []
        for k in range(ids.shape[1]):
            outputs, records = model.decoder(words[:, k], [], memory)
            place = time[:, k, None, None]
            found.append(
                [
                    ops.take_along_axis(values, place, axis=1)[:, 0]
                    for values in (model.decoder.next_log_probability(outputs), records["weights"])
                ]
            )
        log_probabilities, weights = (
            ops.stack(values, axis=1) for values in zip(*found, strict=True)
        )
        return log_probabilities, {"weights": weights}, [words, time + 1]

    return search(
        step,
        [ops.zeros((rows, length), "int32"), ops.zeros((rows,), "int32")],
        memory,
        ops.full((rows,), START_ID, "int32"),
        source_ids != PAD_ID,
        options,
        end_id=END_ID,
        pad_id=PAD_ID,
        never_ids=(PAD_ID, START_ID),
        n_best=n_best,
        prefix_ids=prefix_ids,
        sampled_from=source_ids,
    )


thorough = pytest.mark.thorough("another search or part shows it")


def make_late(end, **options):
    """Create a model whose words depend on earlier words, and whose targets are long."""
    model = make(seed=4, scale=2.0, tie_embeddings=False, **options)
    model.decoder.generator.bias.assign(end * (np.arange(11) == END_ID))
    return model


@pytest.fixture(scope="module")
def model():
    """A model that tests must not change."""
    return make_late(-3.0)


@pytest.mark.parametrize(
    "options",
    [
        {"beam_size": 1},
        pytest.param({"beam_size": 4, "n_best": 4, "min_length": 3}, marks=thorough),
        {"beam_size": 3, "no_repeat_ngram": 2, "coverage_penalty": 0.3},
        pytest.param({"samples": 3, "n_best": 3, "seed": 5}, marks=thorough),
        pytest.param(
            {"beam_size": 3, "prefix_ids": np.array([[7, 8], [9, 0], [0, 0]], "int32")},
            marks=thorough,
        ),
    ],
    ids=["greedy", "beam", "constrained", "samples", "prefixes"],
)
def test_caches_change_nothing(model, options):
    source_ids = tf.constant(SOURCE)
    options = {"max_length": 7, **options}
    expected = search_by_full_passes(model, source_ids, **options)
    found = model.search(source_ids, with_records=True, **options)
    np.testing.assert_array_equal(found.ids, expected.ids)
    np.testing.assert_allclose(found.scores, expected.scores, atol=1e-4)
    np.testing.assert_allclose(found.records["weights"], expected.records["weights"], atol=1e-5)
    assert np.count_nonzero(found.ids, axis=-1).max() > 4
    assert len(np.unique(found.ids)) > 5  # words depend on the words before


@pytest.mark.graph
@pytest.mark.parametrize("beam_size", [1, pytest.param(3, marks=thorough)])
def test_caches_that_grow(beam_size):
    """With a variable number of rows, caches have room for 8 words, for 16, and for all."""
    model = make_late(-9.0, decoder_layers=1)
    options = {"max_length": 20, "beam_size": beam_size}
    expected = model.search(SOURCE, **options)
    found = tf.function(
        lambda ids: model.search(ids, **options),
        input_signature=[tf.TensorSpec([None, None], tf.int32)],
        autograph=False,
    )(tf.constant(SOURCE))
    np.testing.assert_array_equal(found.ids, expected.ids)
    np.testing.assert_allclose(found.scores, expected.scores, atol=1e-4)
    assert np.count_nonzero(found.ids, axis=-1).max() > 16


def test_more_words_than_learned_positions():
    model = make(max_positions=6)
    assert model.encode({"source_ids": SOURCE}, steps=6)[0].cache.room == 6
    with pytest.raises(ValueError, match=r"Expected at most 6 words.*Received: 7 words"):
        model.search(SOURCE, max_length=7)


@pytest.mark.thorough("ensembles of recurrent models show it")
def test_ensemble_with_another_model():
    other = zoo.bahdanau_gru(11, embedding_dim=6, units=4, dropout=0.0)
    ensemble = Ensemble([make(), other])
    options = {"beam_size": 3, "max_length": 5, "length_penalty": 0.0}
    best = ensemble.search(SOURCE, **options)
    targets = np.array(best.ids[:, 0])
    fed = np.where(targets == END_ID, PAD_ID, targets)[:, :-1]
    inputs = {"source_ids": SOURCE, "target_ids": np.insert(fed, 0, START_ID, axis=1)}
    of_tokens = ensemble.token_log_probability(inputs, targets)
    total = np.sum(np.where(targets != PAD_ID, of_tokens, 0.0), axis=1)
    np.testing.assert_allclose(total, best.scores[:, 0], rtol=1e-4)


@pytest.mark.thorough("another model shows it")
def test_half_precision(batch):
    with dtype_policy("mixed_bfloat16"):
        model = make(source=13, scale=0.5)
    full = make(source=13, scale=0.5)
    received = model(batch[0])
    assert received.dtype == "bfloat16"
    np.testing.assert_allclose(tf.cast(received, "float32"), full(batch[0]), atol=0.3)
    weights = model.attend(batch[0])["weights"]
    assert weights.dtype == "float32"
    found = model.search(SOURCE, beam_size=3, max_length=5, with_records=True)
    assert found.scores.dtype == found.records["weights"].dtype == "float32"


def test_heads(batch):
    model = make(source=13, decoder_layers=3)
    heads = model.attend_by_head(batch[0])
    assert heads.shape == (3, 3, 3, 4, 5) and heads.dtype == "float32"
    weights = model.attend(batch[0])["weights"]
    np.testing.assert_allclose(np.mean(heads[:, 1], axis=1), weights, atol=1e-6)
    with pytest.raises(ValueError, match=r"with attention heads.*Received: RecurrentDecoder"):
        zoo.bahdanau_gru(13, embedding_dim=6, units=4).attend_by_head(batch[0])


@pytest.mark.thorough("trains; other models are made of the same parts")
@pytest.mark.parametrize("recurrent", ["encoder", "decoder"])
def test_beside_a_recurrent_part(recurrent, batch, tmp_path):
    transformer = make(source=13, share_embeddings=False)
    rnn = zoo.bahdanau_gru(13, embedding_dim=6, units=3, dropout=0.0)  # memories of 6 units too
    if recurrent == "encoder":
        parts = rnn.encoder.get_config(), None, transformer.decoder.get_config()
        kinds = layers.RecurrentEncoder, layers.TransformerDecoder
    else:
        parts = transformer.encoder.get_config(), layers.DenseBridge([3]), rnn.decoder.get_config()
        kinds = layers.TransformerEncoder, layers.RecurrentDecoder
    encoder, decoder = (
        kind.from_config(config) for kind, config in zip(kinds, parts[::2], strict=True)
    )
    model = Seq2Seq(encoder, parts[1], decoder)
    inputs, targets, weights = batch
    model.compile(keras.optimizers.Adam(0.05), run_eagerly=True)
    losses = model.fit(inputs, targets, sample_weight=weights, epochs=3, verbose=0).history["loss"]
    assert losses[-1] < losses[0]
    model.save(tmp_path / "model.keras")
    copy = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(copy(inputs), model(inputs), atol=1e-6)
    found, again = (one.search(SOURCE, beam_size=3, max_length=5).ids for one in (model, copy))
    np.testing.assert_array_equal(found, again)


def test_embeddings_are_shared_where_there_is_one_tokenizer():
    tokenizer, other = WordTokenizer(["a", "b"]), WordTokenizer(["a", "b", "c"])

    def matrices(*sides, **options):
        model = zoo.transformer_tiny(*sides, **{**TINY_TRANSFORMER, "decoder_layers": 1}, **options)
        return model.share_embeddings, [w.shape for w in model.weights].count((6, 6))

    # With six ids as many as units, projections of attentions have the same shape: 1 + 3.
    assert tokenizer.vocabulary_size == TINY_TRANSFORMER["units"]
    assert matrices(tokenizer) == matrices(tokenizer, tokenizer) == (True, 5)
    assert matrices(tokenizer, share_embeddings=False) == (False, 6)
    assert matrices(tokenizer, tie_embeddings=False) == (True, 6)
    assert matrices(tokenizer, other) == (False, 5)
    with pytest.raises(ValueError, match=r"Expected one tokenizer \(or size\)"):
        matrices(tokenizer, other, share_embeddings=True)


def test_embeddings_begin_with_one_over_the_root_of_the_units():
    model = zoo.transformer_tiny(200, **{**TINY_TRANSFORMER, "units": 24})
    embeddings = np.asarray(model.decoder.embedding.embeddings)
    assert np.std(embeddings) == pytest.approx(24**-0.5, rel=0.03)


def test_parameters_at_the_sizes_of_multi30k():
    # 8000 * 128 embeddings, 8000 biases; for each layer of the encoder 4 * 128 * 128 of attention,
    # 2 * 128 * 256 + 256 + 128 of feed-forward, 2 * 256 of norms; of the decoder another attention
    # and norm; 2 * 256 of the last norms.
    feed_forward = 2 * 128 * 256 + 256 + 128
    encoder, decoder = 4 * 128**2 + feed_forward + 512, 8 * 128**2 + feed_forward + 768
    expected = 8000 * 129 + 4 * encoder + 4 * decoder + 512
    assert zoo.transformer_tiny(8000).count_params() == expected == 2351424


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"units": 5, "num_heads": 5}, r"even number of units.*Received: units=5"),
        ({"num_heads": 4}, r"multiple of num_heads.*Received: units=6, num_heads=4"),
        ({"decoder_layers": 0}, r"Expected decoder_layers >= 1\. Received: decoder_layers=0"),
    ],
)
def test_sizes_that_do_not_fit(options, message):
    with pytest.raises(ValueError, match=message):
        make(**options)


@pytest.mark.graph
@pytest.mark.parametrize("beam_size", [1, 3])
@pytest.mark.thorough("other models show it")
def test_batch_of_none(model, beam_size):
    run = tf.function(
        lambda ids: model.search(ids, beam_size=beam_size, max_length=5), autograph=False
    )
    assert run(tf.zeros([0, 4], tf.int32)).ids.shape == (0, 1, 5)
