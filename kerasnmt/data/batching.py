"""Batches of ids from pairs of sentences."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import tensorflow as tf

from kerasnmt.columns import as_string, as_texts, as_weights, check_same_index
from kerasnmt.data.alignment_matrix import alignment_matrix, tokens_of, words_of
from kerasnmt.data.batch_options import BatchOptions
from kerasnmt.data.buckets import Buckets
from kerasnmt.data.filling import fill
from kerasnmt.data.saving import check_finite
from kerasnmt.data.shards import Shards
from kerasnmt.text import Tokenizer
from kerasnmt.text.rows import rows, texts_of
from kerasnmt.text.targets import decoder_inputs, taken, with_end
from kerasnmt.text.translation_codec import TranslationCodec

# Distance between the seeds of two training runs, so that none of their epochs have the same order.
SEEDS_APART = 1_000_003
_EXPECTED_PAIRS = (
    "Expected a tf.data.Dataset of (source, target) string scalars, as from read_parallel, tuples "
    "of two str, two lists (sources, targets), an array [n, 2], a DataFrame, dicts, or a function "
    "that returns one of these."
)


def batches(
    pairs: Any,
    source_tokenizer: Tokenizer,
    target_tokenizer: Tokenizer | None = None,
    *,
    alignments: Sequence[Iterable[tuple[int, int]]] | None = None,
    contexts: tf.data.Dataset | Iterable[str] | None = None,
    sample_weight: tf.data.Dataset | Iterable[float] | None = None,
    tokens_per_batch: int = 4096,
    batch_size: int | None = None,
    max_length: int = 100,
    shuffle: bool = True,
    shuffle_buffer: int = 100_000,
    seed: int | None = None,
    cache: bool = False,
    few_shapes: bool = True,
    fill: bool = False,
    extended_vocabulary: bool = False,
    subword_sampling: float | None = None,
    first_epoch: int | None = None,
    source_key: str = "source",
    target_key: str = "target",
) -> tf.data.Dataset:
    """Tokenize pairs of sentences, and batch pairs of similar lengths for `fit`.

    By default, both sides of a batch are padded to the same bucket width: the length of the longer
    side, rounded up to one of a few widths (8, 9, … 20, 21, 23, …, which grow by 1/20). So there is
    little padding, and XLA compiles few shapes. If one side of a pair is more than three times as
    long as the other, each side is padded to a power of two instead. With contexts, the widths grow
    by 1/10 (8, 10, 12, …), because each combination of two widths is a bucket.

    With `few_shapes=False`, the pairs of up to 16 batches of one width are sorted by length, and
    each side of a batch is as wide as its longest sentence. For the image captions of Multi30k,
    with 8,000 pieces:

    | batches | shapes | padding of targets | padding of sources |
    |---|---|---|---|
    | 64 sentences, in the order of the corpus | | 52% | |
    | `few_shapes=True` | 30 | 6% | 9% |
    | `few_shapes=False` | 167 | 2% | 4% |

    The dataset is lazy. So there is no error if all pairs are dropped; `describe_batches` reports
    this. With shuffling, batches of all widths are mixed over the epoch, and each epoch has another
    order. With `few_shapes=False`, batches are mixed only within a few hundred batches.

    ```python
    model.fit(batches(pairs, tokenizer, tokens_per_batch=4096, seed=1, cache=True))
    ```

    Args:
        pairs: Pairs in one of these forms: a dataset of `(source, target)` string scalars, such as
            `read_parallel` returns; an iterable of tuples `(source, target)`, such as
            `builtin_corpus` returns, with alignments; a tuple of two columns, `(sources, targets)`,
            such as lists or pandas Series; an array or a tensor of strings `[n, 2]`; a pandas
            DataFrame; an iterable of dicts; a function that returns one of these, which is called
            in each epoch, and whose pairs are read one by one; or `Shards`, which are read in
            another order in each epoch, without `alignments`, `contexts`, `sample_weight` and
            `cache`.
        source_tokenizer: Tokenizer of the sources.
        target_tokenizer: Tokenizer of the targets, or None for `source_tokenizer`.
        alignments: Links (source word, target word) of each pair, for guided attention. Words are
            counted from 0. The links are in the order of the pairs, so do not shuffle the pairs
            first.
        contexts: Context of each pair, for models that read a context, in the order of the pairs: a
            dataset of string scalars, or a list, an array or another iterable of `str`. A context
            may be empty. It is padded to its own width.
        sample_weight: Weight of each pair in the loss and the metrics, in the order of the pairs: a
            dataset of scalars, or a list, an array or another iterable of numbers, at least 0. None
            for weights of 1.
        tokens_per_batch: Maximum number of positions of the longest side of a batch. It determines
            the number of sentences, which is at least 1.
        batch_size: Number of sentences of a batch, instead of `tokens_per_batch`.
        max_length: Maximum number of tokens of a side, and of a context, including the end token.
            Pairs with more tokens or an empty side are dropped.
        shuffle: Whether to shuffle. If False and with `few_shapes`, pairs of one width keep their
            order.
        shuffle_buffer: Number of tokenized pairs that are shuffled together in memory.
        seed: Seed of the whole sequence of epochs.
        cache: Whether to keep all ids in memory, and tokenize only in the first epoch.
        few_shapes: Whether batches have few shapes. Use True if XLA compiles each shape: on a GPU,
            with JAX and with `jit_compile=True`. Otherwise, False is faster because there is less
            padding. It keeps up to 512 batches in memory, and 16 of each width.
        fill: Whether to pad the batches further, to even fewer shapes: to widths that grow by 1/4
            (8, 10, 13, 17, …), and with rows of padding to the same number of rows for all batches
            of a width. Rows of padding do not change losses, weights or perplexity. Use it with
            JAX, where compiling a shape takes seconds.
        extended_vocabulary: Whether words outside the vocabulary have extended ids in each pair and
            its context, for models that copy; see `Tokenizer.tokenize_source`. Both sides must have
            the same tokenizer.
        subword_sampling: Alpha of `SentencePieceTokenizer.sample`, which splits each sentence into
            other pieces in each epoch, or None for the best pieces. It excludes `cache` and
            `extended_vocabulary`.
        first_epoch: None for the batches of one epoch, with another order in each pass. A number,
            counted from 0, gives an infinite dataset, which starts with this epoch. The order of
            each epoch depends only on `seed` and the number of the epoch. So interrupted training
            can resume: `batches(…, seed=1, first_epoch=3).skip(120)`.
        source_key: Column of a DataFrame, or key of dicts, with the sources.
        target_key: Column or key with the targets.

    Returns:
        A dataset of `(inputs, targets, sample_weight)`, right-padded with 0.

        - `inputs` is a dict of `source_ids`, int32 `[batch, source_length]`, which end with the end
          token, and `target_ids`, int32 `[batch, target_length]`, which start with the start token.
        - `targets`, int32 `[batch, target_length]`, are `target_ids` shifted by one position, and
          end with the end token.
        - `sample_weight`, float32 `[batch, target_length]`, is 1, or the weight of the pair, for
          tokens, and 0 for padding.

        Some options add entries to `inputs`:

        - `alignments` adds `alignments`, float32 `[batch, target_length, source_length]`. Each row
          is uniform over the tokens of the linked words, or 0 without a link.
        - `extended_vocabulary` adds `extended_source_ids`, int32 `[batch, source_length]`, the
          `source_ids` with extended ids for unknown words. `targets` have extended ids too;
          `target_ids` have the unknown id.
        - `contexts` adds `context_ids`, int32 `[batch, context_length]` and, with
          `extended_vocabulary`, `extended_context_ids`.

    Raises:
        ValueError: If `pairs` are not pairs of strings, the number of `alignments`, `contexts` or
            weights differs from the number of pairs, a weight is negative or not finite, a size is
            out of range, `extended_vocabulary` is used with two tokenizers, or `subword_sampling`
            or `Shards` with an option that they exclude.
    """
    options = BatchOptions(
        tokens_per_batch=tokens_per_batch,
        batch_size=batch_size,
        max_length=max_length,
        shuffle=shuffle,
        shuffle_buffer=shuffle_buffer,
        seed=seed,
        cache=cache,
        few_shapes=few_shapes,
        fill=fill,
        extended_vocabulary=extended_vocabulary,
        subword_sampling=subword_sampling,
        first_epoch=first_epoch,
    )
    check_same_index(pairs=pairs, contexts=contexts, sample_weight=sample_weight)
    examples = Examples(
        as_pairs(pairs, source_key, target_key), alignments, contexts, sample_weight
    )
    return batches_of(examples, source_tokenizer, target_tokenizer, options)


class Examples(NamedTuple):
    """Pairs from `as_pairs`, and what belongs to each pair; see the arguments of `batches`."""

    pairs: tf.data.Dataset | Shards
    alignments: Sequence[Iterable[tuple[int, int]]] | None = None
    contexts: tf.data.Dataset | Iterable[str] | None = None
    sample_weight: tf.data.Dataset | Iterable[float] | None = None

    def dataset(self) -> tf.data.Dataset:
        """Return a dataset of dicts with a pair, its links, its context and its weight."""
        examples = {"pair": self.pairs}
        if self.alignments is not None:
            examples["links"] = _links(self.pairs, self.alignments)
        if self.contexts is not None:
            examples["context"] = _contexts(self.pairs, self.contexts)
        if self.sample_weight is not None:
            examples["weight"] = _weights(self.pairs, self.sample_weight)
        return tf.data.Dataset.zip(examples)


# AutoGraph takes long to convert functions, and none of these has a condition or a loop on tensors.
@tf.autograph.experimental.do_not_convert
def batches_of(
    examples: Examples,
    source_tokenizer: Tokenizer,
    target_tokenizer: Tokenizer | None,
    options: BatchOptions,
) -> tf.data.Dataset:
    """Return the batches of examples; see `batches`."""
    codec = _codec(source_tokenizer, target_tokenizer, options.extended_vocabulary)
    to_ids = partial(_to_ids, codec, options)
    buckets = Buckets(options, with_contexts=examples.contexts is not None)
    shards = examples.pairs if isinstance(examples.pairs, Shards) else None

    def ids_of(chunks: tf.data.Dataset) -> tf.data.Dataset:
        ids = chunks.map(to_ids, tf.data.AUTOTUNE).unbatch()
        # This also turns ragged tensors of one dimension into plain ones.
        return ids.map(partial(_with_words, codec), tf.data.AUTOTUNE)

    if shards is not None:
        _check_only_pairs(**examples._asdict() | {"pairs": None, "cache": options.cache})
    else:
        all_ids = ids_of(examples.dataset().batch(1024))
        if options.cache:
            all_ids = all_ids.cache()

    def epoch(seed: int | tf.Tensor | None) -> tf.data.Dataset:
        def shuffled(dataset: tf.data.Dataset, buffer: int) -> tf.data.Dataset:
            again = options.first_epoch is None
            return dataset.shuffle(buffer, seed, reshuffle_each_iteration=again)

        if shards is not None:
            chunks = shards.chunks(shuffled if options.shuffle else None)
            ids = ids_of(chunks.map(lambda *pair: {"pair": pair}))
        else:
            ids = all_ids
        if options.shuffle:
            ids = shuffled(ids, options.shuffle_buffer)
        if examples.alignments is not None:
            ids = ids.map(_with_alignments, tf.data.AUTOTUNE)
        windows = buckets.batches(ids)
        if options.fill:
            windows = windows.map(partial(fill, options))
        windows = windows.map(partial(_for_fit, codec.target_tokenizer.vocabulary_size))
        if options.shuffle:
            # Shuffle the batches too: within a window they are sorted, and the remainders of the
            # buckets come at the end of the epoch, shortest first.
            windows = shuffled(windows, buckets.mixed)
        return windows

    def epoch_of(number: tf.Tensor) -> tf.data.Dataset:
        # This sets the seed of this function's graph only, so that global seeds have no effect.
        tf.compat.v1.set_random_seed(1)
        return epoch(SEEDS_APART * (options.seed or 0) + number)

    if options.first_epoch is None:
        dataset = epoch(options.seed)
    else:
        epochs = tf.data.Dataset.counter(options.first_epoch).flat_map(epoch_of)
        dataset = epochs.repeat()  # so that its cardinality is known to be infinite
    return dataset.prefetch(tf.data.AUTOTUNE)


def _check_only_pairs(**options: Any) -> None:
    """Check that there are only pairs, because shards have nothing that belongs to each pair."""
    for name, value in options.items():
        if value is not None and value is not False:
            raise ValueError(
                f"Expected no {name} with Shards, which are read in another order in each epoch. "
                f"Received: {name}={value!r:.100}. Omit it, or pass the dataset of read_tsv or "
                "read_parallel."
            )


def _to_ids(
    codec: TranslationCodec, options: BatchOptions, example: dict[str, Any]
) -> dict[str, tf.RaggedTensor]:
    """Turn a chunk of pairs into ids `[chunk, (length)]` with the end token.

    Pairs with an empty or a long side are dropped. For links, there are the tokens of both sides.
    """
    source, target = example["pair"]
    alpha = options.subword_sampling
    encoded = codec.encode_source(source, example.get("context"), alpha=alpha)
    ids = {**encoded.ids, "targets": codec.encode_target(target, encoded, alpha=alpha)}
    kept = tf.minimum(ids["source_ids"].row_lengths(), ids["targets"].row_lengths()) > 0
    for one in ids.values():
        kept &= one.row_lengths() < options.max_length
    pair = dict(zip(ids, map(with_end, taken(ids.values(), kept)), strict=True))
    if "links" in example:
        read = codec.source_tokenizer.normalize_source(source)
        tokens = {
            "links": example["links"],
            "source_tokens": tokens_of(codec.source_tokenizer, read, ids["source_ids"]),
            "target_tokens": tokens_of(codec.target_tokenizer, target, ids["targets"]),
        }
        pair |= zip(tokens, taken(tokens.values(), kept), strict=True)
    if "weight" in example:
        (pair["weight"],) = taken([example["weight"]], kept)
    return pair


def _with_words(codec: TranslationCodec, pair: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
    """Replace the tokens, if there are links, by the words to which they belong."""
    if "links" in pair:
        source, target = (pair.pop(f"{side}_tokens") for side in ("source", "target"))
        pair["source_words"] = words_of(codec.source_tokenizer, source)
        pair["target_words"] = words_of(codec.target_tokenizer, target)
    return pair


def _with_alignments(pair: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
    """Replace the links between words by a matrix over tokens."""
    names = ("source_words", "target_words", "links")
    return pair | {"alignments": alignment_matrix(*(pair.pop(name) for name in names))}


def _for_fit(
    vocabulary_size: int, pair: dict[str, tf.Tensor]
) -> tuple[dict[str, tf.Tensor], tf.Tensor, tf.Tensor]:
    """Return inputs, targets and sample weights."""
    targets = pair.pop("targets")
    weights = tf.cast(targets != 0, tf.float32)
    if "weight" in pair:
        weights *= pair.pop("weight")[:, None]
    inputs = pair | {"target_ids": decoder_inputs(targets, vocabulary_size)}
    return inputs, targets, weights


def _codec(
    source_tokenizer: Any, target_tokenizer: Any, extended_vocabulary: bool
) -> TranslationCodec:
    """Return the codec of one tokenizer or two, and check each of them."""
    for name, value in (("source", source_tokenizer), ("target", target_tokenizer)):
        if not isinstance(value, Tokenizer) and (name == "source" or value is not None):
            raise ValueError(
                f"Expected a tokenizer of kerasnmt.text as {name}_tokenizer. Received: "
                f"{value!r:.100}. Two tokenizers are two arguments: batches(pairs, "
                "source_tokenizer, target_tokenizer)."
            )
    sides = (source_tokenizer, target_tokenizer or source_tokenizer)
    if extended_vocabulary and sides[1] is not source_tokenizer:
        received = [f"{tokenizer.kind} of {tokenizer.vocabulary_size} ids" for tokenizer in sides]
        raise ValueError(
            "Expected one tokenizer for both sides with extended_vocabulary=True. Received: two, "
            f"{' and '.join(received)}. Train one on the pairs, and omit target_tokenizer."
        )
    return TranslationCodec(*sides, extended_vocabulary)


def _links(
    pairs: tf.data.Dataset, alignments: Sequence[Iterable[tuple[int, int]]]
) -> tf.data.Dataset:
    """Return a dataset of the links of each pair, int32 `[links, 2]`."""
    check_count("alignments", len(alignments), pairs)
    links = [[(int(one), int(other)) for one, other in some] for some in alignments]
    for number, some in enumerate(links, start=1):
        if any(min(link) < 0 for link in some):
            raise ValueError(
                "Expected links between words that are counted from 0. Received: the links "
                f"{some!r:.80} of pair {number}."
            )
    links = tf.ragged.constant(links, tf.int32, ragged_rank=1, inner_shape=(2,))
    return tf.data.Dataset.from_tensor_slices(links)


def _weights(pairs: tf.data.Dataset, weights: tf.data.Dataset | Iterable[float]) -> tf.data.Dataset:
    """Return a dataset of the weight of each pair, float32 scalars."""
    if isinstance(weights, tf.data.Dataset):
        check_finite(weights)
        weights = weights.as_numpy_iterator()
    weights = as_weights("sample_weight", weights)
    check_count("weights", len(weights), pairs)
    return tf.data.Dataset.from_tensor_slices(weights)


def check_count(name: str, count: int, pairs: tf.data.Dataset) -> None:
    """Check that a column has as many rows as there are pairs."""
    expected = int(pairs.cardinality())
    if count != expected:
        raise ValueError(
            f"Expected as many {name} as pairs. "
            f"Received: {count} {name}, {expected if expected >= 0 else 'unknown'} pairs. "
            "If the number of pairs is unknown, as in a filtered dataset, pass the pairs as a list."
        )


def _contexts(pairs: tf.data.Dataset, contexts: tf.data.Dataset | Iterable[str]) -> tf.data.Dataset:
    """Return a dataset of the context of each pair."""
    if isinstance(contexts, tf.data.Dataset):
        check_finite(contexts)
        contexts = map(as_string, contexts.as_numpy_iterator())
    contexts = as_texts("contexts", contexts)
    check_count("contexts", len(contexts), pairs)
    return tf.data.Dataset.from_tensor_slices(tf.constant(contexts, tf.string))


def as_pairs(
    pairs: Any, source_key: str = "source", target_key: str = "target"
) -> tf.data.Dataset | Shards:
    """Return pairs in one of the forms of `batches` as a dataset, or `Shards` as they are."""
    text = tf.TensorSpec([], tf.string)
    is_dataset = isinstance(pairs, tf.data.Dataset) and pairs.element_spec == (text, text)
    if is_dataset or isinstance(pairs, Shards):
        return pairs
    if callable(pairs):
        return _generated(lambda: _rows(pairs(), source_key, target_key))
    if isinstance(pairs, Iterable) and not isinstance(pairs, str | bytes | tf.data.Dataset):
        sides = [*map(_pair, rows(pairs, source_key, target_key))]
        if not sides:
            raise ValueError(f"Expected at least one pair. Received: pairs={pairs!r:.200}.")
        return tf.data.Dataset.from_tensor_slices(tuple(map(list, zip(*sides, strict=True))))
    raise ValueError(f"{_EXPECTED_PAIRS} Received: pairs={pairs!r:.200}.")


def _rows(pairs: Any, source_key: str, target_key: str) -> Any:
    """Return the rows of pairs, which may be a dataset."""
    if not isinstance(pairs, tf.data.Dataset):
        return rows(pairs, source_key, target_key)
    return (tuple(map(as_string, tf.nest.flatten(row))) for row in pairs.as_numpy_iterator())


def _generated(make_rows: Callable[[], Any]) -> tf.data.Dataset:
    """Return a dataset of the pairs of a function, and check the first pair immediately."""
    pairs = make_rows()
    if not isinstance(pairs, Iterable) or next(map(_pair, pairs), None) is None:
        raise ValueError(f"{_EXPECTED_PAIRS} Received: a function that returns {pairs!r:.200}.")
    text = tf.TensorSpec([], tf.string)
    return tf.data.Dataset.from_generator(
        lambda: map(_pair, make_rows()), output_signature=(text, text)
    )


def _pair(row: Any) -> tuple[str, str]:
    """Return the source and the target of a row."""
    texts = texts_of(row)
    if len(texts) != 2:
        raise ValueError(
            f"{_EXPECTED_PAIRS} Received: a row {row!r:.200}. Write numbers as str(7), and pass "
            "other columns as contexts or sample_weight, or leave them out."
        )
    source, target = texts
    return source, target
