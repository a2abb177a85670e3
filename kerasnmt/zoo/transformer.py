"""The Transformer."""

from typing import Any

import keras

from kerasnmt import layers
from kerasnmt.models import Seq2Seq
from kerasnmt.zoo.assembly import (
    check_num_layers,
    source_embedding,
    start_from_frequencies,
    word_embedding,
)
from kerasnmt.zoo.registry import register
from kerasnmt.zoo.vocabulary import sizes_and_tokenizers


@register
def transformer_tiny(
    source: Any,
    target: Any = None,
    *,
    units: int = 128,
    num_heads: int = 4,
    hidden_units: int = 256,
    encoder_layers: int = 4,
    decoder_layers: int = 4,
    dropout: float = 0.3,
    attention_dropout: float = 0.1,
    pre_norm: bool = True,
    max_positions: int | None = None,
    tie_embeddings: bool = True,
    share_embeddings: bool | None = None,
) -> Seq2Seq:
    """The Transformer in a size for some ten thousands of sentence pairs.

    Every word hears all others of its sentence by softmax(Q K^T / sqrt(d)) V with several heads,
    and the decoder's those of the source; there is no recurrence, so all words of a target are
    trained on at once. Wants a warm-up of the learning rate: in a recipe `warmup_steps`, with
    `learning_rate_schedule: inverse_sqrt` or `cosine`.

    Source: Vaswani et al. (2017), "Attention is all you need". The sizes are those of Wu et al.
    (2021), "Good for misconceived reasons", for Multi30k; features are normalized before each
    sublayer, see `kerasnmt.layers.PreNorm`.

    Args:
        source: a tokenizer, or the source vocabulary's size where only ids are fed.
        target: likewise; None shares the source's.
        units: size of embedded words and of what all layers hand on; even.
        num_heads: how many heads share the units of each attention.
        hidden_units: size of the hidden layer of feed-forward blocks.
        encoder_layers: number of layers of the encoder.
        decoder_layers: number of layers of the decoder.
        dropout: share of the features of words and of sublayers that is dropped in training.
        attention_dropout: share of the attention weights that is dropped in training.
        pre_norm: whether features are normalized before each sublayer, and not after it as in the
            paper.
        max_positions: None for positions as waves, without end; a number for learned positions, as
            many as that, beyond which no text can be read or written.
        tie_embeddings: whether the target embeddings are the output projection as well.
        share_embeddings: whether the words of the source are embedded by the target embeddings;
            None where `target` is None or the source's tokenizer.

    Returns:
        a `Seq2Seq`, not compiled.

    Raises:
        ValueError: `units` is odd or no multiple of `num_heads`, there are no layers, or embeddings
            are to be shared by two vocabularies.
    """
    return _transformer(
        "transformer_tiny",
        source,
        target,
        units=units,
        num_heads=num_heads,
        hidden_units=hidden_units,
        encoder_layers=encoder_layers,
        decoder_layers=decoder_layers,
        dropout=dropout,
        attention_dropout=attention_dropout,
        pre_norm=pre_norm,
        max_positions=max_positions,
        tie_embeddings=tie_embeddings,
        share_embeddings=share_embeddings,
    )


@register
def transformer_base(
    source: Any,
    target: Any = None,
    *,
    units: int = 512,
    num_heads: int = 8,
    hidden_units: int = 2048,
    encoder_layers: int = 6,
    decoder_layers: int = 6,
    dropout: float = 0.1,
    attention_dropout: float = 0.0,
    pre_norm: bool = False,
    max_positions: int | None = None,
    tie_embeddings: bool = True,
    share_embeddings: bool | None = None,
) -> Seq2Seq:
    """The Transformer in the paper's base size, for millions of sentence pairs.

    As `transformer_tiny`, but larger, and normalized after each sublayer. Wants a warm-up of the
    learning rate, in the paper of 4,000 steps: `learning_rate_schedule: inverse_sqrt` in a recipe.

    Source: Vaswani et al. (2017), "Attention is all you need", table 3. The paper's output has no
    bias.

    Args:
        source: a tokenizer, or the source vocabulary's size where only ids are fed.
        target: likewise; None shares the source's.
        units: size of embedded words and of what all layers hand on; even.
        num_heads: how many heads share the units of each attention.
        hidden_units: size of the hidden layer of feed-forward blocks.
        encoder_layers: number of layers of the encoder.
        decoder_layers: number of layers of the decoder.
        dropout: share of the features of words and of sublayers that is dropped in training.
        attention_dropout: share of the attention weights that is dropped in training.
        pre_norm: whether features are normalized before each sublayer, and not after it as in the
            paper.
        max_positions: None for positions as waves, without end; a number for learned positions, as
            many as that, beyond which no text can be read or written.
        tie_embeddings: whether the target embeddings are the output projection as well.
        share_embeddings: whether the words of the source are embedded by the target embeddings;
            None where `target` is None or the source's tokenizer.

    Returns:
        a `Seq2Seq`, not compiled.

    Raises:
        ValueError: `units` is odd or no multiple of `num_heads`, there are no layers, or embeddings
            are to be shared by two vocabularies.
    """
    return _transformer(
        "transformer_base",
        source,
        target,
        units=units,
        num_heads=num_heads,
        hidden_units=hidden_units,
        encoder_layers=encoder_layers,
        decoder_layers=decoder_layers,
        dropout=dropout,
        attention_dropout=attention_dropout,
        pre_norm=pre_norm,
        max_positions=max_positions,
        tie_embeddings=tie_embeddings,
        share_embeddings=share_embeddings,
    )


def _transformer(
    name: str,
    source: Any,
    target: Any,
    *,
    units: int,
    num_heads: int,
    hidden_units: int,
    encoder_layers: int,
    decoder_layers: int,
    dropout: float,
    attention_dropout: float,
    pre_norm: bool,
    max_positions: int | None,
    tie_embeddings: bool,
    share_embeddings: bool | None,
) -> Seq2Seq:
    """Put the layers of an encoder and of a decoder together."""
    check_num_layers(encoder_layers, "encoder_layers")
    check_num_layers(decoder_layers, "decoder_layers")
    vocabulary, tokenizers = sizes_and_tokenizers(source, target)
    if share_embeddings is None:
        share_embeddings = target is None or (bool(tokenizers) and target is source)
    # Words have a standard deviation of 1 once they are multiplied by the root of their size.
    scale = (3 / units) ** 0.5

    def attention(name: str) -> layers.MultiHeadAttention:
        return layers.MultiHeadAttention(units, num_heads, attention_dropout, name=name)

    def around(*sublayers: str) -> list[keras.layers.Layer]:
        norm = layers.PreNorm if pre_norm else layers.PostNorm
        return [norm(dropout, name=f"around_{sublayer}") for sublayer in sublayers]

    def alike() -> dict[str, Any]:
        """What encoder and decoder both have, each its own."""
        return {
            "positions": layers.SinusoidalPositions(name="positions")
            if max_positions is None
            else layers.LearnedPositions(max_positions, name="positions"),
            "normalization": keras.layers.LayerNormalization(epsilon=1e-6, name="normalization")
            if pre_norm
            else None,
            "dropout": dropout,
        }

    encoder = [
        layers.TransformerEncoderLayer(
            attention("attention"),
            layers.FeedForward(hidden_units, units, name="feed_forward"),
            around("attention", "feed_forward"),
            name=f"layer_{number}",
        )
        for number in range(encoder_layers)
    ]
    decoder = [
        layers.TransformerDecoderLayer(
            attention("self_attention"),
            attention("cross_attention"),
            layers.FeedForward(hidden_units, units, name="feed_forward"),
            around("self_attention", "cross_attention", "feed_forward"),
            name=f"layer_{number}",
        )
        for number in range(decoder_layers)
    ]
    generator = layers.TiedVocabularyProjection if tie_embeddings else layers.VocabularyProjection
    model = Seq2Seq(
        encoder=layers.TransformerEncoder(
            embedding=source_embedding(source, target, units, scale, share_embeddings),
            layers=encoder,
            **alike(),
            name="encoder",
        ),
        bridge=None,
        decoder=layers.TransformerDecoder(
            embedding=word_embedding(vocabulary.target, units, scale),
            layers=decoder,
            generator=generator(vocabulary.target, name="generator"),
            **alike(),
            name="decoder",
        ),
        **tokenizers,
        share_embeddings=share_embeddings,
        name=name,
    )
    start_from_frequencies(model.decoder.generator, model.target_tokenizer)
    return model
