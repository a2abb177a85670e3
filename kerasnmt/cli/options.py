"""Options of several commands."""

import json
import textwrap
from dataclasses import Field, fields
from pathlib import Path
from typing import Annotated, Any

import typer

from kerasnmt.data.tables import as_column
from kerasnmt.decoding import TranslationOptions

_OPTIONS = {option.name: option for option in fields(TranslationOptions)}

# Strings, because a path would change the URI of a preset.
_TRAINED = typer.Argument(
    metavar="RUN",
    help="Folder of a run, or a preset: its name (see `kerasnmt presets`), its folder, or "
    "hf://user/model.",
)
Trained = Annotated[str, _TRAINED]
OptionalTrained = Annotated[str | None, _TRAINED]
_MODEL = typer.Argument(
    metavar="MODEL",
    help="Folder of a run or an export, or a preset: its name (see `kerasnmt presets`), its "
    "folder, or hf://user/model.",
)
Model = Annotated[str, _MODEL]
OptionalModel = Annotated[str | None, _MODEL]
BeamSize = Annotated[
    int | None,
    typer.Option(
        "--beam-size",
        min=1,
        help=_OPTIONS["beam_size"].metadata["description"],
        show_default="the model's",
    ),
]
SearchOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--search",
        metavar="KEY=VALUE",
        help="A search option instead of the model's, such as no_repeat_ngram=3; repeatable. "
        "See the list of keys below.",
    ),
]
Context = Annotated[
    Path | None,
    typer.Option(
        "--context",
        metavar="FILE",
        help="File of contexts, one per line, for models that read a context with each text.",
    ),
]
Stream = Annotated[
    bool,
    typer.Option(
        "--stream",
        help="Write each word as soon as no later word can change it. Greedy search, with "
        "--beam-size 1, gives the first words soonest.",
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="SOURCE,TARGET",
        help="Columns of the files of pairs, by number, such as 1,3, or by the names of the "
        "heading row or the keys of .jsonl, such as english,german.",
        show_default="two columns",
    ),
]
TagsColumn = Annotated[
    Any,
    typer.Option(
        "--tags-column",
        metavar="COLUMN",
        parser=as_column,
        help="Column of the files of pairs with the tags of each source, such as V;PST, which are "
        "put in front of it; with --columns.",
    ),
]
Tags = Annotated[
    list[str] | None,
    typer.Option(
        "--tags",
        "--language",
        metavar="TAGS",
        help="Tags to put in front of every text, such as 'V;PST', for models that were trained "
        "with tags; repeatable. The tag of a language is also found by its other codes: de is deu.",
    ),
]
Language = Annotated[
    str | None,
    typer.Option(
        "--language",
        help="Language of texts without a tag, such as de, for models that read the language as a "
        "tag.",
    ),
]
WithRuns = Annotated[
    list[str] | None,
    typer.Option(
        "--with", metavar="RUN", help="Another run or preset, for an ensemble; repeatable."
    ),
]


def two_columns(columns: str | None) -> list[int | str] | None:
    """Return the columns of `--columns`.

    Raises:
        ValueError: If there are not two.
    """
    return _columns(columns, (2,), "two different columns, such as --columns 1,3")


def text_columns(columns: str | None) -> list[int | str] | None:
    """Return the column of texts, and of their contexts if there are two.

    Raises:
        ValueError: If there are more.
    """
    return _columns(columns, (1, 2), "one column, such as --columns text, or two with contexts")


def _columns(columns: str | None, counts: tuple[int, ...], wanted: str) -> list[int | str] | None:
    if columns is None:
        return None
    names = [name.strip() for name in columns.split(",")]
    if len(names) not in counts or not all(names) or len({*names}) < len(names):
        raise ValueError(f"Expected {wanted}. Received: --columns {columns}.")
    return [as_column(name) for name in names]


def search_help() -> str:
    """Return a list of the keys of `--search`, for the end of the help of a command.

    Returns:
        A heading, and a paragraph with the name, default and description of each key.
    """
    lines = "\n".join(map(_described, _OPTIONS.values()))
    # The backspace prevents wrapping of the paragraph.
    return f"Keys of --search, as in the `search` section of a recipe:\n\n\b\n{lines}"


def _described(option: Field) -> str:
    default = json.dumps(option.default).strip('"')
    return textwrap.fill(
        option.metadata["description"],
        width=78,
        initial_indent=f"  {option.name}={default}".ljust(28) + "  ",
        subsequent_indent=" " * 30,
    )
