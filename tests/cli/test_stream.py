"""`kerasnmt translate --stream`."""

import io
import itertools
import os
import re
import subprocess

import pytest

from kerasnmt.cli.streams import write_words
from kerasnmt.tasks import Translator
from kerasnmt.tasks.served_model import Progress, ServedModel
from tests.cli.conftest import LINES, PROGRAM, TEXT


class Recorder(io.StringIO):
    """File that records what is there at each flush."""

    def __init__(self):
        super().__init__()
        self.flushed = []

    def flush(self):
        self.flushed.append(self.getvalue())


class Echo(ServedModel):
    """Model whose answer has the words of the text, one at each step, and an empty last piece."""

    def __init__(self):
        self.signatures, self.description, self.fields = {"serving_default": None}, {}, ("text",)

    def progress(self, request):
        for word in re.findall(r"\s*\S+", request["text"]):
            yield Progress(word, "")
        yield Progress("", "", -1.0)


def test_each_piece_is_flushed_and_each_text_is_a_line():
    texts = ["two dogs run .", "", "a man"]
    file = Recorder()
    write_words(Translator(Echo()), {"text": texts}, 0, file)
    assert file.getvalue() == "".join(f"{line}\n" for line in texts)
    pieces = ["two", " dogs", " run", " .", "\n", "\n", "a", " man", "\n"]
    assert file.flushed == [*itertools.accumulate(pieces)]


@pytest.mark.graph
@pytest.mark.usefixtures("eagerly")
def test_lines_of_a_run(kerasnmt, run_folder):
    options = ("--search", "max_length=8", "--beam-size", 2)
    whole = kerasnmt("translate", run_folder, *options, stdin=TEXT)
    done = kerasnmt("translate", run_folder, *options, "--stream", stdin=TEXT)
    assert (done.code, done.out) == (whole.code, whole.out)
    assert "warning: texts 1, 3, 7 have up to 20 tokens" in whole.err
    assert re.findall(r"text (\d) has \d+ tokens", done.err) == ["1", "3", "7"]  # one by one


def test_an_export_gives_whole_lines(kerasnmt, export_folder, translator, tmp_path):
    done = kerasnmt("translate", export_folder, "--stream", stdin=TEXT)
    assert (done.code, done.lines, done.err) == (0, translator.translate(LINES), "")
    path = tmp_path / "lines"
    path.write_text(TEXT)
    assert kerasnmt("translate", export_folder, "--stream", "--input", path).lines == done.lines


def test_a_long_line_is_cut_with_a_warning(kerasnmt, export_folder):
    done = kerasnmt("translate", export_folder, "--stream", stdin="no\n" * 7 + "dogs " * 31)
    assert done.err == (
        "warning: text 8 has 94 tokens and was truncated to 20, the max_length of this search\n"
    )


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--n-best", 2], "error: Expected --stream without --n-best, because it writes"),
        (["--scores", "--alignments"], "error: Expected --stream without --scores and --align"),
        (["--image", "a.png"], "error: Expected texts with --stream. Received: image."),
    ],
)
def test_bad_usage(kerasnmt, export_folder, arguments, line):
    done = kerasnmt("translate", export_folder, "--stream", *arguments, stdin="no\n")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(line)
    assert done.err.count("\n") == 1


def test_several_samples_are_refused(kerasnmt, run_folder):
    samples = ("--search", "samples=2")
    done = kerasnmt("translate", run_folder, "--stream", *samples, stdin="no\n")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: Expected samples=1 or a search, to stream the one answer.")


@pytest.mark.thorough("starts TensorFlow")
def test_a_reader_sees_the_first_words_before_the_last_and_may_go_away(run_folder):
    process = subprocess.Popen(
        [*PROGRAM, "translate", str(run_folder), "--stream"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
    )
    with process:
        process.stdin.write(b"Anna sees two dogs .\n" * 50)
        process.stdin.close()
        assert os.read(process.stdout.fileno(), 1 << 16)
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()
