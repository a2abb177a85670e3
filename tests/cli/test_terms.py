"""`kerasnmt translate --terms` and `--glossary`."""

import re

import pytest

from kerasnmt.cli.terms import read_glossary
from kerasnmt.text.whole_words import occurs
from tests.cli.conftest import LINES, TEXT, write

pytestmark = pytest.mark.usefixtures("eagerly")


def test_terms_of_each_line(kerasnmt, run_folder, tmp_path):
    plain = kerasnmt("translate", run_folder, stdin=TEXT).lines
    terms = [*[""] * 2, "Hund\tHaus|Mann", "", "", "!" + plain[5].split()[0], "", ""]
    path = write(tmp_path / "terms.txt", terms)
    done = kerasnmt("translate", run_folder, "--terms", path, "--batch-size", 3, stdin=TEXT)
    assert (done.code, done.err) == (0, "")
    for number in (0, 1, 3, 4, 6, 7):
        assert done.lines[number] == plain[number]
    assert occurs("Hund", done.lines[2])
    assert occurs("Haus", done.lines[2]) or occurs("Mann", done.lines[2])
    assert not occurs(plain[5].split()[0], done.lines[5])
    scored = kerasnmt("translate", run_folder, "--terms", path, "--scores", stdin=TEXT).lines
    assert [line.split("\t")[0] for line in scored] == done.lines


def test_glossary(kerasnmt, run_folder, tmp_path):
    path = write(tmp_path / "glossary.tsv", ["DOGS\tHund|Hunde", "", "man\tMann", "dogs\tKatze"])
    plain = kerasnmt("translate", run_folder, stdin=TEXT).lines
    done = kerasnmt("translate", run_folder, "--glossary", path, "--ignore-case", stdin=TEXT)
    assert (done.code, done.err) == (0, "")
    assert any(occurs(word, done.lines[0]) for word in ("Hund", "Hunde", "Katze"))
    assert occurs("Mann", done.lines[2])
    assert [done.lines[i] for i in (1, 3, 4, 5, 6, 7)] == [plain[i] for i in (1, 3, 4, 5, 6, 7)]
    exact = kerasnmt("translate", run_folder, "--glossary", path, stdin="DOGS dogs\n").lines
    assert occurs("Katze", exact[0])
    assert read_glossary(path).line("DOGS") == "Hund|Hunde"


def test_a_term_that_cannot_be_written_is_told(kerasnmt, run_folder, tmp_path):
    path = write(tmp_path / "terms.txt", ["", "日本\tHund"])
    done = kerasnmt("translate", run_folder, "--terms", path, stdin="no\nno\n")
    assert done.code == 0 and len(done.lines) == 2
    assert "that the model cannot write: '日本' of text 2" in done.err


@pytest.mark.parametrize(
    ("options", "content", "message"),
    [
        (["--terms", "FILE"], ["a"] * 7, "one line of --terms for each text.* with 7 for 8 texts"),
        (["--terms", "FILE"], ["a"] * 9, "one line of --terms for each text.* with 9 for 8 texts"),
        (["--terms", "FILE"], ["", "Hund\tHaus||Mann", *[""] * 6], r"file, line 2: .* the term ''"),
        (["--terms", "FILE"], ["", "", "Hund\t \t!", *[""] * 5], r"file, line 3: .* the term ''"),
        (["--terms", "FILE"], ["Haus|!Mann", *[""] * 7], r"file, line 1: .* the term '!Mann'"),
        (["--glossary", "FILE"], ["dog\tHund|"], r"file, line 1: .* the term ''"),
        (["--glossary", "FILE"], ["dog"], "a text, a tab and a target term, .* line 1"),
        (["--glossary", "FILE"], ["", "dog\tHund\tHunde"], "line 2"),
        (["--ignore-case"], [], "Expected --glossary FILE with --ignore-case"),
        (
            ["--terms", "FILE", "--n-best", "2"],
            ["a"],
            "--terms without --n-best, because",
        ),
        (
            ["--terms", "FILE"],
            ["", "", "!Hund\tHund", *[""] * 5],
            "'Hund' of text 3, which must",
        ),
        (["--glossary", "MISSING"], [], "MISSING"),
    ],
)
def test_refused(kerasnmt, run_folder, tmp_path, options, content, message):
    path = write(tmp_path / "file", content)
    options = [path if option == "FILE" else option for option in options]
    done = kerasnmt("translate", run_folder, *options, stdin=TEXT)
    assert done.code == 2 and len(LINES) == 8
    assert re.search(message, " ".join(done.err.split()))
