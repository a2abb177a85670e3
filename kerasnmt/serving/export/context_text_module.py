"""The graph of a model that reads a context: text and context in, text out."""

from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from kerasnmt.serving.contract.translation_contract import ContextContract
from kerasnmt.serving.export.text_module import TextModule
from kerasnmt.serving.export.warmup import WarmupRequest, warmup_requests
from kerasnmt.text.translation_codec import EncodedSource

# The most tokens of a context, its end token included. A longer context is cut.
MAX_CONTEXT_LENGTH = 1000

_TEXTS = tuple(tf.TensorSpec([None], tf.string, name=name) for name in ("text", "context"))


class ContextTextModule(TextModule):
    """A `TextModule` of a model that reads a context beside the source.

    Each signature takes `text` and `context`, string `[batch]`. A context may be empty. It is cut
    to 1,000 tokens. `attention` also returns

    - `context_tokens`, string `[batch, context_length]`;
    - `context_weights`, float32 `[batch, target_length, context_length]`;
    - the probabilities that each word was generated, `generate_probability`, or copied from the
      context, `context_probability`, both float32 `[batch, target_length]`.

    Args:
        model: A `kerasnmt.models.TranslationModel` with tokenizers that reads a context.
        **options: See `TextModule`.

    Raises:
        ValueError: See `TextModule`; also if the model reads no context.
    """

    contract = ContextContract()

    @property
    def description(self) -> dict[str, Any]:
        """Facts for JSON that a client cannot read from the signatures."""
        return {**super().description, "context_kind": self.source_tokenizer.kind}

    def warmup_requests(self) -> Iterator[WarmupRequest]:
        """Yield requests of several sizes, which a server runs before it reports ready."""
        for request in warmup_requests(self.signatures):
            texts = request.inputs["text"]
            context = [b" ".join([text] * 4) for text in texts]
            yield WarmupRequest(request.signature, {"text": texts, "context": context})

    @tf.function(input_signature=_TEXTS, autograph=False)
    def serving_default(self, text: tf.Tensor, context: tf.Tensor) -> dict[str, tf.Tensor]:
        """Return the best translation of each text and its score."""
        return self._best(self._source(text, context))

    @tf.function(input_signature=_TEXTS, autograph=False)
    def n_best(self, text: tf.Tensor, context: tf.Tensor) -> dict[str, tf.Tensor]:
        """Return all translations of the search and their scores, best first."""
        return self._ranked(self._source(text, context))

    @tf.function(input_signature=_TEXTS, autograph=False)
    def attention(self, text: tf.Tensor, context: tf.Tensor) -> dict[str, tf.Tensor]:
        """Return the tokens of all texts and the attention weights between them."""
        source = self._source(text, context)
        return {
            "context_tokens": self._codec.source_tokens(source, "context"),
            **self._attended(source),
        }

    def forced_prefix(
        self, text: tf.Tensor, context: tf.Tensor, prefix: tf.Tensor
    ) -> dict[str, tf.Tensor]:
        """Translate with forced prefixes; see `TextModule.forced_prefix`."""
        return self._forced_prefix_function(prefix, text, context)

    def _source(self, text: tf.Tensor, context: tf.Tensor) -> EncodedSource:
        # One less than the maximum each, because the end tokens are added.
        lengths = {"source": self.max_length - 1, "context": MAX_CONTEXT_LENGTH - 1}
        return self._codec.encode_source({"source": text, "context": context}, max_lengths=lengths)
