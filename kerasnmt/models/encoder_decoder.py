"""Base class of models with an encoder, a bridge and a decoder."""

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

import keras
import numpy as np
from keras import ops

from kerasnmt.ids import PAD_ID
from kerasnmt.layers import Targets, TokenProbability, VocabularyProjection, build_once
from kerasnmt.layers.composite import comes_from_elsewhere, layers_within
from kerasnmt.layers.decoders.copying import at_least_tiny
from kerasnmt.models.checks import check_ids, check_integers, check_names, check_takes_logits
from kerasnmt.models.losses import (
    aligned_words,
    cross_entropy,
    guided_attention_loss,
    r_drop_loss,
    token_weights,
)
from kerasnmt.models.perplexity import Perplexity
from kerasnmt.models.replicas import Replicas
from kerasnmt.models.scheduled_sampling import ScheduledSampling
from kerasnmt.models.search_model import SearchModel
from kerasnmt.models.text_model import TextModel

# Normalizer of the output, by the name of the loss that trains it.
_NORMALIZERS = {"cross_entropy": "softmax", "entmax15": "entmax15", "sparsemax": "sparsemax"}


class EncoderDecoder(SearchModel):
    """Base class of models with an encoder, a bridge and a decoder.

    The inputs are a dict with the inputs of the encoder, and these entries:

    - `target_ids`, int32 `[batch, target_length]`: The target without its end token. It starts with
      the start token, and is padded on the right with 0.
    - `alignments`, float32 `[batch, target_length, source_length]`, optional: The weights that the
      attention should have, for guided attention. A row sums to 1, or to 0 for a word without an
      alignment.
    - `targets`, int32 `[batch, target_length]`, optional: The targets of training. With them,
      `call` returns their probabilities instead of logits. `fit` and `evaluate` add them, unless
      `compile` has a `loss` or metrics, which take logits.

    The targets of training are int32 `[batch, target_length]`, end with the end token, and are
    padded on the right with 0. The model works with every Keras backend.

    A model that is created in the scope of a `tf.distribute.MirroredStrategy` trains on several
    devices, which share each batch. The losses and metrics are the same as on one device.

    The constructor of a subclass calls `make_weights()` last.

    Args:
        encoder: An encoder, such as `kerasnmt.layers.RecurrentEncoder`.
        bridge: Layer that computes the first states of the decoder from the last states of the
            encoder, such as `kerasnmt.layers.BackwardStateBridge`, or None if the decoder takes no
            states.
        decoder: A decoder, such as `kerasnmt.layers.RecurrentDecoder`.
    """

    compile_from_config = TextModel.compile_from_config  # also for a subclass without texts

    # Function of `kerasnmt.data` that makes batches for `fit`, used in error messages.
    makes_batches: ClassVar[str] = "batches"

    def __init__(
        self,
        encoder: keras.layers.Layer,
        bridge: keras.layers.Layer | None,
        decoder: keras.layers.Layer,
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        self.encoder = encoder
        self.bridge = bridge
        self.decoder = decoder
        self.label_smoothing = 0.0
        self.guided_attention = 1.0
        self.r_drop = 0.0
        self._has_own_loss = True
        self._has_metrics = self._needs_logits = False
        self.sampling_generator = keras.random.SeedGenerator(0)
        self.sampling = ScheduledSampling(0.0, self.sampling_generator)
        self.perplexity = Perplexity()
        self.word_loss = keras.metrics.Mean(name="loss")
        on_tensorflow = keras.backend.backend() == "tensorflow"
        self.replicas = Replicas(
            self.distribute_strategy.num_replicas_in_sync if on_tensorflow else 1
        )
        self.decoder_metrics = [keras.metrics.Mean(name=name) for name in decoder.measures]

    def make_weights(self) -> None:
        """Create all weights.

        The layers of this library create them in `build`. Others may do so in their first call, so
        if there are any, they are called with symbolic tensors. Parts that do not fit together
        raise an error here or in the first call.
        """
        self.build()
        if any(comes_from_elsewhere(layer) for _, layer in layers_within(self)):
            target_ids = keras.KerasTensor((None, None), dtype="int32")
            # A call would count as the first one when Keras loads a functional model around this.
            self.compute_output_spec({**self.encoder.inputs(), "target_ids": target_ids})

    def build(self, input_shape: Any = None) -> None:
        """Create all weights, whose shapes do not depend on the inputs."""
        build_once(self.encoder, *self._encoder_shapes())
        if self.bridge is not None:
            build_once(self.bridge, self.encoder.state_size)
        build_once(self.decoder, (None, None, self.encoder.memory_units))

    def _encoder_shapes(self) -> list[tuple]:
        """Return the shapes of the arguments of the encoder."""
        return [tensor.shape for tensor in self.encoder.inputs().values()]

    def _embedded(self, source: list[Any]) -> list[Any]:
        """Return the embeddings that the encoder takes after the source. By default, none."""
        return []

    def _copied_ids(self, inputs: dict[str, Any]) -> list[Any]:
        """Return the ids that the decoder can copy, for `project_memory`. By default, none."""
        return []

    @property
    def has_attention(self) -> bool:
        """Whether the decoder attends to the source."""
        return self.decoder.has_attention

    @property
    def has_heads(self) -> bool:
        """Whether the attention has heads, whose weights `attend_by_head` returns."""
        return self.decoder.has_heads

    @property
    def copies(self) -> bool:
        """Whether the decoder copies words of the source, including unknown words."""
        return self.decoder.copies

    @property
    def scheduled_sampling(self) -> float | keras.optimizers.schedules.LearningRateSchedule:
        """Probability of scheduled sampling, or its schedule; see `compile`."""
        return self.sampling.probability

    def encode(
        self, inputs: dict[str, Any], training: bool = False, steps: int = 0
    ) -> tuple[Any, dict[str, Any]]:
        """Read the source.

        Args:
            inputs: See the class. Only the inputs of the source are used.
            training: Whether dropout applies.
            steps: Maximum number of calls of `step`, for which a decoder that attends to its
                earlier steps allocates room. 0 if only whole targets follow.

        Returns:
            The first state of the decoder, and the memory for its steps.
        """
        self._check_names(inputs)
        self._check_ids(inputs)
        source = [inputs[name] for name in self.encoder.reads]
        annotations, mask, states = self.encoder(
            *source, *self._embedded(source), training=training
        )
        memory = self.decoder.project_memory(annotations, mask, *self._copied_ids(inputs))
        memory_mask = self.encoder.attended_mask(mask)
        states = [] if self.bridge is None else self.bridge(states)
        state = self.decoder.initial_state(states, memory, training, steps)
        return state, {**memory, "memory_mask": memory_mask}

    def memory_mask(self, memory: dict[str, Any]) -> Any:
        """Return the mask of the source; see `SearchModel.memory_mask`."""
        return memory["memory_mask"]

    def call(self, inputs: dict[str, Any], training: bool = False) -> Any:
        """Predict each target token from the source and the previous tokens.

        If the inputs contain `alignments`, the loss of guided attention is added.

        Args:
            inputs: See the class.
            training: Whether dropout and scheduled sampling apply.

        Returns:
            The outputs of the decoder: for a vocabulary projection, the logits
            `[batch, target_length, vocabulary]`; for a decoder that copies, a dict. If the inputs
            contain `targets`, their `kerasnmt.layers.TokenProbability`.
        """
        self._check_call(inputs, training)
        state, memory = self.encode(inputs, training=training)
        target_ids = inputs["target_ids"]
        if training and self.sampling.is_on:
            target_ids = self._sampled(target_ids, state, memory)
        outputs, records = self.decoder(
            target_ids, state, memory, training=training, targets=self._targets(inputs)
        )
        words = ops.not_equal(target_ids, PAD_ID)
        for loss in self.decoder.added_losses(records, target_ids):
            self.add_loss(self.replicas.share(words) * loss)
        if "alignments" in inputs:
            self._need_attention()
            loss = guided_attention_loss(records["weights"], inputs["alignments"])
            share = self.replicas.share(aligned_words(inputs["alignments"]))
            self.add_loss(self.guided_attention * share * loss)
        return outputs

    def _targets(self, inputs: dict[str, Any]) -> Targets | None:
        """Return the targets in the inputs, or None."""
        if "targets" not in inputs:
            return None
        # JAX and XLA need shapes that do not depend on values.
        xla = keras.backend.backend() != "tensorflow" or self.jit_compile
        return Targets(inputs["targets"]) if xla else Targets.real(inputs["targets"])

    def _sampled(self, target_ids: Any, state: Any, memory: dict[str, Any]) -> Any:
        """Return the inputs of the decoder for scheduled sampling."""
        outputs, _ = self.decoder(target_ids, state, memory)
        predicted = ops.argmax(self.decoder.next_log_probability(outputs), axis=-1)
        words = self.decoder.embedding.input_dim
        return self.sampling.mixed(target_ids, predicted, words, self.optimizer)

    def output_rows(self, ids: Any) -> Any:
        """Return the output weights of some ids; see `SearchModel.output_rows`."""
        return self.decoder.output_rows(ids)

    def step(
        self, ids: Any, states: Any, memory: dict[str, Any], *rows: Any
    ) -> tuple[Any, dict[str, Any], Any]:
        """Predict the next token of each hypothesis of each row; see `SearchModel.step`."""
        outputs, records, states = self.decoder.step(ids, states, memory, *rows)
        return self.decoder.next_log_probability(outputs), records, states

    def attend(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Return the attention weights of given targets; see `SearchModel.attend`."""
        self._need_attention()
        _, records = self._forced(inputs)
        return records

    def attend_by_head(self, inputs: dict[str, Any]) -> Any:
        """Return the attention weights of each head of each layer, for given targets.

        `kerasnmt.viz.attention_heads_figure` draws them. Dropout does not apply.

        Args:
            inputs: Inputs of `call`.

        Returns:
            Float32 `[batch, layers, heads, target_length, source_length]`, layers from bottom to
            top.

        Raises:
            ValueError: If the attention of the decoder has no heads.
        """
        self._check_names(inputs, "target_ids")
        _, memory = self.encode(inputs)
        return self.decoder.attend_by_head(inputs["target_ids"], memory)

    def token_log_probability(self, inputs: dict[str, Any], targets: Any) -> Any:
        """Return the log-probability of each token; see `SearchModel.token_log_probability`."""
        targets = self._checked_targets(inputs, targets)
        outputs, _ = self._forced(inputs, Targets(targets))
        return outputs.log

    def inspect(self, inputs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Return the log-probabilities of all tokens; see `SearchModel.inspect`."""
        outputs, records = self._forced(inputs)
        return self.decoder.next_log_probability(outputs), records

    def _forced(self, inputs: dict[str, Any], targets: Targets | None = None) -> tuple[Any, Any]:
        """Return the outputs and records of the decoder for given targets, without dropout."""
        self._check_names(inputs, "target_ids")
        state, memory = self.encode(inputs)
        return self.decoder(inputs["target_ids"], state, memory, targets=targets)

    def compile(
        self,
        optimizer: Any = "adam",
        *,
        loss: Any = None,
        label_smoothing: float = 0.1,
        guided_attention: float = 1.0,
        scheduled_sampling: float | keras.optimizers.schedules.LearningRateSchedule = 0.0,
        r_drop: float = 0.0,
        **kwargs,
    ) -> None:
        """Configure training.

        By default, the loss is the mean cross-entropy of the real target tokens of a batch. The
        loss of an epoch, or of validation data, is the mean over all its real tokens, however they
        are batched. Added losses, such as the loss of guided attention, are averaged over the
        batches, without sample weights.

        Args:
            optimizer: See `keras.Model.compile`.
            loss: "cross_entropy", "entmax15" or "sparsemax", which also sets the normalizer of the
                output: with "entmax15", training minimizes `kerasnmt.layers.entmax_loss`, and most
                words have a probability of exactly 0, also in search and scores. Their
                log-probability is -1e9, so that scores stay finite; in the perplexity, they have a
                probability of 1e-30. If None, the model keeps its normalizer, which is the softmax
                in a new model, and trains with the loss of this normalizer. Another loss of
                `keras.Model.compile` must take logits, and needs the softmax.
            label_smoothing: Probability that is taken from the target token and spread evenly over
                the vocabulary, in [0, 1). Perplexity is measured without label smoothing.
            guided_attention: Weight of the loss of guided attention, at least 0. It applies if the
                inputs contain `alignments`.
            scheduled_sampling: Probability that the decoder reads its own prediction instead of a
                target word in training, in [0, 1), or a schedule that computes this probability
                from the number of optimizer updates. The predictions need a second pass of the
                decoder, without gradients. See `kerasnmt.models.scheduled_sampling`.
            r_drop: Weight alpha of R-Drop, at least 0; usual values are 1 to 5. Each training batch
                passes through the model twice, with different dropout. The loss is the mean
                cross-entropy of both passes, plus alpha / 2 times the divergence of their
                predictions. This is half of the paper's loss, which is the sum over both passes. A
                step takes about twice as long. A word that only one pass can copy has a
                probability of 1e-30 in the other. See `kerasnmt.models.losses.r_drop_loss`.
            **kwargs: See `keras.Model.compile`. Metrics must take logits, whose Keras mask tells
                them which tokens are padding. With metrics, or with a loss of Keras, a step is
                slower, because padding is projected to the vocabulary too.

        Raises:
            ValueError: If a number is out of range, a `loss` takes probabilities, the output has
                no normalizer for it, or `r_drop` comes with another loss than the cross-entropy. A
                model that copies takes no other loss, because it returns no logits.
        """
        named = isinstance(loss, str) and loss in _NORMALIZERS
        keras_loss = None if named else loss
        check_takes_logits(keras_loss)
        self._check_loss(loss, keras_loss)
        if not 0.0 <= label_smoothing < 1.0:
            raise ValueError(
                "Expected 0 <= label_smoothing < 1; a usual value is 0.1. "
                f"Received: label_smoothing={label_smoothing}"
            )
        if guided_attention < 0:
            raise ValueError(
                f"Expected guided_attention >= 0. Received: guided_attention={guided_attention}"
            )
        if r_drop < 0:
            raise ValueError(
                "Expected r_drop >= 0; usual values are 1 to 5, and 0 means no R-Drop. "
                f"Received: r_drop={r_drop}"
            )
        normalizer = _NORMALIZERS[loss] if named else self.output_normalizer
        if r_drop and (keras_loss is not None or normalizer != "softmax"):
            raise ValueError(
                "Expected no loss with r_drop, which is a part of the model's own loss, the "
                f"cross-entropy. Received: loss={loss!r:.60}, r_drop={r_drop}, and a model with "
                f"normalizer={self.output_normalizer!r}. Omit one of them."
            )
        sampling = ScheduledSampling(scheduled_sampling, self.sampling_generator)
        super().compile(optimizer=optimizer, loss=keras_loss, **kwargs)
        # Keras keeps the loss of an earlier call of `compile` if this call has none.
        self._has_own_loss = keras_loss is None
        if normalizer != self.output_normalizer:
            self.decoder.generator.normalizer = normalizer
        metrics = [kwargs.get(name) for name in ("metrics", "weighted_metrics")]
        if metrics != [None, None]:  # Keras also keeps the metrics of an earlier call.
            self._has_metrics = any(metrics)
        # If a subclass overrides these methods, they may read logits.
        readers = ("call", "compute_loss", "compute_metrics")
        own = any(getattr(type(self), n) is not getattr(EncoderDecoder, n) for n in readers)
        self._needs_logits = own or self._has_metrics or not self._has_own_loss
        self.sampling = sampling
        if sampling.is_on:
            sampling.start()
        self.label_smoothing = label_smoothing
        self.guided_attention = guided_attention
        self.r_drop = r_drop

    @property
    def output_normalizer(self) -> str:
        """Name of the normalizer of the output; see `compile`."""
        generator = self.decoder.generator
        return generator.normalizer if isinstance(generator, VocabularyProjection) else "softmax"

    def _check_loss(self, loss: Any, keras_loss: Any) -> None:
        """Check that the output of the model has this loss."""
        if self.copies and loss not in (None, "cross_entropy"):
            raise ValueError(
                "Expected no loss for a model that copies, because it returns no logits. Received: "
                f"loss={loss!r:.60}. Omit loss to use the model's own loss."
            )
        normalizer = self.output_normalizer
        if keras_loss is not None and normalizer != "softmax":
            raise ValueError(
                f"Expected loss={normalizer!r} or none, because the output of the model is "
                f"normalized by {normalizer}. Received: loss={loss!r:.60}. Compile with "
                'loss="cross_entropy" first to return to the softmax.'
            )
        generator = self.decoder.generator
        entmax = keras_loss is None and loss not in (None, "cross_entropy")
        if entmax and not self.decoder.has_entmax_loss:
            raise ValueError(
                "Expected the cross-entropy for hard attention, because a sum over alignments has "
                f"no entmax loss. Received: loss={loss!r}. Omit loss."
            )
        if entmax and not isinstance(generator, VocabularyProjection):
            raise ValueError(
                "Expected a decoder whose generator is a VocabularyProjection, for an entmax loss. "
                f"Received: loss={loss!r}, generator={type(generator).__name__}."
            )

    def make_train_function(self, force: bool = False) -> Any:
        """Prepare `fit`. Scheduled sampling continues after the updates of the optimizer."""
        if self.sampling.is_on:
            self.sampling.resume(self.optimizer)
        return super().make_train_function(force)

    def train_step(self, *state: Any, data: Any = None) -> Any:
        """Train on a batch; see `keras.Model.train_step`."""
        if data is None:
            state, data = state[:-1], state[-1]
        if not self.r_drop:
            return super().train_step(*state, self._prepared(data, self._needs_logits))
        inputs, targets, weights = self._prepared(data, needs_logits=True)
        twice = keras.tree.map_structure(
            lambda tensor: ops.concatenate([tensor, tensor]), (inputs, targets, weights)
        )
        return super().train_step(*state, twice)

    def test_step(self, *state: Any, data: Any = None) -> Any:
        """Measure the loss and the metrics of a batch; see `keras.Model.test_step`."""
        if data is None:
            state, data = state[:-1], state[-1]
        return super().test_step(*state, self._prepared(data, self._needs_logits))

    def _prepared(self, data: Any, needs_logits: bool) -> tuple:
        """Return the inputs, the targets, and the weights of all target tokens of a batch.

        The inputs contain the targets, unless the logits are needed.
        """
        inputs, targets, weights = keras.utils.unpack_x_y_sample_weight(data)
        if targets is None:
            raise ValueError(
                "Expected targets, as in the (inputs, targets) of a dataset or in y. Received: "
                "inputs alone."
            )
        targets = self._checked_targets(inputs, targets)
        inputs = {name: value for name, value in inputs.items() if name != "targets"}
        if not needs_logits:
            inputs["targets"] = targets
        return inputs, targets, token_weights(targets, weights)

    def compute_loss(
        self,
        x: Any = None,
        y: Any = None,
        y_pred: Any = None,
        sample_weight: Any = None,
        training: bool = True,
    ) -> Any:
        """Return the loss of a batch, a float32 scalar, and update the metrics.

        Args:
            x: Inputs of `call`.
            y: Targets, int32 `[batch, target_length]`, padded with 0.
            y_pred: Outputs of `call`, or their `TokenProbability`.
            sample_weight: Float `[batch, target_length]`, `[batch]` or `[batch, 1]`, or None.
                Padding never counts.
            training: Whether this is a training batch. With R-Drop, its second half repeats the
                first half.
        """
        probability = y_pred
        if not isinstance(y_pred, TokenProbability):
            probability = self.decoder.log_probability(y_pred, y)
        weight = token_weights(y, sample_weight)
        self.perplexity.update_state(at_least_tiny(probability.log), weight)
        for metric in self.decoder_metrics:
            # The values are flat, because Keras would average each row with its padding first.
            values = ops.reshape(probability.measured[metric.name], (-1,))
            metric.update_state(values, ops.reshape(weight, (-1,)))
        if not self._has_own_loss:
            return super().compute_loss(x, y, y_pred, weight, training)
        tokens = self.replicas.mean_count(weight)
        loss = cross_entropy(
            probability.gain, probability.mean, weight, tokens, self.label_smoothing
        )
        if training and self.r_drop:
            every = self.decoder.next_log_probability(y_pred)
            if self.copies:  # dropout can exclude a copy from one of the two passes
                every = at_least_tiny(every)
            loss = loss + self.r_drop * r_drop_loss(every, weight, tokens)
        loss = sum(self.replicas.own_losses(self.losses, loss), start=loss)
        self.word_loss.update_state(loss, tokens)
        return loss / self.replicas.count  # Keras adds up the gradients of the replicas

    @property
    def metrics(self) -> list[keras.metrics.Metric]:
        """Metrics, where `loss` is a mean over tokens.

        Keras weights the losses of batches by their numbers of rows, so the mean would depend on
        the batching. With a `loss` of `compile`, it does.
        """
        metrics = super().metrics
        if not self.compiled or not self._has_own_loss:
            return [metric for metric in metrics if metric is not self.word_loss]
        return [self.word_loss, *(metric for metric in metrics if metric.name != "loss")]

    def fit(
        self, x: Any = None, y: Any = None, *args: Any, validation_data: Any = None, **kwargs
    ) -> keras.callbacks.History:
        """Train; see `keras.Model.fit`. Arrays of ids are checked first; datasets are not.

        `sample_weight` has a weight for each token, `[batch, target_length]`, or for each sentence,
        `[batch]` or `[batch, 1]`, also in datasets. There is no `class_weight`.
        """
        _refuse_class_weight(kwargs.get("class_weight"))
        self._check_arrays(x, y)
        if isinstance(validation_data, tuple):
            self._check_arrays(*validation_data[:2])
        with _data_may_end(kwargs):
            return super().fit(x, y, *args, validation_data=validation_data, **kwargs)

    def evaluate(self, x: Any = None, y: Any = None, *args: Any, **kwargs) -> Any:
        """Measure loss and metrics; see `keras.Model.evaluate`. Arrays are checked as in `fit`."""
        self._check_arrays(x, y)
        with _data_may_end(kwargs):
            return super().evaluate(x, y, *args, **kwargs)

    def train_on_batch(
        self,
        x: Any,
        y: Any = None,
        sample_weight: Any = None,
        class_weight: Any = None,
        return_dict: bool = False,
    ) -> Any:
        """Train on one batch; see `keras.Model.train_on_batch`. Takes the weights of `fit`."""
        _refuse_class_weight(class_weight)
        return super().train_on_batch(x, y, sample_weight, return_dict=return_dict)

    def _checked_targets(self, inputs: Any, targets: Any) -> Any:
        """Return targets as int32, which must be as long as the `target_ids` of the inputs."""
        self._check_names(inputs, "target_ids")
        targets = ops.cast(check_integers("targets", targets), "int32")
        shapes = [[*ids.shape] for ids in (inputs["target_ids"], targets)]
        lengths = [shape[1:2] for shape in shapes]
        if [None] not in lengths and lengths[0] != lengths[1]:  # one can be unknown in a graph
            raise ValueError(
                "Expected target_ids and targets of one length. Received: target_ids of the shape "
                f"{shapes[0]}, and targets of the shape {shapes[1]}. Begin target_ids with the "
                "start token, and omit the end token of the targets."
            )
        return targets

    def _check_arrays(self, x: Any, y: Any) -> None:
        """Check ids in arrays. `call` cannot check them, because it gets tensors of a graph."""
        if isinstance(x, Mapping | list | tuple | np.ndarray):
            self._check_names(x, "target_ids")
            self._check_ids(x)
            if y is not None:
                check_ids("targets", y, self._target_size(x))

    def _check_call(self, inputs: Any, training: bool) -> None:
        """Check the inputs of `call`."""
        self._check_names(inputs, "target_ids")

    def _check_names(self, inputs: Any, *further: str) -> None:
        """Check that inputs are a dict with the inputs of the encoder, and with other names."""
        check_names(inputs, [*self.encoder.reads, *further], self.makes_batches)

    def _check_ids(self, inputs: Any) -> None:
        """Check all ids of a batch."""
        for name, size in self._input_sizes(inputs).items():
            if name in inputs:
                check_ids(name, inputs[name], size)

    def _input_sizes(self, inputs: dict[str, Any]) -> dict[str, int]:
        """Return the number of ids that each input of ids can have."""
        return {"target_ids": self.decoder.embedding.input_dim}

    def _target_size(self, inputs: Any) -> int:
        """Return the number of ids that the decoder can predict."""
        return self.decoder.embedding.input_dim

    def get_compile_config(self) -> dict:
        """Return the arguments of `compile`."""
        config = super().get_compile_config()
        own = {
            "label_smoothing": self.label_smoothing,
            "guided_attention": self.guided_attention,
            "scheduled_sampling": keras.saving.serialize_keras_object(self.scheduled_sampling),
            "r_drop": self.r_drop,
        }
        return {**config, **own} if config else config

    def get_layer(self, name: str | None = None, index: int | None = None) -> keras.layers.Layer:
        """Return a layer by its name or index; see `keras.Model.get_layer`.

        Layers inside other layers, such as "attention", are found by name too. If several layers
        have the same name, the outermost layer is returned.
        """
        if name is not None:
            for _, layer in layers_within(self):
                if layer.name == name:
                    return layer
        return super().get_layer(name, index)

    def summary(
        self,
        *args: Any,
        expand_nested: bool = False,
        print_fn: Callable[[str], Any] = print,
        **kwargs,
    ) -> None:
        """Print the layers and their numbers of weights; see `keras.Model.summary`.

        Args:
            *args: See `keras.Model.summary`.
            expand_nested: Whether to list layers inside other layers too, with their paths, such as
                the attention of a decoder.
            print_fn: Function that prints a text.
            **kwargs: See `keras.Model.summary`.
        """
        super().summary(*args, print_fn=print_fn, **kwargs)
        if expand_nested:
            rows = [
                (path, type(layer).__name__, f"{layer.count_params():,}")
                for path, layer in sorted(layers_within(self), key=lambda item: item[0])
                if layer.weights
            ]
            widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
            for path, kind, count in rows:
                print_fn(f"{path:{widths[0]}}  {kind:{widths[1]}}  {count:>{widths[2]}}")


@contextmanager
def _data_may_end(options: Mapping[str, Any]) -> Iterator[None]:
    """Do not warn at the end of data whose number of batches is unknown, unless it was requested.

    Keras warns at the end of the first epoch of such data as if it had too few batches.
    """
    with warnings.catch_warnings():
        if {"steps_per_epoch", "validation_steps", "steps"}.isdisjoint(options):
            warnings.filterwarnings("ignore", "Your input ran out of data")
        yield


def _refuse_class_weight(class_weight: Any) -> None:
    """Refuse Keras's weights of classes, which take one class for each row, not for each token."""
    if class_weight is not None:
        raise ValueError(
            "Expected no class_weight, which Keras applies to one class of each row. Received: "
            f"class_weight={class_weight!r:.60}. Weight target ids with sample_weight=table[y], "
            "where table is an array with the weight of each id."
        )
