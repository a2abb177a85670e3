"""`kerasnmt shortlist` and `kerasnmt translate --shortlist`."""

import shutil

import pytest

from kerasnmt import zoo
from kerasnmt.data import builtin_corpus
from kerasnmt.models import load_model
from kerasnmt.presets.preset import Preset
from tests.cli.conftest import LINES, TEXT, write

pytestmark = pytest.mark.usefixtures("eagerly")


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    """A file of training pairs."""
    rows = [f"{pair.source}\t{pair.target}" for pair in builtin_corpus(60)]
    return write(tmp_path_factory.mktemp("pairs") / "train.tsv", rows)


@pytest.fixture
def own_run(run_folder, tmp_path):
    return shutil.copytree(run_folder, tmp_path / "run")


def test_a_run_keeps_its_shortlist(kerasnmt, own_run, pairs):
    done = kerasnmt("translate", own_run, "--shortlist", stdin=TEXT)
    assert done.code == 2
    assert "Expected a model with a shortlist" in done.err and done.err.count("\n") == 1
    done = kerasnmt("shortlist", own_run, pairs, "--size", 3, "--frequent", 5)
    assert (done.code, done.out) == (0, "")
    model = load_model(own_run / "model.keras", compile=False)
    table = model.shortlist.table
    assert table.shape == (150, 3)
    assert (
        f"{(table > 0).sum()} likely target tokens of {table.any(axis=1).sum()} source" in done.err
    )
    options = {"beam_size": 3, "max_length": 20}
    expected = model.translate(LINES, shortlist=True, batch_size=3, **options)
    assert expected != model.translate(LINES, batch_size=3, **options)


def test_a_preset_keeps_its_shortlist(kerasnmt, preset_folder, pairs, tmp_path):
    folder = shutil.copytree(preset_folder, tmp_path / "preset")
    assert kerasnmt("shortlist", folder, pairs, "--size", 150, "--frequent", 150).code == 0
    model = zoo.from_preset(folder)
    assert model.shortlist.frequent.tolist() == [*range(150)]
    assert Preset(folder).metadata["about"] == Preset(preset_folder).metadata["about"]
    # A list of the whole vocabulary changes nothing.
    expected = kerasnmt("translate", preset_folder, stdin=TEXT).lines
    assert kerasnmt("translate", folder, "--shortlist", stdin=TEXT).lines == expected
    again = tmp_path / "again"
    model.save_to_preset(again)
    assert zoo.from_preset(again).shortlist.document() == model.shortlist.document()


@pytest.mark.parametrize(
    ("run", "content", "message"),
    [
        ("tatoeba_en_fr_gru", ["a\tb"], "folder of a run or a preset, to write to"),
        (".", ["a\tb"], "Expected the folder of a run"),
        ("RUN", [], "at least one line"),
        ("RUN", ["a"], "line 1"),
    ],
)
def test_errors(kerasnmt, own_run, tmp_path, monkeypatch, run, content, message):
    monkeypatch.chdir(tmp_path)
    path = write(tmp_path / "pairs.tsv", content)
    done = kerasnmt("shortlist", own_run if run == "RUN" else run, path)
    assert done.code == 2
    assert message in done.err and done.err.count("\n") == 1
