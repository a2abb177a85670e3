"""Transformer."""

from collections.abc import Callable
from typing import Any

import keras

from kerasnmt import layers
from kerasnmt.models import Seq2Seq
from kerasnmt.nearest_name import unknown_name_message
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
    decoder: str = "self_attention",
    dropout: float = 0.1,
    attention_dropout: float = 0.0,
    normalizer: str | keras.layers.Layer = "softmax",
    pre_norm: bool = False,
    max_positions: int | None = None,
    tags: str = "tokens",
    tie_embeddings: bool = True,
    share_embeddings: bool | None = None,
) -> Seq2Seq:
    """Transformer, with attention instead of recurrence.

        attention(Q, K, V) = softmax(Q K^T / sqrt(d)) V

    Every word of the source attends to all words of the source, with several heads. Every word of
    the target attends to the previous words and to the source. There is no recurrence, so training
    computes all words of a target at once. Unlike the paper, the output has a bias. Training needs
    a warm-up of the learning rate: `warmup_steps` in a recipe, with
    `learning_rate_schedule: inverse_sqrt` or `cosine`.

    Source: Vaswani et al. (2017), "Attention is all you need".

    Args:
        units: Size of embedded words and of the output of every layer. It must be even.
        num_heads: Number of heads of each attention. It must divide `units`.
        hidden_units: Size of the hidden layer of the feed-forward blocks.
        encoder_layers: Number of layers of the encoder.
        decoder_layers: Number of layers of the decoder.
        decoder: How a decoder layer reads the previous words: with "self_attention", or with "ssru"
            or "average_attention", where a step of a search takes the same time at each position;
            see `kerasnmt.layers.SSRU` and `AverageAttention`. `attention_dropout` and `normalizer`
            then apply to the other attentions.
        dropout: Dropout rate of the embedded words and of the output of every sublayer.
        attention_dropout: Dropout rate of the attention weights.
        pre_norm: Whether features are normalized before each sublayer, not after it as in the
            paper.
        max_positions: Number of learned positions, which limits the length of texts, or None for
            sinusoidal positions, which have no limit.
        tags: How the encoder reads the tags of a source, such as `<V>`: "tokens" like all other
            tokens, or "sum" as features of the others, in any order and all at position 0; see
            `kerasnmt.layers.TagFeatures`. "sum" needs a source tokenizer with tags.
        share_embeddings: Whether source and target use one embedding matrix. None shares it if
            `target` is None or the source's tokenizer.
    """
    assembly.check_num_layers(encoder_layers, "encoder_layers")
    assembly.check_num_layers(decoder_layers, "decoder_layers")
    _, size, tokenizers = assembly.sizes_and_tokenizers(source, target)
    if share_embeddings is None:
        share_embeddings = target is None or (bool(tokenizers) and target is source)
    # Words have a standard deviation of 1 after the multiplication by the root of their size.
    scale = (3 / units) ** 0.5

    def self_attention(name: str, causal: bool) -> layers.MultiHeadSelfAttention:
        return layers.MultiHeadSelfAttention(
            units, num_heads, attention_dropout, causal, normalizer, name=name
        )

    previous_words: dict[str, Callable[[], keras.layers.Layer]] = {
        "self_attention": lambda: self_attention("self_attention", causal=True),
        "ssru": lambda: layers.SSRU(units, name="ssru"),
        "average_attention": lambda: layers.AverageAttention(
            layers.FeedForward(hidden_units, units, name="feed_forward"), name="average_attention"
        ),
    }
    if decoder not in previous_words:
        raise ValueError(unknown_name_message(decoder, previous_words, "decoder"))

    def around(*sublayers: str) -> list[keras.layers.Layer]:
        norm = layers.PreNorm if pre_norm else layers.PostNorm
        return [norm(dropout, name=f"around_{sublayer}") for sublayer in sublayers]

    def common_parts(more_positions: int = 0) -> dict[str, Any]:
        """Return arguments that both encoder and decoder take, with new layers."""
        return {
            "positions": layers.SinusoidalPositions(name="positions")
            if max_positions is None
            else layers.LearnedPositions(max_positions + more_positions, name="positions"),
            "normalization": layers.LayerNormalization(name="normalization") if pre_norm else None,
            "dropout": dropout,
        }

    encoder_stack = [
        layers.TransformerEncoderLayer(
            self_attention("attention", causal=False),
            layers.FeedForward(hidden_units, units, name="feed_forward"),
            around("attention", "feed_forward"),
            name=f"layer_{number}",
        )
        for number in range(encoder_layers)
    ]
    decoder_stack = [
        layers.TransformerDecoderLayer(
            previous_words[decoder](),
            layers.MultiHeadAttention(
                units, num_heads, attention_dropout, normalizer, name="cross_attention"
            ),
            layers.FeedForward(hidden_units, units, name="feed_forward"),
            around("self_attention", "cross_attention", "feed_forward"),
            name=f"layer_{number}",
        )
        for number in range(decoder_layers)
    ]
    model = Seq2Seq(
        encoder=layers.TransformerEncoder(
            embedding=assembly.source_embedding(source, target, share_embeddings, units, scale),
            layers=encoder_stack,
            tags=assembly.tag_features(source, tags),
            **common_parts(more_positions=int(tags != "tokens")),  # that of tags
            name="encoder",
        ),
        bridge=None,
        decoder=layers.TransformerDecoder(
            embedding=assembly.word_embedding(size, units, scale),
            layers=decoder_stack,
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
    """Transformer in a size for tens of thousands of sentence pairs.

    Features are normalized before each sublayer.

    Source of the sizes: Wu et al. (2021), "Good for misconceived reasons", for Multi30k.
    """
    return transformer(source, target, **options)


@register(family=transformer)
def transformer_base(source: Any, target: Any = None, **options) -> Seq2Seq:
    """Transformer in the paper's base size (table 3), for millions of sentence pairs.

    The paper uses a warm-up of 4,000 steps, with `learning_rate_schedule: inverse_sqrt` in a
    recipe.
    """
    return transformer(source, target, **options)
