import csv
import io
import json

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


CSV = "\ufeffid,en,de\r\n" + "".join(
    f'{number},"{source}","{target}"\r\n'
    for number, (source, target) in enumerate(zip(SOURCES, TARGETS, strict=True))
).replace("two dogs", "two\r\ndogs")


@pytest.mark.usefixtures("eagerly")
def test_pairs_of_a_table_keep_their_fields(kerasnmt, run_folder, loaded_model, tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_bytes(CSV.encode())
    expected = loaded_model.score(SOURCES, TARGETS)
    done = kerasnmt("score", run_folder, "--pairs", path, "--columns", "en,de")
    rows = [*csv.DictReader(io.StringIO(done.out, newline=""))]
    assert [float(row["score"]) for row in rows] == pytest.approx(expected, abs=1e-4)
    assert [row["en"] for row in rows] == ["Anna sees two\ndogs .", *SOURCES[1:]]
    assert [*rows[0]] == ["id", "en", "de", "score"]
    options = ("--format", "json", "--normalize")
    done = kerasnmt("score", run_folder, "--pairs", path, "--columns", "3,2", *options)
    assert done.code == 0 and len(done.lines) == 4  # the heading is a pair, too
    done = kerasnmt("score", run_folder, "--pairs", path, "--columns", "en,de", *options)
    lengths = [len(one) + 1 for one in loaded_model.target_tokenizer.tokenize(TARGETS).to_list()]
    normalized = [score / length for score, length in zip(expected, lengths, strict=True)]
    scores = [json.loads(line)["score"] for line in done.lines]
    assert scores == pytest.approx(normalized, abs=1e-4)
    assert loaded_model.score(SOURCES, TARGETS, normalize=True) == pytest.approx(normalized)


@pytest.mark.usefixtures("eagerly")
def test_pairs_with_tabs_become_records(kerasnmt, run_folder, files, tmp_path):
    pairs = write(tmp_path / "pairs.tsv", map("\t".join, zip(SOURCES, TARGETS, strict=True)))
    lines = kerasnmt("score", run_folder, *files).lines
    assert kerasnmt("score", run_folder, "--pairs", pairs).lines == lines
    done = kerasnmt("score", run_folder, "--pairs", pairs, "--format", "tsv")
    assert [line.split("\t")[:2] for line in done.lines] == [
        ["source", "target"],
        *map(list, zip(SOURCES, TARGETS, strict=True)),
    ]
    done = kerasnmt("align", run_folder, "--pairs", pairs, "--format", "json")
    aligned = [json.loads(line) for line in done.lines]
    assert [one["target"] for one in aligned] == TARGETS
    assert [one["alignment"] for one in aligned] == kerasnmt("align", run_folder, *files).lines


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Expected --source FILE with --target FILE, or --pairs FILE."),
        (["--source", "SOURCE"], "Expected --source FILE with --target FILE, or --pairs FILE."),
        (["--pairs", "SOURCE", "--target", "SOURCE"], "Expected --pairs FILE without --source and"),
        (["--source", "SOURCE", "--target", "SOURCE", "--columns", "1,2"], "Expected --pairs FILE"),
        (["--pairs", "SOURCE"], "Expected lines of source TAB target. Received: path='"),
        (["--pairs", "SOURCE", "--columns", "1,x"], "Expected columns that are all numbers"),
        (["--pairs", "SOURCE", "--columns", "en,de"], "Expected one column 'en' in the heading"),
    ],
)
@pytest.mark.parametrize("verb", ["score", "align"])
def test_wrong_pairs(kerasnmt, run_folder, files, verb, arguments, message):
    arguments = [files[1] if one == "SOURCE" else one for one in arguments]
    done = kerasnmt(verb, run_folder, *arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err and done.err.count("\n") == 1
