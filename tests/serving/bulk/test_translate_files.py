import gzip

import pytest

pytest.importorskip("apache_beam", reason="Apache Beam is not installed")

import pyarrow as pa
import pyarrow.parquet as pq

from kerasnmt.serving.bulk import TranslateFiles, formats
from kerasnmt.serving.bulk.translate_files import write_broken

WORDS = ["a", "dog", "man", "two", "dogs", "run", "runs", "reads", "."]
TEXTS = [" ".join(WORDS[n % 9 : n % 9 + n % 4]) for n in range(40)]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(formats, "_BLOCK_WEIGHT", 500)
    monkeypatch.setattr(formats, "_BLOCK_ROWS", 7)


@pytest.fixture
def folder(tmp_path):
    """Files of all formats, each with the same texts and two broken lines."""
    folder = tmp_path / "in"
    (folder / "more").mkdir(parents=True)
    lines = [text.encode() for text in TEXTS]
    lines[9], lines[31] = b"\xff", b"x" * 300
    plain = b"".join(line + b"\n" for line in lines)
    (folder / "a.txt").write_bytes(plain)
    (folder / "more" / "b.txt.gz").write_bytes(gzip.compress(plain))
    lines[31] = b"dog\tdog"
    (folder / "c.tsv").write_bytes(b"".join(line + b"\n" for line in lines))
    texts = [None if n in (9, 31) else text for n, text in enumerate(TEXTS)]
    pq.write_table(pa.table({"text": texts}), folder / "d.parquet")
    return folder


@pytest.fixture
def translate(run, served_folder):
    """Translate files; return the transform and the counters."""

    def translate(*arguments, **options):
        files = TranslateFiles(served_folder, *map(str, arguments), max_bytes=200, **options)
        return files, run(lambda pipeline: pipeline | files) if files.jobs else {}

    return translate


def listed(path, *reasons):
    return [f"{path}\t{line}\t{reason}" for line, reason in zip((10, 32), reasons, strict=True)]


def test_all_formats(translate, expected, folder, tmp_path):
    out = tmp_path / "out"
    _, counters = translate(folder / "**", out)
    assert counters["lines"] == 4 * 40
    translations = expected.translate(TEXTS)
    translations[9] = translations[31] = ""
    plain = "".join(f"{one}\n" for one in translations)
    assert (out / "a.txt").read_text() == plain
    assert gzip.decompress((out / "more" / "b.txt.gz").read_bytes()).decode() == plain
    texts = ["" if n in (9, 31) else text for n, text in enumerate(TEXTS)]
    pairs = zip(texts, translations, strict=True)
    assert (out / "c.tsv").read_text() == "".join(f"{one}\t{two}\n" for one, two in pairs)
    table = pq.read_table(out / "d.parquet").to_pydict()
    assert [text or "" for text in table["text"]] == texts
    assert table["translation"][9] is table["translation"][31] is None
    assert [one or "" for one in table["translation"]] == translations

    assert write_broken(str(out)) == 8
    byte = "not UTF-8: byte 0xff at position 1"
    assert (out / "broken.tsv").read_text().splitlines() == [
        *listed(folder / "a.txt", byte, "longer than 200 bytes"),
        *listed(folder / "c.tsv", byte, "2 columns instead of 1"),
        *listed(folder / "d.parquet", "null", "null"),
        *listed(folder / "more" / "b.txt.gz", byte, "longer than 200 bytes"),
    ]
    assert {path.name for path in out.iterdir()} == {
        *("a.txt", "more", "c.tsv", "d.parquet"),
        *("broken.tsv", ".broken"),
    }


def test_scores(translate, expected, folder, tmp_path):
    translate(folder / "a.txt", tmp_path / "out", scores=True, batch_size=5)
    rows = [line.split("\t") for line in (tmp_path / "out/a.txt").read_text().splitlines()]
    assert rows[9] == rows[31] == ["", ""]
    for number, (row, (answer, score)) in enumerate(zip(rows, expected.best(TEXTS), strict=True)):
        if number not in (9, 31):
            assert row[0] == answer
            assert float(row[1]) == pytest.approx(score, rel=1e-5)


def test_a_second_run_skips_the_files_that_are_done(translate, loads, folder, tmp_path):
    out = tmp_path / "out"
    translate(folder / "a.txt", out)
    before = (out / "a.txt").stat().st_mtime_ns
    files, counters = translate(folder / "*", out)
    assert (files.done, len(files.jobs), counters["lines"]) == (1, 2, 80)
    assert (out / "a.txt").stat().st_mtime_ns == before
    assert write_broken(str(out)) == 6
    loads.clear()
    files, _ = translate(folder / "*", out)
    assert (files.done, files.jobs, loads) == (3, [], [])
    # A file whose output is removed is translated again, and its broken lines are listed anew.
    (folder / "a.txt").write_text("dog\n")
    (out / "a.txt").unlink()
    translate(folder / "*", out)
    assert (out / "a.txt").read_text().count("\n") == 1
    assert write_broken(str(out)) == 4


def test_a_second_run_skips_the_blocks_that_are_done(
    translate, monkeypatch, expected, folder, tmp_path
):
    """A run that stops at its fifth block leaves no output, and the next one continues."""
    done = []
    ask = expected.ask

    def count(request, **options):
        done.extend(request["text"])
        if len(done) > limit:
            raise RuntimeError("stopped")
        return ask(request, **options)

    monkeypatch.setattr(expected, "ask", count)
    monkeypatch.setattr("kerasnmt.serving.bulk.export_handler.LARGEST_WEIGHT", 500)
    out, limit = tmp_path / "out", 20
    with pytest.raises(RuntimeError, match="stopped"):
        translate(folder / "a.txt", out)
    assert [path.name for path in out.iterdir()] == [".parts"]
    assert not [*out.rglob(".writing.*")]
    assert [*out.rglob("*.json")]
    done.clear()
    limit = 1000
    translate(folder / "a.txt", out)
    assert 0 < len(done) < 38
    monkeypatch.undo()
    translations = expected.translate(TEXTS)
    translations[9] = translations[31] = ""
    assert (out / "a.txt").read_text().splitlines() == translations
    assert write_broken(str(out)) == 2


def test_parts_of_a_changed_file_are_not_used(run, served_folder, folder, tmp_path):
    def parts():
        files = TranslateFiles(served_folder, str(folder / "a.txt"), str(tmp_path / "out"))
        return files.jobs[0].parts

    before = parts()
    assert parts() == before
    with (folder / "a.txt").open("ab") as file:
        file.write(b"dog\n")
    assert parts() != before


def test_relative_paths(translate, loads, folder, tmp_path, monkeypatch):
    monkeypatch.chdir(folder)
    translate("a*.txt", "../out")
    assert (tmp_path / "out/a.txt").exists()
    assert write_broken("../out") == 2
    assert (tmp_path / "out/broken.tsv").read_text().startswith(f"{folder}/a.txt\t10\t")


def test_refused_arguments(served_folder, folder, tmp_path):
    def refused(input, output, **options):
        with pytest.raises(ValueError) as caught:
            TranslateFiles(served_folder, str(input), str(output), **options)
        return str(caught.value)

    out = tmp_path / "out"
    assert refused(folder / "*.csv", out).startswith("Expected a file for --input. Received: ")
    assert refused(folder / "*", folder).startswith("Expected an output folder without input files")
    assert refused(folder / "*", out, columns=["id"]) == (
        "Expected columns with text, which this model reads. Received: id."
    )
    (folder / "broken.tsv").touch()
    assert refused(folder / "broken.*", out).startswith(
        "Expected input files with other names than broken.tsv, the list of broken lines."
    )
    assert not out.exists()
