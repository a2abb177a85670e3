"""The graph that `translate` runs and `export` writes: text in, text out."""

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

import keras
import tensorflow as tf

from kerasnmt.decoding import SearchOptions
from kerasnmt.ids import PAD_ID
from kerasnmt.serving.contract.served_model import ServedModel
from kerasnmt.serving.contract.translation_contract import TranslationContract
from kerasnmt.serving.export.stored_weights import StoredWeights
from kerasnmt.serving.export.warmup import WarmupRequest, warmup_requests
from kerasnmt.serving.tensorflow_backend import need_tensorflow_backend
from kerasnmt.text.translation_codec import EncodedSource, TranslationCodec

# The score of a hypothesis that does not exist. It is finite because JSON has no infinity.
_NO_SCORE = -1e9

_TEXT = (tf.TensorSpec([None], tf.string, name="text"),)


class TextModule(tf.Module, ServedModel):
    """A model with its tokenizers and fixed search options.

    Each signature takes `text`, string `[batch]` with any bytes, and processes every row on its
    own: padding and the other rows change nothing. A text without tokens gets an empty translation
    with score 0. A text of more than `max_length` tokens, the end token included, is cut.

    - `serving_default` returns `translation`, string `[batch]`, and `score`, float32 `[batch]`: the
      log-probability divided by the length penalty.
    - `n_best` returns `translations`, string, and `scores`, float32, both `[batch, beam]`, best
      first. Missing hypotheses are an empty text with score -1e9.
    - `attention` returns `source_tokens`, string `[batch, source_length]`, `target_tokens`, string
      `[batch, target_length]`, and `weights`, float32 `[batch, target_length, source_length]`, of
      the best translation. The tokens include the end token. They are padded with empty strings,
      the weights with 0. A pointer-generator adds `generate_probability`, float32 `[batch,
      target_length]`. A model without attention does not have this signature.

    A model that copies writes words outside the vocabulary as the source spells them.

    Args:
        model: A `kerasnmt.models.TranslationModel` with tokenizers.
        replace_unknown: Whether to replace each unknown word of a translation by the source word
            with the largest attention weight. The model needs attention, must not copy, and its
            tokens must be words or characters.
        dictionary: The translations of source words that replace unknown words. A word that it
            lacks is written as it is. The model's tokens must be words.
        weights: The number format of the stored weights; see `kerasnmt.serving.StoredWeights`.
        **options: Options of `kerasnmt.decoding.SearchOptions`. `max_length` limits sources too.

    Raises:
        ValueError: If the model has no tokenizers, an option is out of range or does not suit the
            model, or Keras does not run on TensorFlow.
    """

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
        self._check_inputs(model)
        self._search_options = self._checked_options(model, options)
        self._check_replacement(model, replace_unknown, dictionary)
        self.max_length = self._search_options.max_length
        self.source_tokenizer = model.source_tokenizer
        self.target_tokenizer = model.target_tokenizer
        # These are TensorFlow's own variables: a server restores the variables that it finds here,
        # and it finds none through Keras layers. The model itself is not tracked, so its optimizer
        # stays out.
        self._weights = StoredWeights(model, weights)
        self._search = self._weights.applied(model.search)
        self._has_attention = model.has_attention
        self._codec = TranslationCodec(
            model.source_tokenizer,
            model.target_tokenizer,
            model.copies,
            replace_unknown=replace_unknown,
            dictionary=dictionary,
        )

    def _check_inputs(self, model: keras.Model) -> None:
        """Check that the model takes text, and that it reads the inputs of the contract."""
        if model.source_tokenizer is None:
            raise ValueError(
                "Expected a model with tokenizers, to take text. Received: a model made of "
                "vocabulary sizes. Make it with tokenizers, or feed token ids to model.search."
            )
        if model.reads_context != ("context" in self.contract.inputs):
            raise ValueError(
                f"Expected a model that reads {' and '.join(self.contract.inputs)}. Received: "
                f"{model.name}. model.serving_module() makes the right module."
            )

    @staticmethod
    def _checked_options(model: keras.Model, options: dict[str, Any]) -> SearchOptions:
        """Return the search options, checked against the model."""
        search_options = SearchOptions.from_keywords(options)
        if search_options.max_length < 2:
            raise ValueError(
                "Expected max_length >= 2, as a text has at least one token and its end token. "
                f"Received: max_length={search_options.max_length}"
            )
        if search_options.coverage_penalty and not model.has_attention:
            raise ValueError(
                "Expected a model with attention, for a coverage penalty. Received: "
                f"coverage_penalty={search_options.coverage_penalty} with {model.name}."
            )
        return search_options

    @staticmethod
    def _check_replacement(
        model: keras.Model, replace_unknown: bool, dictionary: Mapping[str, str] | None
    ) -> None:
        """Check that unknown words can be replaced, and replaced by entries of the dictionary."""
        if replace_unknown and (model.copies or not model.has_attention):
            why = "which copies already" if model.copies else "which has no attention"
            raise ValueError(
                "Expected a model with attention that does not copy, to replace unknown words. "
                f"Received: replace_unknown=True with {model.name}, {why}."
            )
        kinds = [model.source_tokenizer.kind, model.target_tokenizer.kind]
        if replace_unknown and kinds not in (["words"] * 2, ["characters"] * 2):
            raise ValueError(
                "Expected words on both sides, or characters on both sides, to replace unknown "
                "tokens by source tokens. Received: replace_unknown=True with "
                f"{kinds[0]} and {kinds[1]}."
            )
        if dictionary and not (replace_unknown and kinds == ["words"] * 2):
            raise ValueError(
                "Expected replace_unknown=True and tokens that are words, with a dictionary. "
                f"Received: replace_unknown={replace_unknown} with {kinds[0]} and {kinds[1]}."
            )
        if dictionary and not all(key and value for key, value in dictionary.items()):
            raise ValueError(
                "Expected a dictionary from source words to target words. Received: an empty word."
            )

    @property
    def signatures(self) -> dict[str, Callable[..., dict[str, tf.Tensor]]]:
        """The traced functions by the names under which they are served."""
        signatures = {"serving_default": self.serving_default, "n_best": self.n_best}
        return signatures | ({"attention": self.attention} if self._has_attention else {})

    def function(self, name: str) -> Callable[..., dict[str, tf.Tensor]]:
        """Return the function of a signature, in the form that is fastest to call many times."""
        # The one concrete function: to look it up in each call takes 0.5 ms of the 10 ms that a
        # sentence takes.
        return self.signatures[name].get_concrete_function()

    @property
    def saved(self) -> tf.Module:
        """The objects that an export tracks: those that signatures use, and `source_lengths`.

        The module itself is not tracked: its functions would be traced and written twice.
        """
        saved = tf.Module(name=self.name)
        saved.weights = self._weights
        saved.tokenizers = [self.source_tokenizer, self.target_tokenizer]
        saved.dictionary = self._codec.dictionary
        saved.source_lengths = self.source_lengths
        return saved

    @property
    def description(self) -> dict[str, Any]:
        """Facts for JSON that a client cannot read from the signatures."""
        return {
            "model": self.name,
            **asdict(self._search_options),
            "replace_unknown": self._codec.replaces,
            "weights": self._weights.kind,
            "source_kind": self.source_tokenizer.kind,
            "target_kind": self.target_tokenizer.kind,
        }

    def examples(self) -> dict[str, list[str]]:
        """Translate a few texts, so that the check of an export can compare its answers."""
        contract = self.contract
        columns = contract.columns(contract.example_rows)
        found = self.serving_default(*map(tf.constant, columns.values()))[contract.answer].numpy()
        examples = {contract.inputs[name]: list(values) for name, values in columns.items()}
        return {**examples, contract.answers: [text.decode() for text in found]}

    def warmup_requests(self) -> Iterator[WarmupRequest]:
        """Yield requests of several sizes, which a server runs before it reports ready."""
        return warmup_requests(self.signatures)

    @tf.function(input_signature=_TEXT, autograph=False)
    def serving_default(self, text: tf.Tensor) -> dict[str, tf.Tensor]:
        """Return the best translation of each text and its score."""
        return self._best(self._source(text))

    def forced_prefix(self, text: tf.Tensor, prefix: tf.Tensor) -> dict[str, tf.Tensor]:
        """Return the best translation of each text that begins with its prefix, and its score.

        This function is not served.

        Args:
            text: String `[batch]`.
            prefix: String `[batch]`, empty where any beginning will do.
        """
        return self._forced_prefix_function(prefix, text)

    @functools.cached_property
    def _forced_prefix_function(self) -> Callable[..., dict[str, tf.Tensor]]:
        """The traced `forced_prefix`, which takes the prefix first."""
        texts = [tf.TensorSpec([None], tf.string)] * len(self.contract.inputs)
        return tf.function(
            self._forced_prefix,
            input_signature=[tf.TensorSpec([None], tf.string), *texts],
            autograph=False,
        )

    def _forced_prefix(self, prefix: tf.Tensor, *texts: tf.Tensor) -> dict[str, tf.Tensor]:
        source = self._source(*texts)
        prefix_ids = self._codec.encode_target(prefix, source)
        return self._best(source, prefix_ids.to_tensor(PAD_ID))

    @tf.function(input_signature=_TEXT, autograph=False)
    def n_best(self, text: tf.Tensor) -> dict[str, tf.Tensor]:
        """Return all translations of the search and their scores, best first."""
        return self._ranked(self._source(text))

    @tf.function(input_signature=_TEXT, autograph=False)
    def attention(self, text: tf.Tensor) -> dict[str, tf.Tensor]:
        """Return the tokens of both sides and the attention weights between them."""
        return self._attended(self._source(text))

    @tf.function(input_signature=_TEXT, autograph=False)
    def source_lengths(self, text: tf.Tensor) -> tf.Tensor:
        """Count the tokens of each whole text, the end token included: int32 `[batch]`.

        This function is not served. Python clients use it to warn where a text is cut.
        """
        return tf.cast(self.source_tokenizer.tokenize(text).row_lengths(), tf.int32) + 1

    def _ranked(self, source: EncodedSource) -> dict[str, tf.Tensor]:
        hypotheses = self._search_options.hypotheses
        ids, scores, _ = self._find(source, n_best=hypotheses)
        translations = self._codec.decode_all(ids, source)
        # Different tokens may write the same text: only the best of them stays.
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

    def _attended(self, source: EncodedSource) -> dict[str, tf.Tensor]:
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
            "source_tokens": self._codec.source_tokens(source),
            "target_tokens": self._codec.target_tokens(target_ids, source),
            **records,
        }

    def _source(self, text: tf.Tensor) -> EncodedSource:
        # One less than the maximum, because the end token is added.
        return self._codec.encode_source(
            {"source": text}, max_lengths={"source": self.max_length - 1}
        )

    def _best(
        self, source: EncodedSource, prefix_ids: tf.Tensor | None = None
    ) -> dict[str, tf.Tensor]:
        ids, scores, _ = self._find(source, prefix_ids=prefix_ids)
        translation = self._codec.decode(ids[:, 0], source)
        return {
            "translation": tf.where(source.empty, "", translation),
            "score": tf.where(source.empty, 0.0, scores[:, 0]),
        }

    def _find(
        self,
        source: EncodedSource,
        *,
        n_best: int = 1,
        with_records: bool = False,
        prefix_ids: tf.Tensor | None = None,
    ) -> tuple[tf.Tensor, tf.Tensor, dict[str, tf.Tensor]]:
        """Search: ids `[batch, n_best, max_length]`, scores `[batch, n_best]` and records."""
        found = self._search(
            source.inputs(),
            prefix_ids=prefix_ids,
            n_best=n_best,
            with_records=with_records or self._codec.replaces,
            **asdict(self._search_options),
        )
        ids = found.ids
        if self._codec.replaces:
            ids = self._codec.replace(ids, found.records["weights"], source)
        return ids, found.scores, found.records
