"""Card of a preset, for readers and model hubs."""

import json
import shlex
from typing import Any

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
    import yaml  # not at the top: models need no YAML

    about = metadata["about"]
    front = {
        "library_name": "kerasnmt",
        "license": about.get("license", "unknown"),
        "language": sorted(set(about.get("languages", []))),
        "pipeline_tag": metadata["pipeline_tag"],
        "tags": ["keras", metadata["model"]],
    }
    parts = [
        f"---\n{yaml.safe_dump(front, sort_keys=False, allow_unicode=True)}---",
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
        ("license", about.get("license", "unknown")),
    ]
    lines = [f"| {key} | {_cell(text)} |" for key, text in rows if text]
    return "\n".join(["| | |", "|---|---|", *lines])


def _use(name: str, metadata: dict[str, Any]) -> str:
    """Return code and a command that run the model with the first example, or another request."""
    about, fields = metadata["about"], metadata["inputs"]
    made_up = dict(zip(fields, fields, strict=True))
    request = next((one["input"] for one in about.get("examples", [])), made_up)
    search = "".join(f", {key}={value!r}" for key, value in about.get("search", {}).items())
    model, words = shlex.quote(name), {key: str(request.get(key, key)) for key in fields}
    before = ""
    if "image" in fields:
        before = (
            "from kerasnmt.data import builtin_scenes\n\n"
            'images = [scene.image for scene in builtin_scenes(3, "test")]\n'
        )
        asked, command = f"caption(images{search})", f"translate {model} --image picture.png"
    elif "question" in fields:
        story = _code(words["story"].splitlines())
        asked = f"answer([{story}], [{_code(words['question'])}])"
        command = f"translate {model} --story story.txt --question questions.txt"
    elif "context" in fields:
        contexts = f"contexts=[{_code(words['context'])}]"
        asked = f"translate([{_code(words['text'])}], {contexts}{search})"
        command = f"translate {model} --input texts.txt --context contexts.txt"
    else:
        asked = f"translate([{_code(words['text'])}]{search})"
        command = f"translate {model}"
    echo = f"echo {shlex.quote(words['text'])} | " if fields == ["text"] else ""
    return (
        f"```python\nfrom kerasnmt.zoo import from_preset\n{before}\n"
        f"model = from_preset({_code(name)})\nprint(model.{asked})\n```\n\n"
        f"```bash\n{echo}kerasnmt {command}\n```"
    )


def _code(value: Any) -> str:
    """Return a text, or a list of texts, as Python code."""
    return json.dumps(value, ensure_ascii=False)


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
    return str(value).replace("|", "\\|").replace("\n", "<br>")
