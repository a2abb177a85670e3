"""Plugin of pytest that runs the tests of what changed, nearest first, within some minutes.

    pytest -m thorough --affected --within 10

What changed is the difference to the main branch of `origin` or, on that branch, to the last commit
that is a day older. A test file is affected if it imports a changed file, directly or through other
files. The fewer imports lie between them, the earlier it runs.

    python -m tests.affected FILE...

exits with 0 if one of these test files imports a changed file, or a file that imports one.
"""

import ast
import subprocess
import sys
import time
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


class Affected:
    """Leave out the tests of what did not change, and those for which there is no time."""

    def __init__(self, config):
        self.only_affected = config.getoption("--affected")
        self.minutes = config.getoption("--within")
        self.start = time.monotonic()

    @pytest.hookimpl(trylast=True)  # after the order is shuffled
    def pytest_collection_modifyitems(self, config, items):
        changed = changed_files() if self.only_affected else None
        if changed is not None:
            distances = import_distances(changed)
            items.sort(key=lambda item: distances.get(item.path, 0))
            left_out = [item for item in items if item.path not in distances]
            config.hook.pytest_deselected(items=left_out)
            items[:] = [item for item in items if item.path in distances]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self):
        if self.minutes is not None and time.monotonic() - self.start > 60 * self.minutes:
            pytest.skip(f"the {self.minutes:g} minutes of this run are over")


def add_options(parser):
    parser.addoption("--affected", action="store_true", help="run the tests of what changed")
    parser.addoption(
        "--within", type=float, metavar="MINUTES", help="skip the tests that would start later"
    )


def git(*arguments):
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip()


def changed_files():
    """Return the changed files, or None if it is not known what changed."""
    base = git("merge-base", "HEAD", "origin/main")
    if not base or base == git("rev-parse", "HEAD"):
        day_before = int(git("show", "-s", "--format=%ct", "HEAD") or 0) - 86400
        base = git("rev-list", "-1", f"--before={day_before}", "HEAD")
    names = git("diff", "--name-only", base) if base else ""
    return {ROOT / name for name in names.splitlines()} if names else None


def import_distances(changed):
    """Return the number of imports between each file and the nearest changed one."""
    importers = defaultdict(set)
    for path in python_files().values():
        for module in imported_files(path):
            importers[module].add(path)
    # A changed file that is no module counts as the modules in the nearest folder above it.
    modules = set(python_files().values())
    nearest = {one for path in changed for one in ([path] if path in modules else around(path))}
    distances, distance = {}, 0
    while nearest:
        distances |= dict.fromkeys(nearest, distance)
        nearest = {one for path in nearest for one in importers[path]} - distances.keys()
        distance += 1
    return distances


def around(path):
    """Return the modules in the nearest folder above a file; tests read tutorials and guides."""
    folder = path.parent
    if folder.is_relative_to(ROOT / "tutorials") or path.suffix == ".md":
        folder = ROOT / "tests" / "tutorials"
    modules = set(python_files().values())
    while folder != ROOT:
        if beside := {one for one in modules if one.parent == folder}:
            return beside
        folder = folder.parent
    return modules  # such as pyproject.toml


@cache
def python_files():
    """Return the files of the library, the tests and the benchmarks, by the names of modules."""
    files = {}
    for folder in ("kerasnmt", "tests", "benchmarks"):
        for path in (ROOT / folder).rglob("*.py"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            files[".".join(parts[:-1] if path.stem == "__init__" else parts)] = path
    return files


@cache
def imported_files(path):
    """Return the files that a file imports; a test imports the `conftest.py` of its folders."""
    files = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            files |= {file for alias in node.names for file in files_of(alias.name)}
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                files |= files_of(f"{node.module}.{alias.name}")
    if path.is_relative_to(ROOT / "tests"):
        # The one of all tests builds models of all kinds, so it does not count.
        folders = [folder for folder in path.parents if ROOT / "tests" in folder.parents]
        above = [folder / "conftest.py" for folder in folders]
        files |= {one for one in above if one.exists() and one != path}
    return files


def files_of(name):
    """Return the file that a module, or a name in a module, comes from."""
    files = python_files()
    if name in files:
        return {files[name]} | set(stub_names(files[name]).values())
    module, _, member = name.rpartition(".")
    if module not in files:
        return set()
    return {stub_names(files[module]).get(member, files[module])}


@cache
def stub_names(init):
    """Return the files of the names that a package imports on first use, or at once."""
    stub = init.with_suffix(".pyi")
    source = stub if stub.exists() and init.parent.name != "zoo" else init
    if init.stem != "__init__":
        return {}
    names = {}
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            package = ".".join(init.parent.relative_to(ROOT).parts)
            module = f"{package}.{node.module}" if node.level else node.module
            if module in python_files():
                names |= {alias.name: python_files()[module] for alias in node.names}
    return names


if __name__ == "__main__":
    changed = changed_files()
    distances = {} if changed is None else import_distances(changed)
    near = changed is None or any(distances.get(ROOT / name, 3) < 3 for name in sys.argv[1:])
    sys.exit(not near)
