"""The Transformer."""

from typing import Any

import keras

from kerasnmt import layers
from kerasnmt.models import Seq2Seq
from kerasnmt.zoo import assembly
from kerasnmt.zoo.registry import documented, register


@documented
def transformer(
    source: Any,
    target: Any,
    name: str | None = None,
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
    """The Transformer: attention in place of recurrence.

    Every word attends to all words of its sentence by softmax(Q K^T / sqrt(d)) V with several
    heads, and those of the decoder attend to the source as well. There is no recurrence, so all
    words of a target are trained on at once. The output has a bias, which the paper's does not.
    Training needs a warm-up of the learning rate: in a recipe `warmup_steps`, with
    `learning_rate_schedule: inverse_sqrt` or `cosine`.

    Source: Vaswani et al. (2017), "Attention is all you need".

    Args:
        units: Size of embedded words and of the output of every layer; even.
        num_heads: Number of heads of each attention, which share the units.
        hidden_units: Size of the hidden layer of the feed-forward blocks.
        encoder_layers: Number of layers of the encoder.
        decoder_layers: Number of layers of the decoder.
        dropout: Dropout rate of the embedded words and of the output of every sublayer.
        attention_dropout: Dropout rate of the attention weights.
        pre_norm: Whether features are normalized before each sublayer; the paper does it after.
        max_positions: None for sinusoidal positions, which have no end. A number for this many
            learned positions; no longer text can be read or written.
        share_embeddings: Whether source and target use one embedding matrix; None to share it if
            `target` is None or the source's tokenizer.
    """
    assembly.check_num_layers(encoder_layers, "encoder_layers")
    assembly.check_num_layers(decoder_layers, "decoder_layers")
    _, size, tokenizers = assembly.sizes_and_tokenizers(source, target)
    if share_embeddings is None:
        share_embeddings = target is None or (bool(tokenizers) and target is source)
    # Words have a standard deviation of 1 once they are multiplied by the root of their size.
    scale = (3 / units) ** 0.5

    def self_attention(name: str, causal: bool) -> layers.MultiHeadSelfAttention:
        return layers.MultiHeadSelfAttention(units, num_heads, attention_dropout, causal, name=name)

    def around(*sublayers: str) -> list[keras.layers.Layer]:
        norm = layers.PreNorm if pre_norm else layers.PostNorm
        return [norm(dropout, name=f"around_{sublayer}") for sublayer in sublayers]

    def common_parts() -> dict[str, Any]:
        """Return arguments that encoder and decoder both take, with layers of their own."""
        return {
            "positions": layers.SinusoidalPositions(name="positions")
            if max_positions is None
            else layers.LearnedPositions(max_positions, name="positions"),
            "normalization": layers.LayerNormalization(name="normalization") if pre_norm else None,
            "dropout": dropout,
        }

    encoder = [
        layers.TransformerEncoderLayer(
            self_attention("attention", causal=False),
            layers.FeedForward(hidden_units, units, name="feed_forward"),
            around("attention", "feed_forward"),
            name=f"layer_{number}",
        )
        for number in range(encoder_layers)
    ]
    decoder = [
        layers.TransformerDecoderLayer(
            self_attention("self_attention", causal=True),
            layers.MultiHeadAttention(units, num_heads, attention_dropout, name="cross_attention"),
            layers.FeedForward(hidden_units, units, name="feed_forward"),
            around("self_attention", "cross_attention", "feed_forward"),
            name=f"layer_{number}",
        )
        for number in range(decoder_layers)
    ]
    model = Seq2Seq(
        encoder=layers.TransformerEncoder(
            embedding=assembly.source_embedding(source, target, share_embeddings, units, scale),
            layers=encoder,
            **common_parts(),
            name="encoder",
        ),
        bridge=None,
        decoder=layers.TransformerDecoder(
            embedding=assembly.word_embedding(size, units, scale),
            layers=decoder,
            generator=assembly.vocabulary_projection(size, tie_embeddings),
            **common_parts(),
            name="decoder",
        ),
        **tokenizers,
        share_embeddings=share_embeddings,
        name=name,
    )
    assembly.start_from_frequencies(model.decoder.generator, model.target_tokenizer)
    return model


@register(
    family=transformer,
    units=128,
    num_heads=4,
    hidden_units=256,
    encoder_layers=4,
    decoder_layers=4,
    dropout=0.3,
    attention_dropout=0.1,
    pre_norm=True,
)
def transformer_tiny(source: Any, target: Any = None, **options) -> Seq2Seq:
    """The Transformer in a size for some ten thousand sentence pairs.

    The sizes are those of Wu et al. (2021), "Good for misconceived reasons", for Multi30k.
    Features are normalized before each sublayer.
    """
    return transformer(source, target, **options)


@register(family=transformer)
def transformer_base(source: Any, target: Any = None, **options) -> Seq2Seq:
    """The Transformer in the paper's base size (table 3), for millions of sentence pairs.

    The paper warms up for 4,000 steps: `learning_rate_schedule: inverse_sqrt` in a recipe.
    """
    return transformer(source, target, **options)
