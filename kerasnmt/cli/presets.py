"""`kerasnmt presets`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from kerasnmt.cli.console import print_table
from kerasnmt.presets import folders
from kerasnmt.presets.choosing import find_presets, preset_descriptions, task_of_preset

_COLUMNS = ("preset", "task", "languages", "MB", "score", "license")


def presets(
    name: Annotated[
        str | None, typer.Argument(help="Preset to describe: a name, a folder or a URI.")
    ] = None,
    task: Annotated[
        str | None, typer.Option("--task", help="Only presets of a task, such as translation.")
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(
            "--language",
            metavar="CODE",
            help="Only presets that read or write a language: ISO 639-1 or 639-3, de or deu.",
        ),
    ] = None,
) -> None:
    """List the trained models of the library, or describe one, with examples of what to type.

    Commands accept these names instead of a run, such as `kerasnmt translate NAME`.
    """
    if name is not None:
        if task or language:
            raise ValueError("Expected a NAME, or --task and --language. Received: both.")
        print(_card(name))
        return
    descriptions = preset_descriptions()
    known = {name: descriptions[name] for name in find_presets(task=task, language=language)}
    if not known:
        raise ValueError(
            f"Expected a task and a language that a preset has. Received: {task or 'any task'} in "
            f"{language or 'any language'}. `kerasnmt presets` lists all presets."
        )
    of_use, shows = (
        [name for name in known if known[name]["about"].get("demonstration", False) == shown]
        for shown in (False, True)
    )
    if of_use:
        print_table([_COLUMNS, *(_row(name, known[name]) for name in of_use)])
        print()
    if shows:
        print("Demonstrations, of what an architecture learns from artificial data:\n")
        rows = [_row(name, known[name]) for name in shows]
        score = _COLUMNS.index("score")  # scores on artificial data say little
        print_table([row[:score] + row[score + 1 :] for row in (_COLUMNS, *rows)])
        print()
    print("`kerasnmt presets NAME` shows what a preset is for, and what to type.")
    if more := sorted({*folders.SECOND_NAMES} - descriptions.keys()):
        print(f"`pip install kerasnmt-presets` adds {', '.join(more)}.")


def _row(name: str, metadata: dict[str, Any]) -> tuple[str, ...]:
    about, files = metadata["about"], metadata["files"].values()
    languages = about.get("languages", [])
    return (
        name,
        task_of_preset(metadata),
        "-".join(languages) if len(languages) < 3 else f"{len(languages)} languages",
        f"{sum(file['bytes'] for file in files) / 1e6:.1f}",
        about.get("score", ""),
        about.get("license", ""),
    )


def _card(name: str) -> str:
    """Return the card of a preset, without the front matter."""
    folder = folders.preset_folder(name)
    if folder is None and ("://" in name or Path(name).exists()):
        from kerasnmt.zoo import get_preset

        folder = get_preset(name).folder
    if folder is None:
        raise ValueError(folders.unknown_preset_message(name))
    card = folder / "README.md"
    if not card.exists():
        raise ValueError(f"Expected the card of the preset, {card}. Received: no such file.")
    return card.read_text(encoding="utf-8").split("\n---\n", 1)[-1].strip()
