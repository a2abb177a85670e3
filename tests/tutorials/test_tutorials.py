"""Every tutorial runs to its end on little data, in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TUTORIALS = sorted((Path(__file__).parents[2] / "tutorials").glob("[0-9]*.py"))


def test_there_are_tutorials():
    assert [path.name for path in TUTORIALS] == ["01_train_and_serve.py"]


@pytest.mark.parametrize("tutorial", TUTORIALS, ids=lambda path: path.stem)
def test_tutorial_runs(tutorial, tmp_path):
    environment = {**os.environ, "KERASNMT_SMALL": "1", "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, tutorial], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "attention.png" in done.stdout
    pictures = list(tmp_path.rglob("attention.png"))
    assert len(pictures) == 1 and pictures[0].stat().st_size > 5000
