"""Models that read a context in addition to the source."""

from typing import Any

import keras

from kerasnmt import layers
from kerasnmt.models import Seq2Seq
from kerasnmt.zoo import assembly
from kerasnmt.zoo.pointer import COPIES
from kerasnmt.zoo.registry import register


@register()
def context_attention_gru(
    source: Any,
    target: Any = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    normalizer: str | keras.layers.Layer = "softmax",
    layer_normalization: bool = False,
    dropout: float = 0.2,
    context_dropout: float = 0.0,
    output_dropout: float | None = None,
    state_dropout: float = 0.0,
    tie_embeddings: bool = False,
    share_embeddings: bool = False,
) -> Seq2Seq:
    """RNNsearch that reads a context in addition to the source, such as a story and a question.

        p(w) = p_gen p_vocab(w) + p_source sum_{i: x_i = w} alpha_{t,i}
                                + p_context sum_{j: z_j = w} beta_{t,j}

    The decoder attends to the source x and to the context z with separate weights. It chooses
    between generating a word, copying a word of the source and copying a word of the context. The
    annotations of the context depend on the source; see `kerasnmt.layers.ContextEncoder`. In
    addition to the inputs of a pointer-generator, it reads `context_ids` and
    `extended_context_ids`.

    Source: McCann, Keskar, Xiong and Socher (2018), "The natural language decathlon", section 3,
    with the decoder of Bahdanau, Cho and Bengio (2015). The paper's network also has self-attention
    in encoder and decoder, and fixed word vectors. Stehnii (2018), "Neural attention", section
    "Attention over context", describes the idea.

    Args:
        source: Tokenizer of all texts, or the size of its vocabulary for a model that takes only
            ids.
        target: None, or the same as `source`, because copied words need one id in all texts.
        units: Size of the decoder's state, of each direction of the encoder, and of the hidden
            layers of both attentions.
        context_dropout: Dropout rate of the annotations of both texts, which the attentions sum up.
        share_embeddings: Whether source, context and target use one embedding matrix.
    """
    assembly.need_one_vocabulary(COPIES.format("context_attention_gru"), source, target)
    _, size, tokenizers = assembly.sizes_and_tokenizers(source, target)
    cell = assembly.cell_class(layers.GRUCell, layer_normalization)
    decoder = layers.ContextDecoder(
        assembly.word_embedding(size, embedding_dim),
        layers.ContextDecoderCell(
            cell(units, name="cell"),
            layers.BahdanauAttention(units, normalizer=normalizer, name="attention"),
            layers.BahdanauAttention(units, normalizer=normalizer, name="context_attention"),
            state_dropout,
            name="cell",
        ),
        layers.MaxoutReadout(embedding_dim, name="readout"),
        assembly.vocabulary_projection(size, tie_embeddings),
        dropout=dropout,
        output_dropout=output_dropout,
        name="decoder",
    )
    layer, context_layer = (
        layers.BidirectionalLayer(cell(units, name="cell"), state_dropout, name=name)
        for name in ("layer", "context_layer")
    )
    model = Seq2Seq(
        encoder=layers.ContextEncoder(
            assembly.source_embedding(source, target, share_embeddings, embedding_dim),
            layer,
            context_layer,
            dropout=dropout,
            context_dropout=context_dropout,
            name="encoder",
        ),
        bridge=layers.BackwardStateBridge(units, name="bridge"),
        decoder=layers.ContextPointerDecoder(
            decoder, layers.ContextGate(name="gate"), name="pointer_generator"
        ),
        **tokenizers,
        share_embeddings=share_embeddings,
        name="context_attention_gru",
    )
    assembly.start_from_frequencies(decoder.generator, model.target_tokenizer)
    return model
