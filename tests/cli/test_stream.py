"""`kerasnmt translate --stream`."""

import io
import os
import subprocess

import pytest

from kerasnmt.cli.streams import write_words
from kerasnmt.tasks import TranslationTask, Translator
from tests.cli.conftest import LINES, PROGRAM, TEXT


class Recorder(io.StringIO):
    """File that records what is there at each flush."""

    def __init__(self):
        super().__init__()
        self.flushed = []

    def flush(self):
        self.flushed.append(self.getvalue())


@pytest.mark.graph
def test_each_piece_is_flushed_and_each_text_is_a_line(word_model):
    translator = Translator(TranslationTask(word_model, beam_size=2, max_length=12, min_length=6))
    texts = ["two dogs run .", "", "a man reads ."]
    file = Recorder()
    write_words(translator, {"text": texts}, 0, file)
    whole = [*translator.translate(texts)]
    assert file.getvalue() == "".join(f"{line}\n" for line in whole)
    expected = ""
    steps = iter(file.flushed)
    for text in texts:
        for piece in [*translator.stream(text), "\n"]:
            expected += piece
            assert next(steps) == expected
    assert next(steps, None) is None


@pytest.mark.graph
def test_lines_of_a_run(kerasnmt, run_folder, tmp_path):
    options = ("--search", "max_length=8", "--beam-size", 2)
    whole = kerasnmt("translate", run_folder, *options, stdin=TEXT)
    assert kerasnmt("translate", run_folder, *options, "--stream", stdin=TEXT) == whole
    path = tmp_path / "lines"
    path.write_text(TEXT)
    streamed = kerasnmt("translate", run_folder, *options, "--stream", "--input", path)
    assert streamed.lines == whole.lines


def test_an_export_gives_whole_lines(kerasnmt, export_folder, translator):
    done = kerasnmt("translate", export_folder, "--stream", stdin=TEXT)
    assert (done.code, done.lines, done.err) == (0, translator.translate(LINES), "")


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
