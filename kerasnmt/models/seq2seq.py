"""The sequence-to-sequence model."""

import warnings
from collections.abc import Iterable
from typing import Any

import keras
import numpy as np

from kerasnmt import hooks
from kerasnmt.columns import holds_texts
from kerasnmt.models.checks import check_vocabulary
from kerasnmt.models.encoder_decoder import EncoderDecoder
from kerasnmt.models.translation_model import TranslationModel


@keras.saving.register_keras_serializable("kerasnmt")
class Seq2Seq(EncoderDecoder, TranslationModel):
    """An encoder, a bridge and a decoder that translate a text.

    Token ids go in and the decoder's outputs come out: logits `[batch, target_length, vocabulary]`
    for a vocabulary projection. Inputs are

        {"source_ids": int32 [batch, source_length], "target_ids": int32 [batch, target_length]}

    Both are padded on the right with 0. Sources end with the end token. See `EncoderDecoder` for
    `target_ids`, targets and `alignments`. A model that copies also takes `extended_source_ids`,
    int32 `[batch, source_length]`, where words outside the vocabulary have the ids V, V+1, …, as in
    the targets. Without them it copies only words of the vocabulary. A model that reads a context
    takes `context_ids` too, and `extended_context_ids` if it copies.

    All of this works on every Keras backend. With tokenizers, and Keras on TensorFlow or JAX,
    `fit` and `translate` take text; `export` needs TensorFlow. The functions of `kerasnmt.zoo`
    make such models.

    Args:
        encoder: An encoder of text, such as `RecurrentEncoder`.
        bridge: A layer from the last states of the encoder to the first states of the decoder, such
            as `BackwardStateBridge`; None if the decoder takes no states, as `TransformerDecoder`.
        decoder: A decoder, such as `RecurrentDecoder`.
        source_tokenizer: A `kerasnmt.text` tokenizer, or None if the model takes only ids.
        target_tokenizer: Tokenizer of the targets; None for the source's.
        share_embeddings: Whether the decoder's embedding also embeds the source. The encoder must
            have none, as `RecurrentEncoder(None, ...)`. With `TiedVocabularyProjection`, one matrix
            is source embedding, target embedding and output projection.

    Raises:
        ValueError: If the decoder copies or embeddings are shared, and the tokenizers differ; if a
            tokenizer has more ids than there are embeddings; or if the encoder has an embedding
            besides the shared one, or none at all.

    References:
        Press and Wolf (2017), "Using the output embedding to improve language models", section 3,
        for embeddings that are shared three ways.
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

        Texts are batched by `kerasnmt.data.batches` with the model's tokenizers and its defaults.
        Batches that you make yourself can be limited, cached, repeated and given alignments.

        ```python
        model.fit([("two dogs", "zwei Hunde"), ("a cat", "eine Katze")])
        model.fit((sources, targets), epochs=10, validation_data=(more_sources, more_targets))
        ```

        Args:
            x: Batches, a dict of arrays, or pairs of texts: a list of pairs, `(sources, targets)`,
                an array `[n, 2]`, a DataFrame or a dataset. Or the sources, with the targets in
                `y`.
            y: The targets of arrays or of sources.
            batch_size: As in Keras. For texts, None for batches by the number of tokens.
            *args: As in Keras.
            validation_data: Of any of these forms, arrays and sources with their targets in a
                tuple.
            **kwargs: As in Keras.

        Returns:
            The history of Keras.

        Raises:
            ValueError: If texts are given to a model without tokenizers or one that reads a
                context, they are not pairs, or arrays of ids do not suit the model.
        """
        if holds_texts(x):
            x, y, batch_size = self._text_batches(x, y, batch_size=batch_size), None, None
            kwargs["shuffle"] = False  # the batches are shuffled
        if holds_texts(validation_data):
            size = kwargs.pop("validation_batch_size", None)
            validation_data = self._text_batches(validation_data, batch_size=size, shuffle=False)
        return super().fit(x, y, batch_size, *args, validation_data=validation_data, **kwargs)

    def evaluate(
        self, x: Any = None, y: Any = None, batch_size: int | None = None, *args: Any, **kwargs
    ) -> Any:
        """Measure loss and metrics; see `keras.Model.evaluate`. It takes texts as `fit` does."""
        if holds_texts(x):
            x, y = self._text_batches(x, y, batch_size=batch_size, shuffle=False), None
            batch_size = None
        return super().evaluate(x, y, batch_size, *args, **kwargs)

    def _text_batches(self, pairs: Any, targets: Any = None, **options) -> Any:
        """Return batches of pairs of texts, or of sources and targets."""
        self._need_tokenizers()
        if self.reads_context:
            raise ValueError(
                "Expected batches with contexts, which this model reads. Received: texts. Make "
                "them with kerasnmt.data.batches(pairs, tokenizer, contexts=contexts)."
            )
        if targets is not None:
            pairs = pairs, targets
        tokenizers = self.source_tokenizer, self.target_tokenizer
        return hooks.batches(pairs, *tokenizers, extended_vocabulary=self.copies, **options)

    def _check_tokenizers(self) -> None:
        """Check that the tokenizers suit the embeddings and what the model does."""
        one_tokenizer = self.target_tokenizer is self.source_tokenizer
        if self.copies and not one_tokenizer:
            raise ValueError(
                "Expected one tokenizer for both sides, as the decoder copies words of the source, "
                "which need the same ids in the target. Received: a target_tokenizer of its own."
            )
        if self.share_embeddings and not one_tokenizer:
            raise ValueError(
                "Expected one tokenizer for both sides with share_embeddings=True, as one matrix "
                "embeds the words of both. Received: a target_tokenizer of its own."
            )
        check_vocabulary("target", self.target_tokenizer, self.decoder.embedding)
        check_vocabulary("source", self.source_tokenizer, self._source_embedding)

    @property
    def _source_embedding(self) -> keras.layers.Layer | None:
        return self.decoder.embedding if self.share_embeddings else self.encoder.embedding

    @property
    def reads_context(self) -> bool:
        """Whether the model reads a second text, the context of its source."""
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
        return [inputs.get(f"extended_{name}", inputs[name]) for name in self.encoder.reads]

    def _check_call(self, inputs: Any, training: bool) -> None:
        """Check the inputs of `call`: extended ids are given exactly when the decoder copies."""
        super()._check_call(inputs, training)
        extended = "extended_source_ids" in inputs
        if extended and not self.copies:
            raise ValueError(
                "Expected inputs without extended_source_ids, as this decoder does not copy. "
                f"Received: inputs {sorted(inputs)}. Make the batches with "
                "extended_vocabulary=False."
            )
        if training and self.copies and self.source_tokenizer and not extended:
            warnings.warn(
                "this model copies, but without extended_source_ids among its inputs it does not "
                "learn to copy words outside the vocabulary; make the batches with "
                "extended_vocabulary=True",
                stacklevel=2,
            )

    def _input_sizes(self, inputs: dict[str, Any]) -> dict[str, int]:
        sizes = super()._input_sizes(inputs)
        for name in self.encoder.reads:
            sizes[f"extended_{name}"] = self._target_size(inputs)
            if self._source_embedding is not None:
                sizes[name] = self._source_embedding.input_dim
        return sizes

    def _target_size(self, inputs: Any) -> int:
        """Return the size of the vocabulary, extended by as many ids as there are positions."""
        shapes: Iterable[tuple] = (
            np.shape(ids) if isinstance(ids, list) else ids.shape
            for name, ids in inputs.items()
            if name.startswith("extended_")
        )
        positions = sum(shape[1] or 0 for shape in shapes)  # None in a graph
        return super()._target_size(inputs) + positions
