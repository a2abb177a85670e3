"""`kerasnmt presets`."""

from kerasnmt.cli.console import print_table
from kerasnmt.cli.quiet import load_tensorflow


def presets() -> None:
    """List the trained models of the library.

    Commands accept these names instead of a run, such as `kerasnmt translate NAME`.
    """
    load_tensorflow()
    from kerasnmt.zoo import get_preset, list_presets

    rows = [("preset", "task", "languages", "MB", "score", "license")]
    for name in list_presets():
        preset = get_preset(name)
        languages = preset.about.get("languages", [])
        rows.append(
            (
                name,
                preset.task,
                "-".join(languages) if len(languages) < 3 else f"{len(languages)} languages",
                f"{preset.size / 1e6:.1f}",
                preset.about.get("score", ""),
                preset.about.get("license", ""),
            )
        )
    print_table(rows)
