import functools
import inspect
import random
from collections import Counter
from dataclasses import fields

import numpy as np
import pandas
import pytest
import tensorflow as tf

from kerasnmt.data import batches, builtin_corpus, describe_batches, read_parallel
from kerasnmt.data.alignment_matrix import words_of
from kerasnmt.data.batch_options import BatchOptions
from kerasnmt.data.batching import as_pairs
from kerasnmt.ids import END_ID, PAD_ID, START_ID
from kerasnmt.text import (
    CharacterTokenizer,
    PunctuationTokenizer,
    SentencePieceTokenizer,
    WordTokenizer,
    word_indices,
)

LETTERS = CharacterTokenizer("abcdefghij")  # ids 4 to 13
DIGITS = CharacterTokenizer("0123456789")


def dataset_of(pairs):
    sources, targets = zip(*pairs, strict=True)
    return tf.data.Dataset.from_tensor_slices((list(sources), list(targets)))


def random_pairs(count, seed=0):
    """Pairs of 3 to 40 letters, whose lengths differ by at most a fifth."""
    draw = random.Random(seed)
    for _ in range(count):
        length = round(draw.triangular(3, 40, 12))
        other = max(1, round(length * draw.uniform(0.8, 1.2)))
        yield "".join(draw.choices("abcdefghij", k=length)), "".join(draw.choices("0123", k=other))


PAIRS = list(random_pairs(1500))
# Tests of what is by hand have lists.
ANOTHER_CONTAINER = pytest.mark.thorough("another container of the same")
FEW_CONTAINERS = pytest.mark.parametrize(
    "holding",
    [
        "generator",
        *(
            pytest.param(name, marks=ANOTHER_CONTAINER)
            for name in ("list", "tuple", "array", "tensor", "series")
        ),
    ],
    indirect=True,
)
FEW_OR_MANY_SHAPES = pytest.mark.parametrize("few_shapes", [True, False])


class Epoch(list):
    """The batches of an epoch in NumPy, which can be iterated like the dataset."""

    cardinality = list.__len__

    def as_numpy_iterator(self):
        return iter(self)


@pytest.fixture(scope="module")
def epoch_of():
    """Return the first epoch of batches of `PAIRS` with these options, cached."""

    @functools.cache
    def epoch_of(**options):
        dataset = batches(dataset_of(PAIRS), LETTERS, DIGITS, seed=1, **options)
        return Epoch(dataset.as_numpy_iterator())

    return epoch_of


def text_of(dataset):
    """Return all pairs of a dataset of batches, in order, decoded from their ids."""
    for inputs, targets, _ in dataset:
        for source, target in zip(np.array(inputs["source_ids"]), np.array(targets), strict=True):
            yield (
                "".join("abcdefghij"[i - 4] for i in source if i > END_ID),
                "".join("0123456789"[i - 4] for i in target if i > END_ID),
            )


def widths_of(dataset):
    return [inputs["source_ids"].shape[1] for inputs, _, _ in dataset]


def test_a_batch_by_hand():
    pairs = dataset_of([("abc", "10"), ("b", "2")])
    dataset = batches(pairs, LETTERS, DIGITS, max_length=4, shuffle=False)
    assert dataset.element_spec == (
        {
            "source_ids": tf.TensorSpec([None, None], tf.int32),
            "target_ids": tf.TensorSpec([None, None], tf.int32),
        },
        tf.TensorSpec([None, None], tf.int32),
        tf.TensorSpec([None, None], tf.float32),
    )
    ((inputs, targets, weights),) = dataset
    np.testing.assert_array_equal(inputs["source_ids"], [[4, 5, 6, 3], [5, 3, 0, 0]])
    np.testing.assert_array_equal(inputs["target_ids"], [[2, 5, 4, 0], [2, 6, 0, 0]])
    np.testing.assert_array_equal(targets, [[5, 4, 3, 0], [6, 3, 0, 0]])
    np.testing.assert_array_equal(weights, [[1, 1, 1, 0], [1, 1, 0, 0]])


def test_one_tokenizer_serves_both_sides():
    ((inputs, targets, _),) = batches(dataset_of([("ab", "ba")]), LETTERS, max_length=3)
    np.testing.assert_array_equal(inputs["source_ids"], [[4, 5, 3]])
    np.testing.assert_array_equal(targets, [[5, 4, 3]])


@pytest.mark.parametrize(
    ("options", "few_shapes"),
    [
        ({"tokens_per_batch": 100}, True),
        ({"batch_size": 16}, True),
        ({"batch_size": 16}, False),
        pytest.param(
            *({"tokens_per_batch": 333}, False),
            marks=pytest.mark.thorough("joins many shapes and a number of tokens"),
        ),
    ],
)
def test_every_pair_comes_once_an_epoch(epoch_of, options, few_shapes):
    assert Counter(text_of(epoch_of(few_shapes=few_shapes, **options))) == Counter(PAIRS)


@FEW_OR_MANY_SHAPES
def test_the_contract_holds_in_every_batch(epoch_of, few_shapes):
    for inputs, targets, weights in epoch_of(few_shapes=few_shapes, batch_size=16):
        source, target_ids = inputs["source_ids"], inputs["target_ids"]
        np.testing.assert_array_equal(weights, targets != PAD_ID)
        np.testing.assert_array_equal(target_ids != PAD_ID, targets != PAD_ID)
        assert (target_ids[:, 0] == START_ID).all()
        assert (target_ids != END_ID).all()
        for row, shifted in zip(targets, target_ids, strict=True):
            length = np.count_nonzero(row)
            assert row[length - 1] == END_ID
            assert not row[length:].any()
            np.testing.assert_array_equal(shifted[1:length], row[: length - 1])
        for row in source:
            length = np.count_nonzero(row)
            assert row[length - 1] == END_ID
            assert not row[length:].any()


def test_pairs_too_long_or_empty_are_left_out():
    kept = [("abcd", "0123"), ("a", "0123"), ("abcd", "0")]  # five tokens with the end token
    left_out = [("abcde", "0"), ("a", "01234"), ("", "0"), ("a", ""), ("", "")]
    dataset = batches(dataset_of(kept + left_out), LETTERS, DIGITS, max_length=5)
    assert Counter(text_of(dataset)) == Counter(kept)


def test_widths():
    """The numbers of letters of sources and targets, without the end token."""
    widths_of_lengths = {
        (1, 1): (8, 8),
        (7, 4): (8, 8),
        (8, 4): (9, 9),
        (4, 9): (10, 10),
        (10, 10): (11, 11),
        (20, 11): (21, 21),
        (11, 21): (23, 23),
        (22, 22): (23, 23),
        (22, 23): (25, 25),
        (82, 40): (87, 87),
        (89, 40): (92, 92),
        (40, 99): (100, 100),  # never beyond max_length
        (29, 9): (31, 31),  # three times is not more than three times
        (30, 9): (32, 16),
        (10, 63): (16, 64),
        (64, 10): (100, 16),
        (1, 30): (8, 32),
    }
    pairs = dataset_of([("a" * source, "0" * target) for source, target in widths_of_lengths])
    found = {}
    for inputs, targets, _ in batches(pairs, LETTERS, DIGITS, batch_size=1):
        ((source, target),) = text_of([(inputs, targets, None)])
        found[len(source), len(target)] = (inputs["source_ids"].shape[1], targets.shape[1])
    assert found == widths_of_lengths


def test_few_shapes_and_little_padding(epoch_of):
    statistics = describe_batches(epoch_of(few_shapes=True, tokens_per_batch=100))
    as_they_come = [PAIRS[start : start + 64] for start in range(0, len(PAIRS), 64)]
    positions = sum(len(part) * max(len(t) + 1 for _, t in part) for part in as_they_come)
    assert 1 - statistics.target_tokens / positions > 0.4
    assert statistics.target_padding < 0.07
    assert statistics.source_padding < 0.07
    assert len({shape[1:] for shape in statistics.shapes}) <= 25


def test_many_shapes_and_less_padding(epoch_of):
    few, many = (epoch_of(few_shapes=few_shapes, batch_size=16) for few_shapes in (True, False))
    before, after = describe_batches(few), describe_batches(many)
    assert after.batches == before.batches
    assert after.target_tokens == before.target_tokens
    assert after.target_padding < before.target_padding / 2
    assert after.source_padding < before.source_padding
    for inputs, targets, _ in many:  # no position is padding in all rows
        assert np.any(inputs["source_ids"] != PAD_ID, axis=0).all()
        assert np.any(targets != PAD_ID, axis=0).all()


def test_pairs_are_sorted_by_the_target_then_the_source():
    lengths = [(5, 3), (4, 6), (2, 3), (6, 6), (5, 1), (3, 2)]  # of one width
    pairs = dataset_of([("a" * source, "0" * target) for source, target in lengths])
    dataset = batches(pairs, LETTERS, DIGITS, batch_size=2, shuffle=False, few_shapes=False)
    found = [
        (inputs["source_ids"].shape, targets.shape, [(len(s), len(t)) for s, t in text_of([batch])])
        for batch in dataset
        for inputs, targets, _ in [batch]
    ]
    assert found == [
        ((2, 6), (2, 3), [(5, 1), (3, 2)]),
        ((2, 6), (2, 4), [(2, 3), (5, 3)]),
        ((2, 7), (2, 7), [(4, 6), (6, 6)]),
    ]


@pytest.mark.parametrize(
    "tokens", [100, pytest.param(333, marks=pytest.mark.thorough("makes larger batches"))]
)
def test_a_token_batch_is_as_large_as_its_width_allows(epoch_of, tokens):
    largest, partial, total = Counter(), Counter(), Counter()
    for inputs, _, _ in epoch_of(few_shapes=True, tokens_per_batch=tokens):
        size, width = inputs["source_ids"].shape
        assert size <= tokens // width
        largest[width] = max(largest[width], size)
        partial[width] += size < tokens // width
        total[width] += size
    assert all(count <= 1 for count in partial.values())  # what is left at the end
    assert all(size == min(tokens // width, total[width]) for width, size in largest.items())


@pytest.mark.parametrize(
    ("options", "shapes"),
    [
        ({}, {(1, 8, 8): 20, (1, 21, 21): 1}),  # a pair longer than a batch makes one
        ({"batch_size": 16}, {(4, 8, 8): 1, (16, 8, 8): 1, (1, 21, 21): 1}),
    ],
)
def test_a_fixed_batch_size_overrides_tokens(options, shapes):
    pairs = [*[("a", "0")] * 20, ("a" * 20, "0" * 20)]
    dataset = batches(pairs, LETTERS, DIGITS, tokens_per_batch=10, **options)
    assert describe_batches(dataset).shapes == shapes


def test_a_batch_of_a_fixed_size_is_full(epoch_of):
    shapes = describe_batches(epoch_of(few_shapes=True, batch_size=16)).shapes
    assert max(size for size, _, _ in shapes) == 16
    for width in {shape[1:] for shape in shapes}:  # a width's batches are full, except one
        assert sum(n for shape, n in shapes.items() if shape[1:] == width and shape[0] < 16) <= 1


def test_the_seed_fixes_the_whole_sequence_of_epochs():
    def epochs(seed, count):
        dataset = batches(dataset_of(PAIRS[:100]), LETTERS, DIGITS, batch_size=8, seed=seed)
        return [list(text_of(dataset)) for _ in range(count)]

    first = epochs(seed=5, count=2)
    assert first == epochs(seed=5, count=2)
    assert first[0] != first[1]
    assert sorted(first[0]) == sorted(first[1]) == sorted(PAIRS[:100])
    assert epochs(seed=6, count=1)[0] not in first


@pytest.mark.parametrize(
    "few_shapes",
    [
        pytest.param(True, marks=pytest.mark.thorough("shuffles as batches of many shapes do")),
        False,
    ],
)
def test_epochs_go_on_at_any_place(few_shapes):
    def dataset(first_epoch, seed=5, cache=False):
        options = {"batch_size": 2, "seed": seed, "first_epoch": first_epoch, "cache": cache}
        options["few_shapes"] = few_shapes
        return batches(dataset_of(pairs), LETTERS, DIGITS, **options)

    # Enough pairs of a width to sort them before the epoch's end.
    pairs = [pair for pair in PAIRS if max(map(len, pair)) < 10][:100]
    # There are three widths. The last batch of each width can be incomplete.
    widths = Counter(max(8, *(len(side) + 1 for side in pair)) for pair in pairs)
    steps = sum(-(-number // 2) for number in widths.values())
    whole = list(dataset(0).take(4 * steps).as_numpy_iterator())
    for cache in (False, True):
        tf.random.set_seed(int(cache))  # which does not matter
        later = dataset(1, cache=cache).skip(5).take(2 * steps).as_numpy_iterator()
        for found, expected in zip(later, whole[steps + 5 :], strict=False):
            tf.nest.map_structure(np.testing.assert_array_equal, found, expected)

    def rows(part):
        return [row[row > 0].tolist() for _, targets, _ in part for row in targets]

    epochs = [rows(whole[number * steps : (number + 1) * steps]) for number in range(4)]
    assert all(sorted(epoch) == sorted(epochs[0]) for epoch in epochs)  # each pair once
    assert len({str(epoch) for epoch in epochs}) == 4  # in another order
    assert rows(dataset(0, seed=6).take(steps).as_numpy_iterator()) not in epochs


def test_sentences_are_cut_anew_in_each_epoch():
    pairs = [(pair.source, pair.target) for pair in builtin_corpus(200)]
    tokenizer = SentencePieceTokenizer.train(pairs, vocabulary_size=300)

    def epoch(dataset):
        rows = [row[row > 3].tolist() for _, targets, _ in dataset for row in targets.numpy()]
        texts = tokenizer.detokenize(tf.ragged.constant(rows, tf.int32)).numpy().tolist()
        return rows, sorted(texts)

    options = {"batch_size": 16, "max_length": 300, "shuffle": False}
    drawn = batches(pairs, tokenizer, subword_sampling=0.2, **options)
    best = batches(pairs, tokenizer, **options)
    (one, text), (other, again), (_, expected) = epoch(drawn), epoch(drawn), epoch(best)
    assert text == again == expected
    assert sorted(one) != sorted(other)

    message = r"with subword_sampling, .*\. Received: cache=True, extended_vocabulary=False\.$"
    with pytest.raises(ValueError, match=message):
        batches(pairs, tokenizer, subword_sampling=0.2, cache=True)
    with pytest.raises(ValueError, match="of kind 'words', which splits a text in only one way"):
        batches(pairs, WordTokenizer.train(pairs, 100), subword_sampling=0.2)


def test_batches_of_all_widths_come_mixed(epoch_of):
    widths = np.array(widths_of(epoch_of(few_shapes=True, tokens_per_batch=100)))
    place = np.arange(len(widths))
    assert abs(np.corrcoef(place, widths)[0, 1]) < 0.25
    repeats = np.mean(widths[1:] == widths[:-1])
    assert repeats < 0.3
    last = widths[-len(set(widths)) :]
    assert list(last) != sorted(last)  # the small batches at the end too


def test_without_shuffling_a_width_keeps_its_order():
    dataset = batches(dataset_of(PAIRS), LETTERS, DIGITS, shuffle=False)
    first = list(dataset.as_numpy_iterator())
    assert list(text_of(dataset)) == list(text_of(first))
    place = {pair: number for number, pair in reversed(list(enumerate(PAIRS)))}
    by_width = {}
    for inputs, targets, weights in first:
        width = inputs["source_ids"].shape[1]
        by_width.setdefault(width, []).extend(text_of([(inputs, targets, weights)]))
    for pairs in by_width.values():
        places = [place[pair] for pair in pairs]
        assert places == sorted(places)


@pytest.mark.parametrize(
    "cache", [pytest.param(False, marks=pytest.mark.thorough("reads the text again")), True]
)
def test_a_cache_reads_the_text_once(tmp_path, cache):
    source, target = tmp_path / "a.txt", tmp_path / "b.txt"
    source.write_text("\n".join(a for a, _ in PAIRS[:200]))
    target.write_text("\n".join(b for _, b in PAIRS[:200]))
    pairs = read_parallel(source, target)
    dataset = batches(pairs, LETTERS, DIGITS, seed=1, tokens_per_batch=300, cache=cache)
    first = list(text_of(dataset))
    source.unlink()
    if cache:
        second = list(text_of(dataset))
        assert second != first
        assert Counter(second) == Counter(first)
    else:
        # Python reads the files, so TensorFlow quotes its error.
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"path='.*a\.txt' \(No such file"):
            list(text_of(dataset))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tokens_per_batch": 0}, "tokens_per_batch to be at least 1. .* tokens_per_batch=0"),
        ({"batch_size": 10**18}, "batch_size to be at most 10000000. Received: batch_size=10"),
        ({"batch_size": 0}, "batch_size to be at least 1. Received: batch_size=0"),
        ({"max_length": 1}, "max_length to be at least 2. Received: max_length=1"),
        ({"shuffle_buffer": 0}, "shuffle_buffer to be at least 1. Received: shuffle_buffer=0"),
        ({"batch_size": 2.0}, "Expected an integer as batch_size. Received: batch_size=2.0."),
        ({"batch_size": "2"}, "Expected an integer as batch_size. Received: batch_size='2'."),
        ({"max_length": True}, "Expected an integer as max_length. Received: max_length=True."),
        ({"tokens_per_batch": None}, "Expected an integer as tokens_per_batch. Received: tok"),
    ],
)
def test_sizes_too_small_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        batches(dataset_of(PAIRS), LETTERS, DIGITS, **options)


def test_the_options_are_keywords_of_batches_with_the_same_defaults():
    parameters = inspect.signature(batches).parameters
    assert len(parameters) == 20
    for option in fields(BatchOptions):
        assert parameters[option.name].default == option.default


@pytest.mark.parametrize(
    "pairs",
    [
        None,
        ["ab", "cd e"],
        [("a", "0"), ("a",)],
        [("a", 0)],
        tf.data.Dataset.from_tensor_slices(["a"]),
        dataset_of([("a", "0")]).batch(1),
        tf.data.Dataset.from_tensor_slices(([1], [2])),
    ],
)
def test_what_is_no_dataset_of_pairs_is_refused(pairs):
    with pytest.raises(
        ValueError, match=r"Dataset of \(source, target\) .* Received: (pairs=|a row)"
    ):
        batches(pairs, LETTERS, DIGITS)


ROWS = [("ab", "0"), ("abcd", "01"), ("ef", "7")]
COLUMNS = [list(side) for side in zip(*ROWS, strict=True)]

ALIKE = [
    tuple(COLUMNS),
    tuple(map(np.array, COLUMNS)),
    tuple(map(pandas.Series, COLUMNS)),
    tuple(map(tf.constant, COLUMNS)),
    tuple(map(iter, COLUMNS)),
    tf.constant(ROWS),
    np.array(ROWS),
    np.array(ROWS, object),
    [(*row, ((0, 0),)) for row in ROWS],  # tuples that begin with a pair
    [list(row) for row in ROWS],
    [dict(zip(("source", "target"), row, strict=True)) for row in ROWS],
    pandas.DataFrame(ROWS, columns=["source", "target"]),
    lambda: ({"source": a, "target": b} for a, b in ROWS),
    lambda: iter(ROWS),
    lambda: dataset_of(ROWS),
]


@pytest.mark.parametrize("pairs", ALIKE)
def test_pairs_however_a_user_holds_them(pairs):
    dataset = as_pairs(pairs)
    for _ in range(2):  # a function gives its pairs anew
        found = [(a.decode(), b.decode()) for a, b in dataset.as_numpy_iterator()]
        assert found == ROWS


@pytest.mark.parametrize(
    "pairs",
    [
        [{"de": b, "en": a} for a, b in ROWS],
        pytest.param(pandas.DataFrame(ROWS, columns=["en", "de"]), marks=ANOTHER_CONTAINER),
    ],
)
def test_columns_of_other_names(pairs):
    options = {"source_key": "en", "target_key": "de", "shuffle": False}
    assert sorted(text_of(batches(pairs, LETTERS, DIGITS, **options))) == sorted(ROWS)


def test_two_lists_that_could_be_columns_or_pairs_are_refused():
    for pairs in (COLUMNS, [["a", "0"], ["b", "1"]], (("a", "0"), ("b", "1"))):
        with pytest.raises(
            ValueError, match=r"two columns or two pairs\. Pass two columns as a tup"
        ):
            batches(pairs, LETTERS, DIGITS)
    assert as_pairs([("a", "0"), ("b", "1")]).cardinality() == 2


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ((["a", "b"], ["0"]), "as many targets as sources. Received: 2 sources, 1 targets"),
        (np.array([["a"]]), r"strings \[n, 2\]. Received: an array of shape \(1, 1\)"),
        ([{"source": "a", "de": "0"}], r"keys 'source' and 'target'. Received: .*'de'"),
        (pandas.DataFrame({"en": ["a"]}), r"columns 'source' and 'target'.*with \['en'\]"),
        (lambda: None, "Received: a function that returns None"),
        (list, r"Received: a function that returns <generator"),
        (lambda: iter(["a b"]), "Received: a row 'a b'"),
        (lambda: tf.data.Dataset.from_tensor_slices(["a"]), r"Received: a row \('a',\)"),
    ],
)
def test_pairs_that_are_incomplete(pairs, message):
    with pytest.raises(ValueError, match=message):
        batches(pairs, LETTERS, DIGITS)


def test_alignments_by_hand():
    words = WordTokenizer(["a", "b", "c", "d"])  # ids 4 to 7
    pieces = CharacterTokenizer("xyz ")
    pairs = dataset_of([("a b c", "xy z"), ("", "x"), ("d", "z x")])
    links = [[(2, 0), (0, 0), (1, 1)], [(0, 0)], []]
    dataset = batches(pairs, words, pieces, alignments=links, max_length=6, shuffle=False)
    ((inputs, targets, _),) = dataset
    assert dataset.element_spec[0]["alignments"] == tf.TensorSpec([None, None, None], tf.float32)
    # x and y are the first word, from c and a; the space is of no word; the end token neither.
    np.testing.assert_array_equal(
        inputs["alignments"][0],
        [
            [0.5, 0, 0.5, 0, 0, 0],
            [0.5, 0, 0.5, 0, 0, 0],
            [0, 0, 0, 0, 0, 0],
            [0, 1, 0, 0, 0, 0],
            [0, 0, 0, 0, 0, 0],
            [0, 0, 0, 0, 0, 0],
        ],
    )
    # The pair with an empty side is left out, and its links with it.
    assert targets.shape == (2, 6)
    assert not np.any(inputs["alignments"][1])


@pytest.mark.parametrize(
    "few_shapes",
    [pytest.param(True, marks=pytest.mark.thorough("pads whole batches of many shapes")), False],
)
def test_alignments_stay_with_their_pairs(few_shapes):
    pairs = PAIRS[:200]
    links = [[(0, 0)] if number % 3 else [] for number in range(200)]
    of_pair = dict(zip(pairs, map(bool, links), strict=True))
    options = {"batch_size": 16, "seed": 3, "cache": True, "few_shapes": few_shapes}
    dataset = batches(dataset_of(pairs), LETTERS, DIGITS, alignments=links, **options)
    for inputs, targets, weights in dataset:
        single = [(inputs, targets, weights)]
        for pair, matrix in zip(text_of(single), inputs["alignments"].numpy(), strict=True):
            assert bool(matrix.any()) == of_pair[pair]
            if matrix.any():
                # All characters are one word, with equal weights of the source word.
                lengths = len(pair[1]), len(pair[0])
                np.testing.assert_allclose(matrix[: lengths[0], : lengths[1]], 1 / lengths[1])
                assert matrix.sum() == pytest.approx(lengths[0])


@pytest.mark.parametrize(
    "make", [SentencePieceTokenizer, WordTokenizer, PunctuationTokenizer, CharacterTokenizer]
)
def test_words_in_graph_match_python(make):
    corpus = builtin_corpus(300)
    size = {"sentencepiece": 300, "characters": 60}.get(make.kind, 100)
    tokenizer = make.train([*corpus, ("犬は寝る。 ที่ฉัน が", "a")], vocabulary_size=size)
    texts = [pair.target for pair in corpus[:50]]
    odd = ["(a), b's. \"", "  two   spaces ", "▁", "ß 🙂 x🙂y", "a\u00a0b a", "\u3000a"]
    unspaced = ["犬 a が b, 犬 が", "犬は寝るabc。 a.", "犬 が 寝る", "ที่ฉัน", "犬a b犬"]
    for text in [*texts, *odd, *unspaced]:
        ids = tokenizer.tokenize([text])[0]
        tokens = tokenizer.tokens(ids)
        words = [*word_indices([token.decode() for token in tokens.numpy()], tokenizer.kind), -1]
        assert words_of(tokenizer, tokens).numpy().tolist() == words


def test_unknown_punctuation_belongs_to_its_word():
    tokenizer = PunctuationTokenizer(["good", "day", "foo", "bar"])
    options = {"alignments": [[(0, 1), (1, 0)]], "few_shapes": False, "extended_vocabulary": True}
    ((inputs, *_),) = batches([("good👍 day", "foo👍, bar")], tokenizer, **options)
    # The words of the source are good👍 and day, those of the target foo👍, and bar.
    np.testing.assert_array_equal(
        inputs["alignments"][0], [[0, 0, 1, 0]] * 3 + [[0.5, 0.5, 0, 0], [0] * 4]
    )


def test_default_tags_belong_to_the_first_word():
    characters = CharacterTokenizer([*"いぬab ", "<ja>"]).with_default_tags("ja")
    links = {"alignments": [[(0, 0), (1, 1)]], "few_shapes": False}
    ((inputs, *_),) = batches([("いぬ", "a b")], characters, **links)
    np.testing.assert_array_equal(
        inputs["alignments"][0], [[0.5, 0.5, 0, 0], [0] * 4, [0, 0, 1, 0], [0] * 4]
    )


@pytest.mark.parametrize(
    "pairs",
    [
        (["a\ud83d"], ["a"]),
        pytest.param([("a\ud83d", "a")], marks=ANOTHER_CONTAINER),
        pytest.param(lambda: [("a\ud83d", "a")], marks=ANOTHER_CONTAINER),
    ],
    ids=["columns", "pairs", "function"],
)
def test_half_of_a_surrogate_pair_in_a_pair(pairs):
    ((inputs, _, _),) = batches(pairs, CharacterTokenizer(["a", "�"]), batch_size=1)
    assert inputs["source_ids"].numpy()[0, :3].tolist() == [4, 5, 3]


def test_alignments_of_another_number():
    with pytest.raises(ValueError, match=r"Received: 1 alignments, 2 pairs\."):
        batches(dataset_of([("a", "1"), ("b", "2")]), LETTERS, DIGITS, alignments=[[(0, 0)]])
    filtered = dataset_of([("a", "1"), ("b", "2")]).filter(lambda source, target: source != "a")
    with pytest.raises(ValueError, match=r"1 alignments, unknown pairs\..* as a list"):
        batches(filtered, LETTERS, DIGITS, alignments=[[(0, 0)]])
    with pytest.raises(ValueError, match=r"counted from 0\. Received: .*\(-1, 0\).* of pair 2\."):
        batches(PAIRS[:2], LETTERS, DIGITS, alignments=[[], [(0, 0), (-1, 0)]])


def test_alignments_of_a_dataset_that_is_read_once():
    read = []

    def once():
        read.append(1)
        yield from [("ab", "1"), ("c", "2")]

    spec = (tf.TensorSpec([], tf.string), tf.TensorSpec([], tf.string))
    pairs = tf.data.Dataset.from_generator(once, output_signature=spec)
    pairs = pairs.apply(tf.data.experimental.assert_cardinality(2))
    list(batches(pairs, LETTERS, DIGITS, alignments=[[(0, 0)], []]))
    assert len(read) == 1


def test_an_extended_vocabulary_by_hand():
    words = WordTokenizer(["a", "b"])  # ids 4 and 5; copied words from 6 on
    pairs = dataset_of([("x a y x", "y x q"), ("", "x"), ("b y", "b z y")])
    dataset = batches(pairs, words, extended_vocabulary=True, max_length=6, shuffle=False)
    ids, weights = tf.TensorSpec([None, None], tf.int32), tf.TensorSpec([None, None], tf.float32)
    names = ["source_ids", "target_ids", "extended_source_ids"]
    assert dataset.element_spec == (dict.fromkeys(names, ids), ids, weights)
    ((inputs, targets, weights),) = dataset
    np.testing.assert_array_equal(inputs["source_ids"], [[1, 4, 1, 1, 3, 0], [5, 1, 3, 0, 0, 0]])
    np.testing.assert_array_equal(
        inputs["extended_source_ids"], [[6, 4, 7, 6, 3, 0], [5, 6, 3, 0, 0, 0]]
    )
    np.testing.assert_array_equal(inputs["target_ids"], [[2, 1, 1, 1, 0, 0], [2, 5, 1, 1, 0, 0]])
    np.testing.assert_array_equal(targets, [[7, 6, 1, 3, 0, 0], [5, 1, 6, 3, 0, 0]])
    np.testing.assert_array_equal(weights, [[1, 1, 1, 1, 0, 0]] * 2)


def test_contexts_by_hand():
    words = WordTokenizer(["a", "b"])  # ids 4 and 5; copied words from 6 on
    pairs = [("x a", "z x"), ("", "x"), ("b", "a"), ("a", "y")]
    contexts = ["y x y z b a a z", "a", "", "a " * 12]
    options = {"max_length": 12, "shuffle": False}
    ((inputs, targets, _), (others, *_)) = batches(
        pairs, words, contexts=contexts, extended_vocabulary=True, batch_size=1, **options
    )
    np.testing.assert_array_equal(inputs["extended_source_ids"], [[6, 4, 3] + [0] * 5])
    np.testing.assert_array_equal(inputs["extended_context_ids"], [[7, 6, 7, 8, 5, 4, 4, 8, 3, 0]])
    np.testing.assert_array_equal(inputs["context_ids"], [[1, 1, 1, 1, 5, 4, 4, 1, 3, 0]])
    np.testing.assert_array_equal(targets, [[8, 6, 3] + [0] * 5])
    # The empty context has an end; the one of 12 words and an end is too long.
    np.testing.assert_array_equal(others["context_ids"], [[3] + [0] * 7])
    # With one size, the number of words in a batch depends on the longest side, the context.
    lengths = tf.data.Dataset.from_tensor_slices(["a"] * 40 + ["a " * 11] * 20)
    dataset = batches([("a", "b")] * 60, words, contexts=lengths, tokens_per_batch=96, **options)
    shapes = [tuple(inputs["context_ids"].shape) for inputs, *_ in dataset]
    assert sorted(shapes) == sorted([(12, 8)] * 3 + [(4, 8)] + [(8, 12)] * 2 + [(4, 12)])
    assert set(dataset.element_spec[0]) == {"source_ids", "target_ids", "context_ids"}


@pytest.mark.thorough("repeats test_contexts_by_hand for many shapes")
def test_contexts_as_wide_as_the_longest():
    words = WordTokenizer(["a", "b"])  # ids 4 and 5; copied words from 6 on
    pairs, contexts = [("x a", "z x"), ("b", "a")], ["y x y z b a a z", ""]
    options = {"batch_size": 1, "shuffle": False, "few_shapes": False}
    dataset = batches(pairs, words, contexts=contexts, extended_vocabulary=True, **options)
    found = {inputs["context_ids"].shape[1]: inputs for inputs, *_ in dataset}
    np.testing.assert_array_equal(found[9]["extended_source_ids"], [[6, 4, 3]])
    np.testing.assert_array_equal(found[9]["extended_context_ids"], [[7, 6, 7, 8, 5, 4, 4, 8, 3]])


@FEW_CONTAINERS
def test_contexts_in_whatever_holds_them(holding):
    words = WordTokenizer(["a", "b"])
    options = {"batch_size": 2, "shuffle": False}
    ((inputs, *_),) = batches([("a", "b")] * 2, words, contexts=holding(["b a", "a"]), **options)
    assert inputs["context_ids"].numpy()[:, :4].tolist() == [[5, 4, 3, 0], [4, 3, 0, 0]]


def test_contexts_that_do_not_fit():
    words = WordTokenizer(["a", "b"])
    for contexts, message in (
        (["a"], r"Expected as many contexts as pairs. Received: 1 contexts, 2 pairs"),
        ("ab", r"Expected a list of texts. Received: contexts='ab', one string"),
        (tf.data.Dataset.range(2), r"Received: contexts whose item 1 is .*0\)?, of type int64"),
        # Its number of lines is unknown until it is read.
        (tf.data.Dataset.from_tensors("a").filter(lambda text: True), "1 contexts, 2 pairs"),
        (tf.data.Dataset.from_tensors("a").repeat(), r"a finite dataset.* Remove repeat\(\)"),
    ):
        with pytest.raises(ValueError, match=message):
            batches([("a", "b")] * 2, words, contexts=contexts)
    with pytest.raises(ValueError, match=r"2 contexts, unknown pairs\. .* as a list"):
        batches(lambda: [("a", "b")] * 3, words, contexts=["a", "b"])


@pytest.mark.parametrize(
    "options",
    [
        {"few_shapes": False},
        pytest.param(
            {"fill": True, "cache": True, "first_epoch": 1},
            marks=pytest.mark.thorough("joins other options"),
        ),
    ],
    ids=str,
)
def test_weights_stay_with_their_pairs(options):
    pairs = [*dict.fromkeys(PAIRS[:200]), ("a" * 50, "1"), ("", "2")]  # two of them are dropped
    weight_of = {pair: number / 8 for number, pair in enumerate(pairs)}
    dataset = batches(
        pairs, LETTERS, DIGITS, sample_weight=weight_of.values(), max_length=45, seed=3, **options
    )
    found = {}
    for batch in dataset:
        targets, weights = batch[1].numpy(), batch[2].numpy()
        for pair, target, row in zip(text_of([batch]), targets, weights, strict=True):
            found.setdefault(pair, row.max())
            np.testing.assert_array_equal(row, weight_of.get(pair, 0) * (target != PAD_ID))
        if len(found.keys() - {("", "")}) == len(pairs) - 2:  # with `first_epoch`, epochs go on
            break
    assert {pair: weight_of.get(pair, 0) for pair in found} == found


@FEW_CONTAINERS
def test_weights_by_hand(holding):
    weights = holding([0.5, 3.0, 0.25])
    ((_, _, found),) = batches(
        [("abc", "10"), ("", "1"), ("b", "2")],
        *(LETTERS, DIGITS),
        sample_weight=weights,
        shuffle=False,
        max_length=4,
    )
    np.testing.assert_array_equal(found, [[0.5, 0.5, 0.5, 0], [0.25, 0.25, 0, 0]])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], r"Expected as many weights as pairs\. Received: 1 weights, 2 pairs\."),
        (tf.data.Dataset.range(3), r"Received: 3 weights, 2 pairs\."),
        ([1.0, -0.5], r"finite weight of at least 0 .* sample_weight whose item 2 is -0\.5\."),
        ([float("nan"), 1], r"sample_weight whose item 1 is nan\."),
        ([1, float("inf")], r"sample_weight whose item 2 is inf\."),
        (["1", "2"], r"sample_weight whose item 1 is '1'\."),
        ([[1, 2], [3, 4]], r"sample_weight whose item 1 is \[1, 2\]\."),
        (0.5, r"Expected a list of weights\. Received: sample_weight=0\.5, of type float\."),
        ("12", r"Expected a list of weights\. Received: sample_weight='12', one string\."),
    ],
    ids=str,
)
def test_weights_that_do_not_fit(weights, message):
    with pytest.raises(ValueError, match=message):
        batches([("a", "1"), ("b", "2")], LETTERS, DIGITS, sample_weight=weights)


@pytest.mark.parametrize(
    "few_shapes",
    [pytest.param(True, marks=pytest.mark.thorough("pads whole batches of many shapes")), False],
)
def test_an_extended_vocabulary_stays_with_its_pairs(few_shapes):
    """Alignments, buckets, dropped pairs, shuffling and a cache do not change the ids."""
    draw = random.Random(2)
    vocabulary = ["a", "b", "x", "y", "z", "é"]
    texts = [" ".join(draw.choices(vocabulary, k=draw.randrange(25))) for _ in range(160)]
    pairs = list(zip(texts[:80], texts[80:], strict=True))
    options = {
        "alignments": [[(number % 5, number % 3)] for number in range(80)],
        "tokens_per_batch": 100,
        "max_length": 20,
        "seed": 4,
        "cache": True,
        "few_shapes": few_shapes,
    }
    words = WordTokenizer(["a", "b"])
    with_ids = batches(pairs, words, extended_vocabulary=True, **options)
    without = batches(pairs, words, **options)
    expected = Counter()
    found = words.tokenize_source(texts[:80])
    ids = words.tokenize_target(texts[80:], found.unknown_words).to_list()
    for source, target in zip(found.extended_ids.to_list(), ids, strict=True):
        if source and target and max(len(source), len(target)) < 20:
            expected[tuple(source), tuple(target)] += 1
    for _ in range(2):
        seen = Counter()
        for (inputs, targets, weights), plain in zip(with_ids, without, strict=True):
            extended = inputs.pop("extended_source_ids")
            tf.nest.map_structure(
                np.testing.assert_array_equal,
                (inputs, np.where(targets > 5, 1, targets), weights),
                (plain[0], plain[1].numpy(), plain[2]),
            )
            np.testing.assert_array_equal(inputs["source_ids"], tf.where(extended > 5, 1, extended))
            for source, target in zip(extended.numpy(), targets.numpy(), strict=True):
                seen[tuple(source[source > 3]), tuple(target[(target == 1) | (target > 3)])] += 1
        assert seen == expected


def test_an_extended_vocabulary_is_of_one_tokenizer():
    with pytest.raises(
        ValueError,
        match=r"one tokenizer for both sides .* Received: two, characters of 14 ids and .* 14",
    ):
        batches(dataset_of(PAIRS[:2]), LETTERS, DIGITS, extended_vocabulary=True)
    inputs, *_ = batches(PAIRS[:2], LETTERS, LETTERS, extended_vocabulary=True).element_spec
    assert "extended_source_ids" in inputs


@pytest.mark.parametrize(
    ("tokenizers", "message"),
    [
        (((LETTERS, DIGITS),), r"as source_tokenizer\. Received: \(<CharacterTokenizer.* two arg"),
        ((None,), r"as source_tokenizer\. Received: None\."),
        ((LETTERS, "digits"), r"as target_tokenizer\. Received: 'digits'\."),
    ],
    ids=str,
)
def test_what_is_no_tokenizer_is_refused(tokenizers, message):
    with pytest.raises(ValueError, match=message):
        batches(PAIRS[:2], *tokenizers)


@pytest.mark.thorough("goes through a dataset twice, as the test of its seed does")
@FEW_OR_MANY_SHAPES
def test_every_pair_comes_once_in_each_epoch(few_shapes):
    dataset = batches(
        dataset_of(PAIRS[:200]), LETTERS, DIGITS, seed=1, batch_size=7, few_shapes=few_shapes
    )
    for _ in range(2):
        assert Counter(text_of(dataset)) == Counter(PAIRS[:200])


@pytest.mark.thorough("joins batches of many shapes, contexts and a number of tokens")
def test_contexts_of_many_shapes_by_tokens():
    contexts = ["a"] * 40 + ["a " * 11] * 20
    options = {"tokens_per_batch": 96, "max_length": 12, "shuffle": False, "few_shapes": False}
    dataset = batches([("a", "b")] * 60, WordTokenizer(["a", "b"]), contexts=contexts, **options)
    found = {(inputs["context_ids"].shape[1], targets.shape[1]) for inputs, targets, _ in dataset}
    assert found == {(2, 2), (12, 2)}


def test_rows_with_more_than_two_entries():
    for row in (("1", "a", "b"), ("a", "b", 0.5), ("a", 7)):
        with pytest.raises(ValueError, match=r"tuples of two str, .* Received: a row "):
            batches([("a", "b"), row], LETTERS)
    with pytest.raises(ValueError, match=r"Expected at least one pair\. Received: pairs=\[\]\."):
        batches([], LETTERS)
