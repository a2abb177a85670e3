"""The allowed imports between the subpackages of serving."""

import re
from pathlib import Path

import pytest

SERVING = Path(__file__).parents[2] / "kerasnmt" / "serving"
# The sub-packages that each one may import.
WALLS = {
    "protocol": set(),
    "contract": {"protocol"},
    "runtimes": {"contract", "protocol"},
    "check": {"runtimes", "contract", "protocol"},
    "client": {"contract", "protocol"},
    "server": {"runtimes", "contract", "protocol"},
    "bulk": {"runtimes"},
}


def test_every_folder_has_walls():
    assert {path.parent.name for path in SERVING.glob("*/__init__.py")} == set(WALLS)
    assert {path.name for path in SERVING.glob("*.py")} == {"__init__.py"}


@pytest.mark.parametrize("name", WALLS)
def test_arrows(name):
    allowed = WALLS[name] | {name}
    for path in (SERVING / name).rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        imported = {*re.findall(r"import kerasnmt\.serving\.(\w+)", text)}
        imported |= {*re.findall(r"from kerasnmt\.serving(?:\.| import )(\w+)", text)}
        assert imported <= allowed, f"{path.name} imports {imported - allowed}"
