"""Makes the API reference: a page for each public package, and links from code to its names."""

import inspect
import re
from collections import defaultdict
from dataclasses import fields
from pathlib import Path
from typing import cast
from xml.etree.ElementTree import Element

from griffe import Alias, Module
from markdown import Extension, Markdown
from markdown.treeprocessors import Treeprocessor
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocstrings import MkdocstringsPlugin

from kerasnmt.decoding import SearchOptions, TranslationOptions

LISTING = Path(__file__).parents[2] / "tests/public_api.txt"
# Each line has a name, and perhaps a member of it, or another name of the same thing.
LINE = re.compile(r"^(kerasnmt\.\w+\.\w+)(?:\.(\w+)| is (kerasnmt\S+)$)?", re.MULTILINE)
KERAS_PROTOCOL = ("get_config", "from_config", "get_compile_config", "compile_from_config")

MEMBERS: defaultdict[str, list[str]] = defaultdict(list)
HOMES: dict[str, str] = {}
for name, member, home in LINE.findall(LISTING.read_text(encoding="utf-8")):
    if home:
        HOMES[name] = home
    else:
        MEMBERS[name] += [member] if member and member not in KERAS_PROTOCOL else []


def on_config(config: MkDocsConfig) -> None:
    """Link code that is a public name to its documentation."""
    config.markdown_extensions.append(CodeLinks())


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Add the pages."""
    plugin = cast(MkdocstringsPlugin, config.plugins["mkdocstrings"])
    handler = plugin.get_handler("python")
    package = handler.collect("kerasnmt", handler.get_options({}))
    add_names(package)
    add_search_options(package)
    add_inherited(package)
    for room in {name.split(".")[1] for name in MEMBERS}:
        content = page_of(package[room])
        files.append(File.generated(config, f"api/{room}.md", content=content))


def add_names(package: Module) -> None:
    """Add the names that are names of modules too."""
    for path in MEMBERS:
        room_name, name = path.split(".")[1:]
        room = package[room_name]
        if room[name].is_module:
            room.set_member(name, Alias(name, room[name][name], parent=room))


def add_search_options(package: Module) -> None:
    """Add the documentation and the defaults that the options of a search compute."""
    for cls in (SearchOptions, TranslationOptions):
        options = package[f"decoding.{cls.__name__}"]
        options.docstring.value = inspect.getdoc(cls)
        for field in fields(cls):
            options.parameters[field.name].default = repr(field.default)


def add_inherited(package: Module) -> None:
    """Add to each class links to the members of its public bases."""
    public = {name: package[name.partition(".")[2]] for name in MEMBERS}
    names = {one.canonical_path: name for name, one in public.items()}
    for cls in (one for one in public.values() if one.is_class):
        known = set(MEMBERS[names[cls.canonical_path]])
        for base in (base for base in cls.mro() if base.path in names):
            name = names[base.path]
            links = [f"[`{one}`][{name}.{one}]" for one in MEMBERS[name] if one not in known]
            known.update(MEMBERS[name])
            if links:
                cls.docstring.value += f"\n\nInherited from `{base.name}`: {', '.join(links)}."


def page_of(room: Module) -> str:
    """Return the page of a package, with a section for each sub-package or family of models."""
    assert room.docstring
    sections = defaultdict(list)
    for name, members in MEMBERS.items():
        if name.startswith(f"{room.path}."):
            block = f"::: {name}\n    options: {{members: {members}, inherited_members: {members}}}"
            sections[section_of(room, name.rpartition(".")[2])].append(block)
    ranking = "---\nsearch: {boost: 0.01}\n---"  # the search lists guides first
    parts = [ranking, f"# {room.path} {{ #{room.path} }}", room.docstring.value]
    elsewhere = [f"`{home}`" for name, home in HOMES.items() if name.startswith(f"{room.path}.")]
    if elsewhere:
        parts.append(f"Also here: {', '.join(elsewhere)}.")
    for title, blocks in sorted(sections.items()):
        if title:
            parts += [f"## {title.capitalize().replace('_', ' ')}", room[title].docstring.value]
        elif len(sections) > 1:
            parts.append("## General")
        parts += blocks
    return "\n\n".join(parts)


def section_of(room: Module, name: str) -> str:
    """Return the sub-package or family that defines a public name, or nothing."""
    if room.name == "zoo":
        return next(family.name for family in room.modules.values() if name in family.functions)
    part = room[name].canonical_path.removeprefix(f"{room.path}.").partition(".")[0]
    return part if part in room.modules and room[part].is_init_module else ""


class CodeLinks(Extension, Treeprocessor):
    """Links code that is a public name, such as `kerasnmt.layers.Score` or `Score.project`."""

    def __init__(self) -> None:
        super().__init__()
        self.targets = {name: name for name in MEMBERS} | HOMES
        for name, members in MEMBERS.items():
            _, room, short = name.split(".")
            if short[0].isupper() or room == "zoo":  # others can be arguments as well
                self.targets[short] = name
            if short[0].isupper():
                self.targets |= {f"{short}.{member}": f"{name}.{member}" for member in members}

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802, as Markdown calls it
        md.treeprocessors.register(self, "code_links", 15)

    def run(self, root: Element) -> None:
        parents = [part for part in root.iter() if part.tag not in ("a", "h1", "h2", "h3", "h4")]
        for parent in parents:
            for index, child in enumerate(parent):
                target = self.targets.get((child.text or "").partition("(")[0])
                if child.tag == "code" and target:
                    link = Element("autoref", identifier=target)
                    link.tail, child.tail = child.tail, None
                    link.append(child)
                    parent[index] = link
