"""Choice of presets by what they do. It reads only their descriptions, without Keras."""

import warnings
from typing import Any

from kerasnmt.languages import closest_tag, language_code
from kerasnmt.nearest_name import unknown_name_message
from kerasnmt.presets import folders
from kerasnmt.presets.metadata import read_metadata


def find_presets(*, task: str | None = None, language: str | None = None) -> list[str]:
    """Return the sorted names of presets for a task, a language, or both.

    ```python
    find_presets(task="pronunciation", language="nl")  # ["g2p", "g2p_dutch"] with kerasnmt-presets
    ```

    Args:
        task: Task of a preset, such as "translation" or "pronunciation", or None for all.
        language: Code of ISO 639-1 or 639-3, such as "de" or "deu", or None for all. A preset may
            read or write it, or a language that is close to it, as Croatian is to Serbo-Croatian.
            A region, as in "de-AT", does not matter.

    Raises:
        ValueError: If no preset has the task, or there is no such language.
    """
    known = preset_descriptions()
    tasks = {name: task_of_preset(metadata) for name, metadata in known.items()}
    if task is not None and task not in tasks.values():
        raise ValueError(unknown_name_message(task, sorted({*tasks.values()}), "task"))
    code = None if language is None else language_code(language)
    return [
        name
        for name, metadata in known.items()
        if task in (None, tasks[name])
        and (code is None or closest_tag(code, metadata["about"].get("languages", [])))
    ]


def preset_descriptions() -> dict[str, dict[str, Any]]:
    """Return the content of `metadata.json` of the presets that have a name, sorted by name.

    A preset that is damaged, or in a newer format, is left out, with a warning.
    """
    descriptions = {}
    for name, folder in folders.shipped_presets().items():
        try:
            descriptions[name] = read_metadata(folder)
        except ValueError as error:
            warnings.warn(f"the preset {name} is left out. {error}", stacklevel=2)
    return descriptions


def task_of_preset(metadata: dict[str, Any]) -> str:
    """Return the task of a preset, such as "translation"."""
    return metadata["about"].get("task", metadata["pipeline_tag"])
