"""Task of models that translate."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from functools import cached_property
from typing import Any

import keras
import tensorflow as tf
from keras import ops

from kerasnmt.columns import as_string
from kerasnmt.decoding import Hypotheses, SearchOptions, Terms, TranslationOptions
from kerasnmt.ids import END_ID, PAD_ID
from kerasnmt.tasks.search_task import SearchTask
from kerasnmt.tasks.served_model import ABSENT_SCORE, Progress
from kerasnmt.tasks.shortlists import ShortlistInGraph
from kerasnmt.tasks.streaming import joined
from kerasnmt.tasks.task import Steps
from kerasnmt.tasks.wanted_terms import checked_parts
from kerasnmt.text.letter_case import HAS_LOWERCASE
from kerasnmt.text.parts import Parts, in_every_form, looked_up
from kerasnmt.text.sentence_case import has_lowercase, in_capitals
from kerasnmt.text.split_sentences import join_sentences, split_parts
from kerasnmt.text.translation_codec import EncodedSource, TranslationCodec


class TranslationTask(SearchTask):
    """Task that translates texts, and scores and aligns given translations.

    A request has the field `text` and, if the model reads a context, the field `context`, strings
    `[batch]` with any bytes. The answer to a row does not depend on padding and other rows. A text
    without tokens has an empty translation with the score 0. A text is truncated to `max_length`
    tokens, including the end token, and a context to 1,000 tokens.

    An export has these steps as signatures:

    - `serving_default` returns `translation`, string `[batch]`, and `score`, float32 `[batch]`, the
      log-probability divided by the length penalty.
    - `n_best` returns `translations`, string `[batch, beam]`, and `scores`, float32
      `[batch, beam]`, best first. A missing hypothesis is an empty text with the score -1e9.
    - `attention` returns `source_tokens`, string `[batch, source_length]`, `target_tokens`, string
      `[batch, target_length]`, and `weights`, float32 `[batch, target_length, source_length]`, of
      the best translation. The tokens include the end token, and are padded with empty strings. The
      weights are padded with 0. A model without attention does not have this step.

        - A pointer-generator also returns `generate_probability`, float32
          `[batch, target_length]`. If its pointer is separate (`own_pointer=True`), it returns
          `pointer_weights` too, with the shape of `weights`: it copies with these.
        - A model that reads a context also returns `context_tokens`, string
          `[batch, context_length]`, and `context_weights`, float32
          `[batch, target_length, context_length]`.
        - A model that copies from a context also returns `context_probability`, float32
          `[batch, target_length]`, the probability that a word was copied from the context.

    - `with_terms` takes `terms` before the other fields, a line for each text; see
      `kerasnmt.text.term_lines`. It returns the outputs of `serving_default` for whole texts, and
      `written`, string `[batch, alternatives]`, the alternatives of the line as the model writes
      them, or "" if it cannot write one. A search that draws samples does not have this step.
    - `confidence` returns `translation` and `score` as `serving_default` does for whole texts, and
      what the model thinks of each token of the translation: `target_tokens`, string
      `[batch, target_length]`, with the end token, and `log_probability`, `entropy` and `margin`,
      float32 `[batch, target_length]`; see `kerasnmt.token_confidence`. They are padded with empty
      strings and 0. A model with a calibration also returns it as `calibration`, float32
      `[batch, 3]`, in the order of `kerasnmt.tasks.Calibration`. An export has this step only if
      the model has a calibration.

    Of the exports, only those for ONNX Runtime have these steps, which take one more field first:

    - `forced_prefix` takes `prefix`, the words with which a translation must begin, or an empty
      string for any words. It returns the outputs of `serving_default`.
    - `forced_prefix_with_terms` takes `terms` and `prefix`, and returns the outputs of
      `with_terms`.
    - `score` takes `target`, the given translations. It returns `score`, their log-probability with
      the end token, float32 `[batch]`, and `length`, their number of tokens with the end token,
      int32 `[batch]`.
    - `forced_attention` takes `target`, and returns the outputs of `attention`.
    - `explore` and `inspect`; see `SearchTask`. `explore_with_terms` takes `prefix_ids` and
      `terms`.

    A model that copies writes words outside the vocabulary with the spelling of the source.

    Args:
        model: A `kerasnmt.models.TranslationModel` with tokenizers.
        replace_unknown: Whether to replace each unknown word of a translation by the source word
            with the largest attention weight. The model must have attention and must not copy, and
            its tokens must be words or characters.
        dictionary: Translations of source words that replace unknown words. Source words that are
            not in the dictionary are copied. The model's tokens must be words.
        split_sentences: Whether `serving_default` splits each text into sentences, translates
            them one by one, and joins the translations; see `kerasnmt.text.split_sentences`. The
            score is the sum of their scores, and `max_length` limits each sentence.
        split_words: The same for words, without the punctuation marks and symbols around them; for
            models that read single words.
        sentence_case: Whether the model reads texts in capitals, or without any, as sentences with
            a capital letter at the start, and translates those in capitals into capitals; see
            `TranslationModel.translate`.
        lexicon: Answers to texts, or parts of a split text, that the model shall not translate. A
            text is looked up without its tags, in any Unicode form, with either apostrophe, and
            then in lowercase. There is a warning of texts that are never looked up. Only
            `serving_default` and `with_terms` use the lexicon, and `forced_prefix` for an empty
            prefix. The score of such an answer is 0.
        shortlist: Whether the search is restricted to the ids that the model's shortlist has for
            the sources of a batch, and those of prefixes and terms. Then the answer to a row can
            depend on other rows. `score`, `confidence` and `inspect` use the whole vocabulary for
            the probabilities of given or found words.
        applied: See `Task`.
        **options: Options of `kerasnmt.decoding.SearchOptions`. `max_length` also limits sources.

    Raises:
        ValueError: If the model has no tokenizers, an option is out of range or not valid for the
            model, or the Keras backend is not TensorFlow or JAX.
    """

    def __init__(
        self,
        model: keras.Model,
        *,
        replace_unknown: bool = False,
        dictionary: Mapping[str, str] | None = None,
        split_sentences: bool = False,
        split_words: bool = False,
        sentence_case: bool = False,
        lexicon: Mapping[str, str] | None = None,
        shortlist: bool = False,
        applied: Callable[[Callable], Callable] | None = None,
        **options,
    ) -> None:
        super().__init__(model, applied)
        self.options = _checked_options(model, options)
        TranslationOptions(  # checks the types
            replace_unknown=replace_unknown,
            dictionary=dictionary,
            split_sentences=split_sentences,
            split_words=split_words,
            sentence_case=sentence_case,
            lexicon=lexicon,
            shortlist=shortlist,
        )
        _check_replacement(model, replace_unknown, dictionary)
        tags = model.source_tokenizer.tags
        self.parts = Parts(split_words, tags) if split_words or split_sentences else None
        self.lexicon = in_every_form(lexicon or {})
        if self.parts is not None:
            self.parts.warn_of_lost(lexicon or {})
        self.shortlist = ShortlistInGraph(model) if shortlist else None
        self.codec = TranslationCodec(
            model.source_tokenizer,
            model.target_tokenizer,
            model.copies,
            replace_unknown=replace_unknown,
            dictionary=dictionary,
            lexicon=self.lexicon,
            sentence_case=sentence_case,
        )
        self.fields = ("text", "context") if model.reads_context else ("text",)

    @property
    def description(self) -> dict[str, Any]:
        """Facts that the signatures do not show, as values for JSON."""
        calibration = self.model.calibration
        return {
            "model": self.model.name,
            **asdict(self.options),
            "replace_unknown": self.codec.replaces,
            "split_sentences": self.parts is not None and not self.parts.words,
            "split_words": self.parts is not None and self.parts.words,
            "sentence_case": self.codec.sentence_case,
            "lexicon": bool(self.lexicon),
            "shortlist": self.shortlist is not None,
            "source_kind": self.codec.source_tokenizer.kind,
            "target_kind": self.codec.target_tokenizer.kind,
            "source_tags": self.codec.source_tokenizer.tags,
            "default_tags": self.codec.source_tokenizer.default_tags,
            **({"calibration": calibration.document()} if calibration else {}),
        }

    @property
    def assets(self) -> list[Any]:
        """Tokenizers and tables that an export must track."""
        codec = self.codec
        return [codec.source_tokenizer, codec.target_tokenizer, codec.dictionary, codec.lexicon]

    @cached_property
    def exported(self) -> dict[str, Steps]:
        """Steps of each signature; see `Task`."""
        search_all = self._searcher(n_best=self.options.hypotheses)
        read, write = (
            (self._read, self._best)
            if self.parts is None
            else (self._read_parts, self._best_joined)
        )
        steps = {
            "serving_default": Steps(self.fields, read, self._searcher(), write),
            "n_best": Steps(self.fields, self._read, search_all, self._ranked),
        }
        if not self.options.samples:
            steps["with_terms"] = self._with_terms("terms", *self.fields)
        if self.model.calibration is not None:
            steps["confidence"] = self._confidence
        if self.model.has_attention:
            search = self._searcher(with_records=True)
            steps["attention"] = Steps(self.fields, self._read, search, self._attended)
        return steps

    @cached_property
    def local(self) -> dict[str, Steps]:
        """Steps that take one more field; see `Task`."""
        with_prefix = ("prefix", *self.fields)
        with_target = ("target", *self.fields)
        steps = {
            "forced_prefix": Steps(with_prefix, self._read_prefix, self._searcher(), self._best),
            "n_best_confidence": Steps(
                self.fields,
                self._read,
                self._searcher_and_judge(self.options.hypotheses),
                self._all_judged,
            ),
            "score": Steps(with_target, self._read_pair, self._scored, self._summed),
            **self.questions,
        }
        if not self.options.samples:
            steps["forced_prefix_with_terms"] = self._with_terms("terms", *with_prefix)
            steps["explore_with_terms"] = steps["explore"]._replace(
                fields=("prefix_ids", "terms", *self.fields), read=self._read_ids_and_terms
            )
        if self.model.calibration is None:
            steps["confidence"] = self._confidence
        if self.model.has_attention:
            steps["forced_attention"] = Steps(
                with_target, self._read_pair, self._attend, self._attended_pair
            )
        return steps

    def _with_terms(self, *fields: str) -> Steps:
        return Steps(fields, self._read_terms, self._searcher(), self._best_and_written)

    @property
    def _confidence(self) -> Steps:
        return Steps(self.fields, self._read, self._searcher_and_judge(), self._judged)

    @cached_property
    def source_lengths(self) -> Callable[[tf.Tensor], tf.Tensor]:
        """Function that counts the tokens of each whole text, including the end token."""

        @tf.function(
            input_signature=[tf.TensorSpec([None], tf.string, name="text")], autograph=False
        )
        def source_lengths(text: tf.Tensor) -> tf.Tensor:
            if self.parts is None:
                return self.codec.source_lengths(text)
            parts = split_parts(self.parts, text)
            lengths = self.codec.source_lengths(parts.flat_values)
            return tf.reduce_max(parts.with_flat_values(lengths), axis=1)

        # TensorFlow warns if the first calls of several such functions trace them.
        source_lengths.get_concrete_function()
        return source_lengths

    def progress(self, request: Mapping[str, str | bytes]) -> Iterator[Progress]:
        """Translate one text, and return an iterator of the words as they are made.

        See `SearchTask`. The parts of a text that is split follow each other.
        """
        request = {name: one for name, one in request.items() if one or name != "prefix"}
        strings = {name: as_string(one) for name, one in request.items()}
        (parts,) = checked_parts([strings["text"]], ["prefix" in strings], self.parts, 1)
        streams = [self._progress_of_part({**strings, "text": part}) for part in parts]
        return streams[0] if self.parts is None else joined(streams)

    def _progress_of_part(self, request: Mapping[str, Any]) -> Iterator[Progress]:
        text, prefix = request["text"], request.get("prefix", "")
        tags = self.codec.source_tokenizer.tags
        if not prefix and (known := looked_up(text, self.lexicon, tags)):
            return iter([Progress(known, "", 0.0)])
        found = super().progress(request)
        is_upper = self.codec.sentence_case and in_capitals(text, tags)
        return map(Progress.upper, found) if is_upper and not has_lowercase(prefix) else found

    def copied_words(self, source: EncodedSource) -> list[str]:
        """Return the words of the ids outside the vocabulary, for one request."""
        words: Any = source.unknown_words
        return [] if words is None else [word.decode() for word in words[0].numpy()]

    @property
    def writes_by_records(self) -> bool:
        """Whether unknown words are replaced by the source words that they attend to."""
        return self.codec.replaces

    def target_ids(self, target: str, *texts: str) -> list[int]:
        """Return the ids of a given translation of one request, with the end token."""
        (ids,) = self.codec.encode_target(tf.constant([target]), self._encode_one(texts)).to_list()
        return [*ids, END_ID]

    def target_size(self, *texts: str) -> int:
        """Return the number of ids that translations of one request consist of."""
        size = super().target_size()
        if not self.model.copies:
            return size
        unknown_words: Any = self._encode_one(texts).unknown_words
        return size + unknown_words[0].shape[0]

    def _encode_one(self, texts: tuple[str, ...]) -> EncodedSource:
        """Encode the texts of one request."""
        return self._encoded(tuple(tf.constant([text]) for text in texts))

    def _encoded(self, texts: tuple[tf.Tensor, ...], cut: bool = True) -> EncodedSource:
        return self.codec.encode_source(*texts, max_length=self.options.max_length if cut else None)

    def _read(self, *texts: tf.Tensor) -> tuple[dict[str, Any], EncodedSource]:
        source = self._encoded(texts)
        return self._listing({"inputs": source.inputs()}), source

    def _listing(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Add the `listed_ids` of a shortlist to a batch, which include its prefixes and terms."""
        if self.shortlist is None:
            return batch
        others = [batch[name] for name in ("prefix_ids",) if name in batch]
        others += batch.get("terms", ())[:1]
        return {**batch, "listed_ids": self.shortlist(batch["inputs"]["source_ids"], *others)}

    def _read_parts(
        self, text: tf.Tensor, *others: tf.Tensor
    ) -> tuple[dict[str, Any], tuple[EncodedSource, tf.RaggedTensor]]:
        """Read each part of the texts as a row. The other fields are repeated."""
        split: Any = self.parts  # not None
        parts = split_parts(split, text)
        others = tuple(tf.gather(other, parts.value_rowids()) for other in others)
        batch, source = self._read(parts.flat_values, *others)
        return batch, (source, parts)

    def _read_prefix(
        self, prefix: tf.Tensor, *texts: tf.Tensor
    ) -> tuple[dict[str, Any], EncodedSource]:
        batch, source = self._read(*texts)
        if source.known is not None:
            source = source._replace(known=tf.where(prefix == "", source.known, ""))
        if source.capitals is not None:
            is_lower = tf.strings.regex_full_match(prefix, HAS_LOWERCASE)
            source = source._replace(capitals=source.capitals & ~is_lower)
        prefix_ids = self.codec.encode_target(prefix, source).to_tensor(PAD_ID)
        return self._listing({**batch, "prefix_ids": prefix_ids}), source

    def _read_terms(
        self, lines: tf.Tensor, *fields: tf.Tensor
    ) -> tuple[dict[str, Any], tuple[EncodedSource, tf.Tensor]]:
        """Read the terms and the fields, before which there may be a prefix."""
        has_prefix = len(fields) > len(self.fields)
        batch, source = (self._read_prefix if has_prefix else self._read)(*fields)
        terms = self.codec.encode_terms(lines, source, self.options.max_length)
        if source.capitals is not None:
            source = source._replace(capitals=source.capitals & tf.equal(lines, ""))
        batch = self._listing({**batch, "terms": (terms.ids, terms.numbers)})
        return batch, (source, terms.written)

    def _read_ids_and_terms(
        self, prefix_ids: tf.Tensor, lines: tf.Tensor, *texts: tf.Tensor
    ) -> tuple[dict[str, Any], EncodedSource]:
        batch, (source, _) = self._read_terms(lines, *texts)
        return self._listing({**batch, "prefix_ids": prefix_ids}), source

    def _read_pair(
        self, target: tf.Tensor, *texts: tf.Tensor
    ) -> tuple[dict[str, Any], tuple[EncodedSource, tf.Tensor]]:
        source = self._encoded(texts, cut=False)
        inputs, targets = self.codec.teacher_forced(
            source, self.codec.encode_target(target, source)
        )
        return {"inputs": inputs, "targets": targets}, (source, targets)

    def _searcher(
        self, *, n_best: int = 1, with_records: bool = False
    ) -> Callable[[dict[str, Any]], Hypotheses]:
        """Return the step that searches."""
        search = self.applied(self.model.search)

        def run(batch: dict[str, Any]) -> Hypotheses:
            return search(
                batch["inputs"],
                prefix_ids=batch.get("prefix_ids"),
                terms=self._terms(batch),
                listed_ids=batch.get("listed_ids"),
                n_best=n_best,
                with_records=with_records or self.codec.replaces,
                **asdict(self.options),
            )

        return run

    def _searcher_and_judge(self, n_best: int = 1) -> Callable[[dict[str, Any]], tuple[Any, ...]]:
        """Return the step that searches, and looks at all probabilities of the hypotheses."""
        search = self._searcher(n_best=n_best)

        def run(batch: dict[str, Any]) -> tuple[Any, ...]:
            hypotheses = search(batch)
            return hypotheses, *self._judge(batch, hypotheses)

        return run

    def _terms(self, batch: dict[str, Any]) -> Terms | None:
        if "terms" not in batch:
            return None
        ids, numbers = batch["terms"]
        return Terms(ids, numbers, *self.codec.target_tokenizer.word_places)

    def _scored(self, batch: dict[str, Any]) -> Any:
        """Return the log-probability of each target, float32 `[batch]`."""
        score = self.applied(self.model.token_log_probability)
        of_tokens = score(batch["inputs"], batch["targets"])
        return ops.sum(ops.where(batch["targets"] != PAD_ID, of_tokens, 0.0), axis=1)

    def _attend(self, batch: dict[str, Any]) -> dict[str, Any]:
        return self.applied(self.model.attend)(batch["inputs"])

    def _ids(self, hypotheses: Hypotheses, source: EncodedSource) -> tf.Tensor:
        """Return the ids, `[batch, n_best, max_length]`, where unknown words are replaced."""
        if not (self.codec.replaces and hypotheses.records):
            return hypotheses.ids
        return self.codec.replace(hypotheses.ids, hypotheses.records["weights"], source)

    def _best(self, hypotheses: Hypotheses, source: EncodedSource) -> dict[str, tf.Tensor]:
        translation = self.codec.decode(self._ids(hypotheses, source)[:, 0], source)
        translation = tf.where(source.empty, "", translation)
        score = tf.where(source.empty, 0.0, hypotheses.scores[:, 0])
        if source.known is not None:
            is_known = source.known != ""
            translation = tf.where(is_known, source.known, translation)
            score = tf.where(is_known, 0.0, score)
        return {"translation": translation, "score": score}

    def _judged(self, judged: tuple[Any, ...], source: EncodedSource) -> dict[str, tf.Tensor]:
        return {name: one[:, 0] for name, one in self._all_judged(judged, source).items()}

    def _all_judged(self, judged: tuple[Any, ...], source: EncodedSource) -> dict[str, tf.Tensor]:
        hypotheses, ids, numbers = judged
        empty = source.empty[:, None]
        ids = tf.where(empty[..., None], PAD_ID, ids)
        length = tf.reduce_max(tf.math.count_nonzero(ids, axis=2))
        real = ids[..., :length] != PAD_ID
        written = tf.where(real, self._ids(hypotheses, source)[..., :length], PAD_ID)
        numbers = {name: tf.where(real, one[..., :length], 0.0) for name, one in numbers.items()}
        n_best = tf.shape(ids)[1]
        outputs = {
            "translation": self._texts(written, source),
            "score": tf.where(empty, tf.constant(self._only_first)[:, :n_best], hypotheses.scores),
            "target_tokens": self._tokens(written, source),
            **numbers,
        }
        if self.model.calibration is not None:
            parameters = tf.constant([*self.model.calibration.document().values()], tf.float32)
            shape = tf.concat([tf.shape(ids)[:2], tf.shape(parameters)], axis=0)
            outputs["calibration"] = tf.broadcast_to(parameters, shape)
        return outputs

    def _best_and_written(
        self, hypotheses: Hypotheses, kept: tuple[EncodedSource, tf.Tensor]
    ) -> dict[str, tf.Tensor]:
        source, written = kept
        return {**self._best(hypotheses, source), "written": written}

    def _best_joined(
        self, hypotheses: Hypotheses, kept: tuple[EncodedSource, tf.RaggedTensor]
    ) -> dict[str, tf.Tensor]:
        source, parts = kept
        best = self._best(hypotheses, source)
        score = tf.reduce_sum(parts.with_flat_values(best["score"]), axis=1)
        translations = parts.with_flat_values(best["translation"])
        return {"translation": join_sentences(translations), "score": score}

    def _ranked(self, hypotheses: Hypotheses, source: EncodedSource) -> dict[str, tf.Tensor]:
        scores, translations = hypotheses.scores, self._texts(self._ids(hypotheses, source), source)
        # Different tokens can give the same text. Only the best of them stays.
        equal = translations[:, :, None] == translations[:, None, :]
        ranks = tf.range(self.options.hypotheses)
        again = tf.reduce_any(equal & (ranks[:, None] > ranks), axis=2)
        absent = again | (scores <= ABSENT_SCORE / 2)
        order = tf.argsort(tf.cast(absent, tf.int32), axis=1, stable=True)
        translations = tf.gather(tf.where(absent, "", translations), order, batch_dims=1)
        scores = tf.gather(tf.where(absent, ABSENT_SCORE, scores), order, batch_dims=1)
        empty = source.empty[:, None]
        return {
            "translations": tf.where(empty, "", translations),
            "scores": tf.where(empty, self._only_first, scores),
        }

    def _texts(self, ids: tf.Tensor, source: EncodedSource) -> tf.Tensor:
        return self.codec.decode_all(ids, source)

    def _tokens(self, ids: tf.Tensor, source: EncodedSource) -> tf.Tensor:
        return self.codec.all_tokens(ids, source)

    def _is_empty(self, source: EncodedSource) -> tf.Tensor:
        return source.empty

    def _attended(self, hypotheses: Hypotheses, source: EncodedSource) -> dict[str, tf.Tensor]:
        target_ids = tf.where(source.empty[:, None], PAD_ID, self._ids(hypotheses, source)[:, 0])
        length = tf.reduce_max(tf.math.count_nonzero(target_ids, axis=1), keepdims=False)
        records = {}
        for name, record in hypotheses.records.items():
            record = record[:, 0, :length]
            shape = [-1] + [1] * (len(record.shape) - 1)
            records[name] = tf.where(tf.reshape(source.empty, shape), 0.0, record)
        return self._tokens_and(records, target_ids[:, :length], source)

    def _attended_pair(
        self, records: dict[str, tf.Tensor], pair: tuple[EncodedSource, tf.Tensor]
    ) -> dict[str, tf.Tensor]:
        source, targets = pair
        return self._tokens_and(records, targets, source)

    def _summed(
        self, score: tf.Tensor, pair: tuple[EncodedSource, tf.Tensor]
    ) -> dict[str, tf.Tensor]:
        _, targets = pair
        length = tf.math.count_nonzero(targets, axis=1, dtype=tf.int32)
        return {"score": score, "length": length}

    def _tokens_and(
        self, records: dict[str, tf.Tensor], target_ids: tf.Tensor, source: EncodedSource
    ) -> dict[str, tf.Tensor]:
        """Add the tokens of source, context and target to records of the attention."""
        target_tokens = self.codec.target_tokens(target_ids, source)
        return {**self._source_tokens(source), "target_tokens": target_tokens, **records}

    def _source_tokens(self, source: EncodedSource) -> dict[str, tf.Tensor]:
        tokens = {"source_tokens": self.codec.source_tokens(source)}
        if self.model.reads_context:
            tokens["context_tokens"] = self.codec.source_tokens(source, "context_ids")
        return tokens


def _checked_options(model: keras.Model, options: dict[str, Any]) -> SearchOptions:
    """Return the search options, and check them against the model."""
    search_options = SearchOptions.from_keywords(options)
    if search_options.max_length < 2:
        raise ValueError(
            "Expected max_length >= 2, because a text has at least one token and its end token. "
            f"Received: max_length={search_options.max_length}"
        )
    if search_options.coverage_penalty and not model.has_attention:
        raise ValueError(
            "Expected a model with attention for a coverage penalty. Received: "
            f"coverage_penalty={search_options.coverage_penalty} with {model.name}."
        )
    return search_options


def _check_replacement(
    model: keras.Model, replace_unknown: bool, dictionary: Mapping[str, str] | None
) -> None:
    """Check that the model allows to replace unknown words, and to use a dictionary."""
    if replace_unknown and (model.copies or not model.has_attention):
        why = "which already copies" if model.copies else "which has no attention"
        raise ValueError(
            "Expected a model with attention that does not copy, to replace unknown words. "
            f"Received: replace_unknown=True with {model.name}, {why}."
        )
    kinds = [model.source_tokenizer.kind, model.target_tokenizer.kind]
    of_words = all(kind in ("words", "words_and_punctuation") for kind in kinds)
    if replace_unknown and not of_words and kinds != ["characters"] * 2:
        raise ValueError(
            "Expected words on both sides, or characters on both sides, to replace unknown "
            "tokens. Received: replace_unknown=True with "
            f"{kinds[0]} and {kinds[1]}."
        )
    if dictionary and not of_words:
        raise ValueError(
            "Expected tokens that are words, for a dictionary. Received: "
            f"{kinds[0]} and {kinds[1]}."
        )
