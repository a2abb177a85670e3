"""Takes the pages of the site from all over the repository, and mends their links."""

import json
import logging
import posixpath
import re
from collections.abc import Iterator
from fnmatch import filter as matching
from pathlib import Path

import jupytext
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from nbconvert import MarkdownExporter
from nbconvert.filters import strip_ansi

ROOT = Path(__file__).parents[2]
# Pages, and files that they show or link to. Their paths in the site are those of the repository.
SOURCES = [
    *("README.md", "CHANGELOG.md", "*/presets/NOTICE.md"),
    *("tutorials/guides/*.md", "tutorials/images/*"),
    *("zoo/*/README.md", "zoo/*/*.png", "zoo/*/*.json", "zoo/*/*.yaml"),
]
# Sites of presets that run in the browser, and the page that shows them.
LIVE, LIVE_PAGE = ROOT / "build/live", "live.md"
LINK = re.compile(r"\[([^\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Add the pages, and put them where the navigation has a pattern."""
    for path in (path for pattern in SOURCES for path in ROOT.glob(pattern)):
        uri = path.relative_to(ROOT).as_posix()
        files.append(File.generated(config, uri, abs_src_path=str(path)))
    for script in (ROOT / "tutorials").glob("[0-9]*.py"):
        for uri, content in tutorial(script):
            files.append(File.generated(config, f"tutorials/{uri}", content=content))
    for path in (one for one in LIVE.rglob("*") if one.is_file() and one.suffix != ".md"):
        uri = path.relative_to(LIVE.parent).as_posix()
        files.append(File.generated(config, uri, abs_src_path=str(path)))
    if not live_names():
        logging.getLogger("mkdocs.hooks").info(
            "The page Live is left out, because its models are not exported: run `make site`."
        )
        files.remove(files.src_uris[LIVE_PAGE])
        config.nav = [part for part in config.nav or [] if LIVE_PAGE not in part.values()]
    uris = sorted(file.src_uri for file in files)
    for part in config.nav or []:
        for title, pages in part.items():
            if isinstance(pages, list):
                part[title] = [uri for page in pages for uri in matching(uris, page) or [page]]


def tutorial(script: Path) -> Iterator[tuple[str, str | bytes]]:
    """Yield the page of a tutorial and its pictures, from the executed notebook if there is one."""
    executed = script.with_suffix(".ipynb")
    notebook = jupytext.read(executed if executed.exists() else script)
    notebook.metadata["language_info"] = {"name": "python"}
    text, resources = MarkdownExporter().from_notebook_node(
        notebook, {"unique_key": script.stem, "output_files_dir": script.stem}
    )
    yield f"{script.stem}.md", strip_ansi(text)
    yield from resources["outputs"].items()


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Link to the pages of tutorials, and unlink what the repository has and the site has not."""
    if page.file.src_uri == LIVE_PAGE:
        markdown += live_models()
    if page.parent is None:
        page.meta["hide"] = ["navigation"]
    folder = posixpath.dirname(page.file.src_uri)

    def mended(match: re.Match[str]) -> str:
        text, link, anchor = match.groups("")
        target = posixpath.normpath(posixpath.join(folder, link))
        stem, _, suffix = link.rpartition(".")
        if suffix in ("py", "ipynb") and f"{target.rpartition('.')[0]}.md" in files.src_uris:
            return f"[{text}]({stem}.md{anchor})"
        return match[0] if target in files.src_uris or not (ROOT / target).exists() else text

    return LINK.sub(mended, markdown)


def live_names() -> list[str]:
    """Return the names of the presets that have a site."""
    return sorted(path.parts[-3] for path in LIVE.glob("*/page/model.json"))


def live_models() -> str:
    """Return links to the sites of presets, and a frame that shows them."""
    names = live_names()
    links = []
    for name in names:
        about = json.loads((LIVE / name / "page/model.json").read_text(encoding="utf-8"))
        link = f"[{name}](live/{name}/index.html){{target=model}}"
        links.append(f"- {link}: {about['description']}")
    source = f"live/{names[0]}/index.html"
    frame = f'<iframe name="model" title="Model" class="model" src="{source}"></iframe>'
    return "\n".join(["", *links, "", frame])
