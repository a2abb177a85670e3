"""Decoder with exact hard attention."""

from typing import Any

import keras
from keras import ops

from kerasnmt.ids import PAD_ID
from kerasnmt.layers.composite import build_once
from kerasnmt.layers.decoders.decoder_cell import DecoderState
from kerasnmt.layers.decoders.decoder_loop import ReadoutDecoder
from kerasnmt.layers.decoders.generators import VocabularyProjection
from kerasnmt.layers.decoders.latent_alignments import normalized
from kerasnmt.layers.decoders.token_probability import Targets, TokenProbability
from kerasnmt.speed.log_probability import token_log_probability


@keras.saving.register_keras_serializable("kerasnmt")
class HardAttentionDecoder(ReadoutDecoder):
    """Decoder with hard attention: each target word comes from one position of the source.

        p(y | x) = sum_a prod_t p(y_t | a_t, y_<t) p(a_t | a_{t-1}, y_<t)
        p(y_t | a_t = j, y_<t) = generator(readout(y_{t-1}, s_t, h_j))
        s_t = cell(y_{t-1}, s_{t-1})

    The alignment a is a latent variable. The sum over all alignments is exact. Because s_t does not
    depend on the alignment, the forward recursion computes the sum word by word, in log space:

        p(y_t | y_<t) = sum_j p(a_t = j | y_<t) p(y_t | a_t = j, y_<t)
        p(a_t = j | y_<=t) = p(a_t = j | y_<t) p(y_t | a_t = j, y_<t) / p(y_t | y_<t)
        p(a_t = j | y_<t) = sum_i p(a_{t-1} = i | y_<t) p(a_t = j | a_{t-1} = i, y_<t)

    The attention weights of a word are p(a_t = j | y_<t), before the word is known, in training and
    in search.

    This decoder is meant for characters. It runs the readout and the generator at each source
    position, so time and memory grow with the product of the lengths and the vocabulary. For each
    pair of a target and a source position, training stores the features, the transitions (numbers
    of the length of the source) and one softmax over the vocabulary. With label smoothing, it
    stores several tensors of the size of this softmax. The state of a search has
    `source_length * vocabulary` numbers for each hypothesis.

    Source: Wu, Shapiro and Cotterell (2018), "Hard non-monotonic attention for character-level
    transduction", with `IndependentAlignment`; Wu and Cotterell (2019), "Exact hard monotonic
    attention for character-level transduction", with `MonotonicAlignment` or `JumpAlignment`.

    Args:
        embedding: `keras.layers.Embedding` of the target vocabulary.
        cell: A `DecoderCell` without attention, for example `FirstStateDecoderCell`.
        alignment: A `LatentAlignment`, for example `IndependentAlignment(GeneralScore(units))`.
        readout: A readout, for example `AttentionalReadout`, as in the authors' code.
        generator: A generator with a softmax, for example `VocabularyProjection`.
        dropout: Dropout rate of the embedded words and of the readout, in [0, 1).
        output_dropout: Dropout rate of the readout, if it differs from `dropout`.

    Raises:
        ValueError: If the cell has attention, or the generator another normalizer.
    """

    has_attention = True
    has_entmax_loss = False

    def __init__(
        self,
        embedding: keras.layers.Layer,
        cell: keras.layers.Layer,
        alignment: keras.layers.Layer,
        readout: keras.layers.Layer,
        generator: keras.layers.Layer,
        dropout: float = 0.0,
        output_dropout: float | None = None,
        **kwargs,
    ) -> None:
        if cell.attention is not None:
            raise ValueError(
                "Expected a cell without attention, because only if the state does not depend on "
                "the alignment can all alignments be summed. Received: "
                f"cell={type(cell).__name__}. Use FirstStateDecoderCell, and give the score to the "
                "alignment."
            )
        if isinstance(generator, VocabularyProjection) and generator.normalizer != "softmax":
            raise ValueError(
                "Expected a generator with a softmax, because a sum over alignments has no entmax "
                f"loss. Received: normalizer={generator.normalizer!r}. Omit normalizer."
            )
        super().__init__(embedding, cell, readout, generator, dropout, output_dropout, **kwargs)
        self.alignment = alignment

    def build(self, memory_shape: tuple) -> None:
        """Create the weights for annotations `(batch, source_length, memory_units)`."""
        super().build(memory_shape)
        build_once(self.alignment, self.readout_shapes(memory_shape)[1], memory_shape)

    def project_memory(self, annotations: Any, memory_mask: Any) -> dict[str, Any]:
        """Compute what all steps need, once per source; see `Decoder`."""
        # A source without real words is aligned to its padding, to have a finite probability.
        empty = ops.logical_not(ops.any(memory_mask, axis=1, keepdims=True))
        return {
            "projected": self.cell.project_memory(annotations, memory_mask),
            "keys": self.alignment.project(annotations),
            "annotations": self.readout.project(annotations),
            "possible": ops.logical_or(memory_mask, empty),
            "memory_mask": memory_mask,
        }

    def initial_state(
        self, states: list[Any], memory: dict[str, Any], training: bool = False, steps: int = 0
    ) -> DecoderState:
        """Return the state before the first token; see `Decoder`."""
        state = super().initial_state(states, memory, training, steps)
        start = self.alignment.start(memory["possible"])
        shape = (*ops.shape(start), self.embedding.input_dim)
        return state._replace(joint=ops.broadcast_to(start[..., None], shape))

    def call(
        self,
        target_ids: Any,
        state: DecoderState,
        memory: dict[str, Any],
        training: bool = False,
        targets: Targets | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Predict every next token of given targets; see `Decoder`.

        Returns:
            Outputs and records. Without `targets`, the outputs are log p(y_t | y_<t) of all words,
            float32 `[batch, target_length, vocabulary]`. With `targets`, they are their
            `TokenProbability`, and the alignment is summed given these targets. The records contain
            `weights`, p(a_t = j | y_<t), float32 `[batch, target_length, source_length]`.
        """
        (embedded, states, _), _ = self.run(target_ids, state, memory, training)
        features = self._features(embedded, states, memory, training)
        transition = self.alignment(states, memory["keys"], memory["possible"])
        every = self._of_every_word(features)
        if targets is None:
            # The last word is not known. No prediction depends on it.
            words = ops.pad(target_ids[:, 1:], ((0, 0), (0, 1)))
            emission = _of_words(every, words)
        else:
            emission = self._of_targets(features, targets, memory["possible"])
        start = self.alignment.start(memory["possible"])
        prediction = self.alignment.predict_all(start, transition, emission)
        outputs = ops.logsumexp(prediction[..., None] + every, axis=-2)
        if targets is not None:
            log = ops.logsumexp(prediction + emission, axis=-1)
            outputs = TokenProbability(log, ops.mean(outputs, axis=-1), measured={})
        return outputs, self._records(prediction, memory)

    def step(
        self, ids: Any, state: DecoderState, memory: dict[str, Any]
    ) -> tuple[Any, dict[str, Any], DecoderState]:
        """Predict the next token of each hypothesis; see `Decoder`."""
        previous = normalized(_of_words(state.joint, ids))
        (embedded, states, _), _, state = self.run_step(ids, state, memory)
        features = self._features(embedded, states, memory)
        transition = self.alignment(states, memory["keys"], memory["possible"])
        prediction = self.alignment.predict(previous, transition)
        joint = prediction[..., None] + self._of_every_word(features)
        outputs = ops.logsumexp(joint, axis=-2)
        return outputs, self._records(prediction, memory), state._replace(joint=joint)

    def _features(
        self, embedded: Any, states: Any, memory: dict[str, Any], training: bool = False
    ) -> Any:
        """Return features, `[batch, target_length, source_length, units]`."""
        features = self.readout.pairs(embedded, states, memory["annotations"])
        return self.readout_dropout(features, training=training)

    def _of_every_word(self, features: Any) -> Any:
        """Return log p(y_t = v | a_t = j, y_<t) of every word v, `[..., vocabulary]`."""
        outputs = self.generator(features, self.embedding.embeddings)
        return self.generator.next_log_probability(outputs)

    def _of_targets(self, features: Any, targets: Targets, possible: Any) -> Any:
        """Return log p(y_t | a_t = j, y_<t), `[batch, target_length, source_length]`."""
        ids = ops.where(possible[:, None], targets.ids[..., None], PAD_ID)
        pairs = Targets(ids) if targets.indices is None else Targets.real(ids)
        return self.generator(features, self.embedding.embeddings, targets=pairs).log

    def _records(self, prediction: Any, memory: dict[str, Any]) -> dict[str, Any]:
        mask = ops.cast(memory["memory_mask"], "float32")
        return {"weights": ops.exp(prediction) * mask[:, None]}

    def next_log_probability(self, outputs: Any) -> Any:
        """Return log p of every possible next id, which are the outputs; see `Decoder`."""
        return outputs

    def log_probability(self, outputs: Any, ids: Any) -> TokenProbability:
        """Return log p of the given ids; see `Decoder`."""
        return TokenProbability(*token_log_probability(outputs, ids), measured={})


def _of_words(log_probability: Any, ids: Any) -> Any:
    """Return the log-probabilities of words at each source position.

    Args:
        log_probability: `[batch, target_length, source_length, vocabulary]`.
        ids: Int32 `[batch, target_length]`.

    Returns:
        `[batch, target_length, source_length]`.
    """
    columns = ops.broadcast_to(ids[..., None], ops.shape(log_probability)[:-1])
    return ops.take_along_axis(log_probability, columns[..., None], axis=-1)[..., 0]
