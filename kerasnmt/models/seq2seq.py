"""The sequence-to-sequence model."""

import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import keras
import numpy as np
from keras import ops

from kerasnmt.ids import PAD_ID
from kerasnmt.layers import build_once
from kerasnmt.models.checks import check_ids, check_takes_logits
from kerasnmt.models.guided_attention_loss import guided_attention_loss
from kerasnmt.models.inner_optimizer import inner_optimizer
from kerasnmt.models.mixed_inputs import mixed_inputs
from kerasnmt.models.perplexity import Perplexity
from kerasnmt.models.replica_mean import ReplicaMean
from kerasnmt.models.search_model import SearchModel


@keras.saving.register_keras_serializable("kerasnmt")
class Seq2Seq(SearchModel):
    """An encoder, a bridge and a decoder, with tokenizers at the edges.

    Token ids go in and the decoder's outputs come out, logits
    `[batch, target_length, vocabulary]` for a vocabulary projection. Inputs are

        {"source_ids": int32 [batch, source_length], "target_ids": int32 [batch, target_length]}

    right-padded with 0; sources end with the end token, `target_ids` start with the start token,
    and the targets of training end with the end token. Id 0 is never a real token. For guided
    attention there may be `alignments`, float32 `[batch, target_length, source_length]`, whose rows
    sum to 1, or to 0 for words without an alignment. A model that copies takes
    `extended_source_ids`, int32 `[batch, source_length]`, in which words outside the vocabulary
    have ids of their own, V, V+1, …, and targets with the same ids; without them it copies words of
    the vocabulary only. All of this works on every Keras backend; with
    tokenizers (and TensorFlow) `translate` and `export` take text.

    The constructors of `kerasnmt.zoo` assemble such models under their names.

    Made within the scope of a `tf.distribute.MirroredStrategy`, a model trains on several devices,
    which share every batch, with the same losses and metrics as on one.

    Args:
        encoder: layer `source_ids -> (memory, memory_mask, states)`, for example
            `RecurrentEncoder`; or of what else its `reads` names, as `ContextEncoder`, where memory
            and mask are dicts with a `source` among them.
        bridge: layer `encoder states -> decoder states`, for example `BackwardStateBridge`; None
            for a decoder that takes none, as `TransformerDecoder`.
        decoder: layer with `initial_state`, `project_memory`, `call`, `step`, `has_attention`,
            `embedding`, `copies`, `added_losses`, `next_log_probability` and `log_probability`, for
            example `RecurrentDecoder`.
        source_tokenizer: a `kerasnmt.text` tokenizer, or None where only ids are fed.
        target_tokenizer: likewise; None takes the source's.
        share_embeddings: whether the source's words are embedded by the decoder's embedding, for an
            encoder without one (`RecurrentEncoder(None, ...)`). With `TiedVocabularyProjection`
            one matrix is source embedding, target embedding and output.

    Raises:
        ValueError: the decoder copies or embeddings are shared, and the target's tokenizer is
            another than the source's; or the encoder has an embedding of its own beside the shared
            one, or none at all.

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
        super().__init__(source_tokenizer, target_tokenizer or source_tokenizer, **kwargs)
        self.encoder = encoder
        self.bridge = bridge
        self.decoder = decoder
        if decoder.copies and self.target_tokenizer is not self.source_tokenizer:
            raise ValueError(
                "Expected one tokenizer for both sides, as the decoder copies words of the source, "
                "which need the same ids in the target. Received: a target_tokenizer of its own."
            )
        if share_embeddings and self.target_tokenizer is not self.source_tokenizer:
            raise ValueError(
                "Expected one tokenizer for both sides with share_embeddings=True, as one matrix "
                "embeds the words of both. Received: a target_tokenizer of its own."
            )
        self.share_embeddings = share_embeddings
        self._check_vocabularies()
        self.label_smoothing = 0.0
        self.guided_attention = 1.0
        self.scheduled_sampling = 0.0
        self._has_own_loss = True
        # Its state is a seed, which `compile` draws, and the number of batches trained on.
        self.sampling_generator = keras.random.SeedGenerator(0)
        self.perplexity = Perplexity()
        self.word_loss = keras.metrics.Mean(name="loss")
        self.replica_mean = ReplicaMean()
        self.decoder_metrics = [keras.metrics.Mean(name=name) for name in decoder.measures]
        target_ids = keras.KerasTensor((None, None), dtype="int32")
        self({**self._symbolic_source(), "target_ids": target_ids})

    def build(self, input_shape: Any = None) -> None:
        """Make all weights; their shapes do not depend on the inputs."""
        shapes = [tensor.shape for tensor in self._symbolic_source().values()]
        if self.share_embeddings:
            shapes += [(*shape, self.decoder.embedding.output_dim) for shape in shapes]
        build_once(self.encoder, *shapes)
        if self.bridge is not None:
            build_once(self.bridge, self.encoder.state_size)
        build_once(self.decoder, (None, None, self.encoder.memory_units))

    def encode(
        self,
        inputs: dict[str, Any],
        training: bool = False,
        steps: int = 0,
    ) -> tuple[list[Any], dict[str, Any]]:
        """Read the source.

        Args:
            inputs: as in `call`, of which those of the source are read: `source_ids`, and for a
                model that copies `extended_source_ids`, without which it takes `source_ids`; and
                the same of what else its encoder reads.
            training: whether dropout applies.
            steps: how often `step` will be called at the most. Decoders that attend to their own
                earlier steps make room for so many in their states; 0 where only whole targets
                follow.

        Returns:
            the decoder's first states, and the memory that its steps take.
        """
        self._check_names(inputs)
        self._check_ids(inputs)
        read = [inputs[name] for name in self.encoder.reads]
        embedded = [self.decoder.embedding(ids) for ids in read] if self.share_embeddings else []
        memory, memory_mask, states = self.encoder(*read, *embedded, training=training)
        copied = [inputs.get(f"extended_{name}", inputs[name]) for name in self.encoder.reads]
        memory = self.decoder.project_memory(memory, memory_mask, *(copied if self.copies else []))
        memory_mask = self.encoder.attended_mask(memory_mask)
        states = [] if self.bridge is None else self.bridge(states)
        states = self.decoder.initial_state(states, memory, training, steps)
        return states, {**memory, "memory_mask": memory_mask}

    @property
    def _source_embedding(self) -> keras.layers.Layer:
        return self.decoder.embedding if self.share_embeddings else self.encoder.embedding

    def _check_vocabularies(self) -> None:
        """Refuse a tokenizer with more ids than there are embeddings."""
        sides = {}
        if self.target_tokenizer is not None:
            sides["target"] = self.target_tokenizer, self.decoder.embedding
        if self.source_tokenizer is not None and self._source_embedding is not None:
            sides["source"] = self.source_tokenizer, self._source_embedding
        for side, (tokenizer, embedding) in sides.items():
            if tokenizer.vocabulary_size > embedding.input_dim:
                raise ValueError(
                    f"Expected a {side}_tokenizer of at most {embedding.input_dim} ids, the number "
                    f"of {side} embeddings. Received: {tokenizer!r}."
                )

    def get_layer(self, name: str | None = None, index: int | None = None) -> keras.layers.Layer:
        """Return a layer by its name or index; see `keras.Model.get_layer`.

        Layers within others are found by their names too, such as "attention". If several have the
        name, the outermost is returned.
        """
        if name is not None:
            for _, layer in _layers_within(self):
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
            *args: as in Keras.
            expand_nested: whether the layers within others are listed too, such as the attention
                of a decoder, each with its path.
            print_fn: what prints a text.
            **kwargs: as in Keras.
        """
        super().summary(*args, print_fn=print_fn, **kwargs)
        if expand_nested:
            rows = [
                (path, type(layer).__name__, f"{layer.count_params():,}")
                for path, layer in sorted(_layers_within(self), key=lambda found: found[0])
                if layer.weights
            ]
            widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
            for path, kind, count in rows:
                print_fn(f"{path:{widths[0]}}  {kind:{widths[1]}}  {count:>{widths[2]}}")

    def _check_names(self, inputs: Any, *further: str) -> None:
        """Check that inputs are a dict with what the encoder reads, and with further names."""
        names = [*self.encoder.reads, *further]
        is_dict = isinstance(inputs, Mapping)
        if not is_dict or any(name not in inputs for name in names):
            given = sorted(inputs) if is_dict else f"a {type(inputs).__name__}"
            raise ValueError(
                f"Expected a dict with {', '.join(names)} as inputs. Received: {given}."
            )

    def _check_ids(self, inputs: dict[str, Any]) -> None:
        """Check all ids of a batch."""
        words = self.decoder.embedding.input_dim
        for name, ids in inputs.items():
            if name.startswith("extended_"):
                check_ids(name, ids, words + _extended_positions(inputs))
            elif name == "target_ids":
                check_ids(name, ids, words)
            elif name in self.encoder.reads and name.endswith("_ids") and self._source_embedding:
                check_ids(name, ids, self._source_embedding.input_dim)

    def _symbolic_source(self) -> dict[str, Any]:
        """What the encoder takes, without values."""
        return {name: keras.KerasTensor((None, None), dtype="int32") for name in self.encoder.reads}

    def memory_mask(self, memory: dict[str, Any]) -> Any:
        """Return which positions are real of a memory from `encode`.

        Returns:
            boolean `[batch, source_length]`, the positions that weights of attention are of.
        """
        return memory["memory_mask"]

    def call(self, inputs: dict[str, Any], training: bool = False) -> Any:
        """Predict every target word from the source and the words before it.

        Args:
            inputs: `source_ids` and `target_ids`, see the class; with `alignments`, the loss of
                guided attention is added.
            training: whether dropout applies.

        Returns:
            the decoder's outputs, for a vocabulary projection logits
            `[batch, target_length, vocabulary]`; a dict where the decoder copies.
        """
        self._check_names(inputs, "target_ids")
        self._check_copied(inputs, training)
        states, memory = self.encode(inputs, training=training)
        target_ids = inputs["target_ids"]
        if training and self.scheduled_sampling:
            target_ids = self._sampled(target_ids, states, memory)
        outputs, records = self.decoder(target_ids, states, memory, training=training)
        words = ops.not_equal(target_ids, PAD_ID)
        for loss in self.decoder.added_losses(records, target_ids):
            self.add_loss(self._share(words) * loss)
        if "alignments" in inputs:
            self._need_attention()
            loss = guided_attention_loss(records["weights"], inputs["alignments"])
            aligned = ops.any(inputs["alignments"] > 0, axis=-1)
            self.add_loss(self.guided_attention * self._share(aligned) * loss)
        return outputs

    def _check_copied(self, inputs: dict[str, Any], training: bool) -> None:
        """Tell of batches whose unknown words have ids of their own where they should not, or not.

        Raises:
            ValueError: they have, and the decoder does not copy.
        """
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

    def _sampled(self, target_ids: Any, states: list[Any], memory: dict[str, Any]) -> Any:
        """Put the model's own predictions in the place of some words; see `compile`."""
        probability = self.scheduled_sampling
        if callable(probability):
            batches = ops.cast(self.sampling_generator.state[1], "int32")
            probability = probability(batches // self._batches_per_update)
        uniform = keras.random.uniform(ops.shape(target_ids), seed=self.sampling_generator)
        outputs, _ = self.decoder(target_ids, states, memory)
        predicted = ops.argmax(self.decoder.next_log_probability(outputs), axis=-1)
        vocabulary_size = self.decoder.embedding.input_dim
        return mixed_inputs(target_ids, predicted, uniform < probability, vocabulary_size)

    @property
    def _batches_per_update(self) -> int:
        return inner_optimizer(self.optimizer).gradient_accumulation_steps or 1

    def fit(
        self, x: Any = None, y: Any = None, *args: Any, validation_data: Any = None, **kwargs
    ) -> keras.callbacks.History:
        """Train, see `keras.Model.fit`. Arrays of ids are checked first, datasets are not."""
        self._check_arrays(x, y)
        if isinstance(validation_data, tuple):
            self._check_arrays(*validation_data[:2])
        return super().fit(x, y, *args, validation_data=validation_data, **kwargs)

    def evaluate(self, x: Any = None, y: Any = None, *args: Any, **kwargs) -> Any:
        """Measure loss and metrics, see `keras.Model.evaluate`. Arrays are checked as in `fit`."""
        self._check_arrays(x, y)
        return super().evaluate(x, y, *args, **kwargs)

    def _check_arrays(self, x: Any, y: Any) -> None:
        """Check ids that are given as arrays; `call` sees only tensors of a graph."""
        if isinstance(x, Mapping | list | tuple | np.ndarray):
            self._check_names(x, "target_ids")
            self._check_ids(x)
            if y is not None:
                size = self.decoder.embedding.input_dim + _extended_positions(x)
                check_ids("targets", y, size)

    def make_train_function(self, force: bool = False) -> Any:
        """Prepare `fit`: scheduled sampling goes on where the optimizer stands."""
        if self.scheduled_sampling:
            seed, trained_on = ops.convert_to_numpy(self.sampling_generator.state)
            batches = int(self.optimizer.iterations) * self._batches_per_update
            # More batches have been trained on between two updates, and where an update with
            # gradients that are not finite was left out in float16.
            if trained_on < batches:
                self.sampling_generator.state.assign([seed, batches])
        return super().make_train_function(force)

    @property
    def has_attention(self) -> bool:
        """Whether the decoder attends to the source, so that there are weights to look at."""
        return self.decoder.has_attention

    @property
    def reads_context(self) -> bool:
        """Whether the model reads a second text beside the source, its context."""
        return "context_ids" in self.encoder.reads

    @property
    def copies(self) -> bool:
        """Whether the decoder copies words of the source, those outside the vocabulary as well."""
        return self.decoder.copies

    def attend(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Return the records of given targets, without dropout.

        Args:
            inputs: as in `call`.

        Returns:
            `weights` of the attention, float32 `[batch, target_length, source_length]`; row t
            belongs to the t-th word of the targets, the last of which is the end token. Of a
            pointer-generator also `generate_probability`, float32 `[batch, target_length]`.

        Raises:
            ValueError: the model has no attention.
        """
        self._need_attention()
        states, memory = self.encode(inputs)
        _, records = self.decoder(inputs["target_ids"], states, memory)
        return records

    def attend_by_head(self, inputs: dict[str, Any]) -> Any:
        """Return where every head of every layer looks, for given targets, without dropout.

        `kerasnmt.viz.attention_heads_figure` draws it.

        Args:
            inputs: as in `call`.

        Returns:
            float32 `[batch, layers, heads, target_length, source_length]`, the lowest layer first.

        Raises:
            ValueError: the attention of the decoder has no heads.
        """
        _, memory = self.encode(inputs)
        return self.decoder.attend_by_head(inputs["target_ids"], memory)

    def token_log_probability(self, inputs: dict[str, Any], targets: Any) -> Any:
        """Return the log-probability of each token of given targets, without dropout.

        Args:
            inputs: as in `call`.
            targets: int32 `[batch, target_length]`, ending with the end token, padded with 0.

        Returns:
            float32 `[batch, target_length]`, of no meaning where the targets are padded.
        """
        states, memory = self.encode(inputs)
        outputs, _ = self.decoder(inputs["target_ids"], states, memory)
        return self.decoder.log_probability(outputs, targets)[0]

    def step(
        self, ids: Any, states: list[Any], memory: dict[str, Any]
    ) -> tuple[Any, dict[str, Any], list[Any]]:
        """Make one step of search.

        Args:
            ids: the words before, int32 `[batch, hypotheses]`.
            states: `[batch, hypotheses, ...]`.
            memory: from `encode`.

        Returns:
            log-probabilities of the next words, float32 `[batch, hypotheses, vocabulary]`, or
            `[..., vocabulary + source_length]` of a model that copies;
            what is worth recording, with attention
            `{"weights": [batch, hypotheses, source_length]}`; and the new states.
        """
        outputs, records, states = self.decoder.step(ids, states, memory)
        return self.decoder.next_log_probability(outputs), records, states

    def compile(
        self,
        optimizer: Any = "adam",
        *,
        label_smoothing: float = 0.1,
        guided_attention: float = 1.0,
        scheduled_sampling: float | keras.optimizers.schedules.LearningRateSchedule = 0.0,
        **kwargs,
    ) -> None:
        """Configure training.

        Without a `loss` the model trains on the cross-entropy of a target token: the sum over all
        real tokens of the batch divided by their number, padding left out. The `loss` of an epoch,
        and that of validation data, is the mean over all its real tokens, however they are batched.
        Added losses, such as that of guided attention, are averaged over the batches.

        Args:
            optimizer: as in `keras.Model.compile`.
            label_smoothing: share of the target's probability that is spread evenly over the
                vocabulary, in [0, 1). Perplexity is measured without it.
            guided_attention: what the loss of guided attention counts beside that of the words,
                where the inputs hold `alignments`; at least 0.
            scheduled_sampling: probability, in [0, 1), with which a word that the decoder is fed in
                training is not that of the target, but the one that the model itself predicts there
                after the target's words, see `kerasnmt.models.mixed_inputs`; or a schedule that
                makes it of the number of the optimizer's steps. It takes a second pass of the
                decoder, through which no gradient flows.
            **kwargs: as in `keras.Model.compile`. A `loss` has to take logits.

        Raises:
            ValueError: a number is out of range, a `loss` takes probabilities, or the model copies
                and so returns no logits for a `loss`.
        """
        check_takes_logits(kwargs.get("loss"))
        if self.copies and kwargs.get("loss") is not None:
            raise ValueError(
                "Expected no loss for a model that copies, as it returns no logits. Received: "
                f"loss={kwargs['loss']!r:.60}. Leave loss out for the model's own."
            )
        if not 0.0 <= label_smoothing < 1.0:
            raise ValueError(
                "Expected 0 <= label_smoothing < 1; a usual value is 0.1. "
                f"Received: label_smoothing={label_smoothing}"
            )
        if guided_attention < 0:
            raise ValueError(
                f"Expected guided_attention >= 0. Received: guided_attention={guided_attention}"
            )
        constant = not isinstance(
            scheduled_sampling, keras.optimizers.schedules.LearningRateSchedule
        )
        if constant and not 0.0 <= scheduled_sampling < 1.0:
            raise ValueError(
                "Expected 0 <= scheduled_sampling < 1, or a schedule of "
                "keras.optimizers.schedules that makes it of the optimizer's steps. "
                f"Received: scheduled_sampling={scheduled_sampling}"
            )
        super().compile(optimizer=optimizer, **kwargs)
        # Keras keeps an earlier `loss` where none is given.
        self._has_own_loss = kwargs.get("loss") is None
        self.scheduled_sampling = scheduled_sampling
        if scheduled_sampling:
            self.sampling_generator.state.assign(keras.random.SeedGenerator().state)
        self.label_smoothing = label_smoothing
        self.guided_attention = guided_attention

    def compute_loss(
        self,
        x: Any = None,
        y: Any = None,
        y_pred: Any = None,
        sample_weight: Any = None,
        training: bool = True,
    ) -> Any:
        """Return the loss of a batch, a float32 scalar, and update the perplexity.

        Args:
            x: the inputs.
            y: target ids, int32 `[batch, target_length]`, 0 where padded.
            y_pred: what `call` returned.
            sample_weight: float `[batch, target_length]`, or None. Padding never counts.
            training: whether the batch is one of training.
        """
        log_probability, mean_log_probability = self.decoder.log_probability(y_pred, y)
        weight = ops.cast(ops.not_equal(y, PAD_ID), "float32")
        if sample_weight is not None:
            weight = weight * ops.cast(sample_weight, "float32")
        self.perplexity.update_state(log_probability, weight)
        measured = self.decoder.measure(y_pred)
        for metric in self.decoder_metrics:
            # Flat, because Keras would average each row over its padding first.
            values = ops.reshape(measured[metric.name], (-1,))
            metric.update_state(values, ops.reshape(weight, (-1,)))
        if not self._has_own_loss:
            return super().compute_loss(x, y, y_pred, weight, training)
        smoothed = (
            1.0 - self.label_smoothing
        ) * log_probability + self.label_smoothing * mean_log_probability
        words = self._mean_count(weight)
        loss = ops.divide_no_nan(-ops.sum(weight * smoothed), words)
        added = self.losses
        if self._replicas > 1:
            # Keras has one list for all replicas. It was emptied when the last of them began, and
            # filled after `_share`, for which they wait.
            added = [one for one in added if one.device == loss.device]
        loss = sum(added, start=loss)
        self.word_loss.update_state(loss, words)
        # Of the replicas Keras adds up the gradients.
        return loss / self._replicas

    @property
    def metrics(self) -> list[keras.metrics.Metric]:
        """The metrics of Keras, with `loss` as a mean over words.

        Keras averages the losses of batches by their rows, so the result would depend on which
        sentences are in a batch together. With a `loss` of `compile` it still does.
        """
        found = super().metrics
        if not self.compiled or not self._has_own_loss:
            return [metric for metric in found if metric is not self.word_loss]
        return [self.word_loss, *(metric for metric in found if metric.name != "loss")]

    @property
    def _replicas(self) -> int:
        strategy = getattr(self, "distribute_strategy", None)  # TensorFlow's alone
        return 1 if strategy is None else strategy.num_replicas_in_sync

    def _share(self, counted: Any) -> Any:
        """Return what a mean over this replica's words counts in that over the replicas' means.

        Args:
            counted: what the mean is over: booleans or weights of words.

        Returns:
            a float32 scalar, 1 on average over the replicas.
        """
        if self._replicas == 1:
            return 1.0
        count = ops.sum(ops.cast(counted, "float32"))
        return ops.divide_no_nan(count, self._mean_count(counted))

    def _mean_count(self, counted: Any) -> Any:
        """Return how many words a replica has on average, a float32 scalar; see `_share`."""
        count = ops.sum(ops.cast(counted, "float32"))
        return count if self._replicas == 1 else self.replica_mean(count)

    def get_config(self) -> dict:
        """Return the constructor's arguments, the tokenizers with their vocabularies."""
        names = ["encoder", "bridge", "decoder", "source_tokenizer"]
        if self.target_tokenizer is not self.source_tokenizer:
            names.append("target_tokenizer")
        serialize = keras.saving.serialize_keras_object
        return {
            **super().get_config(),
            **{name: serialize(getattr(self, name)) for name in names},
            "share_embeddings": self.share_embeddings,
        }

    @classmethod
    def from_config(cls, config: dict) -> "Seq2Seq":
        """Make the model from `get_config`."""
        if any(config.get(f"{side}_tokenizer") is not None for side in ("source", "target")):
            from kerasnmt.text import register_tokenizers

            register_tokenizers()

        parts = ("encoder", "bridge", "decoder", "source_tokenizer", "target_tokenizer")
        deserialize = keras.saving.deserialize_keras_object
        return cls(**{k: deserialize(v) if k in parts else v for k, v in config.items()})

    def get_compile_config(self) -> dict:
        """Return the arguments of `compile`."""
        config = super().get_compile_config()
        own = {
            "label_smoothing": self.label_smoothing,
            "guided_attention": self.guided_attention,
            "scheduled_sampling": keras.saving.serialize_keras_object(self.scheduled_sampling),
        }
        return {**config, **own} if config else config

    def compile_from_config(self, config: dict) -> None:
        """Compile with the arguments of `get_compile_config`."""
        if keras.backend.backend() == "tensorflow":
            from kerasnmt.training import ReplicaAdam  # noqa: F401  (registers it)

        self.compile(**keras.saving.deserialize_keras_object(config))
        self.optimizer.build(self.trainable_variables)


def _extended_positions(inputs: Mapping[str, Any]) -> int:
    """Return the number of positions that hold extended ids; there are no more of these."""
    shapes = (
        np.shape(ids) if isinstance(ids, list) else ids.shape
        for name, ids in inputs.items()
        if name.startswith("extended_")
    )
    return sum(shape[1] or 0 for shape in shapes)  # None in a graph


def _layers_within(layer: keras.layers.Layer) -> Iterator[tuple[str, keras.layers.Layer]]:
    """Yield the layers that a layer holds, then those that these hold, each with its path."""
    seen, queue = {id(layer)}, [("", layer)]
    while queue:
        path, outer = queue.pop(0)
        for value in vars(outer).values():
            for one in value if isinstance(value, list | tuple) else [value]:
                if isinstance(one, keras.layers.Layer) and id(one) not in seen:
                    seen.add(id(one))
                    queue.append((f"{path}{one.name}/", one))
                    yield f"{path}{one.name}", one
