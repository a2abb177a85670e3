"""The built-in corpus: splits, sizes, names, alignments, and difficulty."""

import hashlib
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path

import pytest
import sacrebleu

import kerasnmt
from kerasnmt.data.builtin import SyntheticPair, builtin_corpus
from kerasnmt.data.builtin.names import ENDINGS, is_unseen, spell

PUNCTUATION = set(".,?")


@pytest.fixture(scope="module")
def train():
    return builtin_corpus(20_000)


@pytest.fixture(scope="module")
def others():
    return {split: builtin_corpus(300, split) for split in ("validation", "test", "unseen_names")}


def _spelling(pairs):
    return hashlib.sha256("\n".join(map(str, pairs)).encode()).hexdigest()


def test_the_corpus_is_the_one_that_the_published_figures_are_of(train):
    assert _spelling(train[:500]) == (
        "fcd358edee516e761da4c5f49c4e91fad87750a26513a2a44bc7478e458426ee"
    )


def test_same_corpus_in_another_process_without_tensorflow(train):
    script = """
import hashlib, sys
sys.modules["tensorflow"] = sys.modules["keras"] = sys.modules["numpy"] = None
from kerasnmt.data.builtin import builtin_corpus
print(hashlib.sha256("\\n".join(map(str, builtin_corpus(500))).encode()).hexdigest())
"""
    environment = {**os.environ, "PYTHONHASHSEED": "12345", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment,
        cwd=Path(kerasnmt.__file__).parent.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == _spelling(train[:500])


def test_seeds_and_prefixes(others):
    assert builtin_corpus(1) == builtin_corpus(40)[:1]
    for split, pairs in others.items():
        assert builtin_corpus(40, split) == pairs[:40]
    assert builtin_corpus(40, seed=2) != builtin_corpus(40, seed=1)


def test_splits_share_no_sentence(train, others):
    sources = {split: {pair.source for pair in pairs} for split, pairs in others.items()}
    sources["train"] = {pair.source for pair in train}
    sources["train, other seed"] = {pair.source for pair in builtin_corpus(2_000, seed=5)}
    assert len(sources["train"]) == 20_000
    assert all(len(sources[split]) == 300 for split in others)
    for split in others:
        for other, found in sources.items():
            assert split == other or not sources[split] & found


def test_form_of_the_sentences(train, others):
    capitals = {"I"}
    for pair in [*train, *others["unseen_names"]]:
        assert isinstance(pair, SyntheticPair)
        for side in (pair.source, pair.target):
            side_words = side.split(" ")
            assert 3 <= len(side_words) <= 32
            assert all(re.fullmatch(r"[\w'-]+|[.,?]", word) for word in side_words), side
            assert side_words[-1] in (".", "?")
            assert all(
                a not in PUNCTUATION or b not in PUNCTUATION for a, b in pairwise(side_words)
            ), side
        first = pair.source.split()[0]
        assert first[0].islower() or first.isdigit() or first in capitals or first in pair.names
    lengths = [len([w for w in pair.source.split() if w not in PUNCTUATION]) for pair in train]
    assert sum(length > 15 for length in lengths) >= 0.2 * len(lengths)
    assert 10 <= sum(lengths) / len(lengths) <= 14


def test_size_of_the_vocabulary(train):
    def types(side):
        return {
            word
            for pair in train
            for word in getattr(pair, side).split()
            if word not in pair.names and word not in PUNCTUATION and not word.isdigit()
        }

    assert len(types("source")) >= 700
    assert len(types("target")) >= 1_200


def test_every_word_is_aligned(train):
    links, unlinked_source, source_words = Counter(), 0, 0
    for pair in train:
        source, target = pair.source.split(), pair.target.split()
        assert list(pair.alignment) == sorted(set(pair.alignment))
        assert all(0 <= i < len(source) and 0 <= j < len(target) for i, j in pair.alignment)
        links.update(Counter(Counter(j for _, j in pair.alignment)[j] for j in range(len(target))))
        unlinked_source += len(source) - len({i for i, _ in pair.alignment})
        source_words += len(source)
        assert (len(source) - 1, len(target) - 1) in pair.alignment
    total = links.total()
    assert links[1] / total >= 0.95
    assert links[0] / total <= 0.005
    assert unlinked_source / source_words <= 0.03


def test_names(train, others):
    for pair in [*train, *others["test"], *others["unseen_names"]]:
        names = set(pair.names)
        assert len(names) == len(pair.names)
        assert tuple(word for word in pair.source.split() if word in names) == pair.names
        assert tuple(word for word in pair.target.split() if word in names) == pair.names
        places = {(pair.source.split().index(n), pair.target.split().index(n)) for n in names}
        assert places <= set(pair.alignment)
    assert 0.35 <= sum(bool(pair.names) for pair in train) / len(train) <= 0.45


def test_most_names_are_rare(train):
    counts = Counter(name for pair in train for name in pair.names)
    assert len(counts) > 5_000
    assert counts.most_common(1)[0][1] >= 8
    assert sum(count == 1 for count in counts.values()) > 0.7 * len(counts)
    assert sum(count for _, count in counts.most_common(2_000)) < 0.6 * counts.total()


def test_unseen_names_are_of_another_population(train, others):
    unseen = others["unseen_names"]
    assert all(pair.names for pair in unseen)
    assert 0.4 <= sum(len(pair.names) > 1 for pair in unseen) / len(unseen) <= 0.65
    assert all(is_unseen(name) for pair in unseen for name in pair.names)
    seen = [*train, *others["validation"], *others["test"]]
    assert not any(is_unseen(name) for pair in seen for name in pair.names)
    common = {name for pair in others["test"] for name in pair.names}
    assert common & {name for pair in train for name in pair.names}


def test_names_are_no_words(train):
    assert spell("f", 5, False) == spell("f", 5, False) != spell("f", 5, True)
    endings = "|".join(ending for group in ENDINGS.values() for ending in group)
    spelled = re.compile(f"([bdfgklmnprstvz][aeiou])+({endings})")
    for pair in train:
        for word in (pair.source + " " + pair.target).split():
            assert word in pair.names or not (word[0].isupper() and spelled.fullmatch(word.lower()))


@pytest.mark.parametrize("split", ["test", "unseen_names"])
def test_word_by_word_translation_is_poor(train, others, split):
    counts = defaultdict(Counter)
    for pair in train:
        source, target = pair.source.split(), pair.target.split()
        for i, j in pair.alignment:
            counts[source[i]][target[j]] += 1
    table = {word: found.most_common(1)[0][0] for word, found in counts.items()}
    pairs = others[split]
    guesses = [
        " ".join(
            table.get(word, word)
            for word in pair.source.split()
            if word in table or word in pair.names
        )
        for pair in pairs
    ]
    references = [[pair.target for pair in pairs]]
    bleu = sacrebleu.corpus_bleu(guesses, references, tokenize="none", force=True)
    assert 10 < bleu.score <= 25


def test_unknown_split():
    with pytest.raises(ValueError, match=r"Received: split='dev'. Choose one of train, validation"):
        builtin_corpus(10, "dev")


@pytest.mark.parametrize("size", [0, -3])
def test_size_below_one(size):
    with pytest.raises(ValueError, match=rf"at least 1 pair\. Received: size={size}\."):
        builtin_corpus(size)
