"""`kerasnmt presets`."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from kerasnmt.cli.console import print_table
from kerasnmt.nearest_name import unknown_name_message
from kerasnmt.presets import folders

_COLUMNS = ("preset", "task", "languages", "MB", "score", "license")


def presets(
    name: Annotated[
        str | None, typer.Argument(help="Preset to describe: a name, a folder or a URI.")
    ] = None,
) -> None:
    """List the trained models of the library, or describe one, with examples of what to type.

    Commands accept these names instead of a run, such as `kerasnmt translate NAME`.
    """
    if name is not None:
        print(_card(name))
        return
    shipped = folders.shipped_presets()
    # `kerasnmt.presets.Preset` would import Keras.
    known = {
        name: json.loads((folder / folders.METADATA).read_bytes())
        for name, folder in shipped.items()
    }
    of_use, shows = (
        [name for name in known if known[name]["about"].get("demonstration", False) == shown]
        for shown in (False, True)
    )
    print_table([_COLUMNS, *(_row(name, known[name]) for name in of_use)])
    if shows:
        print("\nDemonstrations, of what an architecture learns from artificial data:\n")
        rows = [_row(name, known[name]) for name in shows]
        score = _COLUMNS.index("score")  # scores on artificial data say little
        print_table([row[:score] + row[score + 1 :] for row in (_COLUMNS, *rows)])
    print("\n`kerasnmt presets NAME` shows what a preset is for, and what to type.")


def _row(name: str, metadata: dict[str, Any]) -> tuple[str, ...]:
    about, files = metadata["about"], metadata["files"].values()
    languages = about.get("languages", [])
    return (
        name,
        about.get("task", metadata["pipeline_tag"]),
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
        raise ValueError(unknown_name_message(name, folders.shipped_presets(), "preset"))
    card = folder / "README.md"
    if not card.exists():
        raise ValueError(f"Expected the card of the preset, {card}. Received: no such file.")
    return card.read_text(encoding="utf-8").split("\n---\n", 1)[-1].strip()
