"""Models that copy words of the source."""

from typing import Any

import keras

from kerasnmt import layers
from kerasnmt.models import Seq2Seq
from kerasnmt.zoo import assembly
from kerasnmt.zoo.bahdanau import bahdanau
from kerasnmt.zoo.registry import documented, register

COPIES = "{} copies words of the source, which need the same ids in the target"


@documented
def pointer_generator(
    source: Any,
    target: Any,
    cell: type,
    gate: type,
    embedding_scale: float = assembly.SMALL,
    name: str = "pointer_generator",
    *,
    embedding_dim: int = 256,
    units: int = 256,
    num_layers: int = 1,
    own_pointer: bool = False,
    attention: str | keras.layers.Layer = "global",
    normalizer: str | keras.layers.Layer = "softmax",
    coverage: float | None = None,
    layer_normalization: bool = False,
    tags: str = "tokens",
    dropout: float = 0.2,
    context_dropout: float = 0.0,
    output_dropout: float | None = None,
    state_dropout: float = 0.0,
    tie_embeddings: bool = False,
    share_embeddings: bool = False,
) -> Seq2Seq:
    """Bahdanau's encoder-decoder, which copies words that are not in its vocabulary.

    Source: See, Liu and Manning (2017), "Get to the point", with the model of Bahdanau, Cho and
    Bengio (2015). The paper's sizes are embedding_dim=128, units=256. In the paper, the decoder
    attends with s_t, and two linear layers predict the words.

    Args:
        source: Tokenizer of both sides, or the size of its vocabulary for a model that takes only
            ids.
        target: None, or the same as `source`, because copied words need one id on both sides.
        gate: Class of the gate, `kerasnmt.layers.SoftmaxGate` or `SigmoidGate`.
        units: Size of the decoder's state, of each direction of the encoder, and of the hidden
            layers of attention and pointer.
        own_pointer: Whether the pointer is a separate attention with the query s_t, as in Stehnii
            (2018), "Neural attention", section "Pointer networks", plus a bias b: softmax_i(w^T
            tanh(W_x h_i + W_y s_t + b)). By default, the pointer is the decoder's attention.
            Coverage applies to the decoder's attention.
        attention: See `bahdanau_gru`. If the weights of a word sum to less than 1, as in monotonic
            attention, the rest of p_copy belongs to no word, unless the pointer is separate.
    """
    assembly.need_one_vocabulary(COPIES.format(name), source, target)
    return bahdanau(
        source,
        target,
        cell,
        gate=gate,
        pointer=layers.BahdanauAttention(units, normalizer=normalizer, name="pointer")
        if own_pointer
        else None,
        embedding_scale=embedding_scale,
        name=name,
        embedding_dim=embedding_dim,
        units=units,
        num_layers=num_layers,
        attention=attention,
        normalizer=normalizer,
        coverage=coverage,
        layer_normalization=layer_normalization,
        tags=tags,
        dropout=dropout,
        context_dropout=context_dropout,
        output_dropout=output_dropout,
        state_dropout=state_dropout,
        tie_embeddings=tie_embeddings,
        share_embeddings=share_embeddings,
    )


@register(family=pointer_generator)
def pointer_generator_gru(source: Any, target: Any = None, **options) -> Seq2Seq:
    """RNNsearch that copies words: `bahdanau_gru` with a pointer.

        p(w) = p_gen p_vocab(w) + p_copy sum_{i: x_i = w} alpha_{t,i}
        (p_gen, p_copy) = softmax(W s_t)

    Source of the gate: Stehnii (2018), "Neural attention", section "Pointer networks".
    """
    return pointer_generator(source, target, layers.GRUCell, layers.SoftmaxGate, **options)


@register(family=pointer_generator)
def pointer_generator_lstm(source: Any, target: Any = None, **options) -> Seq2Seq:
    """Pointer-generator: `bahdanau_lstm` with a pointer.

        p(w) = p_gen p_vocab(w) + (1 - p_gen) sum_{i: x_i = w} alpha_{t,i}
        p_gen = sigmoid(w_c c_t + w_s s_t + w_y y_{t-1} + b)

    See equations 8 and 9 of the paper.
    """
    return pointer_generator(
        source, target, layers.LSTMCell, layers.SigmoidGate, assembly.LARGE, **options
    )


@register()
def pointer_network_lstm(
    source: Any,
    target: Any = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    normalizer: str | keras.layers.Layer = "softmax",
    coverage: float | None = None,
    layer_normalization: bool = False,
    tags: str = "tokens",
    dropout: float = 0.2,
    context_dropout: float = 0.0,
    state_dropout: float = 0.0,
    share_embeddings: bool = False,
) -> Seq2Seq:
    """Pointer network, where every word of the output is a word of the source.

        p(w) = sum_{i: x_i = w} a_{t,i},    a_{t,i} = softmax_i(v^T tanh(W_1 h_i + W_2 s_t + b))

    The decoder reads the embedding of the word that it has predicted. It ends by pointing at the
    end token of the source.

    Source: Vinyals, Fortunato and Jaitly (2015), "Pointer networks", section 2.3. The paper's
    encoder is not bidirectional, and its equation has no bias b. Its sizes are units=256 or 512.

    Args:
        source: Tokenizer of both sides, or the size of its vocabulary for a model that takes only
            ids.
        target: None, or the same as `source`, because copied words need one id on both sides.
        units: Size of the decoder's state, of each direction of the encoder, and of the attention's
            hidden layer.
        coverage: Weight of the coverage loss, or None for the paper's pointer, which knows only the
            previous word and its state. 0 gives coverage without a loss. With coverage, the pointer
            knows its earlier positions, and the decoder uses input feeding; see
            `kerasnmt.layers.InputFeedingDecoderCell`. Use it for orderings, which point at each
            word once.
        dropout: Dropout rate of the embedded words and of the inputs of the encoder's layers.
    """
    assembly.need_one_vocabulary(COPIES.format("pointer_network_lstm"), source, target)
    _, size, tokenizers = assembly.sizes_and_tokenizers(source, target)
    kind = assembly.cell_class(layers.LSTMCell, layer_normalization)
    cell = kind(units, name="cell")
    attention = layers.BahdanauAttention(
        units, assembly.coverage_layer(coverage), normalizer=normalizer, name="attention"
    )
    decoder_cell = layers.LuongDecoderCell if coverage is None else layers.InputFeedingDecoderCell
    reader, scale = layers.BidirectionalLayer, assembly.LARGE
    encoder = assembly.layer_stack(reader, kind, units, 1, state_dropout)
    return Seq2Seq(
        encoder=layers.RecurrentEncoder(
            assembly.source_embedding(source, target, share_embeddings, embedding_dim, scale),
            encoder,
            dropout=dropout,
            context_dropout=context_dropout,
            tags=assembly.tag_features(source, tags),
            name="encoder",
        ),
        bridge=layers.DenseBridge(cell.state_size, name="bridge"),
        decoder=layers.PointerDecoder(
            assembly.word_embedding(size, embedding_dim, scale),
            decoder_cell(cell, attention, state_dropout, name="cell"),
            dropout=dropout,
            name="decoder",
        ),
        **tokenizers,
        share_embeddings=share_embeddings,
        name="pointer_network_lstm",
    )
