"""Models with attention before the recurrent cell."""

from typing import Any

import keras

from kerasnmt import layers
from kerasnmt.models import Seq2Seq
from kerasnmt.zoo.registry import register
from kerasnmt.zoo.vocabulary import sizes_and_tokenizers


@register
def bahdanau_gru(
    source: Any,
    target: Any = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    dropout: float = 0.2,
    tie_embeddings: bool = False,
) -> Seq2Seq:
    """RNNsearch: a bidirectional GRU encoder and a GRU decoder with additive attention.

    The decoder asks the attention with s_{t-1} and feeds the context to its cell; its first state
    comes from the encoder's backward state, and words are predicted by a maxout layer over the
    last word, the state and the context.

    Source: Bahdanau, Cho and Bengio (2015), "Neural machine translation by jointly learning to
    align and translate". The paper's sizes are embedding_dim=620, units=1000.

    Args:
        source: a tokenizer, or the source vocabulary's size where only ids are fed.
        target: likewise; None shares the source's.
        embedding_dim: size of an embedded word.
        units: size of the decoder's state, of each direction of the encoder, and of the
            attention's hidden layer.
        dropout: share of the features of embedded words and readout dropped in training.
        tie_embeddings: whether the target embeddings are the output projection as well.

    Returns:
        a `Seq2Seq`, not compiled.
    """
    vocabulary, tokenizers = sizes_and_tokenizers(source, target)
    generator = layers.TiedVocabularyProjection if tie_embeddings else layers.VocabularyProjection
    return Seq2Seq(
        encoder=layers.RecurrentEncoder(
            keras.layers.Embedding(vocabulary.source, embedding_dim, name="embedding"),
            units,
            dropout=dropout,
            name="encoder",
        ),
        bridge=layers.BackwardStateBridge(units, name="bridge"),
        decoder=layers.RecurrentDecoder(
            embedding=keras.layers.Embedding(vocabulary.target, embedding_dim, name="embedding"),
            cell=layers.BahdanauDecoderCell(
                layers.GRUCell(units, name="cell"),
                layers.BahdanauAttention(units, name="attention"),
                name="cell",
            ),
            readout=layers.MaxoutReadout(embedding_dim, name="readout"),
            generator=generator(vocabulary.target, name="generator"),
            dropout=dropout,
            name="decoder",
        ),
        **tokenizers,
        name="bahdanau_gru",
    )
