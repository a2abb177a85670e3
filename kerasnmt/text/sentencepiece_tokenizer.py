"""Tokenizer of SentencePiece subwords."""

import base64
import copy
import hashlib
import io
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal, Self

import keras
import sentencepiece
import tensorflow as tf

from kerasnmt.extras import need
from kerasnmt.ids import END_ID, PAD_ID, START_ID, UNKNOWN_ID
from kerasnmt.sizes import check_integer
from kerasnmt.text.normalization import NORMALIZATIONS, SPACES, nfc, substitutes
from kerasnmt.text.sentences import sample_of_sentences
from kerasnmt.text.tags import default_start, tags_of
from kerasnmt.text.tokenizer import Tokenizer, as_tensor
from kerasnmt.text.whole_words import NO_LETTER

with suppress(ModuleNotFoundError):  # some machines do not have it
    import tensorflow_text
    from tensorflow_text.python.ops.sentencepiece_tokenizer import gen_sentencepiece_tokenizer

# Number of sentences from which the frequencies of ids are estimated.
_COUNTED = 20_000
_NO_OTHER = "\0"  # for characters without another form


@keras.saving.register_keras_serializable("kerasnmt")
class SentencePieceTokenizer(Tokenizer):
    """Tokenizer of subword pieces, which are learned from raw text.

    Detokenizing restores the text, up to its white space and normalization. Each sequence of
    spaces, tabs and line breaks becomes one space, and none stays at the start and the end. With
    the normalization "nfc", the default of `train`, all other characters stay as they are written,
    up to canonical composition (Unicode NFC), which composes "e" and a combining accent to "é".
    So a no-break space, a wide space and a zero-width non-joiner stay too, as characters of their
    own, not as spaces. The other normalizations are SentencePiece's own; see `train`.

    With "nfc", `normalize_source` makes sources tolerant: a character that the vocabulary does not
    contain is read in its compatible form (Unicode NFKC), so "，" is read as "," and a no-break
    space as a space. Characters that the vocabulary contains are never changed.

    Models copy pieces: `tokenize_source` returns the ids of `tokenize` and no unknown words,
    because rare words consist of pieces that have ids. A character outside the vocabulary stays
    unknown.

    ```python
    tokenizer = SentencePieceTokenizer.train(pairs, vocabulary_size=8000)
    tokenizer.tokenize(["Two dogs run."])
    ```

    Source: Kudo and Richardson (2018), "SentencePiece: A simple and language independent subword
    tokenizer and detokenizer for neural text processing"; Kudo (2018), "Subword regularization",
    for the unigram model.

    Args:
        model: SentencePiece model as bytes, with the special ids of `kerasnmt.ids`; see `train`.
        counts: Number of occurrences of each id, from 0, in text like the training text, or None if
            unknown.
        normalization: "nfc" if text is normalized by NFC before the model reads it, or None if the
            model's own rule is all.
        default_tags: Tags of the vocabulary that stand in front of each source without a tag; see
            `Tokenizer.with_default_tags`.

    Raises:
        ValueError: If `model` is not such a model, the number of counts differs from the number of
            ids, or `normalization` is unknown.
    """

    kind = "sentencepiece"
    splits_words = True

    def __init__(
        self,
        model: bytes,
        counts: Sequence[int] | None = None,
        *,
        normalization: Literal["nfc"] | None = None,
        default_tags: str | Iterable[str] = "",
    ) -> None:
        if normalization not in ("nfc", None):
            raise ValueError(
                "Expected normalization to be 'nfc', or None for the model's own rule. Received: "
                f"normalization={normalization!r}. Train a model with another rule."
            )
        need("tensorflow_text")
        processor = sentencepiece.SentencePieceProcessor()
        try:
            processor.LoadFromSerializedProto(model)
        except (RuntimeError, TypeError) as error:
            raise ValueError(
                f"Expected the bytes of a SentencePiece model. Received: model={model!r:.40}."
            ) from error
        ids = (processor.pad_id(), processor.unk_id(), processor.bos_id(), processor.eos_id())
        if ids != (PAD_ID, UNKNOWN_ID, START_ID, END_ID):
            raise ValueError(
                "Expected a SentencePiece model trained with pad_id=0, unk_id=1, bos_id=2, "
                f"eos_id=3. Received: a model with {ids}. Train it again with these four options."
            )
        pieces = [processor.id_to_piece(i) for i in range(4, len(processor))]
        super().__init__(pieces, counts)
        self._model = model
        self.normalization = normalization
        self.default_tags = default_start(default_tags, self.tags)
        with tf.init_scope():
            if normalization:
                others = substitutes(pieces)
                table = tf.lookup.KeyValueTensorInitializer([*others], [*others.values()])
                self._substitutes = tf.lookup.StaticHashTable(table, _NO_OTHER)
            self._pieces = tensorflow_text.SentencepieceTokenizer(model, out_type=tf.int32)
            self._pieces._model_resource = _Model(model)

    @classmethod
    def train(
        cls,
        dataset: tf.data.Dataset | Iterable,
        vocabulary_size: int,
        *,
        character_coverage: float = 1.0,
        normalization: Literal["nfc", "nfkc", "nmt_nfkc", "identity"] = "nfc",
        tags: bool = False,
        sample: int = 250_000,
    ) -> Self:
        """Train a unigram model. The same corpus always gives the same model.

        Args:
            dataset: See `Tokenizer.train`.
            vocabulary_size: Number of ids, with the four special ids.
            character_coverage: Fraction of the characters in the text that the vocabulary covers.
                Below 1, the rarest characters become unknown. Use 0.9995 for scripts with thousands
                of characters.
            normalization: "nfc" keeps text as it is written, up to canonical composition; see the
                class. The others are SentencePiece's own, for sources and targets alike: "nfkc"
                replaces compatible characters, such as "½", "…", "，" and the no-break space;
                "nmt_nfkc" also turns zero-width characters into spaces, and removes control
                characters; "identity" changes nothing but white space.
            tags: Whether each tag in the text, such as `<de>`, is one piece: angle brackets with no
                space and no other angle bracket between them. The vocabulary has all tags of the
                sample.
            sample: Maximum number of sentences, drawn at random. Training takes about 2 KB of
                memory for each sentence.

        Returns:
            The tokenizer.

        Raises:
            ValueError: If the corpus is empty or has entries that are not strings, is too small for
                the vocabulary size, or has too many characters for it; or if `normalization` is
                unknown.
        """
        if normalization not in NORMALIZATIONS:
            raise ValueError(
                f"Expected normalization to be one of {NORMALIZATIONS}. Received: "
                f"normalization={normalization!r}."
            )
        check_integer("vocabulary_size", vocabulary_size)
        need("tensorflow_text")
        corpus = sample_of_sentences(dataset, sample)
        if composed := normalization == "nfc":
            corpus = [*map(nfc, corpus)]
        model = io.BytesIO()
        try:
            with _rule(normalization) as rule:
                sentencepiece.SentencePieceTrainer.train(
                    sentence_iterator=iter(corpus),
                    model_writer=model,
                    vocab_size=vocabulary_size,
                    model_type="unigram",
                    character_coverage=character_coverage,
                    **rule,
                    user_defined_symbols=tags_of(corpus) if tags else [],
                    pad_id=PAD_ID,
                    unk_id=UNKNOWN_ID,
                    bos_id=START_ID,
                    eos_id=END_ID,
                    unk_surface="⁇",
                    max_sentence_length=2**30,  # longer sentences would be skipped silently
                    num_threads=2,  # constant, because the rounding of sums depends on it
                    minloglevel=2,
                )
        except (RuntimeError, OSError) as error:
            explanation = _explanation(str(error), vocabulary_size)
            if tags:
                explanation += (
                    f" The {len(tags_of(corpus))} tags of the corpus are among its pieces."
                )
            raise ValueError(explanation) from error
        trained = _without_path(model.getvalue())
        counts = _counts(trained, corpus[:_COUNTED])
        return cls(trained, counts, normalization="nfc" if composed else None)

    def normalize_source(self, text: tf.Tensor | Sequence[str]) -> tf.Tensor:
        """Replace characters that the vocabulary does not contain by their compatible forms.

        With the normalization "nfc", the rule "nmt_nfkc" gives the compatible form; see `train`.
        Otherwise the model normalizes sources, and the text stays. Sources without a tag get the
        default tags.

        Args:
            text: Texts, string `[batch]` or a list of `str`.

        Returns:
            The texts, string `[batch]`.
        """
        text = self._with_tags(self._normalized(text))
        if not self.normalization:
            return text
        characters = tf.strings.unicode_split(text, "UTF-8")
        ones = characters.flat_values
        others = self._substitutes.lookup(ones)
        read = characters.with_flat_values(tf.where(others == _NO_OTHER, ones, others))
        # Forms can combine: "ﾊﾟ" becomes "ハ" and a combining mark, and then "パ".
        return tensorflow_text.normalize_utf8(tf.strings.reduce_join(read, axis=-1), "NFC")

    def _normalized(self, text: tf.Tensor | Sequence[str]) -> tf.Tensor:
        text = as_tensor(text)
        if not self.normalization:
            return text
        text = tf.strings.unicode_transcode(text, "UTF-8", "UTF-8")
        return tensorflow_text.normalize_utf8(text, "NFC")

    def _tokenize(self, text: tf.Tensor) -> tf.RaggedTensor:
        return self._pieces.tokenize(self._normalized(text))

    def sample(self, text: tf.Tensor | Sequence[str], alpha: float = 0.1) -> tf.RaggedTensor:
        """Turn text into ids of randomly sampled pieces.

        Subword regularization trains on different segmentations of a sentence in each epoch. It
        makes a model more robust, especially with little data. SentencePiece draws the random
        numbers itself, so no seed repeats them. A dataset must not cache the ids.

        Source: Kudo (2018), "Subword regularization: Improving neural network translation models
        with multiple subword candidates", section 3, sampling from all segmentations.

        Args:
            text: Texts, string `[batch]` or a list of `str`.
            alpha: Exponent of probabilities: a segmentation with probability p is drawn in
                proportion to p^alpha. 0 gives the uniform distribution, 1 the distribution of the
                unigram model, and large values nearly always give the best segmentation. For a BPE
                model that was trained elsewhere, alpha is the dropout rate of merges.

        Returns:
            The ids, int32 `[batch, (length)]`.

        Raises:
            ValueError: If `alpha` is below 0.
        """
        if alpha < 0:
            raise ValueError(f"Expected alpha >= 0; a usual value is 0.1. Received: alpha={alpha}")
        # Both tokenizers share one model. Only these two attributes differ.
        drawn = copy.copy(self._pieces)
        drawn.nbest_size, drawn.alpha = -1, alpha
        return drawn.tokenize(self._normalized(text))

    def phrase_ids(
        self, text: tf.Tensor | Sequence[str], unknown_words: tf.RaggedTensor | None = None
    ) -> list[tf.RaggedTensor]:
        """Return the ids of phrases after a space, and without one; see `Tokenizer.phrase_ids`."""
        text = as_tensor(text)
        before = self._tokenize(tf.constant([NO_LETTER]))[0]
        inside = self._tokenize(tf.strings.join([NO_LETTER, text]))[:, tf.size(before) :]
        return [self._tokenize(text), inside]

    def get_config(self) -> dict[str, Any]:
        """Return the arguments, with the model in base64 for JSON."""
        return {
            "model": base64.b64encode(self._model).decode("ascii"),
            "counts": self.counts,
            "normalization": self.normalization,
            "default_tags": self.default_tags,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """Create a tokenizer from its config."""
        return cls(**{**config, "model": base64.b64decode(config["model"])})

    def _detokenize(self, ids: tf.RaggedTensor, copied: tf.RaggedTensor | None = None) -> tf.Tensor:
        return self._pieces.detokenize(ids)


@contextmanager
def _rule(normalization: str) -> Iterator[dict[str, Any]]:
    """Yield SentencePiece's options for a normalization.

    A model without any rule prints a line whenever TensorFlow loads it. So "nfc" and "identity"
    are a rule that turns white space into spaces.
    """
    if normalization in ("nfkc", "nmt_nfkc"):
        yield {"normalization_rule_name": normalization}
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rule.tsv"
        path.write_text("".join(f"{ord(one):X}\t20\n" for one in SPACES))
        yield {"normalization_rule_tsv": str(path)}


def _without_path(model: bytes) -> bytes:
    """Remove the path of the normalization's rule, a temporary file, from a model.

    This reads protobuf's wire format, because the messages that SentencePiece ships need a newer
    protobuf than TensorFlow and Apache Beam allow. Source: `sentencepiece_model.proto`; the path is
    field 6, `normalization_rule_tsv`, of field 3, `normalizer_spec`.
    """
    parts = []
    for number, content, field in _fields(model):
        if number == 3:
            content = b"".join(one for inner, _, one in _fields(content) if inner != 6)
            field = field[:1] + _varint(len(content)) + content
        parts.append(field)
    return b"".join(parts)


def _fields(message: bytes) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield the number, content and all bytes of each field of a protobuf message.

    The fields have numbers below 16, and are integers or have a length, as in a model.
    """
    start = 0
    while start < len(message):
        value, position, shift = 0, start + 1, 0
        while True:
            value |= (message[position] & 0x7F) << shift
            position, shift = position + 1, shift + 7
            if message[position - 1] < 0x80:
                break
        end = position + value if message[start] & 7 == 2 else position
        yield message[start] >> 3, message[position:end], message[start:end]
        start = end


def _varint(value: int) -> bytes:
    """Return an integer in base 128, low digits first; all but the last have the highest bit."""
    digits = []
    while value >= 0x80:
        digits.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*digits, value])


def _counts(model: bytes, corpus: list[str]) -> list[int]:
    """Count the ids of sentences, with an end token for each sentence."""
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    counts = Counter({END_ID: len(corpus)})
    for ids in processor.encode(corpus):
        counts.update(ids)
    return [counts[i] for i in range(len(processor))]


def _explanation(message: str, vocabulary_size: int) -> str:
    """Turn an error message of SentencePiece into an explanation for users."""
    received = f"Received: vocabulary_size={vocabulary_size}."
    if largest := re.search(r"value <= (\d+)", message):
        return (
            f"Expected a vocabulary_size of at most {largest[1]}, the maximum for this corpus. "
            f"{received} Use a smaller size, or train on more text."
        )
    if smallest := re.search(r"required_chars.*? \d+ vs (\d+)", message):
        return (
            f"Expected a vocabulary_size of at least {smallest[1]} for all characters of this "
            f"corpus. {received} Use a larger size, or a character_coverage below 1."
        )
    return f"SentencePiece could not train on this corpus: {message}. {received}"


class _Model(tf.saved_model.experimental.TrackableResource):
    """Loaded SentencePiece model, which all tokenizers with the same content share.

    In TensorFlow Text, the kernel that loads a model owns it, and names it by its node in the
    graph. `tf.random.set_seed` deletes all kernels, and after that, every call would fail with
    "Resource … does not exist". In a SavedModel, the nodes of two models have the same name, so
    TensorFlow in Python would use the first model for both. A resource with a shared name belongs
    to the device and stays.
    """

    def __init__(self, model: bytes) -> None:
        super().__init__()
        self._model = model
        _ = self.resource_handle  # load the model now, outside of any graph

    def _create_resource(self) -> Any:
        """Load the model. The graph of an export contains this function."""
        name = f"kerasnmt_{hashlib.sha256(self._model).hexdigest()}"
        return gen_sentencepiece_tokenizer.sentencepiece_op(model=self._model, shared_name=name)
