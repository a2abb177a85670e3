"""Base class of tasks whose models search."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from functools import cached_property
from typing import Any

import keras
import tensorflow as tf
from keras import ops

from kerasnmt.decoding import Hypotheses, SearchOptions, SearchTree, Terms
from kerasnmt.ids import END_ID, PAD_ID, START_ID, UNKNOWN_ID
from kerasnmt.tasks.search_stream import SearchStream
from kerasnmt.tasks.served_model import ABSENT_SCORE, Progress
from kerasnmt.tasks.streaming import check_streams
from kerasnmt.tasks.task import Steps, Task
from kerasnmt.text.targets import decoder_inputs
from kerasnmt.token_confidence import token_confidence

# Number of most probable tokens that `inspect` returns.
CHOICES = 10


class SearchTask(Task):
    """Base class of tasks whose models search, for translations or captions.

    Such a task has two steps for questions about one request; `kerasnmt.tasks.Explorer` asks them.
    An export does not have them.

    - `explore` takes `prefix_ids`, int32 `[batch, prefix_length]`, the tokens with which an answer
      must begin, and the fields. It returns all answers in the beam, best first: `texts`, string
      `[batch, beam]`, `scores`, float32 `[batch, beam]`, and `ids` and `tokens`, int32 and string
      `[batch, beam, target_length]`. It also returns the `kerasnmt.decoding.SearchTree`:
      `tree_ids`, `tree_tokens`, `tree_parents` and `tree_log_probabilities`,
      `[batch, beam, target_length]`. Samples have no tree, so its ids are padding.
    - `inspect` takes `target_ids`, int32 `[batch, target_length]`, the tokens of given answers with
      their end tokens, and the fields. It returns their `text`, string `[batch]`, the records of
      `model.attend`, and for each token its `log_probability`, `entropy` and `margin`, float32
      `[batch, target_length]` (see `kerasnmt.token_confidence`), and the most probable tokens in
      its place: `choice_ids`, `choice_tokens` and `choice_log_probabilities`,
      `[batch, target_length, 10]`, best first. If the attention has
      heads, it also returns `head_weights`, float32
      `[batch, layers, heads, target_length, source_length]`.

    A subclass has `options`, and implements `_read`, whose second result is the `source` of
    `_texts`, `_tokens`, `_source_tokens` and `_is_empty`.

    Attributes:
        options: Options of the search.
    """

    options: SearchOptions

    @property
    def questions(self) -> dict[str, Steps]:
        """Steps for questions about one request."""

        def about(ids: str, read: Callable, run: Callable, write: Callable) -> Steps:
            return Steps((ids, *self.fields), read, run, write, ids=(ids,))

        return {
            "explore": about("prefix_ids", self._read_prefix_ids, self._explore, self._explored),
            "inspect": about("target_ids", self._read_target_ids, self._inspect, self._inspected),
        }

    def progress(self, request: Mapping[str, str | bytes]) -> Iterator[Progress]:
        """Answer one request, and return an iterator of the words as they are made.

        See `ServedModel`. A piece has the words that all hypotheses share which can still be, or
        begin, the best one.

        Raises:
            ValueError: If the search draws several samples, or the model takes no prefix.
        """
        check_streams(self.options)
        if "prefix" in request and "forced_prefix" not in self.local:
            raise ValueError(
                f"Expected a model for prefixes. Received: a prefix for {self.model.name}. Omit it."
            )
        return self.streams["prefix" in request].progress(request)

    @cached_property
    def streams(self) -> list[SearchStream]:
        """Streams of requests without and with a prefix."""
        plain = self.exported["serving_default"]._replace(read=self._read)
        forced = [self.local["forced_prefix"]] if "forced_prefix" in self.local else []
        return [SearchStream(self, steps) for steps in (plain, *forced)]

    def copied_words(self, source: Any) -> list[str]:
        """Return the words of the ids outside the vocabulary, for one request. By default, none."""
        return []

    @property
    def writes_by_records(self) -> bool:
        """Whether `_ids` needs the records of the search."""
        return False

    def target_ids(self, target: str, *fields: Any) -> list[int]:
        """Return the ids of a given answer to one request, with the end token."""
        return [*self.model.target_tokenizer.tokenize([target]).to_list()[0], END_ID]

    def target_size(self, *fields: Any) -> int:
        """Return the number of ids that answers to one request consist of, with special ids."""
        return self.model.target_tokenizer.vocabulary_size

    def _read(self, *fields: tf.Tensor) -> tuple[dict[str, Any], Any]:
        """Return a dict with the `inputs` of the model, and the source."""
        raise NotImplementedError

    def _listing(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Return a batch with the `listed_ids` of a shortlist. By default, there is none."""
        return batch

    def _ids(self, hypotheses: Hypotheses, source: Any) -> tf.Tensor:
        """Return the ids to write for hypotheses, int32 `[batch, n_best, length]`."""
        return hypotheses.ids

    def _texts(self, ids: tf.Tensor, source: Any) -> tf.Tensor:
        """Return the texts of ids `[batch, n, length]`, string `[batch, n]`."""
        raise NotImplementedError

    def _tokens(self, ids: tf.Tensor, source: Any) -> tf.Tensor:
        """Return the tokens of ids `[batch, n, length]`, string in the same shape."""
        raise NotImplementedError

    def _source_tokens(self, source: Any) -> dict[str, tf.Tensor]:
        """Return the tokens of the texts that the model reads, by the names of the outputs."""
        return {}

    def _is_empty(self, source: Any) -> tf.Tensor:
        """Return which requests have nothing to read, boolean `[batch]`."""
        raise NotImplementedError

    @property
    def _only_first(self) -> list[list[float]]:
        """Scores of a request with nothing to read, which has one empty answer."""
        return [[0.0] + [ABSENT_SCORE] * (self.options.hypotheses - 1)]

    def _read_prefix_ids(self, prefix_ids: tf.Tensor, *fields: tf.Tensor) -> tuple[dict, Any]:
        batch, source = self._read(*fields)
        return self._listing({**batch, "prefix_ids": prefix_ids}), source

    def _read_target_ids(self, target_ids: tf.Tensor, *fields: tf.Tensor) -> tuple[dict, Any]:
        batch, source = self._read(*fields)
        shifted = decoder_inputs(target_ids, self.model.target_tokenizer.vocabulary_size)
        inputs = {**batch["inputs"], "target_ids": shifted}
        return {"inputs": inputs, "targets": target_ids}, (source, target_ids)

    def _terms(self, batch: dict[str, Any]) -> Terms | None:
        """Return the terms of a batch, or None if it has none."""
        return None

    def _explore(self, batch: dict[str, Any]) -> tuple[Hypotheses, SearchTree]:
        searches = not self.options.samples
        hypotheses = self.applied(self.model.search)(
            batch["inputs"],
            prefix_ids=batch["prefix_ids"],
            terms=self._terms(batch),
            listed_ids=batch.get("listed_ids"),
            n_best=self.options.hypotheses,
            with_records=self.writes_by_records,
            with_tree=searches,
            **asdict(self.options),
        )
        if searches:
            return hypotheses
        no_ids = ops.full_like(hypotheses.ids, PAD_ID)
        return hypotheses, SearchTree(no_ids, no_ids, ops.cast(no_ids, "float32"))

    def _inspect(self, batch: dict[str, Any]) -> dict[str, Any]:
        inputs, targets = batch["inputs"], batch["targets"]
        log_probabilities, records = self.applied(self.model.inspect)(inputs)
        choices = min(CHOICES, self.model.target_tokenizer.vocabulary_size)
        best, ids = ops.top_k(log_probabilities, choices)
        outputs = {
            **token_confidence(ops, log_probabilities, targets),
            "choice_ids": ops.cast(ids, "int32"),
            "choice_log_probabilities": best,
        }
        if self.model.has_heads:
            outputs["head_weights"] = self.applied(self.model.attend_by_head)(inputs)
        return {**outputs, **records}

    def _judge(self, batch: dict[str, Any], hypotheses: Hypotheses) -> tuple[Any, dict[str, Any]]:
        """Return the ids of hypotheses, `[batch, n_best, length]`, and what the model thinks."""
        rows, n_best, length = ops.shape(hypotheses.ids)
        if keras.backend.backend() == "tensorflow":  # JAX needs shapes that do not depend on values
            length = ops.max(ops.count_nonzero(hypotheses.ids, axis=2), initial=1)
        shape = (rows, n_best, length)
        ids = ops.reshape(hypotheses.ids[..., :length], (rows * n_best, length))
        size = self.model.target_tokenizer.vocabulary_size
        known = ops.where(ids < size, ids, UNKNOWN_ID)
        shifted = ops.concatenate([ops.full_like(ids[:, :1], START_ID), known[:, :-1]], axis=1)
        sources = {name: ops.repeat(one, n_best, axis=0) for name, one in batch["inputs"].items()}
        inputs = {**sources, "target_ids": ops.where(ids == PAD_ID, PAD_ID, shifted)}
        log_probabilities, _ = self.applied(self.model.inspect)(inputs)
        numbers = token_confidence(ops, log_probabilities, ids)
        return ops.reshape(ids, shape), {
            name: ops.reshape(one, shape) for name, one in numbers.items()
        }

    def _explored(self, result: tuple[Hypotheses, SearchTree], source: Any) -> dict[str, tf.Tensor]:
        hypotheses, tree = result
        empty = self._is_empty(source)[:, None]
        ids, written, tree_ids = (
            tf.where(empty[..., None], PAD_ID, one)
            for one in (hypotheses.ids, self._ids(hypotheses, source), tree.ids)
        )
        return {
            "texts": self._texts(written, source),
            "scores": tf.where(empty, self._only_first, hypotheses.scores),
            "ids": ids,
            "tokens": self._tokens(written, source),
            "tree_ids": tree_ids,
            "tree_tokens": self._tokens(tree_ids, source),
            "tree_parents": tree.parents,
            "tree_log_probabilities": tree.log_probabilities,
        }

    def _inspected(self, outputs: dict[str, tf.Tensor], pair: Any) -> dict[str, tf.Tensor]:
        source, targets = pair
        # On JAX, the weights have padding that the targets do not have.
        length = tf.shape(targets)[1]
        records = {"weights": outputs["weights"][:, None, :length]} if "weights" in outputs else {}
        written = self._ids(Hypotheses(targets[:, None], None, records), source)
        return {
            **outputs,
            **self._source_tokens(source),
            "text": self._texts(written, source)[:, 0],
            "target_tokens": self._tokens(written, source)[:, 0],
            "choice_tokens": self._tokens(outputs["choice_ids"], source),
        }
