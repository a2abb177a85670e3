"""Card of a preset, for readers and model hubs."""

import json
import re
import shlex
from typing import Any

from kerasnmt.kinds import code, kind_of

_DEMONSTRATION = (
    "This model is a demonstration: it shows what an architecture learns from artificial data."
)


def preset_card(name: str, metadata: dict[str, Any]) -> str:
    """Return a card in Markdown.

    The front matter has the keys that model hubs read: `library_name`, `license`, `language`,
    `pipeline_tag` and `tags`.

    Args:
        name: Name of the preset.
        metadata: Content of its `metadata.json`.

    Returns:
        Text of a README.md.
    """
    about = metadata["about"]
    front = {  # each value as JSON, which is YAML
        "library_name": "kerasnmt",
        "license": about.get("license", "unknown"),
        "language": sorted(set(about.get("languages", []))),
        "pipeline_tag": metadata["pipeline_tag"],
        "tags": ["keras", metadata["model"]],
    }
    parts = [
        "\n".join(["---", *(f"{key}: {json.dumps(front[key])}" for key in front), "---"]),
        f"# {name}",
        about.get("description", ""),
        _DEMONSTRATION if about.get("demonstration") else "",
        f"Good for: {about['good_for']}" if "good_for" in about else "",
        f"Not for: {about['not_for']}" if "not_for" in about else "",
        _table(metadata),
        f"## Use\n\n{_use(name, metadata)}",
        f"## Examples\n\n{_examples(about['examples'])}" if about.get("examples") else "",
        f"## Score\n\n{_score(about)}" if "evaluation" in about else "",
        f"## Data\n\n{about['attribution']}" if "attribution" in about else "",
        f"## Bias\n\n{about['bias']}" if "bias" in about else "",
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _table(metadata: dict[str, Any]) -> str:
    about = metadata["about"]
    size = sum(file["bytes"] for file in metadata["files"].values())
    languages = about.get("languages", [])
    rows = [
        ("model", f"`{metadata['model']}` of kerasnmt {metadata['kerasnmt_version']}"),
        ("parameters", f"{metadata['parameters']:,}"),
        ("size", f"{size / 1e6:.1f} MB; matrices in {metadata['weights']}"),
        ("languages", (" → " if len(languages) == 2 else ", ").join(languages)),
        ("score", about.get("score", "")),
        ("search", ", ".join(f"{key}={value!r}" for key, value in about.get("search", {}).items())),
        ("license", about.get("license", "unknown")),
    ]
    lines = [f"| {key} | {_cell(text)} |" for key, text in rows if text]
    return "\n".join(["| | |", "|---|---|", *lines])


def _use(name: str, metadata: dict[str, Any]) -> str:
    """Return code and a command that run the model with the first example, or another request."""
    about, fields = metadata["about"], metadata["inputs"]
    example: dict[str, Any] = next((one["input"] for one in about.get("examples", [])), {})
    request = {name: str(example.get(name, name)) for name in fields}
    usage = kind_of(fields).usage(request)
    return (
        f"```python\nfrom kerasnmt.zoo import from_preset\n{usage.preparation}\n"
        f"model = from_preset({code(name)})\nprint(model.{usage.call})\n```\n\n"
        f"```bash\n{usage.pipe}kerasnmt translate {shlex.quote(name)}{usage.command}\n```"
    )


def _score(about: dict[str, Any]) -> str:
    said = f"{about['score']}, by" if "score" in about else "By"
    return f"{said}\n\n```bash\n{about['evaluation']}\n```"


def _examples(examples: list[dict[str, Any]]) -> str:
    rows = [f"| {_cell(one['input'])} | {_cell(one['output'])} |" for one in examples]
    return "\n".join(["| input | output |", "|---|---|", *rows])


def _cell(value: Any) -> str:
    """Return a value, or the fields of a request, as a cell of a table."""
    if isinstance(value, dict):
        parts = value.items()
        value = " / ".join(part if isinstance(part, str) else f"{k} {part}" for k, part in parts)
    return re.sub(r"[|<]", r"\\\g<0>", str(value)).replace("\n", "<br>")
