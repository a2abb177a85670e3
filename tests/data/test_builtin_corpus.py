"""The built-in corpus: splits, sizes, names and alignments."""

import hashlib
import os
import re
import subprocess
import sys
from collections import Counter
from itertools import combinations, pairwise
from pathlib import Path

import pytest

import kerasnmt
from kerasnmt.data import SyntheticPair, builtin_corpus

PUNCTUATION = set(".,?")
# The SHA-256 of all pairs that the grammar generated.
CHECKSUMS = {
    "train": "1cca52dd431b9ecda28882c07ed7e80171c793793ce956a5c6047e7943d4c7f2",
    "validation": "e79e8847a2bfe3e7b5523bade4ae528c7147e6d0daac840573173c123e7ff30c",
    "test": "10dda5a5dafc3e4e1ce476f80e7e9d4e52c78e4a5404fc051a9f1e3cc085b7bc",
    "unseen_names": "768c384f6462998f4149ded6d9b165ea39910268a375f5ab719aa9a05d24739a",
}
SIZES = {"train": 50_000, "validation": 5_000, "test": 5_000, "unseen_names": 5_000}


same = pytest.mark.thorough("the checksums show that these are the same pairs")


@pytest.fixture(scope="module")
def splits():
    return {split: builtin_corpus(size, split) for split, size in SIZES.items()}


@pytest.fixture(scope="module")
def every_pair(splits):
    return [pair for pairs in splits.values() for pair in pairs]


def _spelling(pairs):
    return hashlib.sha256("\n".join(map(str, pairs)).encode()).hexdigest()


@pytest.mark.parametrize("split", SIZES)
def test_the_corpus_is_the_one_that_the_published_figures_are_of(splits, split):
    assert len(splits[split]) == SIZES[split]
    assert _spelling(splits[split]) == CHECKSUMS[split]


def test_same_corpus_in_another_process_without_tensorflow(splits):
    script = """
import hashlib, sys
sys.modules["tensorflow"] = sys.modules["keras"] = sys.modules["numpy"] = None
from kerasnmt.data.builtin import builtin_corpus
print(hashlib.sha256("\\n".join(map(str, builtin_corpus(500))).encode()).hexdigest())
"""
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONHASHSEED": "12345"}
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment,
        cwd=Path(kerasnmt.__file__).parent.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == _spelling(splits["train"][:500])


def test_a_smaller_size_gives_the_first_pairs(splits):
    for split, pairs in splits.items():
        assert builtin_corpus(1, split, seed=1) == pairs[:1]
        assert builtin_corpus(40, split) == pairs[:40]


def test_splits_share_no_sentence(splits):
    sources = [{pair.source for pair in pairs} for pairs in splits.values()]
    assert [len(found) for found in sources] == [*SIZES.values()]
    assert not any(one & other for one, other in combinations(sources, 2))


@same
def test_form_of_the_sentences(every_pair):
    word = re.compile(r"[\w'-]+|[.,?]")
    for pair in every_pair:
        assert isinstance(pair, SyntheticPair)
        for side in (pair.source, pair.target):
            side_words = side.split(" ")
            assert 3 <= len(side_words) <= 32
            assert all(map(word.fullmatch, side_words)), side
            assert side_words[-1] in (".", "?")
            assert not any({*neighbours} <= PUNCTUATION for neighbours in pairwise(side_words)), (
                side
            )
        first = pair.source.split()[0]
        assert first[0].islower() or first.isdigit() or first == "I" or first in pair.names


@same
def test_alignments(every_pair):
    unlinked, words = Counter(), Counter()
    for pair in every_pair:
        sides = pair.source.split(), pair.target.split()
        assert list(pair.alignment) == sorted(set(pair.alignment))
        for name, side, linked in zip(
            ("source", "target"), sides, zip(*pair.alignment, strict=True), strict=True
        ):
            assert {*linked} <= {*range(len(side))}
            assert max(linked) == len(side) - 1
            words[name] += len(side)
            unlinked[name] += len(side) - len({*linked})
    assert unlinked["source"] / words["source"] <= 0.03
    assert unlinked["target"] / words["target"] <= 0.005


@same
def test_names(every_pair):
    made_up = {name for pair in every_pair for name in pair.names}
    for pair in every_pair:
        source, target = pair.source.split(), pair.target.split()
        assert len({*pair.names}) == len(pair.names)
        assert tuple(word for word in source if word in made_up) == pair.names
        assert tuple(word for word in target if word in made_up) == pair.names
        places = {(source.index(name), target.index(name)) for name in pair.names}
        assert places <= {*pair.alignment}


def test_most_names_are_rare(splits):
    counts = Counter(name for pair in splits["train"][:20_000] for name in pair.names)
    assert len(counts) > 5_000
    assert sum(count == 1 for count in counts.values()) > 0.7 * len(counts)


def test_unseen_names_are_in_no_other_split(splits):
    names = {
        split: {name for pair in pairs for name in pair.names} for split, pairs in splits.items()
    }
    assert all(pair.names for pair in splits["unseen_names"])
    assert not names["unseen_names"] & (names["train"] | names["validation"] | names["test"])
    assert names["test"] & names["train"]


def test_unknown_split():
    with pytest.raises(ValueError, match=r"Received: split='dev'. Choose one of train, validation"):
        builtin_corpus(10, "dev")


@pytest.mark.parametrize("size", [0, -3])
def test_size_below_one(size):
    with pytest.raises(ValueError, match=rf"size to be at least 1\. Received: size={size}\."):
        builtin_corpus(size)


@pytest.mark.parametrize("split", SIZES)
def test_size_above_the_split(split):
    size = SIZES[split] + 1
    with pytest.raises(ValueError) as error:
        builtin_corpus(size, split)
    assert str(error.value) == (
        f"Expected size at most {size - 1:,}, the number of pairs of the split {split!r} of the "
        f"built-in corpus. Received: size={size}. Read fewer pairs, or repeat them."
    )


def test_size_is_an_integer():
    with pytest.raises(ValueError, match=r"an integer as size\. Received: size=2\.5\."):
        builtin_corpus(2.5)


def test_other_seed():
    with pytest.raises(ValueError, match=r"Expected seed=1, .* Received: seed=2\. Leave it out\."):
        builtin_corpus(10, seed=2)
