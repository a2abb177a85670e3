"""Decoder of the Transformer."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import keras
from keras import ops

from kerasnmt.layers.composite import Composite, build_once
from kerasnmt.layers.decoders.decoder import Decoder
from kerasnmt.layers.decoders.generators import OutputRows
from kerasnmt.layers.decoders.token_probability import Targets
from kerasnmt.layers.dropout import ByteDropout
from kerasnmt.time_cache import TimeCache


class TransformerState(NamedTuple):
    """State of a Transformer's decoder between two steps of a search.

    Attributes:
        position: Number of earlier steps, int32 `[batch]` or `[batch, hypotheses]`.
        cache: `TimeCache` of the layers with a self-attention, from bottom to top, or empty if
            there are none.
        constant: States of the other layers, whose size does not depend on the number of steps.
    """

    position: Any
    cache: Any
    constant: Any


@keras.saving.register_keras_serializable("kerasnmt")
class TransformerDecoderLayer(Composite, keras.layers.Layer):
    """Layer of a Transformer decoder, with residual connections around its three parts.

    The parts are attention to the previous words, attention to the source, and a feed-forward
    block. `call` runs over a whole target. `step` runs over one position, with a `TimeCache` of the
    previous positions. Both give the same numbers.

    Source: Vaswani et al. (2017), "Attention is all you need", section 3.1.

    Args:
        self_attention: `MultiHeadSelfAttention`, causal; or `SSRU` or `AverageAttention`, whose
            state in a search does not grow.
        cross_attention: `MultiHeadAttention` with the same units, which attends to the source.
        feed_forward: `FeedForward` with the same units.
        residuals: Three `PreNorm` or `PostNorm`, one for each of the above parts.

    Raises:
        ValueError: If the self-attention is not causal.
    """

    def __init__(
        self,
        self_attention: keras.layers.Layer,
        cross_attention: keras.layers.Layer,
        feed_forward: keras.layers.Layer,
        residuals: Sequence[keras.layers.Layer],
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        if not self_attention.causal:
            raise ValueError(
                "Expected a causal self_attention, because a word must not see later words. "
                "Received: causal=False. Use MultiHeadSelfAttention(…, causal=True)."
            )
        self.self_attention = self_attention
        self.cross_attention = cross_attention
        self.feed_forward = feed_forward
        self.residuals = list(residuals)
        self.units = feed_forward.units

    def build(self, words_shape: tuple, memory_shape: tuple) -> None:
        """Create the weights.

        Args:
            words_shape: `(batch, target_length, units)`.
            memory_shape: `(batch, source_length, memory_units)`.
        """
        build_once(self.self_attention, words_shape)
        build_once(self.cross_attention, words_shape, memory_shape)
        build_once(self.feed_forward, words_shape)
        for residual in self.residuals:
            build_once(residual, words_shape)

    def project_memory(self, annotations: Any) -> dict[str, Any]:
        """Compute the keys and values of the source, once per source."""
        keys, values = self.cross_attention.project(annotations)
        return {"keys": keys, "values": values}

    def remembered(self, words: Any) -> Any:
        """Return what the self-attention keeps of a word; see `MultiHeadSelfAttention`."""
        return self.self_attention.remembered(words)

    def call(
        self, words: Any, memory: dict[str, Any], memory_mask: Any, training: bool = False
    ) -> tuple[Any, Any]:
        """Run over a whole target.

        Args:
            words: `[batch, target_length, units]`.
            memory: From `project_memory`.
            memory_mask: Boolean `[batch, source_length]`, True = real token.
            training: Whether dropout applies.

        Returns:
            Words `[batch, target_length, units]`; and the weights of the attention to the source,
            float32 `[batch, heads, target_length, source_length]`.
        """
        query = self.residuals[0].before(words)
        context, _ = self.self_attention(query, training=training)
        words = self.residuals[0].after(words, context, training)
        return self._attend_to_source(words, memory, memory_mask, training)

    def step(
        self,
        words: Any,
        cached: Any,
        write: Callable[[Any, Any], Any],
        written: Any,
        memory: dict[str, Any],
        memory_mask: Any,
    ) -> tuple[Any, Any, Any]:
        """Run over one position of each hypothesis of each row.

        Args:
            words: `[batch, hypotheses, units]`.
            cached: State of the self-attention; see `MultiHeadSelfAttention.step`.
            write: See `MultiHeadSelfAttention.step`.
            written: See `MultiHeadSelfAttention.step`.
            memory: From `project_memory`. The hypotheses of a row share it; it is never tiled.
            memory_mask: Boolean `[batch, source_length]`, True = real token.

        Returns:
            Words `[batch, hypotheses, units]`; the weights of the attention to the source, float32
            `[batch, heads, hypotheses, source_length]`; and the new value of `cached`.
        """
        query = self.residuals[0].before(words)
        context, cached = self.self_attention.step(query, cached, write, written)
        words = self.residuals[0].after(words, context)
        return *self._attend_to_source(words, memory, memory_mask), cached

    def _attend_to_source(
        self, words: Any, memory: dict[str, Any], memory_mask: Any, training: bool = False
    ) -> tuple[Any, Any]:
        _, around_cross_attention, around_feed_forward = self.residuals
        query = around_cross_attention.before(words)
        context, weights = self.cross_attention(
            query, **memory, memory_mask=memory_mask, training=training
        )
        words = around_cross_attention.after(words, context, training)
        outputs = self.feed_forward(around_feed_forward.before(words))
        return around_feed_forward.after(words, outputs, training), weights


@keras.saving.register_keras_serializable("kerasnmt")
class TransformerDecoder(Decoder):
    """Decoder of the Transformer.

    Each token depends on the source and on all previous tokens. `call` runs over a whole target at
    once. `step` runs over one position, with a cache of the previous positions.

    Embeddings are multiplied by the square root of their size, as in `TransformerEncoder`. A
    `TiedVocabularyProjection` uses them without this factor.

    The recorded attention weights are the mean over the heads of the second-to-last layer, or of
    the only layer. The weights of this layer agree best with word alignments (Garg et al., 2019,
    "Jointly learning to align and translate with Transformer models"). `attend_by_head` returns the
    weights of all layers and heads.

    Source: Vaswani et al. (2017), "Attention is all you need", sections 3.1, 3.4 and 3.5.

    Args:
        embedding: `keras.layers.Embedding` of the target vocabulary.
        positions: `SinusoidalPositions()` or `LearnedPositions(max_length)`.
        layers: `TransformerDecoderLayer`s, from bottom to top.
        generator: A generator, for example `VocabularyProjection`.
        normalization: Layer after the last of `layers`: `LayerNormalization` if they use `PreNorm`,
            None if they use `PostNorm`, which normalizes its outputs.
        dropout: Dropout rate of the sum of embeddings and positions, in [0, 1).
    """

    has_attention = True
    has_heads = True
    takes_rows = True

    def __init__(
        self,
        embedding: keras.layers.Layer,
        positions: keras.layers.Layer,
        layers: Sequence[keras.layers.Layer],
        generator: keras.layers.Layer,
        normalization: keras.layers.Layer | None = None,
        dropout: float = 0.0,
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        self.embedding = embedding
        self.positions = positions
        self.layers = list(layers)
        self.generator = generator
        self.normalization = normalization
        self.dropout = dropout
        self.words_dropout = ByteDropout(dropout, dtype=self.dtype_policy, name="words_dropout")

    def build(self, memory_shape: tuple) -> None:
        """Create the weights for annotations `(batch, source_length, memory_units)`."""
        words_shape = (None, None, self.embedding.output_dim)
        build_once(self.embedding)
        build_once(self.positions, words_shape)
        for layer in self.layers:
            build_once(layer, words_shape, memory_shape)
        if self.normalization is not None:
            build_once(self.normalization, words_shape)
        build_once(self.generator, words_shape, self.embedding.embeddings.shape)

    def initial_state(
        self, states: list[Any], memory: dict[str, Any], training: bool = False, steps: int = 0
    ) -> TransformerState | list:
        """Return the state before the first token; see `Decoder`.

        Args:
            states: Not used.
            memory: From `project_memory`.
            training: Not used.
            steps: Number of steps that the cache has room for.

        Returns:
            The state, or an empty list if `steps` is 0.

        Raises:
            ValueError: If there are more steps than positions.
        """
        self.positions.check_length(steps)
        if not steps:
            return []
        batch_size = ops.shape(memory["memory_mask"])[0]
        word = ops.zeros((batch_size, self.embedding.output_dim), dtype=self.compute_dtype)
        caching, others = (
            [
                layer.remembered(word)
                for layer in self.layers
                if layer.self_attention.caches == caches
            ]
            for caches in (True, False)
        )
        return TransformerState(
            position=ops.zeros((batch_size,), dtype="int32"),
            cache=TimeCache.allocate(caching, steps) if caching else (),
            constant=others,
        )

    def project_memory(self, annotations: Any, memory_mask: Any) -> dict[str, Any]:
        """Compute what all steps need, once per source; see `Decoder`."""
        layers = [layer.project_memory(annotations) for layer in self.layers]
        return {"layers": layers, "memory_mask": memory_mask}

    def call(
        self,
        target_ids: Any,
        state: TransformerState | list,
        memory: dict[str, Any],
        training: bool = False,
        targets: Targets | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Predict every next token of given targets; see `Decoder`. The state is not used."""
        words, weights = self._run(target_ids, memory, training)
        return self._generate(words, targets), self._records(weights)

    def step(
        self,
        ids: Any,
        state: TransformerState | list,
        memory: dict[str, Any],
        rows: OutputRows | None = None,
    ) -> tuple[Any, dict[str, Any], TransformerState]:
        """Predict the next token of each hypothesis; see `Decoder`.

        `rows` are from `output_rows`, or None for the whole vocabulary.

        Raises:
            ValueError: If the state has no room for steps.
        """
        if not isinstance(state, TransformerState):
            raise ValueError(
                "Expected a state with room for each step. Received: a state with steps=0. Pass "
                "the number of steps, for example model.encode(inputs, steps=100)."
            )
        words = self.embedding(ids) * self.embedding.output_dim**0.5
        words = self.positions(words, position=state.position)
        cache, write, written = state.cache, None, None
        if cache:
            cache, write = cache.next_step()
            written = cache.mask
        # Each layer takes its state from the front of a list, and appends the next one.
        caching, constant = list(cache and cache.values), list(state.constant)
        weights = []
        for layer, projected in zip(self.layers, memory["layers"], strict=True):
            states = caching if layer.self_attention.caches else constant
            words, of_layer, following = layer.step(
                words, states.pop(0), write, written, projected, memory["memory_mask"]
            )
            weights.append(of_layer)
            states.append(following)
        cache = cache and cache._replace(values=caching)
        state = TransformerState(state.position + 1, cache, constant)
        outputs = self._generate(words) if rows is None else rows.logits(self._normalized(words))
        return outputs, self._records(weights), state

    def attend_by_head(self, target_ids: Any, memory: dict[str, Any]) -> Any:
        """Return the attention weights of each head of each layer; see `Decoder`."""
        _, weights = self._run(target_ids, memory)
        return ops.stack(weights, axis=1)

    def _run(
        self, target_ids: Any, memory: dict[str, Any], training: bool = False
    ) -> tuple[Any, list[Any]]:
        """Run the layers over whole targets; return the outputs, and the weights of each layer."""
        words = self.positions(self.embedding(target_ids) * self.embedding.output_dim**0.5)
        words = self.words_dropout(words, training=training)
        weights = []
        for layer, projected in zip(self.layers, memory["layers"], strict=True):
            words, of_layer = layer(words, projected, memory["memory_mask"], training=training)
            weights.append(of_layer)
        return words, weights

    def _generate(self, words: Any, targets: Targets | None = None) -> Any:
        words = self._normalized(words)
        return self.generator(words, self.embedding.embeddings, targets=targets)

    def _normalized(self, words: Any) -> Any:
        return words if self.normalization is None else self.normalization(words)

    def _records(self, weights: list[Any]) -> dict[str, Any]:
        return {"weights": ops.mean(weights[max(len(weights) - 2, 0)], axis=1)}
