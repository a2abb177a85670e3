"""New recipes for files of sentence pairs."""

import inspect
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import compress, islice
from pathlib import Path
from typing import Any, Self

from kerasnmt.atomic_write import atomic_write
from kerasnmt.data.holding_out import held_out
from kerasnmt.data.lines import COMPRESSED, parallel_lines
from kerasnmt.data.tables import Column, check_columns, tagged_rows
from kerasnmt.data.writing import write_pairs
from kerasnmt.training.recipe import Recipe
from kerasnmt.training.recipe.proposal import Proposal, Side

# Number of training pairs in the sample that determines the tokenizers. It can be up to twice that.
_SAMPLE = 10_000
_FEWEST_HELD_OUT, _MOST_HELD_OUT = 100, 2_000
_FEWEST_TO_CONTINUE = 20


class PairFiles:
    """Files of sentence pairs.

    Args:
        columns: Columns of the sources and the targets in `pairs`; see `read_tsv`. None if there
            are two.
        tags: Column of the tags of each source in `pairs`, next to `columns`, or None.
        **paths: Paths of `source` and `target`, or of `pairs`, the keys of a recipe.

    Raises:
        ValueError: If there are columns, but no `pairs`; tags, but no columns; or numbers beside
            names.
    """

    def __init__(
        self,
        columns: Sequence[Column] | None = None,
        tags: Column | None = None,
        **paths: Path,
    ) -> None:
        check_columns(columns, tags)
        if columns is not None and "pairs" not in paths:
            raise ValueError(
                f"Expected columns with a file of pairs. Received: columns={columns}, and files of "
                f"{' and '.join(paths)}."
            )
        self.columns, self.tags = columns, tags
        self.paths = paths

    def __str__(self) -> str:
        return " and ".join(map(str, self.paths.values()))

    def lines(self) -> Iterator[Any]:
        """Yield the pairs, and check them.

        Raises:
            ValueError: If a file is missing or malformed.
        """
        if "pairs" in self.paths:
            return tagged_rows(self.paths["pairs"], self.columns, self.tags)
        return parallel_lines(*self.paths.values())

    def part(self, recipe: Path, split: str) -> Self:
        """Return files for a part of the pairs, in the folder of a recipe."""
        parts = {}
        for key, path in self.paths.items():
            ending = "tsv" if key == "pairs" else f"{key}.txt"
            compressed = ".gz" if path.suffix in COMPRESSED else ""
            parts[key] = recipe.with_name(f"{recipe.stem}.{split}.{ending}{compressed}")
        return type(self)(None, None, **parts)

    def keys(self, folder: Path) -> dict[str, Any]:
        """Return the keys and values of a recipe in a folder."""
        keys: dict[str, Any] = {key: _path_from(folder, path) for key, path in self.paths.items()}
        keys |= {} if self.columns is None else {"columns": [*self.columns]}
        return keys if self.tags is None else keys | {"tags": self.tags}


class NewRecipe:
    """Recipe for files of sentence pairs, before it is written.

    The constructor reads and checks the files. Only `write` needs TensorFlow.

    Args:
        path: Path of the recipe.
        train: Files of the training data.
        validation: Files of the validation data, or None. If None, `write` holds out 1% of the
            pairs, at least 100 and at most 2,000, and writes both parts to new files next to the
            recipe.
        model: Name of a model in the zoo.
        init_from: Folder of a run, or a preset, whose model is trained further, instead of `model`.
            Fewer pairs are enough, and at most a tenth is held out. None for a new model.

    Attributes:
        train: Files of the training data in the recipe.
        validation: Files of the validation data in the recipe.
        pairs: Number of pairs in the given files.
        training_pairs: Number of pairs for training.
        validation_pairs: Number of pairs for validation.

    Raises:
        ValueError: If the recipe or a file that `write` would write exists, a file is missing or
            malformed, or no pairs can be held out.
    """

    def __init__(
        self,
        path: str | os.PathLike,
        train: PairFiles,
        validation: PairFiles | None = None,
        model: str = "bahdanau_gru",
        init_from: str | os.PathLike | None = None,
    ) -> None:
        self.path = Path(path)
        if self.path.suffix not in (".yaml", ".yml"):
            raise ValueError(
                f"Expected a name that ends with .yaml for the recipe. Received: {self.path}"
            )
        self.init_from = init_from
        self.model = model
        self._unsplit = train
        self._is_split = validation is None
        if validation is None:
            self.train = train.part(self.path, "train")
            self.validation = train.part(self.path, "validation")
        else:
            self.train, self.validation = train, validation
        self._check_unused()
        if self._is_split:
            self._hold_out()
        else:
            self.pairs = self.training_pairs = _count(self.train)
            self.validation_pairs = _count(self.validation)

    def write(self) -> Recipe:
        """Write the recipe and, if pairs are held out, both parts of the data.

        Returns:
            The recipe.

        Raises:
            ValueError: If the zoo has no such model, the model needs more than pairs, or
                `init_from` is not a trained model.
        """
        files = (files.keys(self.path.parent) for files in (self.train, self.validation))
        recipe = self._proposal().to_yaml(*files)
        with ExitStack() as stack:
            # The recipe is entered first, so it gets its name last, when its data exists.
            written = stack.enter_context(atomic_write(self.path))
            written.write_text(recipe, encoding="utf-8")
            if self._is_split:
                for part, is_in_part in (
                    (self.train, ~self._is_held_out),
                    (self.validation, self._is_held_out),
                ):
                    paths = map(stack.enter_context, map(atomic_write, part.paths.values()))
                    write_pairs(compress(self._unsplit.lines(), is_in_part), *paths)
            return Recipe.load(written)

    def example(self) -> str:
        """Return a source of the validation data, to try the model."""
        sources = [source.decode() for source, _ in islice(self.validation.lines(), 1000)]
        fine = (text for text in sources if text.isprintable() and 0 < len(text.strip()) <= 80)
        # `echo` can interpret a dash and a backslash.
        return next((text for text in fine if text[0] != "-" and "\\" not in text), sources[0])

    def _check_unused(self) -> None:
        if os.path.lexists(self.path):
            raise ValueError(
                f"Expected a recipe that does not exist. Received: {self.path}, which exists. "
                "Choose another name."
            )
        if self._is_split:
            for path in (*self.train.paths.values(), *self.validation.paths.values()):
                if os.path.lexists(path):
                    raise ValueError(
                        "Expected files for the parts of the data that do not exist. Received: "
                        f"{path}, which exists. Choose another name for the recipe, or pass "
                        "validation data."
                    )

    def _hold_out(self) -> None:
        """Choose the pairs for validation."""
        pairs = _count(self._unsplit)
        fewest = 10 * _FEWEST_HELD_OUT if self.init_from is None else _FEWEST_TO_CONTINUE
        few = min(_FEWEST_HELD_OUT, pairs // 10)
        wanted = min(max(pairs // 100, few), _MOST_HELD_OUT)
        if pairs < fewest:
            raise ValueError(
                f"Expected at least {fewest:,} pairs, to hold some out for validation. Received: "
                f"{self._unsplit} with {pairs:,}. Pass validation data too, "
                "such as --validation-pairs FILE."
            )
        self._is_held_out = held_out(self._unsplit.lines(), wanted)
        self.pairs, self.validation_pairs = pairs, int(self._is_held_out.sum())
        self.training_pairs = pairs - self.validation_pairs
        if 2 * self.validation_pairs < wanted:
            raise ValueError(
                f"Expected different sources, to hold {wanted:,} pairs out for validation. "
                f"Received: {self._unsplit}, where nearly all pairs share a few sources. Pass "
                "validation data too."
            )

    def _proposal(self) -> Proposal:
        """Choose the values of the recipe."""
        from kerasnmt.models import Seq2Seq
        from kerasnmt.training.recipe.continuation import Continuation, origin_of
        from kerasnmt.zoo import get_model

        origin = None if self.init_from is None else origin_of(self.init_from)
        name = self.model if origin is None else origin.model
        make = get_model(name, Seq2Seq)
        tiny = make(5, units=8)
        if tiny.reads_context:
            raise ValueError(
                "Expected a model that reads one text. Received: "
                f"{name}, which also reads contexts. Write its recipe by hand, with "
                "data.train.context and data.validation.context."
            )
        parameters = inspect.signature(make).parameters.values()
        defaults = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}
        options: dict[str, Any] = {
            "defaults": defaults,
            "sides": self._sides(),
            "supports": _supports,
        }
        if origin is None:
            return Proposal(name, copies=tiny.copies, **options)
        return Continuation(origin, **options)

    def _sides(self) -> tuple[Side, Side]:
        """Return both sides of a sample of the pairs, from all parts of the corpus."""
        pairs = self._unsplit.lines()
        if self._is_split:
            pairs = compress(pairs, ~self._is_held_out)
        pairs = islice(pairs, 0, None, max(self.pairs // _SAMPLE, 1))
        sample = [(source.decode(), target.decode()) for source, target in pairs]
        sample = [pair for pair in sample if all(text.strip() for text in pair)]
        if not sample:
            raise ValueError(
                "Expected pairs with text on both sides. Received: "
                f"{self._unsplit}, where all pairs have an empty side."
            )
        sources, targets = zip(*sample, strict=True)
        return Side(sources, self.training_pairs), Side(targets, self.training_pairs)


def _count(files: PairFiles) -> int:
    return sum(1 for _ in files.lines())


def _supports(texts: Sequence[str], size: int, coverage: float) -> bool:
    """Return whether such a SentencePiece vocabulary can be trained on the texts."""
    from kerasnmt.text import SentencePieceTokenizer

    try:
        SentencePieceTokenizer.train(texts, size, character_coverage=coverage)
    except ValueError:
        return False
    return True


def _path_from(folder: Path, path: Path) -> str:
    """Return the path of a file for a recipe in a folder. Absolute paths stay."""
    written = str(path) if path.is_absolute() else os.path.relpath(path, folder)
    # In a recipe, "~" is the home folder.
    return f"./{written}" if written.startswith("~") else written
