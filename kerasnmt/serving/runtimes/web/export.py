"""Exports for browsers and Node: a site of static files."""

import base64
import hashlib
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import keras

from kerasnmt.atomic_write import atomic_folder
from kerasnmt.serving.runtimes.onnx.export import export_onnx
from kerasnmt.serving.runtimes.plain_files import MODEL, TOKENIZERS, write_json
from kerasnmt.serving.runtimes.version_folder import refuse_existing
from kerasnmt.viz.page_files import page_file

_JAVASCRIPT = Path(__file__).with_name("javascript")
_PREFIX = "export default "
_TOKENIZER_NAMES = [
    f"kerasnmt>{kind}Tokenizer"
    for kind in ("Word", "PlainWord", "Punctuation", "Character", "SentencePiece")
]


def export_web(
    model: keras.Model,
    directory: str | Path,
    *,
    weights: str = "int8",
    ort: str | Path | None = None,
    about: Mapping[str, Any] | None = None,
    **options,
) -> str:
    """Write a site of static files that runs a model in a browser, completely or not at all.

    Any static server can serve the folder. It contains these files:

    - `index.html`, with `page/`: The page of `kerasnmt serve`.
    - `offline.js`, with `files.json`: The service worker, with which the page works
      without a network after a visit.
    - `model/`: The model; see `export_onnx`.
    - `kerasnmt.js`, with its types in `kerasnmt.d.ts`: The function `load`, for pages and for Node.
    - `ort.js`: The version of onnxruntime-web, the address of its files, and their hashes, which
      browsers check.
    - `package.json`: With it, `npm install` installs onnxruntime-web for Node.
    - `README.md`: How to serve the site and how to use the model in a page or a program.

    Args:
        model: A `kerasnmt.models.TranslationModel`, `CaptionModel` or `MemoryNetwork` with
            tokenizers.
        directory: Path of the folder to write. It must not exist. Its parents are created if
            necessary.
        weights: Number format of the matrices in the files; see `export_onnx`.
        ort: Path of the folder `dist` of the npm package onnxruntime-web, whose files are copied
            to `ort/`, so that the site needs no other server. None for the address of its CDN.
        about: What the page says about the model: `name`, `description`, and `examples`, a list of
            requests such as `{"text": "two dogs run ."}`. None for the name of the folder.
        **options: See `export_onnx`.

    Returns:
        Path of the folder.

    Raises:
        ValueError: If `ort` has no such files, or has those of another version, a tokenizer is not
            one of `kerasnmt.text`, or `about` has other keys; and see `export_onnx`.
        ModuleNotFoundError: If the extra `onnx-export` is not installed.
        OSError: If the folder cannot be written.
    """
    directory = Path(directory)
    refuse_existing(directory)
    says = {"name": directory.name, "description": "", "examples": []}
    if unknown := {*(about or {})} - {*says}:
        raise ValueError(
            f"Expected {', '.join(says)} in about. Received: {', '.join(sorted(unknown))}"
        )
    with atomic_folder(directory) as folder:
        runtime = write_scripts(folder, ort)
        _write_page(folder, runtime["address"])
        write_json(folder / "page/model.json", {**says, **(about or {})})
        export_onnx(model, folder / MODEL, weights=weights, **options)
        _check_tokenizers(folder / MODEL)
        write_json(folder / "files.json", _addresses(folder, runtime))
        size = sum(path.stat().st_size for path in (folder / MODEL).iterdir())
        call = _CALLS[model.request_fields[0]]
        readme = _README.format(size=size / 1e6, weights=weights, call=call, **runtime)
        (folder / "README.md").write_text(readme, encoding="utf-8")
    return str(directory)


def write_scripts(folder: Path, ort: str | Path | None = None) -> dict[str, Any]:
    """Write the JavaScript of a site to a folder; see `export_web`.

    Returns:
        What `ort.js` exports: the `version` of onnxruntime-web, the `address` of its files, and the
        hashes of its `files`.
    """
    shutil.copytree(_JAVASCRIPT, folder, dirs_exist_ok=True)
    script = (folder / "ort.js").read_text(encoding="utf-8")
    runtime = json.loads(script.partition(_PREFIX)[2].rstrip().removesuffix(";"))
    if ort is not None:
        runtime["address"] = "./ort/"
        (folder / "ort").mkdir()
        for name in runtime["files"]:
            _copy_checked(Path(ort) / name, folder / "ort", runtime)
        script = f"{_PREFIX}{json.dumps(runtime, indent=2)};\n"
        (folder / "ort.js").write_text(script, encoding="utf-8")
    package = {
        "name": "kerasnmt-model",
        "private": True,
        "type": "module",
        "exports": {"types": "./kerasnmt.d.ts", "default": "./kerasnmt.js"},
        "dependencies": {"onnxruntime-web": runtime["version"]},
    }
    write_json(folder / "package.json", package)
    return runtime


def _check_tokenizers(model: Path) -> None:
    """Check that JavaScript has the tokenizers of a model."""
    tokenizers = json.loads((model / TOKENIZERS).read_text(encoding="utf-8"))
    for name in (one["registered_name"] for one in tokenizers.values()):
        if name not in _TOKENIZER_NAMES:
            raise ValueError(
                f"Expected the tokenizers {', '.join(_TOKENIZER_NAMES)} in a browser. "
                f"Received: {name}. Export the model with --runtime onnx."
            )


def _write_page(folder: Path, address: str) -> None:
    """Write the files that the page shares with that of `kerasnmt serve`.

    Args:
        folder: Folder of the site, with `page/backend.js`, which answers questions.
        address: Address of the files of onnxruntime-web, absolute or relative to the site.
    """
    server = urlsplit(address)
    sources = f"'self' {server.scheme}://{server.netloc}" if server.netloc else "'self'"
    # The script of onnxruntime-web comes from a blob, after a check of its hash.
    policy = (
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval' blob:; style-src 'self'; "
        f"connect-src {sources}; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'"
    )
    charset = '<meta charset="utf-8">'
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    html = page_file("page.html").replace(charset, f"{charset}\n{meta}")
    (folder / "index.html").write_text(html, encoding="utf-8")
    for name in ("page.css", "drawing.js", "live.js"):
        (folder / "page" / name).write_text(page_file(name), encoding="utf-8")


def _addresses(folder: Path, runtime: dict[str, Any]) -> list[str]:
    """Return the addresses of the files that the page keeps, also of those on another server.

    READMEs are not among them, because some servers do not serve them as they are.
    """
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".md")
    paths = [path.relative_to(folder) for path in files]
    others = {runtime["address"].removeprefix("./") + name for name in runtime["files"]}
    return ["./", *sorted({path.as_posix() for path in paths} | others)]


def _copy_checked(path: Path, folder: Path, runtime: dict[str, Any]) -> None:
    """Copy a file of onnxruntime-web, if it is the file of the right version."""
    name, digest = path.name, b""
    if path.is_file():
        shutil.copy(path, folder)
        digest = hashlib.sha384((folder / name).read_bytes()).digest()
    if f"sha384-{base64.b64encode(digest).decode()}" != runtime["files"][name]:
        version = runtime["version"]
        raise ValueError(
            f"Expected the folder dist of onnxruntime-web {version}. Received: {path.parent}, "
            f"{'with another' if digest else 'without'} {name}. Install it: "
            f"npm install onnxruntime-web@{version}"
        )


# Call of a model that reads a field first.
_CALLS = {"text": 'translate("…")', "image": "caption(image)", "story": 'answer(["…", "…"], "…")'}
_README = """# A model in the browser

Any static server can serve this folder: `python -m http.server --directory .`
`index.html` is a page that shows what the model thinks. A visitor loads the model, {size:.1f} MB
({weights}), and onnxruntime-web {version}, 14 MB (4 MB compressed), from
`{address}`. What you ask stays in the browser. After a visit, the page works without a network.

In a page of your own, or in Node 20 or newer after `npm install` in this folder:

    import {{ load }} from "./kerasnmt.js";
    const model = await load("./model");
    console.log(await model.{call});

`kerasnmt.d.ts` has all methods, and the options of a model that searches, such as
`load("./model", {{ beam_size: 1 }})`. In Python, `kerasnmt.runtime.load("model")` loads the same
files.
"""
