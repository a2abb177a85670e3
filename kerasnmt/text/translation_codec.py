"""Conversion of texts to ids and back, for models that translate."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import tensorflow as tf

from kerasnmt.ids import MAX_CONTEXT_LENGTH, SOURCE_IDS, UNKNOWN_ID, extended
from kerasnmt.text.letter_case import in_sentence_case, lower, upper
from kerasnmt.text.parts import OUTER_SPACES, starts_with
from kerasnmt.text.targets import decoder_inputs, padded, taken, with_end
from kerasnmt.text.term_lines import MOST_TERM_TOKENS, MOST_TERMS, NOT, OR, SEPARATOR
from kerasnmt.text.tokenizer import Tokenizer


class EncodedSource(NamedTuple):
    """Ids of the texts that a model reads.

    Attributes:
        ids: Dict of the inputs of a model, such as `source_ids`, int32 `[batch, (length)]` each,
            without the end token.
        unknown_words: Words of the ids outside the vocabulary, string `[batch, (unknown)]`, or None
            if there are no such ids.
        known: Translations of the texts in a lexicon, string `[batch]`, or "" for other texts. None
            without a lexicon.
        capitals: Whether the text of each target is in capitals, boolean `[batch]`, or None if
            none is.
    """

    ids: dict[str, tf.RaggedTensor]
    unknown_words: tf.RaggedTensor | None
    known: tf.Tensor | None = None
    capitals: tf.Tensor | None = None

    @property
    def empty(self) -> tf.Tensor:
        """Boolean `[batch]`, True for texts without tokens."""
        return self.ids["source_ids"].row_lengths() == 0

    def inputs(self) -> dict[str, tf.Tensor]:
        """Return the inputs of a model: ids with the end token, int32 `[batch, length]`."""
        return {name: padded(with_end(ids)) for name, ids in self.ids.items()}


class EncodedTerms(NamedTuple):
    """Ids of the terms of targets.

    Attributes:
        ids: Ids of each alternative, int32 `[batch, alternatives, length]`, padded with 0.
        numbers: Number of the term of each alternative, from 1, or 0 for one that must not occur,
            int32 `[batch, alternatives]`.
        written: How the model writes each alternative of the line, string `[batch, written]`, or ""
            if it cannot write it.
    """

    ids: tf.Tensor
    numbers: tf.Tensor
    written: tf.Tensor


class TranslationCodec:
    """Conversion of texts to the inputs of a model that translates, and of its results to text.

    Training, search, scoring and exports use it, eagerly or in a graph.

    Args:
        source_tokenizer: Tokenizer of the sources and their contexts.
        target_tokenizer: Tokenizer of the targets.
        copies: Whether words outside the vocabulary have extended ids, for a model that copies; see
            `Tokenizer.tokenize_source`.
        replace_unknown: Whether unknown words of a target become the source words that they attend
            to; see `replace`.
        dictionary: Translations of source words that replace unknown words. Source words that are
            not in the dictionary are copied.
        lexicon: Translations of texts, which are looked up without their tags, and then in
            lowercase.
        sentence_case: Whether sources in capitals, or without any, are read as sentences, with a
            capital letter at the start. Targets of sources in capitals are in capitals.
    """

    def __init__(
        self,
        source_tokenizer: Tokenizer,
        target_tokenizer: Tokenizer,
        copies: bool = False,
        *,
        replace_unknown: bool = False,
        dictionary: Mapping[str, str] | None = None,
        lexicon: Mapping[str, str] | None = None,
        sentence_case: bool = False,
    ) -> None:
        self.source_tokenizer = source_tokenizer
        self.target_tokenizer = target_tokenizer
        self.copies = copies
        self.replaces = replace_unknown
        self.dictionary = _table(dictionary) if dictionary else None
        self.lexicon = _table(lexicon) if lexicon else None
        self.sentence_case = sentence_case

    def encode_source(
        self,
        source: tf.Tensor,
        context: tf.Tensor | None = None,
        *,
        max_length: int | None = None,
        alpha: float | None = None,
    ) -> EncodedSource:
        """Turn sources into ids.

        Args:
            source: String `[batch]`.
            context: Context of each source, string `[batch]`, or None if the model reads none.
            max_length: Maximum number of tokens of a source, including the end token. Then contexts
                are truncated to 1,000 tokens. None for no limits.
            alpha: Argument of `SentencePieceTokenizer.sample` for random pieces, or None for the
                best pieces.

        Returns:
            The ids, with the names of the model's inputs: `source_ids` and `context_ids` and, if
            the model copies, `extended_source_ids` and `extended_context_ids`.
        """
        known, capitals = self._known(source), None
        if self.sentence_case:
            source, capitals = in_sentence_case(source, self.source_tokenizer.tags)
        given = [source] if context is None else [source, context]
        texts = dict(zip(SOURCE_IDS, given, strict=False))
        limits: tuple[int | None, ...] = (None, None)
        if max_length is not None:
            limits = (max_length - 1, MAX_CONTEXT_LENGTH - 1)
        limits = limits[: len(texts)]
        if self.copies:
            read = self.source_tokenizer.tokenize_together(*texts.values(), max_lengths=limits)
            ids = {name: one.ids for name, one in zip(texts, read, strict=True)}
            ids |= {extended(name): one.extended_ids for name, one in zip(texts, read, strict=True)}
            return EncodedSource(ids, read[0].unknown_words, known, capitals)
        ids = {
            name: self._source_ids(text, alpha)[:, :limit]
            for (name, text), limit in zip(texts.items(), limits, strict=True)
        }
        if not self.replaces:
            return EncodedSource(ids, None, known, capitals)
        # Keep one word for each position, so that the position is the index of the word.
        words = self.source_tokenizer.words(self.source_tokenizer.normalize_source(source))[
            :, : limits[0]
        ]
        return EncodedSource(ids, self._written(words), known, capitals)

    def _known(self, text: tf.Tensor) -> tf.Tensor | None:
        """Look texts up in the lexicon."""
        if self.lexicon is None:
            return None
        for pattern in (starts_with(tuple(self.source_tokenizer.tags)), OUTER_SPACES):
            text = tf.strings.regex_replace(text, pattern, "")
        found, in_lowercase = map(self.lexicon.lookup, (text, lower(text)))
        return tf.where(found == "", in_lowercase, found)

    def source_lengths(self, text: tf.Tensor) -> tf.Tensor:
        """Count the tokens of each whole source, including the end token, int32 `[batch]`."""
        if self.sentence_case:
            text, _ = in_sentence_case(text, self.source_tokenizer.tags)
        return tf.cast(self._source_ids(text).row_lengths(), tf.int32) + 1

    def encode_target(
        self, text: tf.Tensor, source: EncodedSource, *, alpha: float | None = None
    ) -> tf.RaggedTensor:
        """Turn targets into ids, with the extended ids of their sources if the model copies.

        Args:
            text: String `[batch]`.
            source: From `encode_source`.
            alpha: See `encode_source`.

        Returns:
            Int32 `[batch, (length)]` without the end token.
        """
        if source.capitals is not None:
            read, capitals = in_sentence_case(text)
            text = tf.where(source.capitals & capitals, read, text)
        if self.copies:
            return self.target_tokenizer.tokenize_target(text, source.unknown_words)
        return _tokenize(self.target_tokenizer, text, alpha)

    def encode_terms(
        self, lines: tf.Tensor, source: EncodedSource, max_length: int
    ) -> EncodedTerms:
        """Turn the terms of targets into ids; see `kerasnmt.text.term_lines` for their lines.

        Args:
            lines: Line of terms for each source, string `[batch]`.
            source: From `encode_source`.
            max_length: Maximum number of tokens of a target, including the end token.

        Returns:
            The terms, without the alternatives that the model cannot write, that are too long for a
            target, or that come after the first `MOST_TERM_TOKENS` tokens of a line.
        """
        terms = _split(lines, SEPARATOR)
        flat = tf.strings.strip(terms.flat_values)
        forbidden = tf.strings.substr(flat, 0, len(NOT)) == NOT
        numbers = tf.ragged.range(terms.row_lengths()).flat_values + 1
        numbers = tf.where(forbidden, 0, tf.cast(numbers, tf.int32))
        texts = _split(tf.strings.regex_replace(flat, f"^{NOT}", ""), OR)
        owners = texts.value_rowids()
        numbers, rows = tf.gather(numbers, owners), tf.gather(terms.value_rowids(), owners)
        flat = tf.strings.strip(texts.flat_values)
        # Remove empty alternatives, and number the others of each row.
        flat, numbers, rows = taken((flat, numbers, rows), flat != "")
        unknown_words = None
        if self.copies:
            unknown_words = tf.gather(source.unknown_words, rows)
        forms = self.target_tokenizer.phrase_ids(flat, unknown_words)
        written = self.target_tokenizer.detokenize(forms[0], unknown_words)
        forms = [form[:, : max_length + 1] for form in forms]
        known = [_all_known(form) for form in forms]
        written = tf.where(known[0], written, "")
        lengths = [tf.cast(form.row_lengths(), tf.int32) for form in forms]
        sizes = tf.add_n(lengths)
        of_rows = tf.math.unsorted_segment_sum(sizes, rows, terms.nrows())
        until = tf.cumsum(sizes) - tf.gather(tf.cumsum(of_rows, exclusive=True), rows)
        # A wanted term needs room for the end token.
        longest = tf.where(numbers > 0, max_length - 1, max_length)
        kept = [
            known[0] & one & (length <= longest) & (until <= MOST_TERM_TOKENS)
            for one, length in zip(known, lengths, strict=True)
        ]
        # First, a row has all alternatives in the first form.
        of_forms = [
            taken((form, numbers, rows), one) for form, one in zip(forms, kept, strict=True)
        ]
        *of_ids, rows_of_ids = (tf.concat(one, axis=0) for one in zip(*of_forms, strict=True))
        order = tf.argsort(rows_of_ids, stable=True)
        in_order = tf.gather(rows_of_ids, order)

        def by_row(values: Any) -> Any:
            padded = _ragged(tf.gather(values, order), in_order, terms.nrows()).to_tensor()
            # A batch without terms has one alternative, which is empty.
            missing = [[0, tf.maximum(0, 1 - size)] for size in tf.unstack(tf.shape(padded))[1:]]
            return tf.pad(padded, [[0, 0], *missing])

        ids, numbers = map(by_row, of_ids)
        written = _ragged(written, rows, terms.nrows()).to_tensor("")
        return EncodedTerms(ids, numbers, written)

    def teacher_forced(
        self, source: EncodedSource, target: tf.RaggedTensor
    ) -> tuple[dict[str, tf.Tensor], tf.Tensor]:
        """Return the inputs of a model for given targets, and the targets.

        Args:
            source: From `encode_source`.
            target: From `encode_target`.

        Returns:
            The inputs, including `target_ids`, int32 `[batch, target_length]`; and the targets with
            the end token, of the same shape.
        """
        targets = padded(with_end(target))
        size = self.target_tokenizer.vocabulary_size
        return {**source.inputs(), "target_ids": decoder_inputs(targets, size)}, targets

    def replace(self, ids: tf.Tensor, weights: tf.Tensor, source: EncodedSource) -> tf.Tensor:
        """Replace unknown ids by the ids of the source words with the largest attention weights.

        Args:
            ids: Int32 `[batch, n_best, target_length]`.
            weights: Attention weights, float32 `[batch, n_best, target_length, source_length]`.
            source: From `encode_source`.

        Returns:
            The ids. Each unknown id becomes the vocabulary size plus the position of a source word.
        """
        source_words: Any = source.unknown_words  # not None if unknown words are replaced
        words = tf.sequence_mask(source_words.row_lengths(), tf.shape(weights)[-1])
        weights = tf.where(words[:, None, None], weights, -1.0)
        position = tf.argmax(weights, axis=-1, output_type=tf.int32)
        beyond = self.target_tokenizer.vocabulary_size
        return tf.where(ids == UNKNOWN_ID, beyond + position, ids)

    def decode(self, ids: tf.Tensor, source: EncodedSource) -> tf.Tensor:
        """Turn the ids of targets, int32 `[batch, length]`, into text `[batch]`."""
        return _in_case(self.target_tokenizer.detokenize(ids, source.unknown_words), source)

    def decode_all(self, ids: tf.Tensor, source: EncodedSource) -> tf.Tensor:
        """Turn the ids of several targets of each source into text.

        Args:
            ids: Int32 `[batch, n_best, length]`.
            source: From `encode_source`.

        Returns:
            String `[batch, n_best]`.
        """
        texts = self.target_tokenizer.detokenize(*_one_a_row(ids, source))
        return _in_case(tf.reshape(texts, tf.shape(ids)[:2]), source)

    def all_tokens(self, ids: tf.Tensor, source: EncodedSource) -> tf.Tensor:
        """Return the tokens of several targets of each source, string, in the shape of `ids`.

        Args:
            ids: Int32 `[batch, n_best, length]`.
            source: From `encode_source`.
        """
        return tf.reshape(self.target_tokenizer.tokens(*_one_a_row(ids, source)), tf.shape(ids))

    def source_tokens(self, source: EncodedSource, name: str = "source_ids") -> tf.Tensor:
        """Return the tokens of an input, string `[batch, length]`."""
        ids = source.ids.get(extended(name), source.ids[name])
        return self.source_tokenizer.tokens(padded(with_end(ids)), source.unknown_words)

    def target_tokens(self, ids: tf.Tensor, source: EncodedSource) -> tf.Tensor:
        """Return the tokens of targets, string `[batch, length]`, for ids of the same shape."""
        return self.target_tokenizer.tokens(ids, source.unknown_words)

    def _source_ids(self, text: tf.Tensor, alpha: float | None = None) -> tf.RaggedTensor:
        return _tokenize(self.source_tokenizer, self.source_tokenizer.normalize_source(text), alpha)

    def _written(self, words: tf.RaggedTensor) -> tf.RaggedTensor:
        """Return the words with the spelling that they have in a target."""
        if self.dictionary is None:
            return words
        spellings = self.dictionary.lookup(words.flat_values)
        return words.with_flat_values(tf.where(spellings == "", words.flat_values, spellings))


def _in_case(texts: tf.Tensor, source: EncodedSource) -> tf.Tensor:
    """Write the texts of targets, `[batch]` or `[batch, n_best]`, in capitals if wanted."""
    if source.capitals is None:
        return texts
    capitals = source.capitals if len(texts.shape) == 1 else source.capitals[:, None]
    return tf.where(capitals, upper(texts), texts)


def _one_a_row(ids: tf.Tensor, source: EncodedSource) -> tuple[tf.Tensor, tf.RaggedTensor | None]:
    """Return ids `[batch, n_best, length]` as `[batch * n_best, length]`, and their words."""
    batch, n_best, length = tf.unstack(tf.shape(ids))
    unknown_words = source.unknown_words
    if unknown_words is not None:
        unknown_words = tf.gather(unknown_words, tf.repeat(tf.range(batch), n_best))
    return tf.reshape(ids, [-1, length]), unknown_words


def _split(text: tf.Tensor, separator: str) -> tf.RaggedTensor:
    """Split texts into at most `MOST_TERMS` parts, without the text after them."""
    return tf.strings.split(text, separator, maxsplit=MOST_TERMS)[:, :MOST_TERMS]


def _all_known(ids: tf.RaggedTensor) -> tf.Tensor:
    """Return whether a row has no unknown id, with fewer ops than `tf.reduce_all`."""
    known = tf.cast(ids.values != UNKNOWN_ID, tf.int32)
    return tf.math.unsorted_segment_min(known, ids.value_rowids(), ids.nrows()) > 0


def _ragged(values: Any, rows: tf.Tensor, count: tf.Tensor) -> tf.RaggedTensor:
    """Return the values of each row, for rows in order."""
    return tf.RaggedTensor.from_value_rowids(values, rows, count, validate=False)


def _tokenize(tokenizer: Tokenizer, text: tf.Tensor, alpha: float | None) -> tf.RaggedTensor:
    return tokenizer.tokenize(text) if alpha is None else tokenizer.sample(text, alpha)


def _table(dictionary: Mapping[str, str]) -> tf.lookup.StaticHashTable:
    entries = tf.constant([*dictionary]), tf.constant([*dictionary.values()])
    return tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(*entries), "")
