import csv
import gzip
import os

import pytest

from kerasnmt import progress_lines
from kerasnmt.cli import distill
from kerasnmt.cli.parts import model_version
from kerasnmt.folder_lock import locked_folder
from tests.cli.conftest import write

SOURCES = ["Anna sees two dogs .", "The man sleeps .", "", "Two old men read .", "He sees Anna ."]


@pytest.fixture
def source(tmp_path):
    return write(tmp_path / "source", SOURCES)


def pairs(path):
    return [tuple(line.split("\t")) for line in path.read_text("utf-8").splitlines()]


def test_pairs_of_texts_and_translations(kerasnmt, export_folder, source, tmp_path):
    """Each text is written with its translation, but for an empty text."""
    output = tmp_path / "pairs.tsv"
    done = kerasnmt("distill", export_folder, "--source", source, "--output", output, "--jobs", 1)
    assert (done.code, done.out) == (0, "")
    assert done.err.splitlines()[-1] == "pairs: 4 of 5 texts"
    lines = kerasnmt("translate", export_folder, "--input", source).lines
    expected = [pair for pair in zip(SOURCES, lines, strict=True) if pair[0]]
    assert pairs(output) == expected
    assert not (tmp_path / "pairs.tsv.parts").exists()

    back = tmp_path / "back.tsv"
    arguments = ("--source", source, "--output", back, "--jobs", 1, "--back", "--mark", "bt")
    assert kerasnmt("distill", export_folder, *arguments).code == 0
    assert pairs(back) == [(f"<bt>{target}", text) for text, target in expected]

    table = tmp_path / "pairs.csv.gz"
    arguments = ("--source", source, "--output", table, "--jobs", 1)
    assert kerasnmt("distill", export_folder, *arguments).code == 0
    with gzip.open(table, "rt", encoding="utf-8", newline="") as file:
        assert [*csv.reader(file)] == [["source", "target"], *map(list, expected)]


def test_the_translation_of_a_beam_that_is_nearest_to_the_reference(
    kerasnmt, run_folder, translator, source, tmp_path
):
    beams = [[text for text, _ in beam] for beam in translator.n_best(SOURCES)]
    assert len(beams[0]) > 2
    references = [beam[-1] if beam else "nothing" for beam in beams]
    reference, output = write(tmp_path / "reference", references), tmp_path / "pairs.tsv"
    arguments = ("--reference", reference, "--output", output, "--jobs", 1)
    assert kerasnmt("distill", run_folder, "--source", source, *arguments).code == 0
    expected = [(text, known) for text, known in zip(SOURCES, references, strict=True) if text]
    assert pairs(output) == expected


def test_interrupted_work_goes_on(kerasnmt, run_folder, source, tmp_path, monkeypatch):
    """Finished parts are not translated again. Other texts or options do not continue them."""
    monkeypatch.setattr(distill, "_PART", 2)
    calls, write_part = [], distill._write

    def stop_at_the_second_part(teacher, part):
        calls.append(part.sources)
        if len(calls) == 2:
            raise OSError("The disk is full.")
        write_part(teacher, part)

    monkeypatch.setattr(distill, "_write", stop_at_the_second_part)
    output = tmp_path / "pairs.tsv"
    arguments = ("distill", run_folder, "--source", source, "--output", output, "--jobs", 1)
    assert kerasnmt(*arguments).code != 0 and not output.exists()

    other = write(tmp_path / "other", SOURCES[::-1])
    for more in (("--source", other), ("--search", "beam_size=2")):
        done = kerasnmt(*arguments, *more)
        assert done.code == 2
        assert "Expected the texts and options of the interrupted work" in done.err

    monkeypatch.setattr(progress_lines, "_BETWEEN", -1)
    done = kerasnmt(*arguments)
    assert done.code == 0 and "already translated: 2 of 5 texts" in done.err
    progress = [line.split("  ")[1] for line in done.err.splitlines() if "translating" in line]
    assert progress == ["1/2", "2/2"]
    assert calls == [SOURCES[:2], SOURCES[2:4], SOURCES[2:4], SOURCES[4:]]
    lines = kerasnmt("translate", run_folder, "--input", source).lines
    assert pairs(output) == [pair for pair in zip(SOURCES, lines, strict=True) if pair[0]]

    done = kerasnmt(*arguments)
    assert (done.code, done.err) == (
        2,
        f"error: Expected a new file. Received: --output {output}, which exists.\n",
    )


@pytest.mark.parametrize("name", ["model.keras", "saved_model.pb"])
def test_other_files_beside_a_model_do_not_change_its_version(tmp_path, name):
    """Such as the parts of the work, and the logs and translations of a run."""
    path = write(tmp_path / name, [])
    os.utime(path, (7, 7))
    (tmp_path / "pairs.tsv.parts" / "work").mkdir(parents=True)
    write(tmp_path / "pairs.tsv.parts" / "work" / "0.json", [])
    if name == "model.keras":
        write(tmp_path / "history.jsonl", [])
    assert model_version(str(tmp_path)) == 7
    os.utime(path, (8, 8))
    assert model_version(str(tmp_path)) == 8


@pytest.mark.thorough("starts two processes, which load TensorFlow")
def test_several_processes(kerasnmt, export_folder, tmp_path, monkeypatch):
    monkeypatch.setattr(distill, "_PART", 3)
    source, outputs = write(tmp_path / "source", SOURCES * 3), []
    for jobs in (1, 2):
        outputs.append(tmp_path / f"pairs-{jobs}.tsv")
        arguments = ("--source", source, "--output", outputs[-1], "--jobs", jobs)
        assert kerasnmt("distill", export_folder, *arguments).code == 0
    one, two = map(pairs, outputs)
    assert one == two and len(one) == 12


def test_bad_texts(kerasnmt, export_folder, source, tmp_path):
    output = tmp_path / "pairs.tsv"
    tabs = write(tmp_path / "tabs", ["one", "two\tthree"])
    short = write(tmp_path / "short", ["one"])
    for options, problem in (
        (("--source", tabs), f"Received: 'two\\tthree' in line 2 of {tabs}."),
        (("--source", source, "--reference", short), "one line of --reference for each text."),
        (("--source", source, "--mark", "b<t"), "Expected tags without spaces"),
        (("--source", source, "--mark", "  "), "Expected a tag, such as bt, with --mark"),
    ):
        done = kerasnmt("distill", export_folder, *options, "--output", output, "--jobs", 1)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("error: Expected ") and done.err.count("\n") == 1
        assert problem in done.err
    assert [*tmp_path.glob("pairs*")] == []


def test_another_process_with_the_same_output(kerasnmt, export_folder, source, tmp_path):
    output = tmp_path / "pairs.tsv"
    arguments = ("distill", export_folder, "--source", source, "--output", output, "--jobs", 1)
    with locked_folder(tmp_path / "pairs.tsv.parts", "makes pairs.tsv"):
        done = kerasnmt(*arguments)
    assert done.code == 2 and "in which no other process makes pairs.tsv. Received:" in done.err
    assert not output.exists() and kerasnmt(*arguments).code == 0
    output.unlink()
    output.symlink_to(tmp_path / "nowhere")
    done = kerasnmt(*arguments)
    assert done.code == 2 and "Expected a new file." in done.err and output.is_symlink()
