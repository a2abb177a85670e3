"""The recipe of a training run: a YAML file of which every key is validated."""

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self, get_args

import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeFloat,
    PositiveFloat,
    ValidationError,
    field_validator,
    model_validator,
)

from kerasnmt.nearest_name import unknown_name_message

# Larger numbers are slips, which would exhaust the memory or overflow.
_Count = Annotated[int, Field(gt=0, le=10**6)]
_CountOrZero = Annotated[int, Field(ge=0, le=10**6)]
_Seed = Annotated[int, Field(ge=0, lt=2**31)]
_MOST_BYTES = 10**6  # of a recipe


class _Section(BaseModel):
    """What all sections share: no unknown keys, no silent conversions, finite numbers."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class _Model(_Section):
    """A model of the zoo and the keywords of its constructor, which the zoo checks itself."""

    model_config = ConfigDict(extra="allow")

    name: str = Field(description="A name of the zoo, such as bahdanau_gru.")

    @property
    def keywords(self) -> dict[str, Any]:
        """All keys but the name."""
        return dict(self.model_extra)


class _Tokenizer(_Section):
    """One tokenizer, trained on the training data."""

    kind: Literal["sentencepiece", "words", "characters"] = Field(
        description="What its tokens are."
    )
    vocabulary_size: int | None = Field(
        None,
        gt=4,
        le=10**6,
        description="Entries, including the four reserved ids. For words and characters a maximum, "
        "null keeps all; sentencepiece needs a number that the text supports.",
    )

    @model_validator(mode="after")
    def _pieces_need_a_size(self) -> Self:
        if self.kind == "sentencepiece" and self.vocabulary_size is None:
            raise ValueError("should have vocabulary_size, such as 8000, with kind: sentencepiece")
        return self


class _Tokenizers(_Section):
    """One tokenizer for both sides, or one for each."""

    shared: _Tokenizer | None = Field(None, description="The tokenizer of both sides.")
    source: _Tokenizer | None = Field(None, description="The tokenizer of the source side.")
    target: _Tokenizer | None = Field(None, description="The tokenizer of the target side.")

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if self.model_dump(exclude_none=True).keys() not in ({"shared"}, {"source", "target"}):
            raise ValueError("should be one of {shared} and {source, target}")
        return self


_File = Annotated[Path, Field(strict=False)]


class _Pairs(_Section):
    """Where sentence pairs come from."""

    source: _File | None = Field(None, description="Source sentences, one a line; plain or .gz.")
    target: _File | None = Field(None, description="Their translations, line by line.")
    pairs: _File | None = Field(None, description="Source TAB target a line; plain or .gz.")
    builtin: _Count | None = Field(None, description="Number of pairs of the built-in corpus.")
    context: _File | None = Field(
        None, description="For models that read one: the context of each pair; plain or .gz."
    )

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        forms = ({"source", "target"}, {"pairs"}, {"builtin"})
        if self.model_dump(exclude_none=True).keys() - {"alignments", "context"} not in forms:
            raise ValueError("should be one of {source, target}, {pairs} and {builtin}")
        return self


class _TrainingPairs(_Pairs):
    """Sentence pairs to learn from."""

    alignments: _File | None = Field(
        None, description="For guided attention: their word alignments, `0-0 1-2`; plain or .gz."
    )

    @model_validator(mode="after")
    def _not_of_the_builtin_corpus(self) -> Self:
        if self.builtin and self.alignments:
            raise ValueError("should leave out alignments, which the built-in corpus has itself")
        return self


class _Data(_Section):
    """The sentence pairs of a run."""

    train: _TrainingPairs = Field(description="What the model and the tokenizers learn from.")
    validation: _Pairs = Field(description="What is scored after each epoch.")
    test: _Pairs | None = Field(None, description="What is scored once, at the end.")

    max_length: int = Field(
        100,
        ge=2,
        le=10**5,
        description="Most tokens of a side in training, including the end token.",
    )

    @property
    def files(self) -> dict[str, Path]:
        """All files, by their dotted keys such as `data.train.source`."""
        return {
            f"data.{split}.{name}": path
            for split in ("train", "validation", "test")
            for name, path in getattr(self, split) or ()
            if isinstance(path, Path)
        }


class _Training(_Section):
    """How the model is trained."""

    tokens_per_batch: _Count | None = Field(
        None, description="Tokens of the longer side in a batch; 4096 unless batch_size is given."
    )
    batch_size: _Count | None = Field(
        None, description="Sentence pairs in a batch, in place of tokens_per_batch."
    )
    few_shapes: bool = Field(
        True, description="Whether batches have few shapes, as XLA needs; without, less padding."
    )
    epochs: _Count = Field(10, description="Passes over the training data.")
    learning_rate: PositiveFloat = Field(0.001, description="The highest rate of the schedule.")
    learning_rate_schedule: Literal["constant", "cosine", "inverse_sqrt", "plateau"] = Field(
        "constant", description="How the rate goes on after the warm-up; plateau has no warm-up."
    )
    warmup_steps: _CountOrZero = Field(
        0, description="Steps over which the rate rises linearly from zero."
    )
    plateau_factor: float = Field(
        0.5, gt=0, lt=1, description="What the rate is multiplied by, on a plateau."
    )
    plateau_patience: _Count = Field(
        2, description="Epochs without a better one, of monitor, that make a plateau."
    )
    label_smoothing: float = Field(
        0.1, ge=0, lt=1, description="Probability taken from the reference token for all others."
    )
    guided_attention: NonNegativeFloat | None = Field(
        None,
        description="Weight of the loss that draws the attention to the alignments of the training "
        "data; null for none.",
    )
    word_dropout: float = Field(
        0.0, ge=0, lt=1, description="Probability of each word that is read to become unknown."
    )
    subword_sampling: NonNegativeFloat | None = Field(
        None,
        description="Alpha, such as 0.2, by which SentencePiece cuts each sentence into other "
        "pieces in each epoch; null for the best ones. Nothing is cached then.",
    )
    scheduled_sampling: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="Probability with which the decoder reads its own prediction in place of the "
        "word before; rises from 0 over the training.",
    )
    clip_norm: PositiveFloat | None = Field(
        1.0, description="Largest norm of the gradients together; null for no limit."
    )
    accumulate_batches: _Count = Field(
        1, description="Batches whose gradients are averaged for one update."
    )
    precision: Literal["float32", "bfloat16", "float16"] = Field(
        "float32", description="What is computed in; weights and losses are float32 in any case."
    )
    monitor: Literal["bleu", "chrf", "loss"] = Field(
        "bleu", description="By which score of the validation data the best model is kept."
    )
    early_stopping: _Count | None = Field(
        None, description="Epochs without a better one, of monitor, after which the training stops."
    )
    moving_average: float | None = Field(
        None,
        gt=0,
        lt=1,
        description="Momentum, such as 0.999, of a moving average of the weights, which is what is "
        "scored and kept; null for the weights themselves.",
    )
    average_epochs: _Count | None = Field(
        None,
        description="So many last epochs' weights are averaged at the end, and kept if they score "
        "better than the best epoch.",
    )
    checkpoint_every: _Count = Field(
        500, description="Batches between two checkpoints, beside those of the epochs."
    )
    log_every: _Count = Field(
        100, description="Updates between two points of the curves of single steps in TensorBoard."
    )
    devices: _Count = Field(
        1, description="GPUs that share each batch, by tf.distribute.MirroredStrategy."
    )
    cache: bool = Field(True, description="Whether tokenized pairs are kept in memory.")
    seed: _Seed = Field(1, description="Of weights, dropout and the order of the data.")

    @model_validator(mode="after")
    def _schedules_and_warmups(self) -> Self:
        if self.learning_rate_schedule == "plateau" and self.warmup_steps:
            raise ValueError("should have warmup_steps: 0, to go with plateau")
        if self.learning_rate_schedule == "inverse_sqrt" and not self.warmup_steps:
            raise ValueError("should have warmup_steps, such as 1000, to go with inverse_sqrt")
        return self

    @model_validator(mode="after")
    def _one_average(self) -> Self:
        if self.moving_average and self.average_epochs:
            raise ValueError("should have either moving_average or average_epochs")
        return self

    @model_validator(mode="after")
    def _one_batch_size(self) -> Self:
        if self.tokens_per_batch and self.batch_size:
            raise ValueError(
                "should have either tokens_per_batch or batch_size (null switches one off)"
            )
        if not self.batch_size:
            self.tokens_per_batch = self.tokens_per_batch or 4096
        return self


_Word = Annotated[str, Field(min_length=1)]


class _Search(_Section):
    """How translations are searched."""

    beam_size: int = Field(
        5, gt=0, le=1000, description="Hypotheses kept at each step; 1 is greedy."
    )
    length_penalty: NonNegativeFloat = Field(
        0.6, description="Exponent of the length by which scores are divided; 0 for none."
    )
    length_normalization: Literal["wu", "length"] = Field(
        "wu", description="That length: wu for (5 + length) / 6, or length."
    )
    coverage_penalty: NonNegativeFloat = Field(
        0.0, description="What source words count that were never attended to; 0 for nothing."
    )
    min_length: int = Field(1, gt=0, le=10**5, description="Fewest tokens of a translation.")
    max_length: int = Field(
        100, gt=0, le=10**5, description="Most tokens of a source or a translation."
    )
    max_length_ratio: PositiveFloat | None = Field(
        None, description="Most tokens of a translation for each of its source, beside a margin."
    )
    max_length_margin: int = Field(
        10,
        ge=0,
        le=10**5,
        description="Tokens that max_length_ratio gives beside those of the source.",
    )
    no_repeat_ngram: int = Field(
        0, ge=0, le=10**5, description="Forbids repeating any n-gram of this size; 0 for no rule."
    )
    samples: int = Field(
        0,
        ge=0,
        le=1000,
        description="Translations that are drawn, in place of a search; 0 for a search.",
    )
    temperature: PositiveFloat = Field(1.0, description="Of samples; below 1 for likelier ones.")
    top_k: _CountOrZero = Field(
        0, description="Of samples: only the so many likeliest tokens are drawn; 0 for all."
    )
    top_p: PositiveFloat = Field(
        1.0,
        le=1,
        description="Of samples: only the likeliest tokens of so much probability are drawn.",
    )
    seed: _Seed = Field(0, description="Of samples.")
    replace_unknown: bool = Field(
        False, description="Whether unknown words become the source words they attend to."
    )
    dictionary: dict[_Word, _Word] | None = Field(
        None, description="How source words are written when they replace; those it lacks stay."
    )

    @field_validator("max_length", mode="before")
    @classmethod
    def _null_is_the_default(cls, value: Any) -> Any:
        return 100 if value is None else value

    @model_validator(mode="after")
    def _dictionary_is_used(self) -> Self:
        if self.dictionary is not None and not self.replace_unknown:
            raise ValueError("should have replace_unknown: true, to go with dictionary")
        return self

    @property
    def options(self) -> dict[str, Any]:
        """The keywords of `Seq2Seq.translate` and `export`; defaults are left out."""
        return self.model_dump(exclude_defaults=True)


class Recipe(_Section):
    """All that a training run depends on.

    Attributes:
        model: `name`, and `keywords` for the rest.
        tokenizer: `shared`, or `source` and `target`, each with `kind` and `vocabulary_size`.
        data: `train`, `validation` and maybe `test`, each with `source` and `target`, `pairs` or
            `builtin`; `train` maybe with `alignments`; `max_length`.
        training: batches, optimizer and schedule.
        search: how to translate; validation differs by searching greedily.
    """

    model: _Model = Field(description="What is trained.")
    tokenizer: _Tokenizers = Field(description="How text becomes ids.")
    data: _Data = Field(description="What it is trained on.")
    training: _Training = Field(default_factory=_Training, description="How it is trained.")
    search: _Search = Field(default_factory=_Search, description="How it translates.")

    @model_validator(mode="after")
    def _alignments_are_used(self) -> Self:
        train = self.data.train
        guided = self.training.guided_attention is not None
        if guided and not (train.alignments or train.builtin):
            raise ValueError(
                "should have data.train.alignments, to go with training.guided_attention"
            )
        if train.alignments and not guided:
            raise ValueError(
                "should have training.guided_attention, such as 1.0, to go with "
                "data.train.alignments"
            )
        return self

    @classmethod
    def load(cls, path: str | os.PathLike, overrides: Iterable[str] = ()) -> Self:
        """Reads and validates a recipe.

        Args:
            path: a YAML file. Paths in it are relative to its folder.
            overrides: dotted keys and values, such as `model.units=512`; a value is YAML, and
                paths in it are relative to the working folder. Later ones win; a mapping replaces
                a section as a whole.

        Returns:
            The recipe, its paths absolute.

        Raises:
            ValueError: the file cannot be read or is not YAML, or a key or a value is not what a
                recipe has. One line that names the key, what was expected and what came.
        """
        path, overrides = Path(path), list(overrides)
        try:
            with open(path, "rb") as file:
                text = file.read(_MOST_BYTES + 1)
        except OSError as error:
            raise ValueError(f"{path}: the recipe cannot be read: {error.strerror}") from None
        if len(text) > _MOST_BYTES:
            raise ValueError(f"{path}: a recipe has at most {_MOST_BYTES:,} bytes")
        document = _absolute("", _parse(text, str(path)), path.parent)
        if not isinstance(document, dict):
            raise ValueError(
                f"{path}: a recipe should be a mapping with the keys "
                f"{', '.join(cls.model_fields)}. Received: {type(document).__name__}"
            )
        for override in overrides:
            _apply(override, document)
        return cls._validated(document, f"{path} with overrides" if overrides else str(path))

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Self:
        """Validates a recipe that was made in Python.

        Args:
            document: as a recipe's YAML would be read. Paths in it are relative to the working
                folder.

        Returns:
            The recipe, its paths absolute.

        Raises:
            ValueError: as in `load`.
        """
        return cls._validated(_absolute("", document, Path.cwd()), "recipe")

    @classmethod
    def _validated(cls, document: dict[str, Any], origin: str) -> Self:
        try:
            return cls.model_validate(document)
        except ValidationError as error:
            raise ValueError(f"{origin}: {_first_problem(error)}") from None

    def to_yaml(self) -> str:
        """Writes the recipe, defaults included, so that `load` gives the same one again."""
        document = self.model_dump(mode="json")
        for section in ("tokenizer", "data"):  # the forms that were not chosen are left out
            document[section] = getattr(self, section).model_dump(mode="json", exclude_none=True)
        return yaml.safe_dump(document, sort_keys=False, allow_unicode=True)

    def save(self, path: str | os.PathLike) -> None:
        """Writes the recipe to a file."""
        Path(path).write_text(self.to_yaml(), encoding="utf-8")


# A recipe has three levels; a document with thousands would exhaust Python's stack.
_MOST_LEVELS = 20


class _Loader(yaml.SafeLoader):
    """YAML with the floats and booleans of version 1.2, without aliases and repeated keys.

    PyYAML follows 1.1, where 1e-3 is a string, and words such as no and on are booleans. It keeps
    the last of two equal keys. A few aliases of aliases can stand for billions of values.
    """

    yaml_implicit_resolvers: ClassVar[dict] = {
        first: [(tag, form) for tag, form in resolvers if tag != "tag:yaml.org,2002:bool"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def __init__(self, stream: Any) -> None:
        super().__init__(stream)
        self._levels = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node:
        event = self.peek_event()
        self._levels += 1
        if self._levels > _MOST_LEVELS:
            problem = f"more than {_MOST_LEVELS} levels deep"
            raise yaml.composer.ComposerError(None, None, problem, event.start_mark)
        node = super().compose_node(parent, index)
        self._levels -= 1
        if isinstance(event, yaml.AliasEvent):
            problem = f"a recipe has no aliases, found *{event.anchor}"
            raise yaml.composer.ComposerError(None, None, problem, event.start_mark)
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        lines: dict[str, int] = {}
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            if key.value in lines:
                problem = f"the key {key.value!r} is in line {lines[key.value]} already"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            lines[key.value] = key.start_mark.line + 1
        return super().construct_mapping(node, deep)


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:bool",
    re.compile(r"(true|True|TRUE|false|False|FALSE)$"),
    list("tTfF"),
)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?(\d+\.\d*|\.\d+|\d+(?=[eE]))([eE][-+]?\d+)?$"),
    list("-+.0123456789"),
)


def _parse(text: bytes, origin: str) -> Any:
    """Parses YAML; a ValueError names the line."""
    try:
        return yaml.load(text.decode(), _Loader)  # a SafeLoader
    except UnicodeDecodeError as error:
        line, problem = text.count(b"\n", 0, error.start), "not UTF-8"
    except yaml.MarkedYAMLError as error:
        line, problem = error.problem_mark.line, f"not YAML: {error.problem}"
    except yaml.reader.ReaderError as error:
        line = text.decode().count("\n", 0, error.position)
        problem = f"not YAML: {error.reason}"
    raise ValueError(f"{origin}, line {line + 1}: {problem}")


def _absolute(key: str, value: Any, folder: Path) -> Any:
    """Makes the paths in a part of a recipe, found under a dotted key, absolute."""
    if isinstance(value, dict):
        return {
            name: _absolute(f"{key}.{name}".lstrip("."), item, folder)
            for name, item in value.items()
        }
    if isinstance(value, str) and re.fullmatch(
        r"data\.\w+\.(source|target|pairs|alignments|context)", key
    ):
        return os.path.abspath(folder / os.path.expanduser(value))
    return value


def _apply(override: str, document: dict[str, Any]) -> None:
    """Sets a dotted key."""
    key, equals, text = override.partition("=")
    if not equals or not all(key.split(".")):
        raise ValueError(
            "an override should be a dotted key and a value, such as training.epochs=5. "
            f"Received: {override!r}"
        )
    *sections, name = key.split(".")
    for section in sections:
        if not isinstance(document.get(section), dict):
            document[section] = {}
        document = document[section]
    document[name] = _absolute(key, _parse(text.encode(), f"override {key}"), Path.cwd())


# For what pydantic says with the names of Python classes.
_PLAIN_MESSAGES = {"path_type": "should be a path", "invalid_key": "should be a name"}


def _first_problem(error: ValidationError) -> str:
    """Says in one line what to mend first: unknown keys, as they may be what others lack."""
    problems = sorted(error.errors(), key=lambda problem: problem["type"] != "extra_forbidden")
    kind, message, received = (problems[0][field] for field in ("type", "msg", "input"))
    if not problems[0]["loc"]:  # of the recipe as a whole
        return f"the recipe {problems[0]['ctx']['error']}"
    *sections, _ = location = [str(part) for part in problems[0]["loc"]]
    key = ".".join(location)
    if kind == "extra_forbidden":
        known = [".".join([*sections, name]) for name in _section(sections).model_fields]
        return unknown_name_message(key, known, "key")
    if kind == "missing":
        return f"missing key '{key}': {_section(sections).model_fields[location[-1]].description}"
    if kind == "value_error":
        message = str(problems[0]["ctx"]["error"])
    elif kind == "model_type":
        message = f"should be a mapping with the keys {', '.join(_section(location).model_fields)}"
    elif kind in _PLAIN_MESSAGES:
        message = _PLAIN_MESSAGES[kind]
    return f"'{key}' {message.removeprefix('Input ')}. Received: {key}={received!r}"


def _section(location: Iterable[str]) -> type[_Section]:
    """Finds the class of a section by its place in the recipe."""
    section = Recipe
    for name in location:
        annotation = section.model_fields[name].annotation
        section = next(iter(get_args(annotation)), annotation)
    return section
