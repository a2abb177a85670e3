"""SentencePiece."""

import base64
import copy
import io
import re
import uuid
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Self

import keras
import sentencepiece
import tensorflow as tf
import tensorflow_text
from tensorflow_text.python.ops.sentencepiece_tokenizer import gen_sentencepiece_tokenizer

from kerasnmt.ids import END_ID, PAD_ID, START_ID, UNKNOWN_ID
from kerasnmt.text.sentences import sample_of_sentences
from kerasnmt.text.tokenizer import Tokenizer

# So many sentences tell the frequencies well enough.
_COUNTED = 20_000


@keras.saving.register_keras_serializable("kerasnmt")
class SentencePieceTokenizer(Tokenizer):
    """Pieces of words, learnt from raw text, which needs no tokenizing beforehand.

    Text is normalised (Unicode NFKC, runs of spaces made one), so a translation comes back as it
    is usually written: of the captions of Multi30k, 99.6% (German) and 99.9% (English) of the lines
    come back from their ids unchanged.

    Copying is copying of pieces: what `tokenize_source` gives is what `tokenize` gives, without
    unknown words, because rare words are spelt in pieces that have ids. A character outside the
    vocabulary stays unknown.

    ```python
    tokenizer = SentencePieceTokenizer.train(pairs, vocabulary_size=8000)
    tokenizer.tokenize(["Two dogs run."])
    ```

    References:
        Kudo and Richardson, 2018, "SentencePiece: A simple and language independent subword
        tokenizer and detokenizer for Neural Text Processing"; Kudo, 2018, "Subword Regularization",
        for the unigram model.

    Args:
        model: the bytes of a SentencePiece model with the ids of `kerasnmt.ids`; `train` makes one.
        counts: how often each id occurred in text like that which the model was trained on, the
            four first ones included; None if not known.

    Raises:
        ValueError: if `model` is no such model, or there is not a count for each id.
    """

    kind = "sentencepiece"

    def __init__(self, model: bytes, counts: Sequence[int] | None = None) -> None:
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
                f"eos_id=3. Received: a model with {ids}. Train it anew with these four options."
            )
        super().__init__([processor.id_to_piece(i) for i in range(4, len(processor))], counts)
        self._model = model
        with tf.init_scope():
            self._pieces = tensorflow_text.SentencepieceTokenizer(model, out_type=tf.int32)
            _outlive_seeding(self._pieces, model)

    @classmethod
    def train(
        cls,
        dataset: tf.data.Dataset | Iterable,
        vocabulary_size: int,
        *,
        character_coverage: float = 1.0,
        sample: int = 250_000,
    ) -> Self:
        """Trains a unigram model; the same corpus always gives the same one.

        Args:
            dataset: a `tf.data.Dataset` of strings or of `(source, target)` strings, or an iterable
                of `str` or of pairs of `str`. Of pairs, both sides count.
            vocabulary_size: the number of ids, with the four that every tokenizer has.
            character_coverage: the share of the text's characters to be known; below 1 the rarest
                become unknown, as suits scripts of many thousand characters (0.9995).
            sample: from a larger corpus, this many sentences are drawn at random. Training takes
                some 2 KB of memory for each.

        Returns:
            The tokenizer.

        Raises:
            ValueError: if the corpus is empty or not of strings, or too small for so large a
                vocabulary, or too rich in characters for so small a one.
        """
        corpus = sample_of_sentences(dataset, sample)
        model = io.BytesIO()
        try:
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=iter(corpus),
                model_writer=model,
                vocab_size=vocabulary_size,
                model_type="unigram",
                character_coverage=character_coverage,
                pad_id=PAD_ID,
                unk_id=UNKNOWN_ID,
                bos_id=START_ID,
                eos_id=END_ID,
                unk_surface="⁇",
                max_sentence_length=2**30,  # longer ones would be left out in silence
                num_threads=2,  # fixed: sums over another number of threads round differently
                minloglevel=2,
            )
        except (RuntimeError, OSError) as error:
            raise ValueError(_explanation(str(error), vocabulary_size)) from error
        return cls(model.getvalue(), _counts(model.getvalue(), corpus[:_COUNTED]))

    def _tokenize(self, text: tf.Tensor) -> tf.RaggedTensor:
        return self._pieces.tokenize(text)

    def sample(self, text: tf.Tensor | Sequence[str], alpha: float = 0.1) -> tf.RaggedTensor:
        """Turns text into ids as `tokenize` does, but cuts it into pieces at random.

        Training on another cut of the same sentence in every epoch (subword regularization) makes
        a model more robust, most of all where there is little data. The numbers are
        SentencePiece's own: no seed makes them the same again, and a dataset must not cache them.

        References:
            Kudo, 2018, "Subword Regularization: Improving Neural Network Translation Models with
            Multiple Subword Candidates", section 3, sampling from all cuts.

        Args:
            text: string, `[batch]`; or a list of `str`.
            alpha: a cut of probability p is drawn in proportion to p^alpha: 0 draws all alike, 1 as
                the unigram model has them, large numbers the best one nearly always. Of a BPE model
                that was trained elsewhere, the share of merges that is left out.

        Returns:
            int32, `[batch, (length)]`.

        Raises:
            ValueError: if `alpha` is below 0.
        """
        if alpha < 0:
            raise ValueError(f"Expected alpha >= 0; a usual value is 0.1. Received: alpha={alpha}")
        # The best cut and the others come of one model: only these two arguments differ.
        drawn = copy.copy(self._pieces)
        drawn.nbest_size, drawn.alpha = -1, alpha
        return drawn.tokenize(tf.convert_to_tensor(text, tf.string))

    def get_config(self) -> dict[str, Any]:
        """Returns the model's bytes, in base64, so that JSON can hold them, and the counts."""
        return {"model": base64.b64encode(self._model).decode("ascii"), "counts": self.counts}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """Makes the tokenizer that `get_config` describes."""
        return cls(**{**config, "model": base64.b64decode(config["model"])})

    def _detokenize(self, ids: tf.RaggedTensor, copied: tf.RaggedTensor | None = None) -> tf.Tensor:
        return self._pieces.detokenize(ids)


def _counts(model: bytes, corpus: list[str]) -> list[int]:
    """Counts the ids of sentences, an end token for each."""
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    counts = Counter({END_ID: len(corpus)})
    for ids in processor.encode(corpus):
        counts.update(ids)
    return [counts[i] for i in range(len(processor))]


def _explanation(message: str, vocabulary_size: int) -> str:
    """Says in the reader's terms why SentencePiece would not train."""
    received = f"Received: vocabulary_size={vocabulary_size}."
    if largest := re.search(r"value <= (\d+)", message):
        return (
            f"Expected a vocabulary_size of at most {largest[1]}, the most that this corpus "
            f"supports. {received} Ask for fewer, or train on more text."
        )
    if smallest := re.search(r"required_chars.*? \d+ vs (\d+)", message):
        return (
            f"Expected a vocabulary_size of at least {smallest[1]}, to hold each character of this "
            f"corpus. {received} Ask for more, or for a character_coverage below 1."
        )
    return f"SentencePiece could not train on this corpus: {message}. {received}"


def _outlive_seeding(pieces: tensorflow_text.SentencepieceTokenizer, model: bytes) -> None:
    """Keeps a tokenizer alive when TensorFlow is seeded.

    TensorFlow Text leaves the model to the kernel that made it, and `tf.random.set_seed` throws all
    kernels away; every later call, in functions traced before as well, would fail with "Resource
    … does not exist". A resource with a name of its own belongs to the device and stays.
    """
    pieces._model_resource._resource_handle = gen_sentencepiece_tokenizer.sentencepiece_op(
        model=model, shared_name=f"kerasnmt_{uuid.uuid4().hex}"
    )
