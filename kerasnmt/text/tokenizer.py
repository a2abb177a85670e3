"""Base class of tokenizers."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import tensorflow as tf

import kerasnmt.text.tensorflow_on_cpu  # noqa: F401
from kerasnmt.columns import without_surrogates
from kerasnmt.ids import END_ID, UNKNOWN_ID
from kerasnmt.languages import closest_tag, language_code
from kerasnmt.text.extended_ids import (
    ExtendedSource,
    extended_ids,
    find_unknown_words,
    words_of_extended_ids,
)
from kerasnmt.text.parts import OUTER_SPACES
from kerasnmt.text.tags import default_start, is_tag, unknown_tags_message
from kerasnmt.text.targets import kept
from kerasnmt.text.whole_words import word_places
from kerasnmt.text.word_indices import word_indices


class Tokenizer(tf.Module):
    """Base class of tokenizers, which turn text into ids and back in a TensorFlow graph.

    A tokenizer contains its complete vocabulary: `keras.saving` stores it in a `model.keras`, and
    it is a `tf.Module`, which is part of a SavedModel. It runs eagerly, in `tf.function` and in
    `tf.data`.

    Every vocabulary begins with the four special ids of `kerasnmt.ids`: padding, unknown, start and
    end. `tokenize` never returns padding, start or end.

    For models that copy, `tokenize_source` and `tokenize_target` extend the vocabulary of each
    example by the unknown words of its source, and `detokenize` writes these words.

    Your own tokenizer is a subclass with these members:

    - `kind`: How tokens form words: `"words"` if each token is a word; `"words_and_punctuation"`
      if "￭" stands where no space separates two tokens; `"characters"` or `"sentencepiece"` if a
      space, shown as "▁", begins the next word.
    - `_tokenize`: Turns text into ids, without start and end: 1 for unknown tokens, or ids from 4.
    - `_detokenize`: Turns such ids into text, with "⁇" for the unknown id.
    - `get_config`: Returns the constructor's arguments as values for JSON. With
      `@keras.saving.register_keras_serializable("your_package")`, a `model.keras` contains the
      tokenizer. Import the class before you load the file. An export does not need the class,
      because its graph contains the tokenizer.
    - `train`: Learns the vocabulary, if the tokenizer has one that is learned.
    - `_tokenize_with_words`: Turns text into ids and words, if models can copy its unknown words.

    The constructor passes the entries and counts to the base class. `_tokenize` and `_detokenize`
    run in graphs, so they use only operations of TensorFlow. A method with a condition or a loop on
    tensors needs `@tf.function`. The constructor creates constants and tables within
    `tf.init_scope()` and stores them in attributes, so that an export finds them. The tutorial
    `09_own_tokenizer.py` shows a tokenizer of bytes:

    ```python
    @keras.saving.register_keras_serializable("your_package")
    class ByteTokenizer(Tokenizer):
        kind = "characters"

        def __init__(self):
            super().__init__([f"<{byte:02X}>" for byte in range(256)])  # ids 4 to 259
            with tf.init_scope():
                self._texts = tf.constant([*["⁇".encode()] * 4, *(bytes([i]) for i in range(256))])

        def _tokenize(self, text):
            bytes_ = tf.strings.bytes_split(text)
            values = tf.reshape(tf.io.decode_raw(bytes_.flat_values, tf.uint8), [-1])
            return bytes_.with_flat_values(tf.cast(values, tf.int32) + 4)

        def _detokenize(self, ids, copied=None):
            return tf.strings.reduce_join(tf.gather(self._texts, ids), axis=-1)

        def get_config(self):
            return {}
    ```

    Args:
        entries: Text of each id from 4, in the order of the ids.
        counts: Number of occurrences of each id, from 0, in the training text, or None if unknown.

    Raises:
        ValueError: If the number of counts differs from the number of ids.
    """

    kind: ClassVar[str]
    # Whether a token may be a part of a word, so that a tag and a word need no space between them.
    splits_words: ClassVar[bool] = False
    # Tags in front of each source that has none, such as "<de>".
    default_tags: str = ""

    def __init__(self, entries: Sequence[str], counts: Sequence[int] | None = None) -> None:
        super().__init__()
        if counts is not None and len(counts) != len(entries) + 4:
            raise ValueError(
                f"Expected a count for each of {len(entries) + 4} ids. "
                f"Received: counts of length {len(counts)}."
            )
        self._counts = counts
        # The constant is outside any graph, so that all functions can capture it.
        with tf.init_scope(), tf.device("CPU"):
            self._written = tf.constant(["", "<unk>", "<s>", "</s>", *entries])

    def __repr__(self) -> str:
        more = "…" if self.vocabulary_size > 8 else ""
        entries = ", ".join([*map(repr, self._entries[4:8]), *filter(None, [more])])
        return f"<{type(self).__name__} of {self.vocabulary_size:,} ids: {entries}>"

    @property
    def vocabulary_size(self) -> int:
        """Number of ids, including the four special ids."""
        return self._written.shape[0]

    @property
    def tags(self) -> list[str]:
        """Tags that are single tokens in front of a text, such as `<de>`; see `with_tags`."""
        return [*filter(is_tag, self._entries)] if self.splits_words else []

    @property
    def tag_ids(self) -> list[int]:
        """Ids of the tags in the vocabulary, such as `<de>`."""
        return [id_ for id_, entry in enumerate(self._entries) if is_tag(entry)]

    @property
    def space_ids(self) -> list[int]:
        """Ids of the tokens that are a space alone, shown as "▁"."""
        spaces = ["▁"] if self.splits_words else []
        return [id_ for id_, entry in enumerate(self._entries) if entry in spaces]

    @property
    def _entries(self) -> list[str]:
        """Text of each id."""
        with tf.init_scope():
            return [entry.decode() for entry in self._written.numpy()]

    @property
    def log_frequencies(self) -> np.ndarray | None:
        """Natural logarithm of the frequency of each id, float32 `[vocabulary_size]`, or None.

        The frequencies are relative counts, where 0.5 replaces a count of 0. They are None if the
        counts are unknown.
        """
        if self._counts is None:
            return None
        counts = np.maximum(np.array(self._counts, "float64"), 0.5)
        return np.log(counts / counts.sum()).astype("float32")

    @property
    def counts(self) -> list[int] | None:
        """Number of occurrences of each id in the training text, or None if unknown."""
        return None if self._counts is None else list(self._counts)

    def tokenize(self, text: tf.Tensor | Sequence[str]) -> tf.RaggedTensor:
        """Turn text into ids, without start and end.

        The text may contain any bytes. Words outside the vocabulary and bytes that are not UTF-8
        become the unknown id. A text without tokens becomes an empty row.

        Args:
            text: Texts, string `[batch]` or a list of `str`.

        Returns:
            The ids, int32 `[batch, (length)]`.
        """
        return self._tokenize(as_tensor(text))

    def normalize_source(self, text: tf.Tensor | Sequence[str]) -> tf.Tensor:
        """Return sources, or their contexts, in a form that the vocabulary knows.

        Tokenize the result. `tokenize_source` and models do this themselves. By default, texts stay
        as they are; see `SentencePieceTokenizer.normalize_source`.

        Args:
            text: Texts, string `[batch]` or a list of `str`.

        Returns:
            The texts, string `[batch]`.
        """
        return as_tensor(text)

    def with_default_tags(self, tags: str | Iterable[str]) -> Self:
        """Return a tokenizer that puts tags in front of each source without a tag.

        A source of white space alone gets no tags. Others also lose the white space around them.

        Args:
            tags: Tags of the vocabulary; see `with_tags`. An empty string removes them.

        Returns:
            A tokenizer with the same vocabulary.

        Raises:
            ValueError: If a tag is malformed or not in the vocabulary.
        """
        start = default_start(tags, self.tags)
        if start == self.default_tags:
            return self
        return self.from_config({**self.get_config(), "default_tags": start})

    def for_language(self, language: str) -> Self:
        """Return a tokenizer that puts the tag of a language in front of each source without a tag.

        Args:
            language: Code of ISO 639-1 or 639-3, such as "de" or "deu". The tag may have another
                code of the language, or of one that is close to it.

        Returns:
            A tokenizer with the same vocabulary; see `with_default_tags`.

        Raises:
            ValueError: If there is no such language, or no tag for it.
        """
        tag = closest_tag(language_code(language), self.tags)
        if tag is None:
            raise ValueError(unknown_tags_message("a language", self.tags, repr(language)))
        return self.with_default_tags(tag)

    def _with_tags(self, text: tf.Tensor) -> tf.Tensor:
        """Put the default tags in front of sources without a tag."""
        if not self.default_tags:
            return text
        bare = tf.strings.regex_replace(text, OUTER_SPACES, "")
        known = "|".join(map(re.escape, self.tags))
        as_it_is = (bare == "") | (tf.strings.regex_replace(bare, f"^({known})", "") != bare)
        return tf.where(as_it_is, text, tf.strings.join([self.default_tags, bare]))

    def phrase_ids(
        self, text: tf.Tensor | Sequence[str], unknown_words: tf.RaggedTensor | None = None
    ) -> list[tf.RaggedTensor]:
        """Turn phrases into the ids that they have within target texts.

        Args:
            text: Phrases, string `[batch]` or a list of `str`.
            unknown_words: See `tokenize_target`, or None if the model does not copy.

        Returns:
            The ids of each way in which a phrase stands in a text, such as at its start and after
            punctuation, int32 `[batch, (length)]` each. By default, there is one way.
        """
        return [self._target_ids(text, unknown_words)]

    def _target_ids(
        self, text: tf.Tensor | Sequence[str], unknown_words: tf.RaggedTensor | None
    ) -> tf.RaggedTensor:
        if unknown_words is None:
            return self.tokenize(text)
        return self.tokenize_target(text, unknown_words)

    @property
    def word_places(self) -> tuple[np.ndarray, np.ndarray]:
        """Where words can begin in sequences of ids; see `whole_words.word_places`."""
        return word_places(self._entries, self.splits_words)

    def sample(self, text: tf.Tensor | Sequence[str], alpha: float = 0.1) -> tf.RaggedTensor:
        """Turn text into ids of randomly sampled pieces; see `SentencePieceTokenizer.sample`.

        Raises:
            ValueError: If this tokenizer splits a text in only one way.
        """
        raise ValueError(
            "Expected a SentencePieceTokenizer, which can split a text in several ways. Received: "
            f"a tokenizer of kind {self.kind!r}, which splits a text in only one way."
        )

    def tokenize_source(
        self, text: tf.Tensor | Sequence[str], *, max_length: int | None = None
    ) -> ExtendedSource:
        """Turn source text into ids, with extended ids for words outside the vocabulary.

        The distinct unknown words of a row get the ids `vocabulary_size`, `vocabulary_size + 1`, …
        in order of first appearance. These ids are valid only in this row. Bytes that are not UTF-8
        become U+FFFD.

        ```python
        tokenizer = WordTokenizer(["a", "b"])  # ids 4 and 5
        source = tokenizer.tokenize_source(["x a y x"])
        source.ids  # [[1, 4, 1, 1]]
        source.extended_ids  # [[6, 4, 7, 6]]
        source.unknown_words  # [[b"x", b"y"]]
        tokenizer.tokenize_target(["y b z"], source.unknown_words)  # [[7, 5, 1]]
        ```

        Source: See, Liu and Manning (2017), "Get to the point", section 2.2, extended vocabulary.

        Args:
            text: Texts, string `[batch]` or a list of `str`.
            max_length: Maximum number of ids of a text, or None for no limit.

        Returns:
            The ids, the extended ids and the unknown words.
        """
        (source,) = self.tokenize_together(text, max_lengths=[max_length])
        return source

    def tokenize_together(
        self, *texts: tf.Tensor | Sequence[str], max_lengths: Sequence[int | None] | None = None
    ) -> tuple[ExtendedSource, ...]:
        """Turn several texts of each row into ids, such as a source and its context.

        A word outside the vocabulary has the same extended id in all texts of a row. The texts are
        truncated first, so every extended id occurs in one of them.

        ```python
        tokenizer = WordTokenizer(["a", "b"])  # ids 4 and 5
        source, context = tokenizer.tokenize_together(["x a"], ["y x b"])
        source.extended_ids  # [[6, 4]]
        context.extended_ids  # [[7, 6, 5]]
        source.unknown_words  # [[b"x", b"y"]], the same as context.unknown_words
        ```

        Args:
            *texts: Texts, string `[batch]` or a list of `str` each.
            max_lengths: Maximum number of ids of each text, or None for no limit.

        Returns:
            The result of `tokenize_source` for each text. All texts of a row share their unknown
            words, in order.
        """
        read = []
        for text, length in zip(texts, max_lengths or [None] * len(texts), strict=True):
            parts = self._tokenize_with_words(self.normalize_source(text))
            read.append([part[:, :length] for part in parts])
        ids, words = (tf.concat(parts, axis=1) for parts in zip(*read, strict=True))
        unknown = find_unknown_words(ids, words)
        return tuple(
            ExtendedSource(ids, extended_ids(ids, words, unknown, self.vocabulary_size), unknown)
            for ids, words in read
        )

    def words(self, text: tf.Tensor | Sequence[str]) -> tf.RaggedTensor:
        """Return the part of the text for which each id stands.

        Args:
            text: Texts, string `[batch]` or a list of `str`.

        Returns:
            The words, string `[batch, (length)]`, one for each id of `tokenize`, or "" for pieces,
            which are not whole words. Bytes that are not UTF-8 become U+FFFD.
        """
        words = self._tokenize_with_words(as_tensor(text))[1]
        return words.with_flat_values(
            tf.strings.unicode_transcode(words.flat_values, "UTF-8", "UTF-8")
        )

    def tokenize_target(
        self, text: tf.Tensor | Sequence[str], unknown_words: tf.RaggedTensor
    ) -> tf.RaggedTensor:
        """Turn target text into ids, with the extended ids of the unknown words of the source.

        Args:
            text: Texts, string `[batch]` or a list of `str`.
            unknown_words: Distinct unknown words of each source, string `[batch, (unknown)]`, from
                `tokenize_source` of the same tokenizer.

        Returns:
            The ids, int32 `[batch, (length)]`. A word that is neither in the vocabulary nor in the
            source becomes the unknown id.
        """
        ids, words = self._tokenize_with_words(as_tensor(text))
        return extended_ids(ids, words, unknown_words, self.vocabulary_size)

    def detokenize(
        self, ids: tf.RaggedTensor | tf.Tensor, unknown_words: tf.RaggedTensor | None = None
    ) -> tf.Tensor:
        """Turn ids into text.

        Padding, start and end are omitted. The unknown id and ids outside the vocabulary become
        "⁇". No id raises an error.

        Args:
            ids: Integers, `[batch, (length)]` ragged or `[batch, length]` padded.
            unknown_words: Unknown words of each source, string `[batch, (unknown)]`, from
                `tokenize_source`. Extended ids become these words.

        Returns:
            The texts, string `[batch]`.
        """
        if not isinstance(ids, tf.RaggedTensor):
            ids = tf.RaggedTensor.from_tensor(ids)
        # Use flat values, because eager operations on ragged tensors are a hundred times slower.
        flat = self._inside(ids.flat_values)
        written = (flat == UNKNOWN_ID) | (flat > END_ID)
        inside = kept(ids.with_flat_values(flat), written)
        if unknown_words is None:
            return self._detokenize(inside)
        copied = words_of_extended_ids(
            ids.flat_values, ids.value_rowids(), unknown_words, self.vocabulary_size
        )
        copied = kept(ids.with_flat_values(copied), written)
        return self._detokenize(inside, copied)

    def tokens(self, ids: tf.Tensor, unknown_words: tf.RaggedTensor | None = None) -> tf.Tensor:
        """Return each id as a readable token.

        Padding becomes "", the unknown id and ids outside the vocabulary become `<unk>`, and start
        and end become `<s>` and `</s>`. A space is shown as "▁". An unknown word `<s>` or `</s>`
        becomes `<unk>`, because it is not a start or end token.

        Args:
            ids: Integers of any shape, or `[batch, ...]` with `unknown_words`.
            unknown_words: Unknown words of each source, string `[batch, (unknown)]`, from
                `tokenize_source`. Extended ids become these words.

        Returns:
            The tokens, a string tensor of the same shape.
        """
        ids = tf.convert_to_tensor(ids)
        tokens = tf.gather(self._written, self._inside(ids))
        if unknown_words is None:
            return tokens
        rows = tf.reshape(tf.range(tf.shape(ids)[0]), [-1] + [1] * (ids.shape.rank - 1))
        copied = words_of_extended_ids(ids, rows, unknown_words, self.vocabulary_size)
        as_it_was = (copied == "") | (copied == "<s>") | (copied == "</s>")
        return tf.where(as_it_was, tokens, tf.where(copied == " ", "▁", copied))

    def word_indices(self, tokens: Sequence[str]) -> list[int]:
        """Return the index of the word of each token; see `kerasnmt.text.word_indices`.

        Args:
            tokens: Tokens of one sentence, from `tokens`.

        Returns:
            The index of each token's word, counted from 0, or -1 for padding, start, end and single
            spaces.
        """
        return word_indices(tokens, self.kind)

    def __reduce__(self) -> Any:
        # Tables and models of TensorFlow cannot be pickled or copied.
        return self.from_config, (self.get_config(),)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments as values for JSON."""
        raise NotImplementedError

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """Create a tokenizer from its config."""
        return cls(**config)

    @classmethod
    def train(
        cls,
        dataset: tf.data.Dataset | Iterable,
        vocabulary_size: int,
        *,
        sample: int = 1_000_000,
    ) -> Self:
        """Learn a vocabulary. The same corpus always gives the same vocabulary.

        Args:
            dataset: A `tf.data.Dataset` of strings or of `(source, target)` strings, or an iterable
                of `str` or of pairs of `str`. The vocabulary covers both sides of pairs.
            vocabulary_size: Number of ids, including the four special ids.
            sample: Maximum number of sentences, drawn at random.

        Returns:
            The tokenizer.

        Raises:
            ValueError: If the corpus is empty, has entries that are not strings, or does not allow
                the vocabulary size.
        """
        raise NotImplementedError

    def _tokenize(self, text: tf.Tensor) -> tf.RaggedTensor:
        """Turn text, string `[batch]` with any bytes, into int32 ids `[batch, (length)]`.

        The ids are 1 for unknown tokens, or at least 4. Text without tokens is an empty row.
        """
        raise NotImplementedError

    def _tokenize_with_words(self, text: tf.Tensor) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
        """Turn text `[batch]` into the ids of `_tokenize`, and into the word of each id.

        The words are strings `[batch, (length)]`. A word is "" if a model cannot copy it as an
        unknown word. By default, all words are "".
        """
        ids = self._tokenize(text)
        return ids, ids.with_flat_values(tf.fill(tf.shape(ids.flat_values), ""))

    def _detokenize(self, ids: tf.RaggedTensor, copied: tf.RaggedTensor | None = None) -> tf.Tensor:
        """Turn int32 ids `[batch, (length)]` without padding, start and end into text `[batch]`.

        `copied`, a string tensor of the same shape, replaces the text of ids where it is not "".
        """
        raise NotImplementedError

    def _inside(self, ids: tf.Tensor) -> tf.Tensor:
        """Return ids as int32, with the unknown id instead of ids outside the vocabulary."""
        inside = (ids >= 0) & (ids < self.vocabulary_size)
        return tf.cast(tf.where(inside, ids, tf.cast(UNKNOWN_ID, ids.dtype)), tf.int32)


def as_tensor(text: tf.Tensor | Sequence[str]) -> tf.Tensor:
    """Return texts as a tensor of strings, where half of a surrogate pair is U+FFFD."""
    if isinstance(text, list | tuple | np.ndarray):
        text = [without_surrogates(one) if isinstance(one, str) else one for one in text]
    return tf.convert_to_tensor(text, tf.string)
