"""`import kerasnmt`."""

import json
import re
import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path

import pytest

import kerasnmt

ROOT = Path(__file__).parents[1]
METADATA = tomllib.loads((ROOT / "pyproject.toml").read_text())

SCRIPT = """
import json, sys
import kerasnmt
light = sorted({"keras", "tensorflow", "numpy"} & sys.modules.keys())
try:
    kerasnmt.rooms
except AttributeError as error:
    unknown = str(error)
first = kerasnmt.data.builtin_corpus(1)[0].source
print(json.dumps([light, unknown, first, "keras" in sys.modules]))
"""


def test_import_is_light_and_the_rest_comes_when_it_is_asked_for():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True)
    light, unknown, first, keras_is_loaded = json.loads(done.stdout)
    assert light == []
    assert unknown == "module 'kerasnmt' has no attribute 'rooms'"
    assert first.endswith(".")
    assert not keras_is_loaded


@pytest.mark.parametrize("name", sorted({*kerasnmt.__all__} - {"__version__", "load_model"}))
def test_rooms(name):
    assert getattr(kerasnmt, name).__name__ == f"kerasnmt.{name}"
    assert name in dir(kerasnmt)


def test_the_oldest_versions_are_the_lower_bounds():
    project = METADATA["project"]
    extras = project["optional-dependencies"]
    tested = [extras[name] for name in extras if name not in ("docs", "beam")]
    requirements = chain(project["dependencies"], *tested)
    oldest = (ROOT / "tests" / "oldest.txt").read_text().splitlines()
    assert {line for line in oldest if line[0] != "#"} == {
        re.split("[,;]", requirement)[0].replace(">=", "==")
        for requirement in requirements
        if not requirement.startswith("kerasnmt[")
    }


def test_the_wheel_has_every_file_of_the_package():
    package = ROOT / "kerasnmt"
    files = {path for path in package.rglob("*") if path.is_file() and path.suffix != ".pyc"}
    patterns = [*METADATA["tool"]["setuptools"]["package-data"]["kerasnmt"], "**/*.py"]
    assert {path for pattern in patterns for path in package.glob(pattern)} == files
    assert all((path.parent / "__init__.py").exists() for path in files if path.suffix == ".py")
    for pattern in METADATA["project"]["license-files"]:
        assert (ROOT / pattern).is_file()
