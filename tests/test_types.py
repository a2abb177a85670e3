"""What type checkers tell the users of the library."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import kerasnmt
from tests.zoo import stub

PROGRAM = """
import kerasnmt
from kerasnmt.data import batches, read_tsv
from kerasnmt.decoding import SearchOptions
from kerasnmt.serving import Translator, load_export
from kerasnmt.text import WordTokenizer
from kerasnmt.training import Recipe, translation_scores
from kerasnmt.zoo import bahdanau_gru, list_presets

tokenizer = WordTokenizer.train(["a b"], 6)
model = bahdanau_gru(tokenizer, units=8)
reveal_type(batches)
reveal_type(kerasnmt.data.Scene)
reveal_type(SearchOptions().beam_size)
reveal_type(Translator(load_export("m/1")).ask({"text": ["a"]}))
reveal_type(Recipe.load("r.yaml").training.epochs)
reveal_type(tokenizer.vocabulary_size)
reveal_type(translation_scores)
reveal_type(model)
reveal_type(list_presets())
bahdanau_gru(tokenizer, unit=8)
batches([], tokenizer, batch_sise=3)
"""


@pytest.mark.thorough("runs mypy")
def test_mypy_knows_the_types_of_a_users_program(tmp_path):
    stub.PATH.write_text(stub.stub(), encoding="utf-8")  # as `make` does
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    # The user's project has no settings, and other packages without types.
    options = ["--config-file=", "--ignore-missing-imports", "--follow-imports=silent"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, path],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(Path(kerasnmt.__file__).parents[1])},
    )
    said = [line.partition(": ")[2].partition(": ")[2] for line in done.stdout.splitlines()]
    revealed = [line.split('"', 1)[1].rstrip('"') for line in said if line.startswith("Revealed")]
    function, scene, beam_size, best, epochs, size, scores, model, names = revealed
    assert function.startswith("def (pairs: Any, source_tokenizer: ")
    assert "batch_size: int | None =" in function
    assert scene.startswith("def (image: ") and "kerasnmt.data.scenes.SceneCaption" in scene
    assert (beam_size, epochs, size) == ("int", "int", "int")
    assert best == "list[tuple[str, float]]"
    assert scores.endswith("-> dict[str, float | str]")
    assert model == "kerasnmt.models.seq2seq.Seq2Seq"
    assert names == "list[str]"
    errors = [line for line in said if "nexpected keyword" in line]
    assert len(errors) == 2 and '"unit"' in errors[0] and '"batch_sise"' in errors[1]
