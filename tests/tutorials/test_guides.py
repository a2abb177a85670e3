"""The code of the README and of the guides runs, with little data."""

import ast
import gzip
import itertools
import os
import random
import re
import shlex
import socket
import subprocess
import sys
import time
import urllib.request
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import typer.main
import yaml

from kerasnmt.cli.main import app
from kerasnmt.png import png_of
from kerasnmt.training import Recipe

pytestmark = pytest.mark.long("runs every guide")

ROOT = Path(__file__).parents[2]
GUIDES = [ROOT / "README.md", *sorted((ROOT / "tutorials/guides").glob("*.md"))]
IDS = [path.stem for path in GUIDES]
# Pages for contributors, which link to files and name them.
PAGES = [ROOT / "CONTRIBUTING.md", *sorted((ROOT / "benchmarks").rglob("*.md"))]
# Pages whose commands need too much data, time or devices for a test. The cards in `zoo` and
# `tests/cli/test_launch.py` cover them.
NOT_RUN = {"figures", "facts", "scaling"}
# Programs that need a network, a container or a browser, or that do not end.
OTHER_PROGRAMS = ("docker", "make", "pip", "tensorboard", "git", "hf")
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """Block of code on a page."""

    language: str
    code: str
    line: int


def blocks(path):
    text = path.read_text(encoding="utf-8")
    return [
        Block(found[1], found[2], text[: found.start()].count("\n") + 2)
        for found in FENCE.finditer(text)
    ]


def commands(code):
    """Return the commands of a block, with continued lines joined."""
    lines = code.replace("\\\n", " ").splitlines()
    return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]


def is_ours(command):
    words = [word for word in command.split() if not re.match(r"[A-Z_]+=", word)]
    return words[0] not in OTHER_PROGRAMS


def calls_of_kerasnmt(path):
    """Return the arguments of each call of the program on a page."""
    for block in blocks(path):
        if block.language == "bash":
            for command in commands(block.code):
                lexer = shlex.shlex(command, posix=True, punctuation_chars="|")
                lexer.whitespace_split = True
                for is_pipe, part in itertools.groupby(lexer, lambda word: {*word} == {"|"}):
                    words = [*part]
                    if not is_pipe and "kerasnmt" in words[:3]:
                        yield words[words.index("kerasnmt") + 1 :]


def check_installed(path):
    """Skip a page whose package is not installed."""
    if path.stem == "bulk":
        pytest.importorskip("apache_beam", reason="Apache Beam is not installed")


@pytest.mark.parametrize("path", GUIDES, ids=IDS)
def test_code_is_valid(path):
    """Python code can be parsed, its imports exist, and commands have the options they use."""
    check_installed(path)
    program = typer.main.get_command(app)
    for verb, *words in calls_of_kerasnmt(path):
        if verb == "VERB":
            continue
        command = program.get_command(None, verb)
        context = command.context_class(command, info_name=verb, **command.context_settings)
        command.make_parser(context).parse_args(words)
    for block in blocks(path):
        if block.language == "python":
            for node in ast.walk(ast.parse(block.code)):
                if isinstance(node, ast.ImportFrom):
                    module = import_module(node.module)
                    assert all(hasattr(module, alias.name) for alias in node.names), block
        if block.language == "yaml":
            yaml.safe_load(block.code)


def test_the_site_lists_every_guide():
    parts = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    listed = next(part["Guides"] for part in parts if "Guides" in part)
    assert sorted(listed) == [str(path.relative_to(ROOT)) for path in GUIDES[1:]]


@pytest.mark.parametrize("path", GUIDES + PAGES, ids=[*IDS, *(path.stem for path in PAGES)])
def test_links_lead_somewhere(path):
    text = re.sub(FENCE, "", path.read_text(encoding="utf-8"))
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if not link.startswith("http"):
            name, _, anchor = link.partition("#")
            target = (path.parent / name).resolve() if name else path
            assert target.exists(), link
            if anchor:
                headings = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.M)
                anchors = [
                    re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings
                ]
                assert anchor in anchors, link


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "tutorials/guides/architecture.md"])
def test_files_exist(page):
    """A page that says where things are names files and folders of the repository."""
    text = re.sub(FENCE, "", (ROOT / page).read_text(encoding="utf-8"))
    for name in re.findall(r"`([\w/]+(?:\.py|/))`", text):
        assert [*ROOT.glob(f"[!.]*/**/{name}"), *ROOT.glob(name)], name


def written(folder):
    """Write the files that the pages name, with invented words that support 8,000 pieces."""
    rng = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(rng.choices(letters, k=rng.randint(4, 9))) for _ in range(20_000)]
    for name, count in (("train", 1500), ("valid", 100), ("test", 20)):
        source = [" ".join(rng.choices(words, k=3)).capitalize() + "." for _ in range(count)]
        target = [sentence.swapcase()[::-1] for sentence in source]
        for language, lines in (("en", source), ("de", target)):
            text = "\n".join(lines) + "\n"
            (folder / f"{name}.{language}").write_text(text, encoding="utf-8")
        rows = "".join(f"{one}\t{other}\n" for one, other in zip(source, target, strict=True))
        (folder / f"{name}.tsv").write_text(rows, encoding="utf-8")
        if name == "train":
            with gzip.open(folder / "corpus-0.tsv.gz", "wt", encoding="utf-8") as shard:
                shard.write(rows)
    # Words and their sounds, for a preset that is trained further.
    rows = "".join(f"{word}\t{' '.join(word)}\n" for word in words[:40])
    (folder / "mine.tsv").write_text(rows, encoding="utf-8")
    (folder / "story.txt").write_text("Mary went to the kitchen.\n", encoding="utf-8")
    (folder / "questions.txt").write_text("Where is Mary?\n", encoding="utf-8")
    (folder / "picture.png").write_bytes(png_of(np.full((32, 32, 3), 200, "uint8")))


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def wait_for(url, server):
    """Wait until a server answers."""
    for _ in range(240):
        assert server.poll() is None, "the server ended"
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(0.5)
    raise AssertionError(f"{url}: no answer")


class Reader:
    """Reader who runs a page, block by block, in one folder, and trains for only one epoch."""

    def __init__(self, folder):
        self.folder = folder
        self.names = {"__name__": "page"}
        self.port = str(free_port())
        self.servers = []
        self.environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
        }

    def type(self, block):
        code = block.code.replace("8501", self.port)
        if block.language == "python":
            exec(compile(code, f"line {block.line}", "exec"), self.names)
        elif block.language == "yaml" and code.startswith("# recipe.yaml"):
            (self.folder / "recipe.yaml").write_text(code, encoding="utf-8")
            Recipe.load(self.folder / "recipe.yaml")
        elif block.language == "bash":
            for command in filter(is_ours, commands(code)):
                self.run(command)

    def run(self, command):
        if command.startswith("kerasnmt train"):
            command = command.partition("  #")[0] + " training.epochs=1 training.warmup_steps=0"
        if command.startswith("kerasnmt serve "):
            words = shlex.split(command, comments=True)
            words += [] if "--port" in words else ["--port", self.port]
            self.leave()  # the next server listens on the same port
            server = subprocess.Popen(words, cwd=self.folder, env=self.environment)
            self.servers.append(server)
            wait_for(f"http://127.0.0.1:{self.port}/v1/models/{Path(words[2]).name}", server)
            return
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout[-1000:]}\n{done.stderr[-2000:]}"
        assert done.stdout or done.stderr or ">" in command, command

    def leave(self):
        for server in self.servers:
            server.terminate()
        for server in self.servers:
            server.wait(30)
        self.servers.clear()


@pytest.mark.thorough("runs all commands of a page")
@pytest.mark.parametrize(
    "path", [path for path in GUIDES if path.stem not in NOT_RUN], ids=lambda path: path.stem
)
def test_code_runs(path, tmp_path, monkeypatch):
    check_installed(path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    written(tmp_path)
    reader = Reader(tmp_path)
    try:
        for block in blocks(path):
            reader.type(block)
    finally:
        reader.leave()
