"""All tutorials run with little data, in child processes."""

import os
import subprocess
import sys
from pathlib import Path

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
}


def test_there_are_tutorials():
    assert [path.stem for path in TUTORIALS] == list(PICTURES)


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
