"""Text in, text out: the graph that `translate` runs and `export` writes."""

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from typing import Any, NamedTuple

import keras
import tensorflow as tf

from kerasnmt.decoding import SearchOptions
from kerasnmt.ids import END_ID, PAD_ID, UNKNOWN_ID
from kerasnmt.serving.stored_weights import StoredWeights
from kerasnmt.serving.tensorflow_backend import need_tensorflow_backend
from kerasnmt.serving.translation_contract import TranslationContract
from kerasnmt.serving.warmup import WarmupRequest, warmup_requests

# What is served for a hypothesis that does not exist: finite, because JSON knows no infinity.
_NO_SCORE = -1e9

_TEXT = (tf.TensorSpec([None], tf.string, name="text"),)


class TextModule(tf.Module):
    """A model between its tokenizers, with its search options fixed.

    Each signature takes `text`, string `[batch]`, any bytes, and treats every row alone: padding
    and neighbours change nothing. A text without tokens has an empty translation with score 0. A
    text of more than `max_length` tokens, the end token included, is cut.

    - `serving_default`: `translation` string `[batch]`; `score` float32 `[batch]`,
      log-probability divided by the length penalty.
    - `n_best`: `translations` string and `scores` float32 `[batch, beam]`, best first; where there
      are fewer, an empty text and -1e9.
    - `attention`: of the best translation, `source_tokens` string `[batch, source]`,
      `target_tokens` string `[batch, target]`, `weights` float32 `[batch, target, source]`; tokens
      include the end token and are padded with empty strings, weights with 0. A model without
      attention has no such signature; a pointer-generator adds `generate_probability`, float32
      `[batch, target]`.

    A model that copies writes words outside the vocabulary as the source spells them.

    Args:
        model: a `kerasnmt.models.SearchModel` with tokenizers.
        replace_unknown: whether each unknown word of a translation is replaced by the source word
            that it attends to most; for a model with attention that does not copy by itself, of
            words or of characters.
        dictionary: how source words are written when they replace; those it lacks stay as they
            are. For a model of words.
        weights: the numbers in which an export stores the weights, see
            `kerasnmt.serving.StoredWeights`.
        **options: of `kerasnmt.decoding.SearchOptions`. `max_length` holds for sources as well.

    Raises:
        ValueError: the model has no tokenizers, an option is out of range or does not suit the
            model, or Keras does not run on TensorFlow.
    """

    # What an export of it promises.
    contract = TranslationContract()

    def __init__(
        self,
        model: keras.Model,
        *,
        replace_unknown: bool = False,
        dictionary: Mapping[str, str] | None = None,
        weights: str = "float32",
        **options,
    ) -> None:
        super().__init__(name=model.name)
        need_tensorflow_backend()
        if model.source_tokenizer is None:
            raise ValueError(
                "Expected a model with tokenizers, to take text. Received: a model made of "
                "vocabulary sizes. Make it with tokenizers, or feed token ids to model.search."
            )
        search_options = SearchOptions.from_keywords(options)
        if search_options.max_length < 2:
            raise ValueError(
                "Expected max_length >= 2, as a text has at least one token and its end. "
                f"Received: max_length={search_options.max_length}"
            )
        if search_options.coverage_penalty and not model.has_attention:
            raise ValueError(
                "Expected a model with attention, for a coverage penalty. Received: "
                f"coverage_penalty={search_options.coverage_penalty} with {model.name}."
            )
        if replace_unknown and (model.copies or not model.has_attention):
            why = "which copies by itself" if model.copies else "which has none"
            raise ValueError(
                "Expected a model with attention that does not copy, to replace unknown words. "
                f"Received: replace_unknown=True with {model.name}, {why}."
            )
        kinds = [model.source_tokenizer.kind, model.target_tokenizer.kind]
        if replace_unknown and kinds not in (["words"] * 2, ["characters"] * 2):
            raise ValueError(
                "Expected tokens of both sides to be words, or characters, to replace unknown ones "
                f"by those of the source. Received: replace_unknown=True with {kinds[0]} and "
                f"{kinds[1]}."
            )
        if dictionary and not (replace_unknown and kinds == ["words"] * 2):
            raise ValueError(
                "Expected replace_unknown=True and tokens that are words, with a dictionary. "
                f"Received: replace_unknown={replace_unknown} with {kinds[0]} and {kinds[1]}."
            )
        if dictionary and not all(key and value for key, value in dictionary.items()):
            raise ValueError(
                "Expected a dictionary from words to how they are written. Received: an empty word."
            )
        self._search_options = search_options
        self.max_length = search_options.max_length
        self.source_tokenizer = model.source_tokenizer
        self.target_tokenizer = model.target_tokenizer
        # TensorFlow's own variables: a server restores those it finds here, and finds them through
        # no Keras layer. The model itself is not tracked, so its optimizer stays out.
        self._weights = StoredWeights(model, weights)
        self._search = self._weights.applied(model.search)
        self._copies = model.copies
        self._replaces = replace_unknown
        self._dictionary = _table(dictionary) if dictionary else None
        # No attribute that is a traced function, as an export would trace and write it.
        self._graph_of_forced_prefix = functools.cache(
            lambda: tf.function(
                self._forced_prefix,
                input_signature=[tf.TensorSpec([None], tf.string)]
                * (1 + len(self.contract.inputs)),
                autograph=False,
            )
        )
        if model.reads_context != ("context" in self.contract.inputs):
            raise ValueError(
                f"Expected a model that reads {' and '.join(self.contract.inputs)}. Received: "
                f"{model.name}. model.serving_module() makes what it needs."
            )
        if not model.has_attention:
            self.attention = None  # in place of the function, which an export would trace and write

    @property
    def signatures(self) -> dict[str, Callable[..., dict[str, tf.Tensor]]]:
        """The traced functions by the names under which they are served."""
        signatures = {"serving_default": self.serving_default, "n_best": self.n_best}
        return signatures | ({"attention": self.attention} if self.attention else {})

    @property
    def saved(self) -> tf.Module:
        """What an export tracks: all that signatures look up, and `source_lengths`.

        Not the module itself, whose functions would be traced anew and written a second time.
        """
        saved = tf.Module(name=self.name)
        saved.weights = self._weights
        saved.tokenizers = [self.source_tokenizer, self.target_tokenizer]
        saved.dictionary = self._dictionary
        saved.source_lengths = self.source_lengths
        return saved

    @property
    def description(self) -> dict[str, Any]:
        """What a client cannot read from the signatures, fit for JSON."""
        return {
            "model": self.name,
            **asdict(self._search_options),
            "replace_unknown": self._replaces,
            "weights": self._weights.kind,
            "source_kind": self.source_tokenizer.kind,
            "target_kind": self.target_tokenizer.kind,
        }

    def examples(self) -> dict[str, list[str]]:
        """Translate a few texts, for the check of an export to compare with."""
        contract = self.contract
        columns = contract.columns(contract.example_rows)
        found = self.serving_default(*map(tf.constant, columns.values()))[contract.answer].numpy()
        examples = {contract.inputs[name]: list(values) for name, values in columns.items()}
        return {**examples, contract.answers: [text.decode() for text in found]}

    def warmup_requests(self) -> Iterator[WarmupRequest]:
        """Yield requests of several sizes, for a server to send before it is ready."""
        return warmup_requests(self.signatures)

    @tf.function(input_signature=_TEXT, autograph=False)
    def serving_default(self, text: tf.Tensor) -> dict[str, tf.Tensor]:
        """Translate: the best translation of each text and its score."""
        return self._best(self._source(text))

    def forced_prefix(self, text: tf.Tensor, prefix: tf.Tensor) -> dict[str, tf.Tensor]:
        """Translate: the best translation of each text that begins with its prefix, and its score.

        Not served.

        Args:
            text: string `[batch]`.
            prefix: string `[batch]`, empty for none.
        """
        return self._graph_of_forced_prefix()(prefix, text)

    def _forced_prefix(self, prefix: tf.Tensor, *texts: tf.Tensor) -> dict[str, tf.Tensor]:
        source = self._source(*texts)
        if self._copies:
            prefix_ids = self.target_tokenizer.tokenize_target(prefix, source.unknown_words)
        else:
            prefix_ids = self.target_tokenizer.tokenize(prefix)
        return self._best(source, prefix_ids.to_tensor(PAD_ID))

    @tf.function(input_signature=_TEXT, autograph=False)
    def n_best(self, text: tf.Tensor) -> dict[str, tf.Tensor]:
        """Translate: all translations of the search and their scores, best first."""
        return self._ranked(self._source(text))

    @tf.function(input_signature=_TEXT, autograph=False)
    def attention(self, text: tf.Tensor) -> dict[str, tf.Tensor]:
        """Translate: the tokens of both sides and the weights between them."""
        return self._attended(self._source(text))

    @tf.function(input_signature=_TEXT, autograph=False)
    def source_lengths(self, text: tf.Tensor) -> tf.Tensor:
        """Count the tokens of each text, the end token included: int32 `[batch]`, before a cut.

        Not served; for clients in Python, which warn where a text is cut.
        """
        return tf.cast(self.source_tokenizer.tokenize(text).row_lengths(), tf.int32) + 1

    def _ranked(self, source: "Source") -> dict[str, tf.Tensor]:
        hypotheses = self._search_options.hypotheses
        ids, scores, _ = self._find(source, n_best=hypotheses)
        flat = tf.reshape(ids, [-1, self.max_length])
        unknown_words = source.unknown_words
        if unknown_words is not None:
            rows = tf.repeat(tf.range(tf.shape(ids)[0]), hypotheses)
            unknown_words = tf.gather(unknown_words, rows)
        translations = self.target_tokenizer.detokenize(flat, unknown_words)
        translations = tf.reshape(translations, [-1, hypotheses])
        # One text may be written in other tokens: the best one stays.
        equal = translations[:, :, None] == translations[:, None, :]
        places = tf.range(hypotheses)
        again = tf.reduce_any(equal & (places[:, None] > places), axis=2)
        absent = again | (scores <= _NO_SCORE / 2)
        order = tf.argsort(tf.cast(absent, tf.int32), axis=1, stable=True)
        translations = tf.gather(tf.where(absent, "", translations), order, batch_dims=1)
        scores = tf.gather(tf.where(absent, _NO_SCORE, scores), order, batch_dims=1)
        empty = source.empty[:, None]
        only_first = tf.constant([[0.0] + [_NO_SCORE] * (hypotheses - 1)])
        return {
            "translations": tf.where(empty, "", translations),
            "scores": tf.where(empty, only_first, scores),
        }

    def _attended(self, source: "Source") -> dict[str, tf.Tensor]:
        ids, _, found = self._find(source, with_records=True)
        target_ids = tf.where(source.empty[:, None], PAD_ID, ids[:, 0])
        length = tf.reduce_max(tf.math.count_nonzero(target_ids, axis=1), keepdims=False)
        target_ids = target_ids[:, :length]
        records = {}
        for name, record in found.items():
            record = record[:, 0, :length]
            shape = [-1] + [1] * (len(record.shape) - 1)
            records[name] = tf.where(tf.reshape(source.empty, shape), 0.0, record)
        return {
            "source_tokens": self.source_tokenizer.tokens(source.ids, source.unknown_words),
            "target_tokens": self.target_tokenizer.tokens(target_ids, source.unknown_words),
            **records,
        }

    def _source(self, text: tf.Tensor) -> "Source":
        if self._copies:
            ids, extended_ids, unknown_words = self.source_tokenizer.tokenize_source(
                text, max_length=self.max_length - 1
            )
            inputs = {
                "source_ids": self._padded(ids),
                "extended_source_ids": self._padded(extended_ids),
            }
        else:
            ids = self.source_tokenizer.tokenize(text)[:, : self.max_length - 1]
            unknown_words = None
            inputs = {"source_ids": self._padded(ids)}
        if self._replaces:
            # One for each position, so that a position is a word's number.
            unknown_words = self.source_tokenizer.words(text)[:, : self.max_length - 1]
            if self._dictionary is not None:
                unknown_words = unknown_words.with_flat_values(self._written(unknown_words))
        return Source(inputs, ids.row_lengths() == 0, unknown_words)

    def _written(self, words: tf.RaggedTensor) -> tf.Tensor:
        """Look flat words up in the dictionary."""
        found = self._dictionary.lookup(words.flat_values)
        return tf.where(found == "", words.flat_values, found)

    def _padded(self, ids: tf.RaggedTensor) -> tf.Tensor:
        """Ids `[batch, length]` with their end token."""
        end = tf.fill([ids.nrows(), 1], END_ID)
        ids = tf.concat([ids, end], axis=1)
        # A batch of no texts has no longest one, and loops over a length of 0 fail.
        length = tf.maximum(tf.reduce_max(ids.row_lengths()), 1)
        return ids.to_tensor(PAD_ID, shape=tf.stack([ids.nrows(), length]))

    def _best(self, source: "Source", prefix_ids: tf.Tensor | None = None) -> dict[str, tf.Tensor]:
        ids, scores, _ = self._find(source, prefix_ids=prefix_ids)
        translation = self.target_tokenizer.detokenize(ids[:, 0], source.unknown_words)
        return {
            "translation": tf.where(source.empty, "", translation),
            "score": tf.where(source.empty, 0.0, scores[:, 0]),
        }

    def _find(
        self,
        source: "Source",
        *,
        n_best: int = 1,
        with_records: bool = False,
        prefix_ids: tf.Tensor | None = None,
    ) -> tuple[tf.Tensor, tf.Tensor, dict[str, tf.Tensor]]:
        """Search: ids `[batch, n_best, max_length]`, scores `[batch, n_best]` and records."""
        found = self._search(
            source.inputs,
            prefix_ids=prefix_ids,
            n_best=n_best,
            with_records=with_records or self._replaces,
            **asdict(self._search_options),
        )
        ids = found.ids
        if self._replaces:
            words = tf.sequence_mask(source.unknown_words.row_lengths(), tf.shape(source.ids)[1])
            weights = tf.where(words[:, None, None], found.records["weights"], -1.0)
            position = tf.argmax(weights, axis=-1, output_type=tf.int32)
            beyond = self.target_tokenizer.vocabulary_size
            ids = tf.where(ids == UNKNOWN_ID, beyond + position, ids)
        return ids, found.scores, found.records


def _table(dictionary: Mapping[str, str]) -> tf.lookup.StaticHashTable:
    entries = tf.constant([*dictionary]), tf.constant([*dictionary.values()])
    return tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(*entries), "")


class Source(NamedTuple):
    """Tokenized texts.

    Attributes:
        inputs: what the model reads: ids `[batch, length]`, with their end token.
        empty: boolean `[batch]`, which rows hold no text.
        unknown_words: string `[batch, (unknown)]`, what the ids beyond the vocabulary stand for;
            None where there are none.
    """

    inputs: dict[str, tf.Tensor]
    empty: tf.Tensor
    unknown_words: tf.RaggedTensor | None

    @property
    def ids(self) -> tf.Tensor:
        """The ids of the text, int32 `[batch, length]`; extended ones for a model that copies."""
        return self.inputs.get("extended_source_ids", self.inputs["source_ids"])
