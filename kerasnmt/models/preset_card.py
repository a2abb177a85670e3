"""The card of a preset, for readers and model hubs."""

import json
from typing import Any

import yaml

# How a model of each task is asked, in Python and on the command line.
_USES = {
    "image-to-text": (
        "print(model.caption(images))  # uint8 [batch, height, width, 3]",
        "kerasnmt translate {name} --image picture.png",
    ),
    "question-answering": (
        'print(model.answer([["{story}"]], ["{question}"]))',
        "kerasnmt translate {name} --story story.txt --question questions.txt",
    ),
}
_TRANSLATES = (
    "print(model.translate([{text}]{search}))",
    "echo {text} | kerasnmt translate {name}",
)


def preset_card(name: str, metadata: dict[str, Any]) -> str:
    """Return a card in Markdown.

    The front matter has the keys that model hubs read: `library_name`, `license`, `language`,
    `pipeline_tag` and `tags`.

    Args:
        name: The preset's name.
        metadata: The content of its `metadata.json`.
    """
    about, examples = metadata["about"], metadata["about"].get("examples", [])
    front = {
        "library_name": "keras",
        "license": about.get("license", "unknown"),
        "language": sorted(set(about.get("languages", []))),
        "pipeline_tag": metadata["pipeline_tag"],
        "tags": ["kerasnmt", metadata["model"]],
    }
    parts = [
        f"---\n{yaml.safe_dump(front, sort_keys=False)}---",
        f"# {name}",
        about.get("description", ""),
        _table(metadata),
        f"## Use\n\n{_use(name, metadata)}",
        "## Examples\n\n" + _examples(examples) if examples else "",
        f"## Score\n\n{_score(about)}" if "evaluation" in about else "",
        f"## Data\n\n{about['attribution']}" if "attribution" in about else "",
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _table(metadata: dict[str, Any]) -> str:
    about = metadata["about"]
    size = sum(file["bytes"] for file in metadata["files"].values())
    rows = [
        ("model", f"`{metadata['model']}` of kerasnmt {metadata['kerasnmt_version']}"),
        ("parameters", f"{metadata['parameters']:,}"),
        ("size", f"{size / 1e6:.1f} MB; matrices in {metadata['weights']}"),
        ("languages", " → ".join(about.get("languages", []))),
        ("score", about.get("score", "")),
        ("license", about.get("license", "unknown")),
    ]
    lines = [f"| {name} | {text} |" for name, text in rows if text]
    return "\n".join(["| | |", "|---|---|", *lines])


def _use(name: str, metadata: dict[str, Any]) -> str:
    about = metadata["about"]
    request = next((one["input"] for one in about.get("examples", [])), {})
    python, command = _USES.get(metadata["pipeline_tag"], _TRANSLATES)
    words = {
        "name": name,
        "search": "".join(f", {key}={value!r}" for key, value in about.get("search", {}).items()),
        **{key: json.dumps(request.get(key, key), ensure_ascii=False) for key in _FIELDS},
    }
    code = f'from kerasnmt.zoo import from_preset\n\nmodel = from_preset("{name}")\n'
    return (
        f"```python\n{code}{python.format(**words)}\n```\n\n```bash\n{command.format(**words)}\n```"
    )


_FIELDS = ("text", "story", "question")


def _score(about: dict[str, Any]) -> str:
    return f"{about.get('score', '')}, by\n\n```bash\n{about['evaluation']}\n```"


def _examples(examples: list[dict[str, Any]]) -> str:
    rows = [f"| {_cell(one['input'])} | {_cell(one['output'])} |" for one in examples]
    return "\n".join(["| input | output |", "|---|---|", *rows])


def _cell(value: Any) -> str:
    if isinstance(value, dict):
        parts = value.items()
        value = " / ".join(part if isinstance(part, str) else f"{k} {part}" for k, part in parts)
    return str(value).replace("|", "\\|").replace("\n", "<br>")
