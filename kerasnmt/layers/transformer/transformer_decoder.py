"""The Transformer's decoder."""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from kerasnmt.layers.composite import Composite, build_once
from kerasnmt.time_cache import TimeCache


@keras.saving.register_keras_serializable("kerasnmt")
class TransformerDecoderLayer(Composite, keras.layers.Layer):
    """Attention to the words before, to the source, and a feed-forward block.

    `call` runs over a whole target, `step` over one position, with the keys and values of the
    positions before it in a cache; both give the same numbers.

    Source: Vaswani et al. (2017), section 3.1.

    Args:
        self_attention: `MultiHeadAttention`.
        cross_attention: another one, of the same units, that attends to the source.
        feed_forward: `FeedForward` of the same units.
        residuals: three of `PreNorm` or `PostNorm`, one around each.
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
        self.self_attention = self_attention
        self.cross_attention = cross_attention
        self.feed_forward = feed_forward
        self.residuals = list(residuals)
        self.units = feed_forward.units

    def build(self, words_shape: tuple, memory_shape: tuple) -> None:
        """Make the weights.

        Args:
            words_shape: `(batch, target_length, units)`.
            memory_shape: `(batch, source_length, memory_units)`.
        """
        build_once(self.self_attention, words_shape, words_shape)
        build_once(self.cross_attention, words_shape, memory_shape)
        build_once(self.feed_forward, words_shape)
        for residual in self.residuals:
            build_once(residual, words_shape)

    def project_memory(self, memory: Any, memory_mask: Any) -> dict[str, Any]:
        """Prepare a source for all steps: its keys, values and mask."""
        keys, values = self.cross_attention.project(memory)
        return {"keys": keys, "values": values, "memory_mask": memory_mask}

    def initial_cache(self, batch_size: Any, steps: int) -> TimeCache:
        """Make room for the keys and values of so many steps."""
        word = ops.zeros((batch_size, 1, self.units), dtype=self.compute_dtype)
        keys_and_values = self.self_attention.project(word)
        return TimeCache.allocate([one[:, :, 0] for one in keys_and_values], steps)

    def call(self, words: Any, memory: dict[str, Any], training: bool = False) -> tuple[Any, Any]:
        """Run over a whole target.

        Args:
            words: `[batch, target_length, units]`.
            memory: from `project_memory`.
            training: whether dropout applies.

        Returns:
            words `[batch, target_length, units]`; and the weights of the attention to the source,
            float32 `[batch, heads, target_length, source_length]`.
        """
        heard = self.residuals[0].before(words)
        context, _ = self.self_attention(heard, heard, causal=True, training=training)
        words = self.residuals[0].after(words, context, training)
        return self._ask_source(words, memory, training)

    def step(
        self, words: Any, cache: TimeCache, memory: dict[str, Any]
    ) -> tuple[Any, Any, TimeCache]:
        """Run over one position of several hypotheses of every row.

        Args:
            words: `[batch, hypotheses, units]`.
            cache: from `initial_cache` or the step before, with hypotheses after the batch.
            memory: from `project_memory`; shared by the hypotheses of a row, never tiled.

        Returns:
            words `[batch, hypotheses, units]`; the weights of the attention to the source, float32
            `[batch, heads, hypotheses, source_length]`; and the new cache.
        """
        shape = ops.shape(words)
        # Each hypothesis hears its own words: they are rows of one query each.
        rows = ops.reshape(self.residuals[0].before(words), (-1, 1, self.units))
        keys_and_values = [
            ops.reshape(one, (*shape[:2], *one.shape[1:2], one.shape[3]))
            for one in self.self_attention.project(rows)
        ]
        cache = cache.write(keys_and_values)
        keys, values, written = (
            ops.reshape(one, (-1, *ops.shape(one)[2:])) for one in (*cache.values, cache.mask)
        )
        context, _ = self.self_attention(rows, keys=keys, values=values, memory_mask=written)
        words = self.residuals[0].after(words, ops.reshape(context, shape))
        return *self._ask_source(words, memory), cache

    def _ask_source(
        self, words: Any, memory: dict[str, Any], training: bool = False
    ) -> tuple[Any, Any]:
        _, around_cross_attention, around_feed_forward = self.residuals
        query = around_cross_attention.before(words)
        context, weights = self.cross_attention(query, **memory, training=training)
        words = around_cross_attention.after(words, context, training)
        outputs = self.feed_forward(around_feed_forward.before(words))
        return around_feed_forward.after(words, outputs, training), weights


@keras.saving.register_keras_serializable("kerasnmt")
class TransformerDecoder(Composite, keras.layers.Layer):
    """Predict a target word from the source and from all words before it.

    `call` runs over a whole given target at once, `step` over one position, with what the layers
    made of the positions before it in caches; both give the same numbers. Embeddings are multiplied
    by the root of their size, as in `TransformerEncoder`; a `TiedVocabularyProjection` takes them
    as they are.

    The attention weights that are recorded are the mean of the heads of the last layer but one, or
    of the only one: of all layers it agrees best with word alignments (Garg et al., 2019, "Jointly
    learning to align and translate with Transformer models"). `attend_by_head` returns all of them.

    Source: Vaswani et al. (2017), "Attention is all you need", sections 3.1, 3.4 and 3.5.

    Args:
        embedding: `keras.layers.Embedding` of the target vocabulary.
        positions: `SinusoidalPositions()` or `LearnedPositions(max_length)`.
        layers: `TransformerDecoderLayer`s, from the words up.
        generator: for example `VocabularyProjection`.
        normalization: a layer after the last one, such as `keras.layers.LayerNormalization`, for
            layers with `PreNorm`; None for those with `PostNorm`, whose outputs are normalized.
        dropout: share of the features of words and positions that is dropped in training, in
            [0, 1).
    """

    # Whether it predicts ids beyond its vocabulary, those of source words outside of it.
    copies = False
    # Whether the records of `call` and `step` hold attention weights.
    has_attention = True

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
        self.words_dropout = keras.layers.Dropout(
            dropout, dtype=self.dtype_policy, name="words_dropout"
        )

    def build(self, memory_shape: tuple) -> None:
        """Make the weights for a memory `(batch, source_length, memory_units)`."""
        words_shape = (None, None, self.embedding.output_dim)
        build_once(self.embedding)
        build_once(self.positions, words_shape)
        for layer in self.layers:
            build_once(layer, words_shape, memory_shape)
        if self.normalization is not None:
            build_once(self.normalization, words_shape)
        build_once(self.generator, words_shape, self.embedding.embeddings.shape)

    def initial_states(
        self, states: list[Any], memory: dict[str, Any], training: bool = False, steps: int = 0
    ) -> list[TimeCache]:
        """Make the first states of `step`: an empty cache for each layer.

        Args:
            states: a bridge's, of which there is no use.
            memory: from `project_memory`.
            training: whether dropout applies, which here changes nothing.
            steps: how many steps there is room for.

        Returns:
            the caches; none for no steps.

        Raises:
            ValueError: there are more steps than positions.
        """
        self.positions.check_length(steps)
        if not steps:
            return []
        batch_size = ops.shape(memory["memory_mask"])[0]
        return [layer.initial_cache(batch_size, steps) for layer in self.layers]

    def project_memory(
        self, memory: Any, memory_mask: Any, source_ids: Any = None
    ) -> dict[str, Any]:
        """Prepare a source for `call` and `step`, once.

        Args:
            memory: `[batch, source_length, memory_units]`.
            memory_mask: boolean `[batch, source_length]`, True = real token.
            source_ids: int32 `[batch, source_length]`, for decoders that copy.

        Returns:
            what `call` and `step` take as `memory`.
        """
        layers = [layer.project_memory(memory, memory_mask) for layer in self.layers]
        return {"layers": layers, "memory_mask": memory_mask}

    def call(
        self,
        target_ids: Any,
        states: list[Any],
        memory: dict[str, Any],
        training: bool = False,
    ) -> tuple[Any, dict[str, Any]]:
        """Predict every next word of given targets.

        Args:
            target_ids: int32 `[batch, target_length]`, starting with the start token.
            states: from `initial_states`; a whole target needs none.
            memory: from `project_memory`.
            training: whether dropout applies.

        Returns:
            the generator's outputs for every position, for a vocabulary projection the logits
            `[batch, target_length, vocabulary]`; and records: `weights`, float32
            `[batch, target_length, source_length]`, whose row t belongs to the word that is
            predicted there, the t-th of the targets.
        """
        words, weights = self._read(target_ids, memory, training)
        return self._generate(words), self._records(weights)

    def step(
        self, ids: Any, states: list[TimeCache], memory: dict[str, Any]
    ) -> tuple[Any, dict[str, Any], list[TimeCache]]:
        """Predict the next word of several hypotheses of every row.

        Args:
            ids: the words before, int32 `[batch, hypotheses]`.
            states: from `initial_states`, with hypotheses after the batch, or the step before.
            memory: from `project_memory`; shared by the hypotheses of a row, never tiled.

        Returns:
            the generator's outputs; records, `weights` float32 `[batch, hypotheses,
            source_length]`; and the new states.

        Raises:
            ValueError: there are no caches.
        """
        if not states:
            raise ValueError(
                "Expected states with room for what each step adds. Received: none, as "
                "model.encode(inputs) makes them. Say how many steps there will be, with "
                "model.encode(inputs, steps=100)."
            )
        words = self.embedding(ids) * self.embedding.output_dim**0.5
        words = self.positions(words, position=states[0].length)
        weights, caches = [], []
        for layer, cache, projected in zip(self.layers, states, memory["layers"], strict=True):
            words, found, cache = layer.step(words, cache, projected)
            weights.append(found)
            caches.append(cache)
        return self._generate(words), self._records(weights), caches

    def attend_by_head(self, target_ids: Any, memory: dict[str, Any]) -> Any:
        """Return where every head of every layer looks in the source, for given targets.

        Args:
            target_ids: int32 `[batch, target_length]`, starting with the start token.
            memory: from `project_memory`.

        Returns:
            float32 `[batch, layers, heads, target_length, source_length]`; the lowest layer first.
        """
        _, weights = self._read(target_ids, memory)
        return ops.stack(weights, axis=1)

    def next_log_probability(self, outputs: Any) -> Any:
        """Return log p of every next id, float32 `[..., vocabulary]`, from what `step` returned."""
        return self.generator.next_log_probability(outputs)

    def log_probability(self, outputs: Any, ids: Any) -> tuple[Any, Any]:
        """Return log p of the given ids, and its mean over the vocabulary, for the loss.

        Args:
            outputs: what `call` returned.
            ids: int32 `[batch, target_length]`.

        Returns:
            two float32 tensors `[batch, target_length]`; the second serves label smoothing.
        """
        return self.generator.log_probability(outputs, ids)

    def added_losses(self, records: dict[str, Any], target_ids: Any) -> list[Any]:
        """Return what training adds to the loss of the words: nothing."""
        return []

    def _read(
        self, target_ids: Any, memory: dict[str, Any], training: bool = False
    ) -> tuple[Any, list[Any]]:
        """Run the layers over whole targets: words, and each layer's weights."""
        words = self.positions(self.embedding(target_ids) * self.embedding.output_dim**0.5)
        words = self.words_dropout(words, training=training)
        weights = []
        for layer, projected in zip(self.layers, memory["layers"], strict=True):
            words, found = layer(words, projected, training=training)
            weights.append(found)
        return words, weights

    def _generate(self, words: Any) -> Any:
        if self.normalization is not None:
            words = self.normalization(words)
        return self.generator(words, self.embedding.embeddings)

    def _records(self, weights: list[Any]) -> dict[str, Any]:
        return {"weights": ops.mean(weights[max(len(weights) - 2, 0)], axis=1)}
