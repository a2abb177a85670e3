"""Batches of ids from pairs of sentences."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import tensorflow as tf

from kerasnmt.data.alignment_matrix import alignment_matrix, words_of
from kerasnmt.data.sizes import check_size
from kerasnmt.data.targets import moved_by_one, with_end
from kerasnmt.ids import UNKNOWN_ID
from kerasnmt.text import Tokenizer
from kerasnmt.text.rows import rows

# Trainings with seeds one apart share no order of an epoch.
_SEEDS_APART = 1_000_003
_EXPECTED_PAIRS = (
    "Expected a tf.data.Dataset of (source, target) string scalars, as read_parallel gives, tuples "
    "of str, two lists (sources, targets), an array [n, 2], a DataFrame, dicts, or a function that "
    "returns one of these."
)
# The pairs of so many batches are sorted together, where shapes may be many.
_SORTED_TOGETHER = 16


def batches(
    pairs: Any,
    source_tokenizer: Tokenizer,
    target_tokenizer: Tokenizer | None = None,
    *,
    alignments: Sequence[Iterable[tuple[int, int]]] | None = None,
    contexts: tf.data.Dataset | Sequence[str] | None = None,
    tokens_per_batch: int = 4096,
    batch_size: int | None = None,
    max_length: int = 100,
    shuffle: bool = True,
    shuffle_buffer: int = 100_000,
    seed: int | None = None,
    cache: bool = False,
    few_shapes: bool = True,
    extended_vocabulary: bool = False,
    subword_sampling: float | None = None,
    first_epoch: int | None = None,
    source_key: str = "source",
    target_key: str = "target",
) -> tf.data.Dataset:
    """Tokenizes pairs of sentences and gathers those of like length into batches for `fit`.

    Both sides of a batch are padded to one width: the length of the longer side, rounded up to one
    of some (8, 9, … 20, 21, 23, … growing by a twentieth): little is padding, and XLA compiles a
    bounded number of shapes. A pair with one side more than three times the other goes by powers of
    two instead, each side by its own. With contexts the steps are wider (8, 10, 12, … growing by a
    tenth), as there is a batch to fill for any two widths. On image captions of Multi30k, in 8,000
    pieces, this makes 30 shapes of padding, and 6% of the target positions are padding (52% in
    batches of 64 in the corpus' order). With `few_shapes=False` the pairs of up to 16 batches of
    one width are sorted by the target's length, then the source's, and each side of a batch is as
    wide as its longest sentence: 167 shapes, and 2% of the target positions are padding (of the
    source 4%, else 9%).

    Like all of `tf.data` this is lazy: a corpus of which every pair is left out shows only when
    the dataset is used (`describe_batches` says so). With shuffling, batches of all widths come
    mixed over the epoch, every epoch in another order; with `few_shapes=False` the batches of a
    small corpus too, as long as they are no more than some hundreds.

    ```python
    model.fit(batches(pairs, tokenizer, tokens_per_batch=4096, seed=1, cache=True))
    ```

    Args:
        pairs: a dataset of `(source, target)` string scalars, as `read_parallel` gives; an iterable
            of tuples of `str` that begin so, as `builtin_corpus` gives; a tuple of two lists,
            `(sources, targets)`; an array of strings `[n, 2]`; a pandas DataFrame; an iterable of
            dicts; or a function that returns one of these. The function is called again for each
            epoch, and its pairs are read one by one.
        source_tokenizer: makes ids of the sources.
        target_tokenizer: makes ids of the targets; `source_tokenizer` where it is None.
        alignments: for guided attention, of each pair the links (source word, target word) between
            its words, counted from 0, in the order of the pairs, which so must not be shuffled
            beforehand.
        contexts: for models that read a context, that of each pair, in the same order; a dataset of
            string scalars, or `str`. It may be empty, and is padded to a width of its own.
        tokens_per_batch: how many positions the longest side of a batch has at most; the number of
            sentences follows from it, and is at least 1.
        batch_size: a fixed number of sentences, in place of `tokens_per_batch`.
        max_length: pairs are left out that have more tokens on a side, the end token included; and
            so are pairs with an empty side. It holds for contexts too.
        shuffle: whether to shuffle; without, pairs of one width keep their order, where shapes are
            few.
        shuffle_buffer: how many tokenized pairs are shuffled at once, and so held in memory.
        seed: makes the whole sequence of epochs the same in every run.
        cache: whether to keep all ids in memory, to tokenize in the first epoch only.
        few_shapes: whether batches have few shapes, as XLA needs, which compiles each anew: that is
            on a GPU, with JAX and with `jit_compile=True`. Elsewhere less padding saves more; up to
            512 batches are held in memory then, and 16 of each width.
        extended_vocabulary: for models that copy, whether words outside the vocabulary have ids of
            their own in each pair, see `Tokenizer.tokenize_source`, shared with its context; one
            tokenizer for both sides.
        subword_sampling: None, or alpha of `SentencePieceTokenizer.sample`, by which each sentence
            is cut into other pieces in each epoch; not with `cache` or `extended_vocabulary`.
        first_epoch: None for the batches of one epoch, in another order each time they are gone
            through; a number, from 0, for the batches of this epoch and of all after it without
            end, where the order of each depends on `seed` and its number alone. So a training goes
            on where it was interrupted: `batches(…, seed=1, first_epoch=3).skip(120)`.
        source_key: the column of a DataFrame, or the key of dicts, that holds the sources.
        target_key: the column or key that holds the targets.

    Returns:
        A dataset of `(inputs, targets, sample_weight)`, right-padded with 0: `inputs` is
        `{"source_ids": int32 [batch, source_length], "target_ids": int32 [batch, target_length]}`,
        where sources end with the end token and `target_ids` start with the start token; `targets`,
        int32 `[batch, target_length]`, are `target_ids` moved by one and end with the end token;
        `sample_weight`, float32 of the same shape, is 1 for their tokens and 0 for padding. With
        `alignments`, `inputs` has them as well, float32 `[batch, target_length, source_length]`:
        each row even over the tokens of the linked words, 0 without a link. With
        `extended_vocabulary`, `inputs` has `extended_source_ids` as well, int32
        `[batch, source_length]`: `source_ids`, but ids from the vocabulary's size on for the
        unknown words; and `targets` have these ids too, while `target_ids` are unknown there. With
        `contexts`, `inputs` has `context_ids`, and maybe `extended_context_ids`, likewise.

    Raises:
        ValueError: if `pairs` are no pairs of strings, there are not as many `alignments` or
            `contexts`, a size is out of range, `extended_vocabulary` comes with two tokenizers, or
            `subword_sampling` with what it does not go with.
    """
    pairs = _as_dataset(pairs, source_key, target_key)
    check_size("tokens_per_batch", tokens_per_batch)
    check_size("batch_size", 1 if batch_size is None else batch_size)
    check_size("max_length", max_length, 2)
    check_size("shuffle_buffer", shuffle_buffer, most=10**12)
    check_size("first_epoch", 0 if first_epoch is None else first_epoch, 0, 10**12)
    target_tokenizer = target_tokenizer or source_tokenizer
    if extended_vocabulary:
        _check_one_tokenizer(source_tokenizer, target_tokenizer)
    if subword_sampling is not None and (cache or extended_vocabulary):
        raise ValueError(
            "Expected cache=False and extended_vocabulary=False with subword_sampling, which cuts "
            f"a sentence anew each time. Received: {cache=}, {extended_vocabulary=}."
        )
    widths = _widths(max_length, 1, 20) if contexts is None else _widths(max_length, 2, 10)
    widths = tf.constant(widths)
    examples = {"pair": pairs}
    if alignments is not None:
        examples["links"] = _links(pairs, alignments)
    if contexts is not None:
        examples["context"] = _contexts(pairs, contexts)
    examples = tf.data.Dataset.zip(examples)

    def to_ids(example: dict[str, Any]) -> dict[str, tf.RaggedTensor]:
        """Strings `[chunk]` to ids `[chunk, (length)]` that end with the end token."""
        source, target = example["pair"]
        texts = {"source": source}
        if "context" in example:
            texts["context"] = example["context"]
        if extended_vocabulary:
            together = source_tokenizer.tokenize_together(*texts.values())
            extended = dict(zip(texts, together, strict=True))
            ids = {f"{name}_ids": one.ids for name, one in extended.items()}
            ids |= {f"extended_{name}_ids": one.extended_ids for name, one in extended.items()}
            unknown_words = extended["source"].unknown_words
            ids["targets"] = target_tokenizer.tokenize_target(target, unknown_words)
        elif subword_sampling is not None:
            ids = {
                f"{name}_ids": source_tokenizer.sample(text, subword_sampling)
                for name, text in texts.items()
            }
            ids["targets"] = target_tokenizer.sample(target, subword_sampling)
        else:
            ids = {f"{name}_ids": source_tokenizer.tokenize(text) for name, text in texts.items()}
            ids["targets"] = target_tokenizer.tokenize(target)
        lengths = [ids[name].row_lengths() for name in ("source_ids", "targets")]
        kept = tf.minimum(*lengths) > 0
        for one in ids.values():
            kept &= one.row_lengths() < max_length
        pair = {name: with_end(tf.ragged.boolean_mask(ids[name], kept)) for name in ids}
        if "links" in example:
            pair["links"] = tf.ragged.boolean_mask(example["links"], kept)
        return pair

    def with_alignments(pair: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
        source_words = words_of(source_tokenizer, pair["source_ids"])
        target_words = words_of(target_tokenizer, pair["targets"])
        links = pair.pop("links")
        return pair | {"alignments": alignment_matrix(source_words, target_words, links)}

    def bucket_of(pair: dict[str, tf.Tensor]) -> tf.Tensor:
        """The widths of a pair's texts, as one number that says all."""
        lengths = tf.stack([tf.size(pair["source_ids"]), tf.size(pair["targets"])])
        longest = tf.reduce_max(lengths)
        sides = tf.where(
            longest > 3 * tf.reduce_min(lengths),
            tf.minimum(_power_of_two(lengths), max_length),
            widths[tf.searchsorted(widths, [longest])[0]],
        )
        sides = [sides[0], sides[1], 0]
        if contexts is not None:
            length = tf.size(pair["context_ids"])
            sides[2] = widths[tf.searchsorted(widths, [length])[0]]
        source, target, context = (tf.cast(side, tf.int64) for side in sides)
        return (context * (max_length + 1) + source) * (max_length + 1) + target

    def sides_of(bucket: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        sides, target = bucket // (max_length + 1), bucket % (max_length + 1)
        return sides % (max_length + 1), target, sides // (max_length + 1)

    def size_of(bucket: tf.Tensor) -> tf.Tensor:
        if batch_size is not None:
            return tf.constant(batch_size, tf.int64)
        return tf.maximum(tokens_per_batch // tf.reduce_max(tf.stack(sides_of(bucket))), 1)

    def window_size(bucket: tf.Tensor) -> tf.Tensor:
        return size_of(bucket) * (1 if few_shapes else _SORTED_TOGETHER)

    def pad(bucket: tf.Tensor, window: tf.data.Dataset) -> tf.data.Dataset:
        shapes = _shapes(window.element_spec, *sides_of(bucket))
        padded = window.padded_batch(window_size(bucket), shapes)
        if few_shapes:
            return padded
        return padded.map(_by_lengths).unbatch().batch(size_of(bucket)).map(_trimmed)

    def for_fit(pair: dict[str, tf.Tensor]) -> tuple[dict, tf.Tensor, tf.Tensor]:
        targets = pair.pop("targets")
        # The decoder embeds its inputs, and has embeddings for the vocabulary alone.
        known = tf.where(targets < target_tokenizer.vocabulary_size, targets, UNKNOWN_ID)
        inputs = pair | {"target_ids": moved_by_one(known)}
        return inputs, targets, tf.cast(targets != 0, tf.float32)

    ids = examples.batch(1024).map(to_ids, tf.data.AUTOTUNE).unbatch()
    ids = ids.map(lambda pair: pair)  # from ragged tensors of one dimension to plain ones
    if cache:
        ids = ids.cache()

    def epoch(seed: int | tf.Tensor | None) -> tf.data.Dataset:
        pairs = ids
        if shuffle:
            pairs = pairs.shuffle(
                shuffle_buffer, seed, reshuffle_each_iteration=first_epoch is None
            )
        if alignments is not None:
            pairs = pairs.map(with_alignments, tf.data.AUTOTUNE)
        windows = pairs.group_by_window(bucket_of, pad, window_size_func=window_size).map(for_fit)
        if shuffle:
            # Batches of a window come in order, and the rest of every bucket comes at the end of
            # the epoch, shortest first: mix these too.
            size = 64 if few_shapes else 32 * _SORTED_TOGETHER
            windows = windows.shuffle(size, seed, reshuffle_each_iteration=first_epoch is None)
        return windows

    def epoch_of(number: tf.Tensor) -> tf.data.Dataset:
        # Of this function's graph alone: what is set outside shall not matter.
        tf.compat.v1.set_random_seed(1)
        return epoch(_SEEDS_APART * (seed or 0) + number)

    if first_epoch is None:
        dataset = epoch(seed)
    else:
        dataset = tf.data.Dataset.counter(first_epoch).flat_map(epoch_of)
    return dataset.prefetch(tf.data.AUTOTUNE)


def _shapes(names: Iterable[str], source: Any, target: Any, context: Any) -> dict[str, list]:
    """The shapes of what a pair holds, by the widths of its texts."""
    shapes = {
        "source_ids": [source],
        "targets": [target],
        "extended_source_ids": [source],
        "alignments": [target, source],
        "context_ids": [context],
        "extended_context_ids": [context],
    }
    return {name: shapes[name] for name in names}


def _by_lengths(pairs: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
    """Padded pairs in the order of the targets' lengths; of equal ones, the sources'."""
    keys = _lengths(pairs["targets"]) * (tf.shape(pairs["source_ids"])[1] + 1)
    order = tf.argsort(keys + _lengths(pairs["source_ids"]), stable=True)
    return {name: tf.gather(values, order) for name, values in pairs.items()}


def _trimmed(pairs: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
    """Padded pairs without the positions that are padding in all of them."""
    texts = ("source_ids", "targets", "context_ids")
    widths = [tf.reduce_max(_lengths(pairs[name])) if name in pairs else 0 for name in texts]
    shapes = _shapes(pairs, *widths)
    return {
        name: tf.slice(values, [0] * len(values.shape), [-1, *shapes[name]])
        for name, values in pairs.items()
    }


def _lengths(ids: tf.Tensor) -> tf.Tensor:
    """Numbers of tokens, int32 `[batch]`, of ids `[batch, width]`."""
    return tf.math.count_nonzero(ids, axis=1, dtype=tf.int32)


def _widths(max_length: int, least: int, parts: int) -> list[int]:
    """Widths that grow by one part of so many, by `least` at the least, up to `max_length`."""
    widths = [min(8, max_length)]
    while widths[-1] < max_length:
        growth = max(least, -(-widths[-1] // parts))
        widths.append(min(widths[-1] + growth, max_length))
    return widths


def _power_of_two(lengths: tf.Tensor) -> tf.Tensor:
    """Lengths, int32, rounded up to powers of two, to 8 at the least."""
    powers = tf.constant([2**exponent for exponent in range(3, 31)])
    return tf.gather(powers, tf.searchsorted(powers, lengths))


def _check_one_tokenizer(source_tokenizer: Tokenizer, target_tokenizer: Tokenizer) -> None:
    if target_tokenizer is not source_tokenizer:
        sides = (source_tokenizer, target_tokenizer)
        received = [f"{tokenizer.kind} of {tokenizer.vocabulary_size} ids" for tokenizer in sides]
        raise ValueError(
            "Expected one tokenizer for both sides with extended_vocabulary=True. Received: two, "
            f"{' and '.join(received)}. Train one on the pairs, and leave out target_tokenizer."
        )


def _links(
    pairs: tf.data.Dataset, alignments: Sequence[Iterable[tuple[int, int]]]
) -> tf.data.Dataset:
    """The links, int32 `[links, 2]`, of each pair."""
    count = int(pairs.cardinality())
    if count != len(alignments):
        raise ValueError(
            "Expected as many alignments as pairs. "
            f"Received: {len(alignments)} alignments, {count if count >= 0 else 'unknown'} pairs. "
            "(A filtered dataset does not know its number; give the pairs as a list.)"
        )
    links = [[(int(one), int(other)) for one, other in some] for some in alignments]
    links = tf.ragged.constant(links, tf.int32, ragged_rank=1, inner_shape=(2,))
    return tf.data.Dataset.from_tensor_slices(links)


def _contexts(pairs: tf.data.Dataset, contexts: tf.data.Dataset | Sequence[str]) -> tf.data.Dataset:
    """The context of each pair."""
    if not isinstance(contexts, tf.data.Dataset):
        if isinstance(contexts, str) or not all(isinstance(one, str) for one in contexts):
            raise ValueError(
                "Expected a tf.data.Dataset of string scalars, or a list of str, as contexts. "
                f"Received: contexts={contexts!r:.200}."
            )
        contexts = tf.data.Dataset.from_tensor_slices(tf.constant([*contexts], tf.string))
    counts = int(pairs.cardinality()), int(contexts.cardinality())
    if min(counts) >= 0 and counts[0] != counts[1]:
        raise ValueError(
            "Expected as many contexts as pairs. "
            f"Received: {counts[1]} contexts, {counts[0]} pairs."
        )
    return contexts


def _as_dataset(pairs: Any, source_key: str, target_key: str) -> tf.data.Dataset:
    text = tf.TensorSpec([], tf.string)
    if isinstance(pairs, tf.data.Dataset) and pairs.element_spec == (text, text):
        return pairs
    if callable(pairs):
        return _generated(lambda: rows(pairs(), source_key, target_key))
    if isinstance(pairs, Iterable) and not isinstance(pairs, str | bytes | tf.data.Dataset):
        sides = [*map(_pair, rows(pairs, source_key, target_key))]
        if sides:
            return tf.data.Dataset.from_tensor_slices(tuple(map(list, zip(*sides, strict=True))))
    raise ValueError(f"{_EXPECTED_PAIRS} Received: pairs={pairs!r:.200}.")


def _generated(make_rows: Callable[[], Any]) -> tf.data.Dataset:
    """Return a dataset of the pairs of a function; the first one is checked at once."""
    made = make_rows()
    if not isinstance(made, Iterable) or next(map(_pair, made), None) is None:
        raise ValueError(f"{_EXPECTED_PAIRS} Received: a function that returns {made!r:.200}.")
    text = tf.TensorSpec([], tf.string)
    return tf.data.Dataset.from_generator(
        lambda: map(_pair, make_rows()), output_signature=(text, text)
    )


def _pair(row: Any) -> tuple[str, str]:
    """Return source and target of a row that begins with them."""
    pair = row[:2] if isinstance(row, tuple | list) else ()
    if [*map(type, pair)] != [str, str]:
        raise ValueError(f"{_EXPECTED_PAIRS} Received: a row {row!r:.200}.")
    return pair[0], pair[1]
