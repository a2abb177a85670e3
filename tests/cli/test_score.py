import pytest

from kerasnmt.models import Ensemble
from tests.cli.conftest import write

SOURCES = ["Anna sees two dogs .", "", "He sleeps ."]
TARGETS = ["Anna sieht zwei Hunde .", "Ja .", "Er schläft ."]


@pytest.fixture
def files(tmp_path):
    source, target = write(tmp_path / "source", SOURCES), write(tmp_path / "target", TARGETS)
    return ["--source", source, "--target", target]


@pytest.mark.usefixtures("eagerly")
def test_one_line_a_pair(kerasnmt, run_folder, files, loaded_model):
    expected = loaded_model.score(SOURCES, TARGETS)
    done = kerasnmt("score", run_folder, *files)
    assert done.code == 0
    assert [float(line) for line in done.lines] == pytest.approx(expected, abs=1e-4)
    assert len(set(done.lines)) == 3 and max(expected) < 0
    alone = kerasnmt("score", run_folder, *files, "--batch-size", 1)
    assert [float(line) for line in alone.lines] == pytest.approx(expected, abs=1e-4)


@pytest.mark.thorough("test_translate.py has an ensemble")
@pytest.mark.usefixtures("eagerly")
def test_an_ensemble_of_runs(kerasnmt, run_folder, other_run_folder, files, load_run_once):
    models = [load_run_once(folder)[0] for folder in (run_folder, other_run_folder)]
    expected = Ensemble(models).score(SOURCES, TARGETS)
    done = kerasnmt("score", run_folder, "--with", other_run_folder, *files)
    assert [float(line) for line in done.lines] == pytest.approx(expected, abs=1e-4)
    assert expected != pytest.approx(models[0].score(SOURCES, TARGETS), abs=1e-2)


def test_unequal_line_counts(kerasnmt, run_folder, files):
    files[3].write_text("Ja .\n")
    done = kerasnmt("score", run_folder, *files)
    assert (done.code, done.out) == (2, "")
    assert "3" in done.err and "1" in done.err
