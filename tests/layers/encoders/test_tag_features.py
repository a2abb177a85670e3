"""Tags as features, compared with the rules in plain Python."""

import warnings

import keras
import numpy as np
import pytest
import tensorflow as tf

from kerasnmt.layers import (
    BidirectionalLayer,
    FeedForward,
    GRUCell,
    LearnedPositions,
    MultiHeadSelfAttention,
    PreNorm,
    RecurrentEncoder,
    SinusoidalPositions,
    TagFeatures,
    TransformerEncoder,
    TransformerEncoderLayer,
)
from tests.layers.encoders.tag_features_on_any_backend import IDS, results
from tests.numerics import dtype_policy, fill
from tests.other_backend import assert_equal
from tests.runs import eager, graph, xla

V, PST, ART, NN, SPACE = TAGS_AND_SPACE = 4, 5, 6, 7, 8
TAGS = [V, PST, ART, NN]
# Words are 9 and above. The end token is 3.
TEXTS = {
    "in front": [V, PST, 9, 10, 3],
    "after words": [9, 10, ART, 11, NN, PST, 3],
    "in front and after": [V, 9, ART, 10, 11, NN, 12],
    "at the end": [9, 10, V, PST],
    "no tags": [9, 10, 11, 3],
    "only tags": [V, PST, NN],
    "spaces": [SPACE, V, SPACE, PST, SPACE, 9, SPACE, ART, SPACE, NN, SPACE, 10, 3],
}


def words_of(ids, units=3):
    return np.random.default_rng(4).normal(size=(13, units)).astype("float32")[np.array(ids)]


def by_the_rules(ids, words, merge):
    """Walk through one text."""
    spoken = [p for p, one in enumerate(ids) if one not in TAGS_AND_SPACE]
    first = spoken[0] if spoken else len(ids)
    while first and ids[first - 1] == SPACE:
        first -= 1
    groups, after_tags = [[]], False  # positions; a word after tags begins a new group
    for p, one in enumerate(ids):
        if p < first:
            continue
        if after_tags and one not in TAGS_AND_SPACE:
            groups.append([])
            after_tags = False
        groups[-1].append(p)
        after_tags = after_tags or one in TAGS
    # A space behind the tags of a group belongs to what follows.
    for number, group in enumerate(groups[:-1]):
        while ids[group[-1]] == SPACE:
            groups[number + 1].insert(0, group.pop())
    outputs = []
    for p, one in enumerate(ids):
        (group,) = [group for group in groups if p in group] or [[]]
        tags = [q for q in range(len(ids)) if ids[q] in TAGS and (q < first or q in group)]
        features = sum((words[q] for q in tags), np.zeros_like(words[0]))
        word = np.zeros_like(words[p]) if one in TAGS else words[p]
        outputs.append(np.concatenate([word, features]) if merge == "concat" else word + features)
    return np.array(outputs)


def features(merge="concat"):
    return TagFeatures(TAGS, merge, [SPACE])


def test_by_hand():
    a, b, c, d, e, f = words_of([9, 10, ART, 11, NN, PST])
    received = features()(
        words_of([[9, 10, ART, 11, NN, PST, 3]]), np.array([[9, 10, 6, 11, 7, 5, 3]])
    )
    own = [a, b, 0 * c, d, 0 * e, 0 * f, words_of([3])[0]]
    tags = [c, c, c, e + f, e + f, e + f, 0 * a]
    np.testing.assert_allclose(received[0], np.concatenate([own, tags], axis=-1), atol=1e-6)
    # Two tags in front, a word with a tag, and another without.
    received = features("sum")(words_of([[V, PST, 9, ART, 10]]), np.array([[V, PST, 9, ART, 10]]))
    v, pst, art = words_of([V, PST, ART])
    expected = [v + pst, v + pst, a + v + pst + art, v + pst + art, b + v + pst]
    np.testing.assert_allclose(received[0], expected, atol=1e-6)


@pytest.mark.parametrize(
    "run", [eager, *(pytest.param(run, marks=pytest.mark.graph) for run in (graph, xla))]
)
@pytest.mark.parametrize("merge", ["concat", "sum"])
def test_equals_the_rules(merge, run):
    length = max(map(len, TEXTS.values()))
    ids = np.array([[*text, *[0] * (length - len(text))] for text in TEXTS.values()], "int32")
    words = words_of(ids)
    layer = features(merge)
    received = run(layer)(tf.constant(words), tf.constant(ids))
    assert received.shape == layer.compute_output_shape(words.shape, ids.shape)
    for row, text in enumerate(TEXTS.values()):
        expected = by_the_rules(text, words[row], merge)
        np.testing.assert_allclose(received[row, : len(text)], expected, atol=1e-6)
        # Alone, without padding.
        alone = layer(words[row : row + 1, : len(text)], ids[row : row + 1, : len(text)])
        np.testing.assert_allclose(alone[0], expected, atol=1e-6)


def test_the_order_of_tags_in_a_group_does_not_matter():
    layer = features()
    one, other = [V, PST, 9, ART, NN, V, 10], [PST, V, 9, V, ART, NN, 10]
    received = [layer(words_of([ids]), np.array([ids])) for ids in (one, other)]
    np.testing.assert_allclose(*received, atol=1e-6)
    moved = [V, 9, PST, ART, NN, V, 10]  # to another group
    assert np.abs(layer(words_of([moved]), np.array([moved])) - received[0]).max() > 0.1


def test_positions_leave_tags_out():
    ids = np.array([[V, PST, 9, ART, 10, 3], [9, SPACE, 10, 3, 0, 0]])
    np.testing.assert_array_equal(
        features().positions(ids), [[0, 0, 1, 0, 2, 3], [1, 2, 3, 4, 0, 0]]
    )


def test_on_jax(on_jax):
    assert_equal(results, run=on_jax)


@pytest.mark.parametrize("policy", ["float16", "mixed_float16"])
def test_half_precision(policy):
    text = TEXTS["in front and after"]
    with dtype_policy(policy):
        received = features()(words_of([text]).astype("float16"), np.array([text]))
    assert received.dtype == "float16"
    expected = by_the_rules(text, words_of(text), "concat")
    np.testing.assert_allclose(received[0], expected, atol=4e-3)


def test_gradients_reach_tags_and_words():
    text = TEXTS["after words"]
    words = tf.Variable(words_of([text]))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(features("sum")(words, np.array([text])))
    # A word counts once, and a tag at each position of its group.
    by_hand = [1, 1, 3, 1, 3, 3, 1]
    np.testing.assert_allclose(tape.gradient(loss, words)[0, :, 0], by_hand)


@pytest.mark.parametrize(
    "ids", [[], [0, 5], [3], [5, 5], [5.0], [True], ["<V>"]], ids=lambda ids: str(ids)
)
def test_bad_ids(ids):
    with pytest.raises(ValueError, match=r"Expected different ids above 3.*Received: tag_ids="):
        TagFeatures(ids)


def test_a_tag_is_no_space():
    with pytest.raises(ValueError, match=r"Expected different ids.*space_ids=\[5\]"):
        TagFeatures([4, 5], space_ids=[5])


def test_merge_that_is_unknown():
    with pytest.raises(ValueError, match=r"Expected merge to be.*Received: merge='mean'"):
        TagFeatures([4], merge="mean")


def recurrent(embedding, merge="concat"):
    return RecurrentEncoder(embedding, [BidirectionalLayer(GRUCell(4))], tags=features(merge))


def transformer(embedding, merge="sum", positions=None):
    layer = TransformerEncoderLayer(
        MultiHeadSelfAttention(4, 2), FeedForward(5, 4), [PreNorm(), PreNorm()]
    )
    positions = positions or SinusoidalPositions()
    return TransformerEncoder(embedding, positions, [layer], tags=features(merge))


ENCODERS = pytest.mark.parametrize("make", [recurrent, transformer])


@ENCODERS
def test_an_encoder_reads_the_features(make):
    """They are what an encoder without tags gets as embedded words."""
    encoder = make(keras.layers.Embedding(13, 4))
    encoder(IDS)
    fill(encoder)
    plain = type(encoder).from_config({**encoder.get_config(), "embedding": None, "tags": None})
    words = encoder.embedding(IDS)
    seen = encoder.tags(words, IDS)
    if make is transformer:  # where the position of a tag is that of no word
        waves = np.array(SinusoidalPositions()(np.zeros((1, 9, 4), "float32")))[0]
        usual = waves[: IDS.shape[1]]
        seen = seen + (waves[np.array(encoder.tags.positions(IDS))] - usual) / 4**0.5
    plain(IDS, embedded=seen)
    plain.set_weights(encoder.get_weights()[1:])
    (memory, mask, states), expected = encoder(IDS), plain(IDS, embedded=seen)
    np.testing.assert_allclose(memory, expected[0], atol=1e-5)
    np.testing.assert_array_equal(mask, IDS != 0)
    np.testing.assert_allclose(states[0][0][0], expected[2][0][0][0], atol=1e-5)
    # The same with words that are embedded outside.
    outside = type(encoder).from_config({**encoder.get_config(), "embedding": None})
    outside(IDS, embedded=words)
    outside.set_weights(encoder.get_weights()[1:])
    np.testing.assert_allclose(outside(IDS, embedded=words)[0], memory, atol=1e-6)


@ENCODERS
def test_an_encoder_reads_tags_in_any_order(make):
    encoder = make(keras.layers.Embedding(13, 4))
    one, other = np.array([[V, PST, NN, 9, 10, 3]]), np.array([[NN, V, PST, 9, 10, 3]])
    memory, _, states = encoder(one)
    again, _, same = encoder(other)
    np.testing.assert_allclose(again, memory, atol=1e-6)
    np.testing.assert_allclose(same[0][0][0], states[0][0][0], atol=1e-6)
    assert np.abs(memory - encoder(np.array([[V, PST, NN, 10, 9, 3]]))[0]).max() > 1e-3


@ENCODERS
def test_an_encoder_ignores_padding(make):
    encoder = make(keras.layers.Embedding(13, 4))
    memory, _, states = encoder(IDS)
    longer, _, same = encoder(np.pad(IDS, ((0, 0), (0, 2))))
    real = IDS != 0
    np.testing.assert_allclose(longer[:, : IDS.shape[1]][real], memory[real], atol=1e-6)
    np.testing.assert_allclose(same[0][0][0], states[0][0][0], atol=1e-6)


def test_implicit_masks_are_no_reason_to_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        recurrent(keras.layers.Embedding(13, 4, mask_zero=True))(IDS)


def test_a_transformer_sums():
    with pytest.raises(ValueError, match=r'Expected tags with merge="sum".*merge=\'concat\''):
        transformer(keras.layers.Embedding(13, 4), merge="concat")


def test_learned_positions_have_a_limit():
    """A text without tags needs one position more than words, because 0 is that of tags."""
    encoder = transformer(keras.layers.Embedding(13, 4), positions=LearnedPositions(6))
    encoder(np.array([[9, 10, 11, 12, 3]]))
    with pytest.raises(ValueError, match=r"Expected at most 6 words.*Received: 7 words"):
        encoder(np.array([[9, 10, 11, 12, 9, 3]]))


@pytest.mark.graph
def test_learned_positions_of_unknown_lengths():
    encoder = transformer(keras.layers.Embedding(13, 4), positions=LearnedPositions(9))
    expected = encoder(IDS)[0]
    traced = tf.function(
        lambda ids: encoder(ids)[0],
        input_signature=[tf.TensorSpec((None, None), tf.int32)],
        autograph=False,
    )
    np.testing.assert_allclose(traced(IDS), expected, atol=1e-6)
