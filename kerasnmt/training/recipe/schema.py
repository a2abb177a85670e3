"""Schema of a recipe, which validates each key of its YAML file."""

import dataclasses
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeFloat,
    PositiveFloat,
    PrivateAttr,
    ValidationError,
    create_model,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from kerasnmt.data.patterns import is_pattern, matching_files
from kerasnmt.data.tables import check_columns
from kerasnmt.decoding import TranslationOptions
from kerasnmt.training.recipe.messages import first_problem
from kerasnmt.training.recipe.reading import read_document, with_absolute_paths

# Larger numbers are mistakes that would exhaust the memory or overflow.
_Count = Annotated[int, Field(gt=0, le=10**6)]
_CountOrZero = Annotated[int, Field(ge=0, le=10**6)]
_Seed = Annotated[int, Field(ge=0, lt=2**31)]


class _Section(BaseModel):
    """Base class of all sections: no unknown keys, no silent conversions, finite numbers."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class _Model(_Section):
    """Model of the zoo, and the keywords of its constructor, which the zoo checks."""

    model_config = ConfigDict(extra="allow")

    name: str = Field(description="A name of the zoo, such as bahdanau_gru.")

    @property
    def keywords(self) -> dict[str, Any]:
        """All keys except the name."""
        return dict(self.model_extra or {})


# Normalizations of each kind of tokens.
_FORMS = {
    "sentencepiece": ("nfc", "nfkc", "nmt_nfkc", "identity"),
    "characters": ("nfc", "nfd"),
}


class _Tokenizer(_Section):
    """Tokenizer that is trained on the training data."""

    kind: Literal["sentencepiece", "words", "words_and_punctuation", "characters"] = Field(
        description="Kind of tokens; words_and_punctuation is for words of plain text."
    )
    vocabulary_size: int | None = Field(
        None,
        gt=4,
        le=10**6,
        description="Number of entries, including the four special ids. For words and characters, "
        "it is a maximum, and null keeps all. SentencePiece needs a number that the text supports.",
    )

    character_coverage: float = Field(
        1.0,
        gt=0,
        le=1,
        description="Share of the text's characters that SentencePiece covers; the rarest ones "
        "become unknown. 0.9995 suits scripts with thousands of characters.",
    )
    normalization: Literal["nfc", "nfd", "nfkc", "nmt_nfkc", "identity"] | None = Field(
        None,
        description="Normalization of SentencePiece; null for nfc. nfc keeps targets as they are "
        "written, and reads unknown characters of sources in their compatible form; nfkc and "
        "nmt_nfkc replace compatible characters, such as ½ and …, on both sides; identity changes "
        "only spaces. Or of characters; null for none. nfd reads the letters of Korean syllables, "
        "and accents, as characters; nfc composes them.",
    )

    tags: bool = Field(
        False,
        description="Whether a tag in a text, such as <de>, is one token of SentencePiece or "
        "characters.",
    )

    @model_validator(mode="after")
    def _options_of_pieces(self) -> Self:
        if self.kind == "sentencepiece" and self.vocabulary_size is None:
            raise ValueError("should have vocabulary_size, such as 8000, with kind: sentencepiece")
        if self.kind != "sentencepiece" and "character_coverage" in self.options:
            raise ValueError("should have kind: sentencepiece with character_coverage")
        forms = _FORMS.get(self.kind, ())
        if self.normalization not in (None, *forms):
            fitting = " or ".join(
                kind for kind, taken in _FORMS.items() if self.normalization in taken
            )
            raise ValueError(
                f"should have kind: {fitting} with normalization: {self.normalization}"
            )
        if self.tags and self.kind.startswith("words"):
            raise ValueError("should have kind: sentencepiece or characters with tags")
        return self

    @property
    def options(self) -> dict[str, Any]:
        """Keywords of the tokenizer's `train`, without defaults."""
        return self.model_dump(exclude={"kind"}, exclude_defaults=True)


class _Tokenizers(_Section):
    """One tokenizer for both sides, or one for each side."""

    shared: _Tokenizer | None = Field(None, description="Tokenizer of both sides.")
    source: _Tokenizer | None = Field(None, description="Tokenizer of the sources.")
    target: _Tokenizer | None = Field(None, description="Tokenizer of the targets.")

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if self.model_dump(exclude_none=True).keys() not in ({"shared"}, {"source", "target"}):
            raise ValueError("should be one of {shared} and {source, target}")
        return self

    @property
    def chosen(self) -> dict[str, _Tokenizer]:
        """Tokenizers: `shared`, or `source` and `target`."""
        tokenizers = {"shared": self.shared, "source": self.source, "target": self.target}
        return {name: tokenizer for name, tokenizer in tokenizers.items() if tokenizer}


_File = Annotated[Path, Field(strict=False)]


class _Pairs(_Section):
    """Sentence pairs: two files, one file, or the built-in corpus.

    A pattern, such as `corpus-*.tsv.gz`, stands for all files that it matches.
    """

    source: _File | None = Field(
        None,
        description="File of source sentences, one in each line, or a pattern; plain or compressed "
        "with gzip, bzip2 or xz.",
    )
    target: _File | None = Field(
        None, description="File of the translations, line by line, or a pattern."
    )
    pairs: _File | None = Field(
        None,
        description="File with a source, a tab and a target in each line, or a pattern, such as "
        "corpus-*.tsv.gz. Training pairs of a pattern are not kept in memory. See columns for "
        ".csv and .jsonl.",
    )
    columns: list[Any] | None = Field(
        None,
        description="Columns of the source and the target in the files of pairs, such as [1, 3] "
        "or, by the names of a heading row or the keys of .jsonl, [english, german].",
    )
    tags: Any = Field(
        None,
        description="Column of pairs with the tags of each source, such as V;PST or a language, "
        "which are put in front of it; with columns, and with tags: true of the tokenizer.",
    )
    builtin: _Count | None = Field(
        None,
        description="Number of pairs of the built-in corpus, at most 50,000 for training and 5,000 "
        "for validation and for testing.",
    )
    context: _File | None = Field(
        None, description="File of contexts, line by line, for models that read them."
    )

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        forms = ({"source", "target"}, {"pairs"}, {"builtin"})
        further = {"alignments", "context", "columns", "tags", "weight", "weights"}
        if self.model_dump(exclude_none=True).keys() - further not in forms:
            raise ValueError("should be one of {source, target}, {pairs} and {builtin}")
        if self.columns is not None and not self.pairs:
            raise ValueError("should have pairs with columns")
        self._check_column("tags")
        return self

    def _check_column(self, name: str) -> None:
        """Check that the value of a key, if it is given, is a column beside `columns`."""
        try:
            check_columns(self.columns, getattr(self, name))
        except ValueError:
            raise ValueError(
                f"should have {name}, a column of pairs, by number or by name like columns"
            ) from None

    @field_validator("columns")
    @classmethod
    def _columns_are_two(cls, value: list[Any] | None) -> list[Any] | None:
        try:
            check_columns(value)
        except ValueError:
            value = []
        if value is not None and len(value) != 2:
            raise ValueError("should be two numbers, counted from 1, or two names")
        return value


class _TrainingPairs(_Pairs):
    """Sentence pairs for training."""

    alignments: _File | None = Field(
        None,
        description="File of word alignments, `0-0 1-2`, for guided attention.",
    )

    weight: Any = Field(
        None,
        description="Column of pairs with the weight of each pair in the loss, a number of at "
        "least 0; with columns.",
    )
    weights: _File | None = Field(
        None, description="File of weights of the pairs in the loss, line by line."
    )

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.weight is not None and self.weights:
            raise ValueError("should have either weight or weights")
        self._check_column("weight")
        if self.builtin and self.alignments:
            raise ValueError("should have no alignments, because the built-in corpus has its own")
        weighted = self.weight is not None or self.weights
        if self.streams and (self.context or self.alignments or weighted):
            raise ValueError(
                "should have no context, alignments or weights with a pattern, because its pairs "
                "are read in another order in each epoch"
            )
        return self

    @property
    def streams(self) -> bool:
        """Whether the pairs are read during training, because they are the files of a pattern."""
        return any(is_pattern(path) for path in (self.source, self.target, self.pairs) if path)


class _Data(_Section):
    """Sentence pairs of a run."""

    train: _TrainingPairs = Field(description="Pairs to train the tokenizers and the model.")
    validation: _Pairs = Field(description="Pairs to score after each epoch.")
    test: _Pairs | None = Field(None, description="Pairs to score once, at the end.")

    max_length: int = Field(
        100,
        ge=2,
        le=10**5,
        description="Maximum number of tokens of a side in training, including the end token.",
    )

    @property
    def splits(self) -> dict[str, _Pairs]:
        """Pairs of each split: `train`, `validation` and, if it is given, `test`."""
        splits = {"train": self.train, "validation": self.validation, "test": self.test}
        return {split: pairs for split, pairs in splits.items() if pairs}

    @property
    def files(self) -> dict[str, Path]:
        """All files, by their dotted keys, such as `data.train.source`."""
        return {
            f"data.{split}.{name}": path
            for split, pairs in self.splits.items()
            for name, path in pairs
            if isinstance(path, Path)
        }

    def check_files(self) -> None:
        """Check that all files exist.

        Raises:
            ValueError: If a file is missing, or a pattern matches no file. The error names the key.
        """
        for key, path in self.files.items():
            if not any(map(os.path.exists, matching_files(path))):
                what = "no file matches {}" if is_pattern(path) else "the file {} does not exist"
                raise ValueError(f"{key}: {what.format(path)}.")


class _Training(_Section):
    """Batches, optimizer and schedule."""

    tokens_per_batch: _Count | None = Field(
        None,
        description="Number of tokens of the longer side in a batch; 4096 unless batch_size is "
        "given.",
    )
    batch_size: _Count | None = Field(
        None, description="Number of sentence pairs in a batch, instead of tokens_per_batch."
    )
    few_shapes: bool = Field(
        True, description="Whether to pad batches to a few shapes for XLA; false for less padding."
    )
    epochs: _Count = Field(10, description="Number of passes over the training data.")
    learning_rate: PositiveFloat = Field(0.001, description="Maximum learning rate.")
    learning_rate_schedule: Literal["constant", "cosine", "inverse_sqrt", "plateau"] = Field(
        "constant", description="Learning rate after the warm-up; plateau has no warm-up."
    )
    warmup_steps: _CountOrZero = Field(
        0, description="Number of steps over which the learning rate rises linearly from zero."
    )
    plateau_factor: float = Field(
        0.5, gt=0, lt=1, description="Factor by which a plateau reduces the learning rate."
    )
    plateau_patience: _Count = Field(
        2,
        description="Number of epochs without improvement of `monitor` before the learning rate is "
        "reduced.",
    )
    loss: Literal["cross_entropy", "entmax15", "sparsemax"] | None = Field(
        None,
        description="Loss of the words; entmax15 and sparsemax give most words a probability of 0. "
        "null keeps the loss of a trained model, and is cross_entropy for a new one.",
    )
    label_smoothing: float = Field(
        0.1,
        ge=0,
        lt=1,
        description="Probability that is taken from the target token and spread over all tokens.",
    )
    guided_attention: NonNegativeFloat | None = Field(
        None,
        description="Weight of the loss that compares the attention with the alignments of the "
        "training data; null for no such loss.",
    )
    word_dropout: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="Share of words that become the unknown word in training. A model that copies "
        "learns to copy the dropped words of its sources.",
    )
    subword_sampling: NonNegativeFloat | None = Field(
        None,
        description="Alpha of subword regularization, such as 0.2: SentencePiece samples other "
        "pieces of each sentence in each epoch, without a cache; null for the best pieces.",
    )
    scheduled_sampling: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="Probability that the decoder reads its own prediction instead of the previous "
        "word; it rises from 0 during training.",
    )
    r_drop: NonNegativeFloat = Field(
        0.0,
        description="Weight of R-Drop, such as 1: the divergence of two passes with different "
        "dropout; 0 for no R-Drop.",
    )
    clip_norm: PositiveFloat | None = Field(
        1.0, description="Maximum norm of all gradients together; null for no limit."
    )
    accumulate_batches: _Count = Field(
        1, description="Number of batches whose gradients are averaged for one update."
    )
    precision: Literal["float32", "bfloat16", "float16"] = Field(
        "float32", description="Type of the computation. Weights and losses are always float32."
    )
    monitor: Literal["bleu", "chrf", "exact", "loss"] = Field(
        "bleu",
        description="Score of the validation data that chooses the best model; exact is the "
        "percentage of exact matches, for tasks with one right answer, such as pronunciation.",
    )
    bleu_tokenizer: str | None = Field(
        None,
        description="Tokenizer of sacreBLEU, such as 13a, intl, zh, ja-mecab, char or flores200; "
        "null to choose it from the script of the validation data. The run keeps the choice.",
    )
    early_stopping: _Count | None = Field(
        None,
        description="Number of epochs without improvement of `monitor` before training stops; "
        "null to train all epochs.",
    )
    moving_average: float | None = Field(
        None,
        gt=0,
        lt=1,
        description="Momentum, such as 0.999, of a moving average of the weights, which is scored "
        "and saved instead of the weights; null for no average.",
    )
    average_epochs: _Count | None = Field(
        None,
        description="Number of last epochs whose weights are averaged at the end. The average is "
        "kept if it scores better than the best epoch.",
    )
    checkpoint_every: _Count = Field(
        500, description="Number of batches between two checkpoints. Each epoch also ends with one."
    )
    log_every: _Count = Field(
        100, description="Number of updates between two points of the curves in TensorBoard."
    )
    devices: _Count = Field(
        1,
        description="Number of devices of each process that share each batch: GPUs, or CPUs if "
        "there are no GPUs.",
    )
    cache: bool = Field(
        True,
        description="Whether tokenized pairs are kept in memory. Pairs of a pattern never are.",
    )
    seed: _Seed = Field(1, description="Seed of weights, dropout and the order of the data.")

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.learning_rate_schedule == "plateau" and self.warmup_steps:
            raise ValueError("should have warmup_steps: 0 with plateau")
        if self.learning_rate_schedule == "inverse_sqrt" and not self.warmup_steps:
            raise ValueError("should have warmup_steps, such as 1000, with inverse_sqrt")
        if self.moving_average and self.average_epochs:
            raise ValueError("should have either moving_average or average_epochs")
        if self.tokens_per_batch and self.batch_size:
            raise ValueError(
                "should have either tokens_per_batch or batch_size (null switches one off)"
            )
        if not self.batch_size:
            self.tokens_per_batch = self.tokens_per_batch or 4096
        return self


# Options of a beam and of samples, which greedy search does not use.
_NOT_GREEDY = (
    *("beam_size", "length_penalty", "length_normalization", "coverage_penalty"),
    *("samples", "temperature", "top_k", "top_p", "seed"),
)


_KEYS: dict[str, Any] = {
    option.name: (option.type, Field(option.default, **option.metadata))
    for option in dataclasses.fields(TranslationOptions)
}
_SearchKeys: Any = create_model("_SearchKeys", __base__=_Section, **_KEYS)


class _Search(_SearchKeys):
    """Options of the search and of translation."""

    @field_validator("max_length", mode="before")
    @classmethod
    def _null_is_the_default(cls, value: Any) -> Any:
        return TranslationOptions.max_length if value is None else value

    @model_validator(mode="after")
    def _no_contradictions(self) -> Self:
        try:
            TranslationOptions(**self.options)
        except ValueError as error:
            raise PydanticCustomError("contradiction", "{error}", {"error": str(error)}) from error
        return self

    @property
    def options(self) -> dict[str, Any]:
        """Keywords of `Seq2Seq.translate` and `export`, without defaults."""
        return self.model_dump(exclude_defaults=True)

    @property
    def greedy_options(self) -> dict[str, Any]:
        """The `options` that apply to greedy search."""
        return {key: value for key, value in self.options.items() if key not in _NOT_GREEDY}


class Recipe(_Section):
    """Recipe of a training run, which determines the run completely.

    Attributes:
        model: `name` of the model, and `keywords` of its constructor.
        tokenizer: `shared`, or `source` and `target`, each with `kind` and `vocabulary_size`.
        data: `train`, `validation` and optionally `test`, each with `source` and `target`, `pairs`
            with optional `columns`, or `builtin`; `train` optionally has `alignments`. Also
            `max_length`.
        training: Batches, optimizer and schedule.
        search: Options of translation. The validation after each epoch uses greedy search.
    """

    model: _Model = Field(description="Model to train.")
    tokenizer: _Tokenizers = Field(description="Tokenizers that turn text into ids.")
    data: _Data = Field(description="Sentence pairs.")
    training: _Training = Field(
        default_factory=_Training,  # type: ignore[arg-type]  # all its keys have defaults
        description="Batches and optimizer.",
    )
    search: _Search = Field(default_factory=_Search, description="Options of translation.")
    _origin: str = PrivateAttr("recipe")

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        train = self.data.train
        guided = self.training.guided_attention is not None
        if guided and not (train.alignments or train.builtin):
            raise ValueError("should have data.train.alignments with training.guided_attention")
        if train.alignments and not guided:
            raise ValueError(
                "should have training.guided_attention, such as 1.0, with data.train.alignments"
            )
        tagged = [split for split, pairs in self.data.splits.items() if pairs.tags is not None]
        ((side, tokenizer), *_) = self.tokenizer.chosen.items()
        if tagged and len(tagged) < len(self.data.splits):
            raise ValueError(
                f"should have tags, a column, in each part of data, not only in {tagged[0]}"
            )
        if tagged and not tokenizer.tags:
            raise ValueError(
                f"should have tokenizer.{side}.tags: true, with kind: sentencepiece or characters, "
                f"with data.{tagged[0]}.tags"
            )
        return self

    @classmethod
    def load(cls, path: str | os.PathLike, overrides: Iterable[str] = ()) -> Self:
        """Read and validate a recipe.

        Args:
            path: Path of a YAML file. Paths in it are relative to its folder.
            overrides: Dotted keys and values, such as `model.units=512`. A value is YAML. Paths in
                it are relative to the working folder. Later overrides win. A mapping replaces a
                whole section.

        Returns:
            The recipe, with absolute paths.

        Raises:
            ValueError: If the file cannot be read or is not YAML, or a key or a value is not valid.
                One line names the key, what was expected and what was received.
        """
        path, overrides = Path(path), list(overrides)
        document = read_document(path, overrides)
        if not isinstance(document, dict):
            raise ValueError(
                f"{path}: expected a recipe that is a mapping with the keys "
                f"{', '.join(cls.model_fields)}. Received: {type(document).__name__}"
            )
        return cls._validated(document, f"{path} with overrides" if overrides else str(path))

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Self:
        """Validate a recipe that was created in Python.

        Args:
            document: Content of a recipe's YAML. Paths in it are relative to the working folder.

        Returns:
            The recipe, with absolute paths.

        Raises:
            ValueError: See `load`.
        """
        return cls._validated(with_absolute_paths(document, Path.cwd()), "recipe")

    @classmethod
    def _validated(cls, document: dict[str, Any], origin: str) -> Self:
        try:
            recipe = cls.model_validate(document)
        except ValidationError as error:
            raise ValueError(f"{origin}: {first_problem(error, cls)}") from None
        recipe._origin = origin
        return recipe

    def __eq__(self, other: object) -> bool:
        """Compare the keys, but not the files of the recipes."""
        return isinstance(other, Recipe) and self.model_dump() == other.model_dump()

    @contextmanager
    def named_in_errors(self) -> Iterator[None]:
        """Context in which each `ValueError` begins with the name of the recipe's file."""
        try:
            yield
        except ValueError as error:
            raise ValueError(f"{self._origin}: {error}") from error

    def to_yaml(self) -> str:
        """Return the recipe with its defaults as YAML, from which `load` reads an equal recipe."""
        document = self.model_dump(mode="json")
        # `exclude_none` omits the forms that were not chosen.
        document["tokenizer"] = self.tokenizer.model_dump(mode="json", exclude_none=True)
        document["data"] = self.data.model_dump(mode="json", exclude_none=True)
        return yaml.safe_dump(document, sort_keys=False, allow_unicode=True)

    def save(self, path: str | os.PathLike) -> None:
        """Write the recipe to a file."""
        Path(path).write_text(self.to_yaml(), encoding="utf-8")
