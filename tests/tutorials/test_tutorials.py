"""All tutorials run with little data, and their notebooks show a run of the same code."""

import os
import re
import subprocess
import sys
from pathlib import Path

import jupytext
import pytest

pytestmark = pytest.mark.long("runs every tutorial")

TUTORIALS = sorted((Path(__file__).parents[2] / "tutorials").glob("[0-9]*.py"))
PICTURES = {
    "01_train_and_serve": ["attention.png"],
    "02_attention_by_hand": ["alignment.png", "attention.png", "bottleneck.png", "scores.png"],
    "03_copying_rare_words": ["copying.png"],
    "04_serving": [],
    "05_reading_training": ["learning_rates.png", "overfitting.png"],
    "06_transformer": ["heads.png"],
    "07_captions": ["looks.png"],
    "08_memory_network": ["hops.png"],
    "09_own_tokenizer": [],
    "10_long_texts": ["diagonals.png"],
}


def test_there_are_tutorials():
    assert [path.stem for path in TUTORIALS] == list(PICTURES)


@pytest.mark.parametrize("tutorial", TUTORIALS, ids=lambda path: path.stem)
def test_notebook_shows_a_run_of_the_script(tutorial):
    """If it does not, `make notebooks` runs the tutorial again."""
    script, notebook = jupytext.read(tutorial), jupytext.read(tutorial.with_suffix(".ipynb"))
    sources = [[(cell.cell_type, cell.source) for cell in one.cells] for one in (script, notebook)]
    assert sources[0] == sources[1]
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == [*range(1, len(code) + 1)]

    outputs = [output for cell in code for output in cell.outputs]
    assert "error" not in [output.output_type for output in outputs]
    shown = [output.get("data", {"text/plain": output.get("text")}) for output in outputs]
    assert sum("image/png" in data for data in shown) == len(PICTURES[tutorial.stem])
    text = "\n".join(data.get("text/plain", "") for data in shown)
    assert "\r" not in text and " at 0x" not in text
    # The only paths are in the tutorial's temporary folder.
    paths = re.findall(r"(?<![\w.:/<])/\w[^\s']*", text)
    assert [path for path in paths if "/kerasnmt-" not in path] == []


@pytest.mark.thorough("each trains models for a minute")
@pytest.mark.parametrize("tutorial", TUTORIALS, ids=lambda path: path.stem)
def test_tutorial_runs(tutorial, tmp_path):
    environment = {**os.environ, "KERASNMT_SMALL": "1", "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, tutorial], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    pictures = sorted(tmp_path.rglob("*.png"), key=lambda path: path.name)
    assert [path.name for path in pictures] == PICTURES[tutorial.stem]
    for path in pictures:
        assert str(path) in done.stdout and path.stat().st_size > 5000
