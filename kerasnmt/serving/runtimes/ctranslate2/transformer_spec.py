"""Weights of a Transformer in the layout of CTranslate2."""

from collections.abc import Iterator
from typing import Any

import keras
import numpy as np

from kerasnmt.ids import PAD_ID, START_ID
from kerasnmt.layers import (
    FeedForward,
    LayerNormalization,
    LearnedPositions,
    MultiHeadAttention,
    MultiHeadSelfAttention,
    PostNorm,
    PreNorm,
    SinusoidalPositions,
    Softmax,
    TiedVocabularyProjection,
    TransformerDecoder,
    TransformerDecoderLayer,
    TransformerEncoder,
    TransformerEncoderLayer,
    VocabularyProjection,
)

# Text of the padding in a vocabulary, where an empty text is not possible.
_PADDING = "<blank>"
# Bias of the tokens that no translation contains: their probability is 0.
_NEVER = -1e9


def check_transformer(model: keras.Model) -> None:
    """Check that CTranslate2 can run a model.

    Raises:
        ValueError: If the model is not a Transformer with the layers of `zoo.transformer_base`, or
            its layers differ in the number of heads or in epsilon, or normalize by other functions
            than the softmax.
    """
    kinds = ((type(part), allowed) for part, allowed in _parts(model))
    wrong = next((kind.__name__ for kind, allowed in kinds if kind not in allowed), None)
    if wrong:
        raise ValueError(
            "Expected a Transformer of kerasnmt.zoo for CTranslate2, which runs no other models. "
            f"Received: {model.name} ({wrong}). Use model.export to write it for TF Serving."
        )
    encoder, decoder = model.encoder, model.decoder
    attentions = [
        *(layer.attention for layer in encoder.layers),
        *(a for one in decoder.layers for a in (one.self_attention, one.cross_attention)),
    ]
    normalizers = [attention.normalizer for attention in attentions]
    others = [one for one in normalizers if type(one) is not Softmax or one.temperature != 1]
    if others or decoder.generator.normalizer != "softmax":
        raise ValueError(
            "Expected a Transformer whose attentions and output use the softmax, for CTranslate2. "
            f"Received: {model.name} with {[type(one).__name__ for one in others]} in attentions "
            f"and {decoder.generator.normalizer} in the output. Use model.export to write it for "
            "TF Serving."
        )
    heads = [
        {layer.attention.num_heads for layer in encoder.layers},
        {a.num_heads for one in decoder.layers for a in (one.self_attention, one.cross_attention)},
    ]
    epsilons = {norm.epsilon for norm in _normalizations(model)}
    causal = any(layer.attention.causal for layer in encoder.layers)
    if causal or any(len(values) > 1 for values in (*heads, epsilons)):
        raise ValueError(
            "Expected layers with one number of heads and one epsilon, and an encoder that is not "
            f"causal, for CTranslate2. Received: {model.name} with the heads {heads}, the epsilons "
            f"{epsilons} and causal={causal} in the encoder."
        )


def transformer_spec(model: keras.Model, max_length: int) -> Any:
    """Return the specification of a model, with its weights and vocabularies.

    Padding and start have a bias of -1e9 in the output layer, because no translation contains them.

    Args:
        model: A model that passes `check_transformer`, with tokenizers.
        max_length: Number of positions.

    Returns:
        A `ctranslate2.specs.TransformerSpec`.

    Raises:
        ValueError: If the model has fewer positions, or two tokens have the same text.
    """
    from ctranslate2.specs.transformer_spec import (
        TransformerDecoderSpec,
        TransformerEncoderSpec,
        TransformerSpec,
    )

    encoder, decoder = model.encoder, model.decoder
    encoder_spec = TransformerEncoderSpec(
        len(encoder.layers), encoder.layers[0].attention.num_heads, pre_norm=_is_pre_norm(encoder)
    )
    decoder_spec = TransformerDecoderSpec(
        len(decoder.layers),
        decoder.layers[0].self_attention.num_heads,
        pre_norm=_is_pre_norm(decoder),
        # The weights that `TransformerDecoder` records, the mean over all heads of this layer.
        alignment_layer=max(len(decoder.layers) - 2, 0),
        alignment_heads=0,
    )
    for side, spec in ((encoder, encoder_spec), (decoder, decoder_spec)):
        side.positions.check_length(max_length)
        nothing = np.zeros((1, max_length, side.layers[0].units), "float32")
        # A layer of a model in half precision would round them.
        spec.position_encodings.encodings = _array(side.positions.call(nothing))[0]
        if side.normalization is not None:
            _normalize(spec.layer_norm, side.normalization)
    source = decoder.embedding if model.share_embeddings else encoder.embedding
    encoder_spec.embeddings[0].weight = _array(source.embeddings)
    decoder_spec.embeddings.weight = _array(decoder.embedding.embeddings)
    for layer, spec in zip(encoder.layers, encoder_spec.layer, strict=True):
        around_attention, around_feed_forward = layer.residuals
        _attend_to_words(spec.self_attention, layer.attention, around_attention)
        _feed_forward(spec.ffn, layer.feed_forward, around_feed_forward)
    for layer, spec in zip(decoder.layers, decoder_spec.layer, strict=True):
        around_self_attention, around_cross_attention, around_feed_forward = layer.residuals
        _attend_to_words(spec.self_attention, layer.self_attention, around_self_attention)
        _attend_to_memory(spec.attention, layer.cross_attention, around_cross_attention)
        _feed_forward(spec.ffn, layer.feed_forward, around_feed_forward)
    generator = decoder.generator
    tied = isinstance(generator, TiedVocabularyProjection)
    weight = decoder_spec.embeddings.weight if tied else _transposed(generator.kernel)
    decoder_spec.projection.weight = weight
    decoder_spec.projection.bias = _array(generator.bias)
    decoder_spec.projection.bias[[PAD_ID, START_ID]] = _NEVER
    model_spec = TransformerSpec(encoder_spec, decoder_spec)
    model_spec.register_source_vocabulary(_tokens(model.source_tokenizer))
    model_spec.register_target_vocabulary(_tokens(model.target_tokenizer))
    model_spec.config.layer_norm_epsilon = next(_normalizations(model)).epsilon
    model_spec.validate()
    return model_spec


def vocabulary_map(model: keras.Model) -> Iterator[str]:
    """Yield the lines of CTranslate2's vocabulary map, for the shortlist of a model.

    A line has a source token, a tab, and its likely target tokens with spaces between them. The
    line of the empty source has the target tokens of all sources.
    """
    sources, targets = _tokens(model.source_tokenizer), _tokens(model.target_tokenizer)
    yield "\t" + " ".join(targets[number] for number in model.shortlist.frequent)
    for source, row in zip(sources, model.shortlist.table, strict=True):
        if row.any():
            yield f"{source}\t{' '.join(targets[number] for number in row[row > 0])}"


def _parts(model: keras.Model) -> Iterator[tuple[Any, tuple[type, ...]]]:
    """Yield parts of a model with their supported classes. Stop at a part of another class."""
    encoder, decoder = (getattr(model, side, model) for side in ("encoder", "decoder"))
    yield encoder, (TransformerEncoder,)
    yield decoder, (TransformerDecoder,)
    yield encoder.tags, (type(None),)
    yield decoder.generator, (VocabularyProjection, TiedVocabularyProjection)
    for side in (encoder, decoder):
        yield side.positions, (SinusoidalPositions, LearnedPositions)
        first = side.layers[0].residuals[0]
        yield first, (PreNorm, PostNorm)
        yield side.normalization, (LayerNormalization if _is_pre_norm(side) else type(None),)
        for layer in side.layers:
            yield layer.feed_forward, (FeedForward,)
            for residual in layer.residuals:
                yield residual, (type(first),)
    for layer in encoder.layers:
        yield layer, (TransformerEncoderLayer,)
        yield layer.attention, (MultiHeadSelfAttention,)
    for layer in decoder.layers:
        yield layer, (TransformerDecoderLayer,)
        yield layer.self_attention, (MultiHeadSelfAttention,)
        yield layer.cross_attention, (MultiHeadAttention,)


def _normalizations(model: keras.Model) -> Iterator[LayerNormalization]:
    for side in (model.encoder, model.decoder):
        for layer in side.layers:
            yield from (residual.normalization for residual in layer.residuals)
        if side.normalization is not None:
            yield side.normalization


def _is_pre_norm(side: Any) -> bool:
    """Return whether an encoder or a decoder normalizes before each sublayer."""
    return isinstance(side.layers[0].residuals[0], PreNorm)


def _attend_to_words(spec: Any, attention: MultiHeadSelfAttention, residual: Any) -> None:
    spec.linear[0].weight = _by_projection(attention.words_projection, attention.num_heads, 3)
    spec.linear[1].weight = _transposed(attention.output_layer.kernel)
    _normalize(spec.layer_norm, residual.normalization)


def _attend_to_memory(spec: Any, attention: MultiHeadAttention, residual: Any) -> None:
    spec.linear[0].weight = _transposed(attention.query_projection.kernel)
    spec.linear[1].weight = _by_projection(attention.memory_projection, attention.num_heads, 2)
    spec.linear[2].weight = _transposed(attention.output_layer.kernel)
    _normalize(spec.layer_norm, residual.normalization)


def _feed_forward(spec: Any, block: FeedForward, residual: Any) -> None:
    for linear, layer in ((spec.linear_0, block.hidden_layer), (spec.linear_1, block.output_layer)):
        linear.weight, linear.bias = _transposed(layer.kernel), _array(layer.bias)
    _normalize(spec.layer_norm, residual.normalization)


def _normalize(spec: Any, normalization: LayerNormalization) -> None:
    spec.gamma, spec.beta = _array(normalization.gamma), _array(normalization.beta)


def _by_projection(layer: keras.layers.Dense, heads: int, parts: int) -> np.ndarray:
    """Return the transposed kernel of several projections, sorted by projection, then by head."""
    kernel = _transposed(layer.kernel)
    by_head = np.reshape(kernel, (heads, parts, -1, kernel.shape[1]))
    return np.reshape(np.swapaxes(by_head, 0, 1), kernel.shape)


def _transposed(values: Any) -> np.ndarray:
    return np.ascontiguousarray(_array(values).T)


def _array(values: Any) -> np.ndarray:
    """Return a copy of weights as float32."""
    return np.array(keras.ops.convert_to_numpy(values), "float32")


def _tokens(tokenizer: Any) -> list[str]:
    """Return the text of each id."""
    written = tokenizer.tokens(np.arange(tokenizer.vocabulary_size)).numpy()
    tokens = [_PADDING, *(token.decode() for token in written[1:])]
    if len({*tokens}) < len(tokens):
        twice = next(token for token in tokens if tokens.count(token) > 1)
        raise ValueError(
            "Expected tokens with different texts for CTranslate2, which looks them up by their "
            f"text. Received: a vocabulary with {twice!r} twice."
        )
    return tokens
