"""`kerasnmt score --filter`."""

import csv
import gzip
import io
import json
from pathlib import Path

import pytest

from kerasnmt.data import read_tsv
from tests.cli.conftest import write
from tests.data.test_cleaning import PAIRS, REASONS

KEPT = [pair for pair, reason in zip(PAIRS, REASONS, strict=True) if reason is None]
LINES = ["\t".join(pair) for pair in PAIRS[:2] + PAIRS[3:]]  # without a tab in a text


class Scorer:
    """Translator whose scores are the negative lengths of the targets. It counts the pairs."""

    fields = ("text",)
    description = {}  # noqa: RUF012

    def __init__(self, most=10**9):
        self.most, self.done = most, 0

    def score(self, sources, targets, *, contexts, normalize, batch_size):
        assert normalize and contexts is None
        self.done += len(sources)
        if self.done > self.most:
            raise KeyboardInterrupt
        return [-float(len(target)) for target in targets]


@pytest.fixture
def pairs(tmp_path):
    return write(tmp_path / "pairs.tsv", LINES)


@pytest.fixture
def score(kerasnmt, monkeypatch, tmp_path):
    """Run `score --filter` with a scorer."""

    def run(*arguments, scorer=None):
        scorer = scorer or Scorer()
        monkeypatch.setattr("kerasnmt.cli.score.load_run_translator", lambda *_: scorer)
        return kerasnmt("score", *arguments, "--filter")

    return run


def test_rules_alone(kerasnmt, pairs, tmp_path):
    output, report = tmp_path / "clean.tsv", tmp_path / "report.json"
    done = kerasnmt("score", "--pairs", pairs, "--filter", "--output", output, "--report", report)
    assert (done.code, done.out) == (0, "")
    assert (
        done.err
        == "kept: 3 of 8 pairs\ndropped: empty 1, equal 1, duplicate 1, ratio 1, script 1\n"
    )
    assert [tuple(line.split("\t")) for line in output.read_text().splitlines()] == KEPT
    written = json.loads(report.read_text())
    assert (written["pairs"], written["kept"]) == (8, 3)
    expected = {"malformed": 0, "empty": 1, "equal": 1, "duplicate": 1, "ratio": 1, "script": 1}
    assert written["dropped"] == expected
    assert written["rules"]["scripts"] == ["latin", "latin"]
    assert len(read_tsv(output)) == 3
    done = kerasnmt("score", "--pairs", pairs, "--filter", "--output", output)
    assert (done.code, done.err) == (
        2,
        f"error: Expected a new file. Received: --output {output}, which exists.\n",
    )
    keep = [word for rule in ("equal", "script", "duplicate", "ratio") for word in ("--keep", rule)]
    done = kerasnmt("score", "--pairs", pairs, "--filter", *keep, "--output", tmp_path / "b.tsv.gz")
    assert gzip.decompress((tmp_path / "b.tsv.gz").read_bytes()).count(b"\n") == 7
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("b.tsv.gz", "clean.tsv", "pairs.tsv", "report.json")
    ]


def test_two_files_stay_two_files(kerasnmt, tmp_path):
    source, target = tmp_path / "a.en", tmp_path / "a.zh"
    source.write_bytes("\ufeffHow are you?\r\nfine\tthanks\r\nno\r\n".encode())
    target.write_bytes("你好吗\r\n谢谢，很好\r\nno\r\n".encode())
    outputs = ["--output", tmp_path / "b.en", "--output", tmp_path / "b.zh"]
    files = ["--source", source, "--target", target]
    done = kerasnmt("score", *files, "--filter", *outputs)
    assert done.err == "kept: 2 of 3 pairs\ndropped: equal 1\n"
    assert (tmp_path / "b.en").read_text() == "How are you?\nfine\tthanks\n"
    assert (tmp_path / "b.zh").read_text() == "你好吗\n谢谢，很好\n"
    done = kerasnmt("score", *files, "--filter", "--output", tmp_path / "b.jsonl")
    assert [json.loads(line)["target"] for line in (tmp_path / "b.jsonl").open()] == [
        "你好吗",
        "谢谢，很好",
    ]


def test_a_table_keeps_its_fields(score, tmp_path):
    path, output = tmp_path / "a.csv", tmp_path / "b.csv"
    path.write_bytes('id,en,ar\r\n1,"a, b\r\nc",مرحبا\r\n2,x,\r\n3,dog,كلب\r\n'.encode())
    table = ["--pairs", path, "--columns", "en,ar"]
    done = score("RUN", *table, "--output", output, "--scores", "--rank")
    assert done.err == "kept: 2 of 3 pairs\ndropped: empty 1\n"
    rows = [*csv.DictReader(io.StringIO(output.read_text(), newline=""))]
    assert rows == [
        {"id": "3", "en": "dog", "ar": "كلب", "score": "-3.0"},
        {"id": "1", "en": "a, b\nc", "ar": "مرحبا", "score": "-5.0"},
    ]


# Files whose second and fourth rows are good, and how many others are malformed.
MALFORMED = {
    "a.tsv": (b"no tab\na dog\tein Hund\nx\ty\tz\na cat\teine Katze\nM\xfcller\tx\n", [], 3),
    "b.tsv": (b"1\n1\ta dog\tein Hund\n2\tx\n3\ta cat\teine Katze\n", ["2,3"], 2),
    "c.tsv": (b"en\tde\na dog\tein Hund\n\xff\tx\na cat\teine Katze\n", ["en,de"], 1),
    "d.csv": (b'en,de\na dog,ein Hund\n"x\n\xff\nx",y\na cat,eine Katze\n', ["en,de"], 1),
    "e.csv": (b"x\na dog,ein Hund\nx,y,\na cat,eine Katze\n", [], 2),
    "f.jsonl": (
        b'{"en": 1}\n{"en": "a dog", "de": "ein Hund"}\n\xff\n{\n[]\n'
        b'{"en": "a cat", "de": "eine Katze"}\n{"en": "x", "de": null}\n',
        ["en,de"],
        5,
    ),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_rows_are_dropped(kerasnmt, tmp_path, name):
    text, columns, count = MALFORMED[name]
    path, output = tmp_path / name, tmp_path / "out"
    path.write_bytes(text)
    table = ["--pairs", path, *(word for one in columns for word in ("--columns", one))]
    outputs = ["--output", output, "--output", tmp_path / "out.de"]
    done = kerasnmt("score", *table, "--filter", *outputs, "--report", tmp_path / "report.json")
    assert done.err == f"kept: 2 of {count + 2} pairs\ndropped: malformed {count}\n"
    assert output.read_text() == "a dog\na cat\n"
    report = json.loads((tmp_path / "report.json").read_text())
    assert (report["pairs"], report["dropped"]["malformed"]) == (count + 2, count)


def test_a_first_row_with_other_columns_does_not_drop_all_others(kerasnmt, tmp_path):
    """The first row says how many columns there are."""
    pairs = write(tmp_path / "pairs.tsv", ["a\tb\t", *["c\td"] * 101])
    arguments = ("score", "--pairs", pairs, "--columns", "1,2", "--filter", "--output")
    done = kerasnmt(*arguments, tmp_path / "kept.tsv")
    assert done.code == 2 and "Received: 101 malformed rows, and pairs: 1." in done.err
    assert not (tmp_path / "kept.tsv").exists()


def test_a_line_that_is_not_utf8_takes_the_pair_with_it(kerasnmt, tmp_path):
    source, target = tmp_path / "a.en", tmp_path / "a.de"
    source.write_bytes(b"a dog\n\xff\na cat\n\xff\na cow\n")
    target.write_bytes(b"ein Hund\nx\neine Katze\n\xff\n\xff\n")
    files = ["--source", source, "--target", target]
    done = kerasnmt("score", *files, "--filter", "--output", tmp_path / "b.tsv")
    assert done.err == "kept: 2 of 5 pairs\ndropped: malformed 3\n"
    assert (tmp_path / "b.tsv").read_text() == "a dog\tein Hund\na cat\teine Katze\n"
    source.write_bytes(b"\xff\n")
    done = kerasnmt("score", *files, "--filter", "--output", tmp_path / "c.tsv")
    assert done.code == 2 and "a.en' with 1 lines, target_path=" in done.err


def test_files_without_a_good_row_are_refused(kerasnmt, tmp_path):
    pairs = write(tmp_path / "a.tsv", ["1\ta dog\tein Hund", "2\ta cat\teine Katze"])
    done = kerasnmt("score", "--pairs", pairs, "--filter", "--output", tmp_path / "b.tsv")
    assert done.code == 2 and "whose line 1 has 3 columns: 1 '1', 2 'a dog'" in done.err


def test_scores_drop_and_rank(score, pairs, tmp_path):
    done = score("RUN", "--pairs", pairs, "--output", tmp_path / "a.tsv", "--min-score", -15.5)
    assert done.err.endswith("duplicate 1, ratio 1, script 1, score 1\n")
    kept = [tuple(line.split("\t")) for line in (tmp_path / "a.tsv").read_text().splitlines()]
    assert kept == [pair for pair in KEPT if len(pair[1]) <= 15]
    outputs = ["--output", tmp_path / "a.en", "--output", tmp_path / "a.fr"]
    score("RUN", "--pairs", pairs, *outputs, "--rank")
    ranked = sorted(KEPT, key=lambda pair: len(pair[1]))
    assert (tmp_path / "a.en").read_text().splitlines() == [source for source, _ in ranked]
    assert (tmp_path / "a.fr").read_text().splitlines() == [target for _, target in ranked]


def test_interrupted_work_goes_on(score, monkeypatch, tmp_path):
    monkeypatch.setattr("kerasnmt.cli.filtering._PART", 3)
    lines = [f"source {number}\ttarget {'x' * number}" for number in range(10)]
    pairs, output = write(tmp_path / "a.tsv", [*lines, lines[0]]), tmp_path / "b.tsv"
    options = ["RUN", "--pairs", pairs, "--output", output, "--min-score", -12, "--keep", "ratio"]
    assert score(*options, scorer=Scorer(most=7)).code == 130
    assert not output.exists()
    other = score(*options, "--keep", "equal")
    assert (other.code, other.out) == (
        2,
        "",
    ) and "Expected the texts and options of the" in other.err
    scorer = Scorer()
    done = score(*options, scorer=scorer)
    assert done.err == (
        "already scored: 6 of 11 pairs\nkept: 6 of 11 pairs\ndropped: duplicate 1, score 4\n"
    )
    assert scorer.done == 4 and output.read_text().splitlines() == lines[:6]
    assert not Path(f"{output}.parts").exists()


@pytest.mark.usefixtures("eagerly")
def test_a_run_scores_the_pairs(kerasnmt, run_folder, loaded_model, pairs, tmp_path):
    output = tmp_path / "b.jsonl"
    done = kerasnmt(
        "score", run_folder, "--pairs", pairs, "--filter", "--output", output, "--scores"
    )
    assert (done.code, done.out) == (0, "")
    expected = loaded_model.score(*zip(*KEPT, strict=True), normalize=True)
    scores = [json.loads(line)["score"] for line in output.open()]
    assert scores == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--pairs", "P", "--filter"], "Expected --output FILE with --filter, or --output twice"),
        (["--pairs", "P", "--filter", *["--output", "b"] * 2], "Received: 2 files."),
        (["--pairs", "P", "--output", "b"], "Expected --filter with --output, --min-score, --rank"),
        (["--pairs", "P"], "Expected RUN. Only --filter works without a model."),
        (["--pairs", "P", "--filter", "--output", "b", "--rank"], "Expected RUN with --min-score,"),
        (
            ["RUN", "--pairs", "P", "--filter", "--output", "b"],
            "Expected --min-score, --rank or --",
        ),
        (
            ["--pairs", "P", "--filter", "--output", "b", "--format", "tsv"],
            "without --format, whic",
        ),
        (
            ["--pairs", "P", "--filter", "--output", "b", "--scripts", "latin"],
            "Expected two scripts",
        ),
        (
            ["--pairs", "P", "--filter", "--output", "b", "--keep", "x"],
            "Expected rules among empty",
        ),
        (["--pairs", "no", "--filter", "--output", "b"], "path='no' (No such file or directory)"),
        (
            ["RUN", "--pairs", "P", "--filter", "--output", "b", "--output", "c", "--scores"],
            "Expected one --output with --scores",
        ),
    ],
)
def test_wrong_options(kerasnmt, pairs, monkeypatch, tmp_path, arguments, message):
    monkeypatch.chdir(tmp_path)
    done = kerasnmt("score", *(pairs if one == "P" else one for one in arguments))
    assert (done.code, done.out) == (2, "")
    assert message in done.err and done.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["pairs.tsv"]
