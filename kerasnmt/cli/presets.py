"""`kerasnmt presets`."""

import json

from kerasnmt import preset_folders
from kerasnmt.cli.console import print_table


def presets() -> None:
    """List the trained models of the library.

    Commands accept these names instead of a run, such as `kerasnmt translate NAME`.
    """
    rows = [("preset", "task", "languages", "MB", "score", "license")]
    for name, folder in preset_folders.shipped_presets().items():
        # `kerasnmt.models.Preset` would import Keras.
        metadata = json.loads((folder / preset_folders.METADATA).read_bytes())
        about, files = metadata["about"], metadata["files"].values()
        languages = about.get("languages", [])
        rows.append(
            (
                name,
                about.get("task", metadata["pipeline_tag"]),
                "-".join(languages) if len(languages) < 3 else f"{len(languages)} languages",
                f"{sum(file['bytes'] for file in files) / 1e6:.1f}",
                about.get("score", ""),
                about.get("license", ""),
            )
        )
    print_table(rows)
