"""Recipe for given data, with values that suit the data and comments that explain them."""

import json
import math
import re
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import Any, NamedTuple
from unicodedata import category

from kerasnmt.scripts import is_unspaced_script, script_of
from kerasnmt.text.tags import TAG
from kerasnmt.text.word_indices import JOINER
from kerasnmt.training.recipe.reading import as_yaml

_PIECES = (8000, 4000, 2000, 1000, 500)
# A vocabulary of 8,000 needs about 400,000 words, of six characters with a space, or of two.
_CHARACTERS_PER_PIECE, _IDEOGRAPHS_PER_PIECE = 300, 100
# With more characters, SentencePiece leaves out the rarest 0.05% of the text.
_MANY_CHARACTERS, _COVERAGE = 1_000, 0.9995
# Letters of a single word, at most, on average. Words of scripts without spaces are shorter.
_LONGEST_WORD, _LONGEST_UNSPACED_WORD = 20, 8
_MOST_WORDS = 20_000
_MOST_CHARACTERS = 4_000
# Share of the words of the targets that are neither known nor copied, for a model that copies.
_LOST_WORDS = 0.1
# Share of the targets in which any one word may be lost. More often, it belongs to their form.
_LOST_TARGETS = 0.01
# Tags in front of a text.
_TAGS = re.compile(f"(?:{TAG.pattern})*")
_FEWEST_EPOCHS, _MOST_EPOCHS = 3, 60
_MOST_LENGTH = 400


class Side:
    """Statistics of one side of a corpus, from a sample.

    Args:
        texts: Sample of the texts.
        pairs: Number of pairs of the corpus.

    Attributes:
        tags: Maximum number of tags in front of a text, or 0 if most texts have none.
        texts: The texts, without these tags.
        words: Number of occurrences of each word in the sample.
    """

    def __init__(self, texts: Sequence[str], pairs: int) -> None:
        tags = [_TAGS.match(text)[0] for text in texts]  # type: ignore[index]  # matches any text
        is_tagged = 2 * sum(map(bool, tags)) > len(tags)
        self.tags = max(one.count("<") for one in tags) if is_tagged else 0
        self.texts = [*map(str.removeprefix, texts, tags)] if is_tagged else texts
        self.pairs = pairs
        self.words = Counter(word for text in self.texts for word in text.split())

    @cached_property
    def alphabet(self) -> set[str]:
        """Characters of the sample."""
        return set().union(*self.texts)

    @property
    def characters(self) -> float:
        """Estimated number of characters of the corpus."""
        return sum(map(len, self.texts)) / len(self.texts) * self.pairs

    @cached_property
    def script(self) -> str | None:
        """Script of the sample; see `script_of`."""
        return script_of(self.texts)

    @property
    def is_ideographic(self) -> bool:
        """Whether a word has one or two characters, as in Chinese and Japanese."""
        return self.script in ("han", "japanese")

    @cached_property
    def is_unspaced(self) -> bool:
        """Whether most texts have no space."""
        return self.words.total() < 1.5 * len(self.texts)

    @cached_property
    def is_spelled(self) -> bool:
        """Whether most texts are one short word, which a model should read letter by letter.

        Sentences without spaces are longer, or end with punctuation.
        """
        if not self.is_unspaced:
            return False
        letters = sum(sum(map(str.isalpha, text)) for text in self.texts)
        longest = _LONGEST_UNSPACED_WORD if is_unspaced_script(self.script) else _LONGEST_WORD
        ends = [text.rstrip()[-1:] for text in self.texts]
        punctuated = sum(end != "" and category(end).startswith("P") for end in ends)
        return letters <= longest * len(self.texts) and 2 * punctuated < len(self.texts)

    @property
    def is_closed(self) -> bool:
        """Whether the texts consist of a few different words, such as phones."""
        return len(self.words) <= 2000 and self.words.total() >= 50 * len(self.words)

    @property
    def is_text(self) -> bool:
        """Whether the texts are sentences."""
        return not (self.is_spelled or self.is_closed)

    @property
    def most_pieces(self) -> float:
        """Number of SentencePiece pieces for which the corpus has enough text."""
        return self.characters / (
            _IDEOGRAPHS_PER_PIECE if self.is_ideographic else _CHARACTERS_PER_PIECE
        )

    @property
    def has_punctuation(self) -> bool:
        """Whether words have punctuation at their side, as in plain text."""
        marked = sum(count for word, count in self.words.items() if word != _bare(word))
        return marked > 0.02 * self.words.total()

    def length(self, kind: str) -> int:
        """Return a number of tokens that hardly any text exceeds, including the end token."""
        count = {
            "characters": len,
            "words": lambda text: len(text.split()),
            "sentencepiece": lambda text: len(text) * 2 // (3 if self.is_ideographic else 6),
            "words_and_punctuation": lambda text: len(_words_and_punctuation(text)),
        }[kind]
        lengths = sorted(map(count, self.texts))
        return lengths[math.ceil(0.99 * len(lengths)) - 1] + 1 + self.tags


class ChosenTokenizer(NamedTuple):
    """Tokenizer of a recipe. Without a size, it keeps all entries."""

    kind: str
    vocabulary_size: int | None = None
    character_coverage: float | None = None


class Proposal:
    """Values of a recipe that suit a model and a corpus.

    Args:
        model: Name of the model.
        defaults: Keywords of its constructor, with their defaults.
        copies: Whether the model copies words of the source.
        sides: Sources and targets of the training data.
        supports: Function from texts, a size and a character coverage that returns whether such a
            SentencePiece vocabulary can be trained on the texts.
    """

    start = ""  # Options of `kerasnmt train`.
    about_training = "`kerasnmt train` can train it unchanged."
    about_updates = "A model needs thousands of updates."

    def __init__(
        self,
        model: str,
        defaults: Mapping[str, Any],
        copies: bool,
        sides: tuple[Side, Side],
        supports: Callable[[Sequence[str], int, float], bool],
    ) -> None:
        self.model = model
        self.defaults = defaults
        self.copies = copies
        self.source, self.target = sides
        self._supports = supports
        self.pairs = self.source.pairs
        self.is_transformer = "num_heads" in defaults

    @cached_property
    def tokenizers(self) -> dict[str, ChosenTokenizer]:
        """Tokenizers: `shared`, or `source` and `target`."""
        source, target = self.source, self.target
        if self.copies:
            if source.is_unspaced and target.is_unspaced:
                return {"shared": ChosenTokenizer("characters")}
            if source.tags:  # a tag at a word is not a token of words
                texts = source.is_text and target.is_text
                pieces = self._pieces(source, target) if texts else None
                return {"shared": pieces or ChosenTokenizer("characters")}
            plain = source.has_punctuation or target.has_punctuation
            if plain:
                size = self._words(_words_and_punctuation)
                return {"shared": ChosenTokenizer("words_and_punctuation", size)}
            return {"shared": ChosenTokenizer("words", self._words(str.split))}
        if source.is_text and target.is_text and (pieces := self._pieces(source, target)):
            return {"shared": pieces}
        return {"source": self._tokenizer(source), "target": self._tokenizer(target)}

    def _words(self, tokens: Callable[[str], list[str]]) -> int:
        """Return the size of a vocabulary of frequent words, for a model that copies the others.

        The model learns to copy only words that are unknown in training. So the vocabulary is the
        smallest with which few words of the targets are neither known nor in their source, and no
        word is lost in many targets.

        Args:
            tokens: Function that splits a text into tokens. The most frequent of these, on both
                sides, are the vocabulary.
        """
        pairs = [
            (tokens(source), tokens(target))
            for source, target in zip(self.source.texts, self.target.texts, strict=True)
        ]
        counts = Counter(word for pair in pairs for text in pair for word in text)
        lost = Counter(word for source, target in pairs for word in {*target} - {*source})
        known, remaining, most = (
            0,
            lost.total(),
            _LOST_WORDS * sum(len({*target}) for _, target in pairs),
        )
        words = sorted(counts, key=lambda word: (-counts[word], word))
        often = max(_LOST_TARGETS * len(pairs), 1)
        needed = (rank for rank, word in enumerate(words, 1) if lost[word] > often)
        fewest = max(needed, default=0)
        for word in words[: _MOST_WORDS - 4]:
            if known >= fewest and (remaining <= most or counts[word] == 1):
                break
            known += 1
            remaining -= lost[word]
        return max(known, 1) + 4

    def _tokenizer(self, side: Side) -> ChosenTokenizer:
        """Choose the tokenizer of one side."""
        if side.is_closed and not side.tags:
            return ChosenTokenizer("words")
        if side.is_text:
            if pieces := self._pieces(side):
                return pieces
            if not side.tags and side.words.total() >= 5 * len(side.words) and not side.is_unspaced:
                return ChosenTokenizer("words")
        is_large = len(side.alphabet) > _MOST_CHARACTERS
        return ChosenTokenizer("characters", 2 * _MOST_CHARACTERS if is_large else None)

    def _pieces(self, *sides: Side) -> ChosenTokenizer | None:
        """Return the largest SentencePiece vocabulary for the texts, or None."""
        most = sum(side.most_pieces for side in sides)
        texts = [text for side in sides for text in side.texts]
        counts = Counter(character for text in texts for character in text)
        coverage = _COVERAGE if len(counts) > _MANY_CHARACTERS else 1.0
        for size in _PIECES:
            if (
                most >= size
                and _characters_for(counts, coverage) <= size / 2
                and self._supports(texts, size, coverage)
            ):
                return ChosenTokenizer("sentencepiece", size, coverage if coverage < 1 else None)
        return None

    @property
    def max_length(self) -> int:
        """Maximum number of tokens of a side, which nearly all pairs do not exceed."""
        chosen = list(self.tokenizers.values())  # one for both sides, or one for each side
        sides = zip((self.source, self.target), (chosen[0], chosen[-1]), strict=True)
        longest = max(side.length(tokenizer.kind) for side, tokenizer in sides)
        return min(max(math.ceil(longest / 50) * 50, 100), _MOST_LENGTH)

    @property
    def batch_size(self) -> int:
        """Number of pairs in a batch, which is smaller for a small corpus, for more updates."""
        bounds = {2_000: 16, 25_000: 32, 500_000: 64}
        return next((size for bound, size in bounds.items() if self.pairs < bound), 128)

    @property
    def epochs(self) -> int:
        """Number of epochs that give a few thousand updates."""
        updates = 9_000 if self.is_transformer else 4_500
        return min(max(round(updates * self.batch_size / self.pairs), _FEWEST_EPOCHS), _MOST_EPOCHS)

    @property
    def updates_per_epoch(self) -> int:
        """Approximate number of updates in an epoch."""
        return math.ceil(self.pairs / self.batch_size)

    @property
    def warmup_steps(self) -> int:
        """Number of updates over which the learning rate rises.

        A Transformer needs many. Other models get few, so that a trial of one epoch is possible.
        """
        if self.is_transformer:
            return min(1_000, self.epochs * self.updates_per_epoch // 10)
        return min(400, self.updates_per_epoch // 2)

    @property
    def learning_rate(self) -> float:
        """Maximum learning rate of the schedule."""
        if self.is_transformer:
            return 0.002 if self.defaults["units"] <= 256 else 0.0005
        return 0.002 if self.batch_size <= 32 else 0.0015

    @property
    def sizes(self) -> dict[str, Any]:
        """Keywords of the model: its size, and dropout, which a small corpus needs most."""
        sizes = {key: self.defaults[key] for key in ("units", "dropout")}
        if not self.is_transformer:
            has_many_tokens = (self.source.is_text or self.target.is_text) and self.pairs > 5_000
            dropout = 0.4 if self.pairs < 10_000 else 0.3 if self.pairs < 100_000 else 0.2
            sizes |= {"embedding_dim": 256 if has_many_tokens else 128, "dropout": dropout}
        return sizes

    @property
    def monitor(self) -> str:
        """Score of the best model."""
        return "bleu" if self.target.is_text else "exact"

    def to_yaml(self, train: Mapping[str, Any], validation: Mapping[str, Any]) -> str:
        """Return the recipe as YAML, with a comment for each value.

        Args:
            train: Files of the training data, by their keys in a recipe.
            validation: Files of the validation data, by their keys in a recipe.
        """
        sections = {
            "model": self._model(),
            "tokenizer": self._tokenizer_section(),
            "data": self._data(train, validation),
            "training": self._training(),
            "search": self._search(),
        }
        header = _comment(
            f"A recipe for {self.pairs:,} pairs. {self.about_training} Change any value here, or "
            "on the command line, for example",
            "",
        )
        example = f"kerasnmt train FILE {self.start}training.epochs=20 --output RUN"
        lines = [*header, f"#   {example}"]
        for name, entries in sections.items():
            lines += ["", f"{name}:"] if entries else []
            for comment, values in entries:
                lines += _comment(comment, "  ")
                lines += _written(values, "  ")
        return "\n".join(lines) + "\n"

    def _model(self) -> list[tuple[str, dict[str, Any]]]:
        comments = {
            "units": "Size of the layers. More units learn more from much data, but take longer.",
            "embedding_dim": "Size of the embedded tokens.",
            "dropout": "Dropout rate. Raise it if the loss falls but val_loss rises.",
        }
        return [
            (
                "A model of the zoo; `kerasnmt models` lists them. `kerasnmt init --model NAME` "
                "writes a recipe for another model: luong_general_gru trains faster, "
                "transformer_tiny takes longer and is often better, pointer_generator_gru copies "
                "rare words.",
                {"name": self.model},
            ),
            *((comments[key], {key: self.sizes[key]}) for key in comments if key in self.sizes),
        ]

    def _tokenizer_section(self) -> list[tuple[str, dict[str, Any]]]:
        entries = []
        for name, (kind, size, coverage) in self.tokenizers.items():
            comment = _KINDS[kind]
            if self.copies:
                comment += (
                    " The model copies other words from the source. It learns this from unknown "
                    "words of the training data: a smaller vocabulary copies more names."
                )
            elif kind == "sentencepiece" and size is not None:
                comment += f" Try {size // 2} too; a larger vocabulary needs more text."
                if coverage is not None:
                    comment += " The rarest characters are unknown."
            is_tagged = self.source.tags and name != "target"
            if is_tagged:
                comment += " A tag in front of a source is one token."
            if name == "shared":
                comment = f"One vocabulary for both sides. {comment}"
            options = {"vocabulary_size": size, "character_coverage": coverage}
            values = {"kind": kind, **{k: v for k, v in options.items() if v is not None}}
            values |= {"tags": True} if is_tagged else {}
            entries.append((comment, {name: values}))
        return entries

    def _data(
        self, train: Mapping[str, Any], validation: Mapping[str, Any]
    ) -> list[tuple[str, dict[str, Any]]]:
        return [
            ("Training pairs. Paths are relative to the folder of this file.", {"train": train}),
            (
                "Pairs to score after each epoch, to keep the best model. The training pairs must "
                "not contain them. A third part, `test`, would be scored once, at the end.",
                {"validation": validation},
            ),
            (
                "Maximum number of tokens of a side in training. Longer pairs are dropped.",
                {"max_length": self.max_length},
            ),
        ]

    def _training(self) -> list[tuple[str, dict[str, Any]]]:
        updates = self.epochs * self.updates_per_epoch
        return [
            (
                "Number of pairs in a batch, for one update. Halve it if memory runs out.",
                {"batch_size": self.batch_size},
            ),
            (
                f"Number of passes over the data, here about {updates:,} updates. "
                f"{self.about_updates} Try more if the scores still rise at the end.",
                {"epochs": self.epochs},
            ),
            (
                "The learning rate rises for `warmup_steps` updates and falls along a cosine. "
                "Halve it if the loss jumps.",
                {
                    "learning_rate": self.learning_rate,
                    "learning_rate_schedule": "cosine",
                    "warmup_steps": self.warmup_steps,
                },
            ),
            (
                "Score of the best model: bleu or chrf for sentences; exact, the percentage of "
                "exact matches, for answers that are right or wrong; or loss. The script of the "
                "validation data chooses the words that BLEU compares; see bleu_tokenizer.",
                {"monitor": self.monitor},
            ),
        ]

    def _search(self) -> list[tuple[str, dict[str, Any]]]:
        entries = [
            (
                "Hypotheses kept at each step of a translation. 1 is faster, but a little worse.",
                {"beam_size": 5},
            )
        ]
        if self.max_length > 100:
            longest = (
                "Maximum number of tokens of a translation.",
                {"max_length": self.max_length},
            )
            entries.append(longest)
        return entries


_KINDS = {
    "sentencepiece": "SentencePiece pieces: frequent words are one piece, rare words several.",
    "words": "Words between spaces. Separate punctuation by spaces too.",
    "words_and_punctuation": "Words, and the punctuation at their sides.",
    "characters": "Single characters.",
}


def _characters_for(counts: Counter[str], coverage: float) -> int:
    """Return the number of the most frequent characters that make up this share of a text."""
    wanted, characters = coverage * counts.total(), 0
    for _, count in counts.most_common():
        if wanted <= 0:
            break
        wanted, characters = wanted - count, characters + 1
    return characters


@cache
def _bare(word: str) -> str:
    """Return a word without the signs at its sides, if it has other characters."""
    inside = [i for i, sign in enumerate(word) if category(sign)[0] not in "PS"]
    return word[inside[0] : inside[-1] + 1] if inside else word


@cache
def _parts(word: str) -> list[str]:
    """Split a word as `PunctuationTokenizer` does."""
    bare = _bare(word)
    before, _, after = word.partition(bare)
    stem = bare[:-2] if bare.endswith(("'s", "’s")) else ""
    inside = [stem, f"{JOINER}{bare[-2:]}"] if stem else [bare]
    return [*(sign + JOINER for sign in before), *inside, *(JOINER + sign for sign in after)]


def _words_and_punctuation(text: str) -> list[str]:
    """Split a text as `PunctuationTokenizer` does, which needs TensorFlow."""
    return [part for word in text.split() for part in _parts(word)]


def _comment(text: str, indent: str) -> list[str]:
    start = f"{indent}# "
    return textwrap.wrap(text, 96, initial_indent=start, subsequent_indent=start)


def _written(values: Mapping[str, Any], indent: str) -> Iterator[str]:
    """Yield the lines of a mapping."""
    for name, value in values.items():
        key = as_yaml(name)
        if isinstance(value, Mapping) and value:
            yield f"{indent}{key}:"
            yield from _written(value, f"{indent}  ")
        elif isinstance(value, list):
            yield f"{indent}{key}: [{', '.join(map(_scalar, value))}]"
        else:
            yield f"{indent}{key}: {_scalar(value)}"


def _scalar(value: Any) -> str:
    return as_yaml(value) if isinstance(value, str) else json.dumps(value)
