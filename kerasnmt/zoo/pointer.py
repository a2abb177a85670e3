"""Models that copy words of the source."""

from typing import Any

from kerasnmt import layers
from kerasnmt.models import Seq2Seq
from kerasnmt.zoo.assembly import (
    LARGE_EMBEDDINGS,
    coverage_layer,
    source_embedding,
    word_embedding,
)
from kerasnmt.zoo.bahdanau import bahdanau_model
from kerasnmt.zoo.registry import register
from kerasnmt.zoo.vocabulary import need_one_vocabulary, sizes_and_tokenizers

COPIES = "{} copies words of the source, which need the same ids in the target"


@register
def pointer_generator_gru(
    source: Any,
    target: Any = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    coverage: float | None = None,
    dropout: float = 0.2,
    state_dropout: float = 0.0,
    tie_embeddings: bool = False,
    share_embeddings: bool = False,
) -> Seq2Seq:
    """RNNsearch that copies what it has no word for.

    p(w) = p_gen p_vocab(w) + p_copy sum_{i: x_i = w} alpha_{t,i}, with (p_gen, p_copy) =
    softmax(W s_t): `bahdanau_gru`, whose attention is the pointer.

    Source: See, Liu and Manning (2017), "Get to the point: summarization with pointer-generator
    networks", on the model of Bahdanau, Cho and Bengio (2015). The two-way softmax is that of
    Stehnii (2018), "Neural attention", section "Pointer networks".

    Args:
        source: a tokenizer, or the vocabulary's size where only ids are fed.
        target: None, or the source's again: words that are copied have one id on both sides.
        embedding_dim: size of an embedded word.
        units: size of the decoder's state, of each direction of the encoder, and of the
            attention's hidden layer.
        coverage: what the loss of coverage counts, 0 for coverage without it; None for an attention
            that forgets where it looked. Small from the start, as 0.1; See et al. (2017) add it,
            at 1, to a trained model.
        dropout: share of the features of embedded words, of the encoder's layers and of the readout
            that is dropped in training.
        state_dropout: share of the features of the recurrent cells' states that is dropped in
            training, with one mask for all steps, see `kerasnmt.layers.StateDropout`.
        tie_embeddings: whether the target embeddings are the output projection as well.
        share_embeddings: whether the words of the source are embedded by the target embeddings.

    Returns:
        a `Seq2Seq`, not compiled.

    Raises:
        ValueError: `target` is another vocabulary than `source`.
    """
    need_one_vocabulary(COPIES.format("pointer_generator_gru"), source, target)
    return bahdanau_model(
        "pointer_generator_gru",
        source,
        target,
        layers.GRUCell,
        layers.BahdanauAttention(units, coverage_layer(coverage), name="attention"),
        embedding_dim=embedding_dim,
        units=units,
        dropout=dropout,
        state_dropout=state_dropout,
        tie_embeddings=tie_embeddings,
        share_embeddings=share_embeddings,
        gate=layers.SoftmaxGate(name="gate"),
    )


@register
def pointer_generator_lstm(
    source: Any,
    target: Any = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    coverage: float | None = None,
    dropout: float = 0.2,
    state_dropout: float = 0.0,
    tie_embeddings: bool = False,
    share_embeddings: bool = False,
) -> Seq2Seq:
    """The pointer-generator: what it has no word for is copied from the source.

    p(w) = p_gen p_vocab(w) + (1 - p_gen) sum_{i: x_i = w} alpha_{t,i}, with
    p_gen = sigmoid(w_c c_t + w_s s_t + w_y y_{t-1} + b): `bahdanau_lstm`, whose attention is the
    pointer. In the paper the attention is asked with s_t, and words are read off two linear layers.

    Source: See, Liu and Manning (2017), "Get to the point: summarization with pointer-generator
    networks", equations 8 and 9. The paper's sizes are embedding_dim=128, units=256.

    Args:
        source: a tokenizer, or the vocabulary's size where only ids are fed.
        target: None, or the source's again: words that are copied have one id on both sides.
        embedding_dim: size of an embedded word.
        units: size of the decoder's state, of each direction of the encoder, and of the
            attention's hidden layer.
        coverage: what the loss of coverage counts, 0 for coverage without it; None for an attention
            that forgets where it looked. Small from the start, as 0.1; See et al. (2017) add it,
            at 1, to a trained model.
        dropout: share of the features of embedded words, of the encoder's layers and of the readout
            that is dropped in training.
        state_dropout: share of the features of the recurrent cells' states that is dropped in
            training, with one mask for all steps, see `kerasnmt.layers.StateDropout`.
        tie_embeddings: whether the target embeddings are the output projection as well.
        share_embeddings: whether the words of the source are embedded by the target embeddings.

    Returns:
        a `Seq2Seq`, not compiled.

    Raises:
        ValueError: `target` is another vocabulary than `source`.
    """
    need_one_vocabulary(COPIES.format("pointer_generator_lstm"), source, target)
    return bahdanau_model(
        "pointer_generator_lstm",
        source,
        target,
        layers.LSTMCell,
        layers.BahdanauAttention(units, coverage_layer(coverage), name="attention"),
        embedding_dim=embedding_dim,
        units=units,
        dropout=dropout,
        state_dropout=state_dropout,
        tie_embeddings=tie_embeddings,
        share_embeddings=share_embeddings,
        embedding_scale=LARGE_EMBEDDINGS,
        gate=layers.SigmoidGate(name="gate"),
    )


@register
def pointer_network_lstm(
    source: Any,
    target: Any = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    coverage: float | None = None,
    dropout: float = 0.2,
    state_dropout: float = 0.0,
    share_embeddings: bool = False,
) -> Seq2Seq:
    """The pointer network: every word of the output is one of the source.

    p(w) = sum_{i: x_i = w} a_{t,i}, a_t = softmax_i(v^T tanh(W_1 h_i + W_2 s_t)): the decoder reads
    the embedding of the word that it pointed at before, and ends by pointing at the source's end
    token.

    Source: Vinyals, Fortunato and Jaitly (2015), "Pointer networks", section 2.3, with a
    bidirectional encoder. The paper's sizes are units=256 or 512.

    Args:
        source: a tokenizer, or the vocabulary's size where only ids are fed.
        target: None, or the source's again: words that are copied have one id on both sides.
        embedding_dim: size of an embedded word.
        units: size of the decoder's state, of each direction of the encoder, and of the
            attention's hidden layer.
        coverage: what the loss of coverage counts, 0 for coverage without it: the pointer hears
            what it has pointed at, and the decoder is fed the attentional state, see
            `InputFeedingDecoderCell`. It is what orderings want, where each word is pointed at
            once. None for the paper's, which knows the word before and its own state.
        dropout: share of the features of embedded words and of the encoder's layers that is
            dropped in training.
        state_dropout: share of the features of the recurrent cells' states that is dropped in
            training, with one mask for all steps, see `kerasnmt.layers.StateDropout`.
        share_embeddings: whether the words of the source are embedded by the target embeddings.

    Returns:
        a `Seq2Seq`, not compiled.

    Raises:
        ValueError: `target` is another vocabulary than `source`.
    """
    need_one_vocabulary(COPIES.format("pointer_network_lstm"), source, target)
    vocabulary, tokenizers = sizes_and_tokenizers(source, target)
    cell = layers.LSTMCell(units, name="cell")
    attention = layers.BahdanauAttention(units, coverage_layer(coverage), name="attention")
    decoder_cell = layers.LuongDecoderCell if coverage is None else layers.InputFeedingDecoderCell
    encoder_layer = layers.BidirectionalLayer(
        layers.LSTMCell(units, name="cell"), state_dropout, name="layer_0"
    )
    return Seq2Seq(
        encoder=layers.RecurrentEncoder(
            source_embedding(source, target, embedding_dim, LARGE_EMBEDDINGS, share_embeddings),
            [encoder_layer],
            dropout=dropout,
            name="encoder",
        ),
        bridge=layers.DenseBridge(cell.state_size, name="bridge"),
        decoder=layers.PointerDecoder(
            word_embedding(vocabulary.target, embedding_dim, LARGE_EMBEDDINGS),
            decoder_cell(cell, attention, state_dropout, name="cell"),
            dropout=dropout,
            name="decoder",
        ),
        **tokenizers,
        share_embeddings=share_embeddings,
        name="pointer_network_lstm",
    )
