"""Models that read a second text beside the source."""

from typing import Any

from kerasnmt import layers
from kerasnmt.models import Seq2Seq
from kerasnmt.zoo.assembly import source_embedding, start_from_frequencies, word_embedding
from kerasnmt.zoo.pointer import COPIES
from kerasnmt.zoo.registry import register
from kerasnmt.zoo.vocabulary import need_one_vocabulary, sizes_and_tokenizers


@register
def context_attention_gru(
    source: Any,
    target: Any = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    dropout: float = 0.2,
    state_dropout: float = 0.0,
    tie_embeddings: bool = False,
    share_embeddings: bool = False,
) -> Seq2Seq:
    """RNNsearch that reads a context beside the source, as a story beside a question.

    p(w) = p_gen p_vocab(w) + p_source sum_{i: x_i = w} alpha_{t,i}
    + p_context sum_{j: z_j = w} beta_{t,j}: the decoder attends to the source x and to the context
    z, with weights of their own, and chooses among generating a word and copying one of either. The
    context is read in the light of the source, see `kerasnmt.layers.ContextEncoder`. Beside
    `source_ids` the model takes `context_ids`, and beside `extended_source_ids`
    `extended_context_ids`.

    Source: McCann, Keskar, Xiong and Socher (2018), "The natural language decathlon: multitask
    learning as question answering", section 3, on the decoder of Bahdanau, Cho and Bengio (2015).
    The paper's network has self-attention in the encoder and in the decoder as well, and word
    vectors that it does not train. Stehnii (2018), "Neural attention", section "Attention over
    context", describes the idea.

    Args:
        source: a tokenizer of all texts, or the vocabulary's size where only ids are fed.
        target: None, or the source's again: words that are copied have one id everywhere.
        embedding_dim: size of an embedded word.
        units: size of the decoder's state, of each direction of the encoder, and of the hidden
            layers of both attentions.
        dropout: share of the features of embedded words, of the encoder's layers and of the readout
            that is dropped in training.
        state_dropout: share of the features of the recurrent cells' states that is dropped in
            training, with one mask for all steps, see `kerasnmt.layers.StateDropout`.
        tie_embeddings: whether the target embeddings are the output projection as well.
        share_embeddings: whether the words of source and context are embedded by the target
            embeddings.

    Returns:
        a `Seq2Seq`, not compiled.

    Raises:
        ValueError: `target` is another vocabulary than `source`.
    """
    need_one_vocabulary(COPIES.format("context_attention_gru"), source, target)
    vocabulary, tokenizers = sizes_and_tokenizers(source, target)
    generator = layers.TiedVocabularyProjection if tie_embeddings else layers.VocabularyProjection
    decoder = layers.ContextDecoder(
        word_embedding(vocabulary.target, embedding_dim, 0.05),
        layers.ContextDecoderCell(
            layers.GRUCell(units, name="cell"),
            layers.BahdanauAttention(units, name="attention"),
            layers.BahdanauAttention(units, name="context_attention"),
            state_dropout,
            name="cell",
        ),
        layers.MaxoutReadout(embedding_dim, name="readout"),
        generator(vocabulary.target, name="generator"),
        dropout=dropout,
        name="decoder",
    )
    encoder_layers = [
        layers.BidirectionalLayer(layers.GRUCell(units, name="cell"), state_dropout, name=name)
        for name in ("layer", "context_layer")
    ]
    model = Seq2Seq(
        encoder=layers.ContextEncoder(
            source_embedding(source, target, embedding_dim, 0.05, share_embeddings),
            *encoder_layers,
            dropout=dropout,
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
    start_from_frequencies(decoder.generator, model.target_tokenizer)
    return model
