"""Sequence-to-sequence model."""

import warnings
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import keras
import numpy as np

from kerasnmt import hooks
from kerasnmt.columns import holds_texts
from kerasnmt.ids import extended
from kerasnmt.layers.composite import comes_from_elsewhere
from kerasnmt.models.checks import check_vocabulary
from kerasnmt.models.encoder_decoder import EncoderDecoder
from kerasnmt.models.translation_model import TranslationModel


@keras.saving.register_keras_serializable("kerasnmt")
class Seq2Seq(EncoderDecoder, TranslationModel):
    """Encoder, bridge and decoder that translate a text.

    The inputs are a dict:

        {"source_ids": int32 [batch, source_length], "target_ids": int32 [batch, target_length]}

    Both are padded on the right with 0. Sources end with the end token. See `EncoderDecoder` for
    `target_ids`, targets and `alignments`. The decoder determines the outputs: for a vocabulary
    projection, logits `[batch, target_length, vocabulary]`.

    A model that copies also takes `extended_source_ids`, int32 `[batch, source_length]`, where
    words outside the vocabulary have the ids V, V+1, …, like the same words in the targets. Without
    them, it copies only words of the vocabulary. A model that reads a context also takes
    `context_ids`, and `extended_context_ids` if it copies.

    The model works with every Keras backend. `fit` on texts and `translate` need tokenizers, and
    Keras on TensorFlow or JAX. `export` needs TensorFlow. The functions of `kerasnmt.zoo` create
    such models.

    Source: Press and Wolf (2017), "Using the output embedding to improve language models",
    section 3, for `share_embeddings`.

    Args:
        encoder: Encoder of text, such as `RecurrentEncoder`.
        bridge: Layer that computes the first states of the decoder from the last states of the
            encoder, such as `BackwardStateBridge`, or None if the decoder takes no states, for
            example `TransformerDecoder`.
        decoder: A decoder, such as `RecurrentDecoder`.
        source_tokenizer: A `kerasnmt.text` tokenizer, or None if the model takes only ids.
        target_tokenizer: Tokenizer of the targets, or None for the source tokenizer.
        share_embeddings: Whether the decoder's embedding also embeds the source. The encoder must
            have no embedding, for example `RecurrentEncoder(None, ...)`. With
            `TiedVocabularyProjection`, one matrix is source embedding, target embedding and output
            projection.

    Raises:
        ValueError: If the decoder copies or embeddings are shared, but the tokenizers differ; if a
            tokenizer has more ids than there are embeddings; or if the source has no embedding, or
            both an embedding of the encoder and a shared one.
    """

    def __init__(
        self,
        encoder: keras.layers.Layer,
        bridge: keras.layers.Layer | None,
        decoder: keras.layers.Layer,
        source_tokenizer: Any = None,
        target_tokenizer: Any = None,
        share_embeddings: bool = False,
        **kwargs,
    ) -> None:
        super().__init__(
            encoder,
            bridge,
            decoder,
            source_tokenizer=source_tokenizer,
            target_tokenizer=target_tokenizer,
            **kwargs,
        )
        self.share_embeddings = share_embeddings
        self._check_tokenizers()
        if not comes_from_elsewhere(encoder):
            encoder.check_embedded(share_embeddings)
        self.make_weights()

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        *args: Any,
        validation_data: Any = None,
        **kwargs,
    ) -> keras.callbacks.History:
        """Train on batches, on arrays of ids, or on pairs of texts; see `keras.Model.fit`.

        `kerasnmt.data.batches` makes batches of texts, with the model's tokenizers and default
        options. Call it yourself to limit, cache or repeat batches, or to add alignments.

        ```python
        model.fit([("two dogs", "zwei Hunde"), ("a cat", "eine Katze")])
        model.fit((sources, targets), epochs=10, validation_data=(more_sources, more_targets))
        ```

        Args:
            x: Batches, a dict of arrays, or pairs of texts: a list or an iterator of pairs,
                `(sources, targets)`, an array `[n, 2]`, a DataFrame or a dataset. Or the sources,
                with the targets in `y`. An iterator of pairs is read at once.
            y: Targets of arrays or of sources.
            batch_size: See `keras.Model.fit`. For texts, None makes batches by the number of
                tokens.
            *args: See `keras.Model.fit`.
            validation_data: Data in any of the forms of `x`. Arrays, or sources, and their targets
                are a tuple, which may end with weights.
            **kwargs: See `keras.Model.fit`. For texts, `sample_weight` has a number for each pair,
                and `validation_split` takes the last pairs, like Keras. For arrays, see
                `EncoderDecoder.fit`.

        Returns:
            The history; see `keras.Model.fit`.

        Raises:
            ValueError: If there are texts but the model has no tokenizers or reads a context, if
                texts are not pairs, if all pairs are dropped, or if arrays of ids do not match the
                model. There is a warning if some pairs are dropped, because they have an empty side
                or more than 99 tokens on a side, or if most tokens of a side are unknown.
        """
        x, validation_data = _rewound(x), _rewound(validation_data)
        if holds_texts(x):
            weights, split = kwargs.pop("sample_weight", None), kwargs.pop("validation_split", 0.0)
            if split and validation_data is None:
                self._need_text_batches()
                pairs = x if y is None else (x, y)
                (x, y, weights), validation_data = hooks.split_pairs(pairs, weights, split)
            x = self._text_batches(x, y, weights, batch_size=batch_size)
            y, batch_size = None, None
            kwargs["shuffle"] = False  # the batches are already shuffled
        validation = validation_data if _has_weights(validation_data) else (validation_data,)
        if holds_texts(validation[0]):
            size = kwargs.pop("validation_batch_size", None)
            validation_data = self._text_batches(*validation, batch_size=size, shuffle=False)
        return super().fit(x, y, batch_size, *args, validation_data=validation_data, **kwargs)

    def evaluate(
        self, x: Any = None, y: Any = None, batch_size: int | None = None, *args: Any, **kwargs
    ) -> Any:
        """Measure loss and metrics; see `keras.Model.evaluate`. Takes the data of `fit`."""
        x = _rewound(x)
        if holds_texts(x):
            weights = kwargs.pop("sample_weight", None)
            x = self._text_batches(x, y, weights, batch_size=batch_size, shuffle=False)
            y, batch_size = None, None
        return super().evaluate(x, y, batch_size, *args, **kwargs)

    def _need_text_batches(self) -> None:
        """Check that batches of texts need no more than pairs and the model's tokenizers."""
        self._need_tokenizers()
        if self.reads_context:
            raise ValueError(
                "Expected batches, because this model reads contexts. Received: texts. Make "
                "batches with kerasnmt.data.batches(pairs, tokenizer, contexts=contexts)."
            )

    def _text_batches(
        self, pairs: Any, targets: Any = None, sample_weight: Any = None, **options
    ) -> Any:
        """Return batches of pairs of texts, or of sources and targets."""
        self._need_text_batches()
        if targets is not None:
            pairs = pairs, targets
        tokenizers = self.source_tokenizer, self.target_tokenizer
        options |= {"extended_vocabulary": self.copies, "sample_weight": sample_weight}
        return hooks.batches(pairs, *tokenizers, **options)

    def _check_tokenizers(self) -> None:
        """Check that the tokenizers match the embeddings, copying and shared embeddings."""
        one_tokenizer = self.target_tokenizer is self.source_tokenizer
        if self.copies and not one_tokenizer:
            raise ValueError(
                "Expected one tokenizer for both sides, because the decoder copies words, which "
                "need the same ids in the source and the target. Received: a separate "
                "target_tokenizer. Omit it."
            )
        if self.share_embeddings and not one_tokenizer:
            raise ValueError(
                "Expected one tokenizer for both sides, because share_embeddings=True embeds both "
                "with one matrix. Received: a separate target_tokenizer. Omit it."
            )
        check_vocabulary("target", self.target_tokenizer, self.decoder.embedding.input_dim)
        if self._source_embedding is not None:
            check_vocabulary("source", self.source_tokenizer, self._source_embedding.input_dim)

    @property
    def _source_embedding(self) -> keras.layers.Layer | None:
        return self.decoder.embedding if self.share_embeddings else self.encoder.embedding

    @property
    def reads_context(self) -> bool:
        """Whether the model reads a context in addition to the source."""
        return "context_ids" in self.encoder.reads

    def _encoder_shapes(self) -> list[tuple]:
        shapes = super()._encoder_shapes()
        if self.share_embeddings:
            shapes += [(*shape, self.decoder.embedding.output_dim) for shape in shapes]
        return shapes

    def _embedded(self, source: list[Any]) -> list[Any]:
        return [self.decoder.embedding(ids) for ids in source] if self.share_embeddings else []

    def _copied_ids(self, inputs: dict[str, Any]) -> list[Any]:
        if not self.copies:
            return []
        return [inputs.get(extended(name), inputs[name]) for name in self.encoder.reads]

    def _check_call(self, inputs: Any, training: bool) -> None:
        """Check the inputs of `call`. They must have extended ids only if the decoder copies."""
        super()._check_call(inputs, training)
        has_extended = extended("source_ids") in inputs
        if has_extended and not self.copies:
            raise ValueError(
                "Expected inputs without extended_source_ids, because this decoder does not copy. "
                f"Received: inputs {sorted(inputs)}. Make the batches with "
                "extended_vocabulary=False."
            )
        if training and self.copies and self.source_tokenizer and not has_extended:
            warnings.warn(
                "this model copies, but its inputs have no extended_source_ids, so it does not "
                "learn to copy words outside the vocabulary; make the batches with "
                "extended_vocabulary=True",
                stacklevel=2,
            )

    def _input_sizes(self, inputs: dict[str, Any]) -> dict[str, int]:
        sizes = super()._input_sizes(inputs)
        for name in self.encoder.reads:
            sizes[extended(name)] = self._target_size(inputs)
            if self._source_embedding is not None:
                sizes[name] = self._source_embedding.input_dim
        return sizes

    def _target_size(self, inputs: Any) -> int:
        """Return the size of the vocabulary, plus the number of positions if the model copies."""
        shapes: Iterable[tuple] = (
            np.shape(ids) if isinstance(ids, list) else ids.shape
            for ids in map(inputs.get, map(extended, self.encoder.reads))
            if ids is not None
        )
        positions = sum(shape[1] or 0 for shape in shapes)  # a length in a graph can be None
        return super()._target_size(inputs) + positions


def _rewound(data: Any) -> Any:
    """Return an iterator of pairs as a list, and one of batches as a generator of all of them."""
    if not isinstance(data, Iterator):
        return data
    for first in data:
        every = chain([first], data)
        # Keras takes only generators, not `chain`.
        return [*every] if holds_texts([first]) else (batch for batch in every)
    return []


def _has_weights(data: Any) -> bool:
    """Return whether this is (x, y, weights), not three pairs."""
    return isinstance(data, tuple) and len(data) == 3 and not holds_texts(data[2])
