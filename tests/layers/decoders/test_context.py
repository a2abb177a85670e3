"""Attention over context, compared with NumPy."""

import keras
import numpy as np
import pytest

from kerasnmt import layers
from kerasnmt.ids import START_ID, UNKNOWN_ID
from tests.numerics import additive, gru, softmax
from tests.zoo.tiny_models import IN_CONTEXT, make

V = 13


@pytest.fixture(scope="module")
def model():
    return make("context_attention_gru")


def attend(attention, query, memory):
    """Compute additive attention of one query: the weights, and the weighted sum."""
    weights = softmax(additive(attention.score, query, memory))
    return weights, weights @ memory


def distributions(model, texts, ids):
    """Return p(w) of each next word of one row, [words, ids], and the parts of the mixture."""
    (source, extended_source), (context, extended_context) = texts
    decoder = model.decoder.decoder
    cell = decoder.cell
    memory, _, states = model.encoder(source[None], context[None])
    h, g = np.array(memory["source"][0]), np.array(memory["context"][0])
    (state,) = (np.array(state[0]) for state in model.bridge(states))
    made = []
    for word in ids:
        y = np.array(decoder.embedding.embeddings)[word]
        alpha, c = attend(cell.attention, state, h)
        beta, k = attend(cell.context_attention, state, g)
        x = y @ np.array(cell.input_projection.kernel) + np.array(cell.input_projection.bias)
        x = x + c @ np.array(cell.context_projection.kernel)
        x = x + k @ np.array(cell.second_projection.kernel)
        state, _ = gru(x, [state], *cell.cell.get_weights())
        readout = decoder.readout.projection
        hidden = np.concatenate([y, state, c, k]) @ np.array(readout.kernel) + np.array(
            readout.bias
        )
        features = np.maximum(*np.split(hidden, 2))
        w, b = (np.array(weight) for weight in decoder.generator.weights)
        gate = model.decoder.gate.projection
        actions = np.concatenate([state, c, k, y]) @ np.array(gate.kernel) + np.array(gate.bias)
        generate, from_source, from_context = softmax(actions)
        p = np.zeros(V + len(source) + len(context))
        p[:V] = generate * softmax(features @ w + b)
        for place, word_id in enumerate(extended_source):
            p[word_id] += from_source * alpha[place]
        for place, word_id in enumerate(extended_context):
            p[word_id] += from_context * beta[place]
        made.append((p, alpha, beta, generate, from_context))
    return [np.stack(values) for values in zip(*made, strict=True)]


@pytest.mark.parametrize("row", [0, 1])
def test_the_mixture(model, row):
    texts = []
    for name in ("source_ids", "context_ids"):
        real = IN_CONTEXT[name][row] != 0
        texts.append((IN_CONTEXT[name][row][real], IN_CONTEXT[f"extended_{name}"][row][real]))
    fed = np.array([START_ID, 7, UNKNOWN_ID], "int32")
    p, alpha, beta, generate, from_context = distributions(model, texts, fed)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-6)
    inputs = {name: ids[row : row + 1] for name, ids in IN_CONTEXT.items()}
    inputs["target_ids"] = fed[None]
    outputs, records = model(inputs), model.attend(inputs)
    received = np.exp(model.decoder.next_log_probability(outputs)[0])
    np.testing.assert_allclose(received[:, : p.shape[1]], p, atol=1e-5)
    np.testing.assert_allclose(received[:, p.shape[1] :], 0.0, atol=1e-9)
    np.testing.assert_allclose(records["weights"][0, :, : alpha.shape[1]], alpha, atol=1e-5)
    np.testing.assert_allclose(records["context_weights"][0, :, : beta.shape[1]], beta, atol=1e-5)
    np.testing.assert_allclose(records["generate_probability"][0], generate, atol=1e-5)
    np.testing.assert_allclose(records["context_probability"][0], from_context, atol=1e-5)
    # The loss uses the same values, for known words and for words that can only be copied.
    targets = np.array([[7, p.shape[1] - 1, 13 if row == 0 else 9]], "int32")
    scores = model.decoder.log_probability(outputs, targets)[0][0]
    expected = np.maximum(p[[0, 1, 2], targets[0]], 1e-30)
    np.testing.assert_allclose(scores, np.log(expected), atol=1e-4)


def test_the_context_is_read_in_the_light_of_the_source(model):
    encoder = model.encoder
    words = np.array(encoder.embedding(np.array([[5, 9, 3]])))
    context = np.array(encoder.embedding(np.array([[9, 4, 7, 3]])))
    mask = np.ones((1, 3), bool), np.ones((1, 4), bool)
    h, _ = encoder.layer(words, source_mask=mask[0])
    g, _ = encoder.layer(context, source_mask=mask[1])
    h, g = np.array(h[0]), np.array(g[0])
    found = [softmax(np.append(0.0, h @ one / np.sqrt(8)))[1:] @ h for one in g]
    features = np.concatenate([g, np.stack(found), g * np.stack(found)], axis=1)[None].astype(
        "float32"
    )
    expected, _ = encoder.context_layer(features, source_mask=mask[1])
    # Beside a longer source, whose padding is found by nothing.
    memory, masks, states = encoder(np.array([[5, 9, 3, 0, 0]]), np.array([[9, 4, 7, 3, 0]]))
    np.testing.assert_allclose(memory["context"][:, :4], expected, atol=1e-5)
    np.testing.assert_allclose(memory["source"][0, :3], h, atol=1e-5)
    assert np.array(masks["source"]).tolist() == [[True] * 3 + [False] * 2]
    assert np.array(masks["context"]).tolist() == [[True] * 4 + [False]]
    (forward, backward), *_ = states
    np.testing.assert_allclose(forward[0][0], h[2, :4], atol=1e-5)
    np.testing.assert_allclose(backward[0][0], h[0, 4:], atol=1e-5)


def test_an_equal_word_of_both_texts_is_one_id(model):
    """The first row has 13 in source and context, whose probabilities are added."""
    outputs = model(IN_CONTEXT)
    p = np.exp(model.decoder.next_log_probability(outputs)[0])
    gate, pointer = np.exp(outputs["gate"][0]), np.array(outputs["pointer"][0])
    np.testing.assert_allclose(p[:, 13], gate[:, 1] * (pointer[:, 3] + pointer[:, 7]), atol=1e-6)
    np.testing.assert_allclose(p[:, 14], gate[:, 1] * pointer[:, 5], atol=1e-6)


def test_the_records_and_penalties_of_a_decoder_without_a_pointer():
    penalties = [layers.DoublyStochastic(0.5), layers.DoublyStochastic(2.0)]
    attentions = [layers.BahdanauAttention(5, penalty=penalty) for penalty in penalties]
    cell = layers.ContextDecoderCell(layers.GRUCell(4), *attentions)
    embedding, generator = keras.layers.Embedding(9, 3), layers.VocabularyProjection(9)
    decoder = layers.ContextDecoder(embedding, cell, layers.StateReadout(), generator)
    decoder.build((None, None, 4))
    rng = np.random.default_rng(0)
    lengths = {"source": 3, "context": 5}
    texts = {name: rng.normal(size=(1, n, 4)).astype("float32") for name, n in lengths.items()}
    masks = {name: np.ones((1, n), bool) for name, n in lengths.items()}
    memory = decoder.project_memory(texts, masks)
    first, ids = decoder.initial_state([np.ones((1, 4), "float32")], memory), np.array([[2, 4]])
    _, records = decoder(ids, first, memory)
    assert records["weights"].shape == (1, 2, 3) and records["context_weights"].shape == (1, 2, 5)
    _, of_step, _ = decoder.step(ids[:, 0], first, memory)
    for name, weights in records.items():
        np.testing.assert_allclose(weights[:, 0], of_step[name], atol=1e-6)
        np.testing.assert_allclose(np.sum(weights, -1), 1.0, atol=1e-6)
    sums = [np.sum(weights[0], axis=0) for weights in records.values()]
    expected = [w * np.sum((1 - one) ** 2) / 2 for w, one in zip((0.5, 2.0), sums, strict=True)]
    np.testing.assert_allclose(decoder.added_losses(records, ids), expected, rtol=1e-5)
