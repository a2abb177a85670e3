import json
import os
import re
import select
import subprocess
import sys

import pytest

from kerasnmt import serving
from kerasnmt.alignment import parse_pharaoh
from kerasnmt.models import Ensemble
from tests.cli.conftest import LINES, TEXT

LONG = "dogs " * 30


def test_a_line_for_each_line_in_order(kerasnmt, export_folder, translator, tmp_path):
    expected = translator.translate(LINES)
    assert [bool(line) for line in expected] == [bool(line.strip()) for line in LINES]
    assert len(set(expected)) == 6  # order can be seen

    done = kerasnmt("translate", export_folder, stdin=TEXT)
    assert done == (0, "".join(f"{line}\n" for line in expected), "")

    path = tmp_path / "lines"
    path.write_text(TEXT[:-2].replace("\n", "\r\n"))  # nor need the last line end
    done = kerasnmt("translate", export_folder, "--input", path, "--batch-size", 3)
    assert (done.lines, done.err) == (expected[:-1], "")

    assert kerasnmt("translate", export_folder) == (0, "", "")


def test_a_terminal_shows_what_to_type(kerasnmt, export_folder):
    prompt = "Type a sentence and press Enter; Ctrl-D ends.\n"
    master, terminal = os.openpty()
    os.write(master, b"Zo\xc3\xab\n\x04")
    with os.fdopen(terminal) as stream:
        done = kerasnmt("translate", export_folder, stdin=stream)
    os.close(master)
    assert done.err == prompt and len(done.lines) == 1
    assert prompt not in kerasnmt("translate", export_folder, stdin="no\n").err


@pytest.mark.usefixtures("eagerly")
def test_scores_and_alignments(kerasnmt, run_folder, export_folder, translator):
    options = ("--scores", "--alignments")
    done = kerasnmt("translate", export_folder, *options, stdin=TEXT)
    columns = [line.split("\t") for line in done.lines]
    best = translator.best(LINES)
    assert [translation for translation, _, _ in columns] == [text for text, _ in best]
    scores = [float(score) for _, score, _ in columns]
    assert scores == pytest.approx([score for _, score in best], abs=1e-6)
    assert all((score < 0) == bool(line.strip()) for line, score in zip(LINES, scores, strict=True))
    for line, (translation, _, alignment) in zip(LINES, columns, strict=True):
        sure, possible = parse_pharaoh(alignment)
        sources, targets = zip(*sure, strict=True) if sure else ((), ())
        # Only the words of the translation have attention weights.
        assert sorted(targets) == list(range(len(translation.split())))
        assert set(sources) <= set(range(len(line.split())))
        assert not possible and sure == sorted(sure)
    assert max(len(translation.split()) for translation, _, _ in columns) > 3

    of_run = [
        line.split("\t") for line in kerasnmt("translate", run_folder, *options, stdin=TEXT).lines
    ]
    assert [row[::2] for row in of_run] == [row[::2] for row in columns]
    assert [float(score) for _, score, _ in of_run] == pytest.approx(scores, abs=1e-5)

    done = kerasnmt("translate", export_folder, "--alignments", stdin=TEXT)
    assert done.lines == [f"{translation}\t{links}" for translation, _, links in columns]


@pytest.mark.usefixtures("eagerly")
def test_confidence(kerasnmt, run_folder, export_folder, load_run_once):
    model, options = load_run_once(run_folder)
    expected = model.confidence(LINES, **options)
    done = kerasnmt("translate", run_folder, "--confidence", stdin=TEXT)
    assert done.err.startswith("warning: the model has no calibration, so the probabilities are")
    assert len(done.err.splitlines()) == 1
    for line, one in zip(done.lines, expected, strict=True):
        text, sure, words = line.split("\t")
        assert text == one.text and float(sure) == pytest.approx(one.of_text, abs=1e-3)
        pairs = [word.rsplit(":", 1) for word in words.split()]
        assert [word for word, _ in pairs] == text.split() == one.words
        assert [float(p) for _, p in pairs] == pytest.approx(one.of_words, abs=0.011)
    records = kerasnmt("translate", run_folder, "--confidence", "--format", "json", stdin=TEXT)
    for line, one in zip(records.lines, expected, strict=True):
        record = json.loads(line)
        assert [word["word"] for word in record["words"]] == list(one.words)
        found = [record["confidence"], *(word["probability"] for word in record["words"])]
        assert found == pytest.approx([one.of_text, *one.of_words], abs=1e-4)
    every = ("--confidence", "--scores", "--alignments")
    columns = [
        line.split("\t") for line in kerasnmt("translate", run_folder, *every, stdin=TEXT).lines
    ]
    for (text, score, _, *rest), line in zip(columns, done.lines, strict=True):
        assert "\t".join([text, *rest]) == line and float(score) <= 0
    every = model.n_best_confidence(LINES, **options)
    done = kerasnmt("translate", run_folder, "--confidence", "--n-best", 2, stdin=TEXT)
    rows = [line.split(" ||| ") for line in done.out.splitlines()]
    assert [(int(row[0]), row[1]) for row in rows] == [
        (index, one.text) for index, found in enumerate(every) for one in found[:2]
    ]
    assert [float(row[3]) for row in rows] == [
        pytest.approx(one.of_text, abs=1e-3) for found in every for one in found[:2]
    ]
    options_of = ("--confidence", "--n-best", 2, "--format", "json")
    records = kerasnmt("translate", run_folder, *options_of, stdin=TEXT).out.splitlines()
    first = json.loads(records[0])["n_best"]
    assert [[word["word"] for word in one["words"]] for one in first] == [
        one.words for one in every[0][:2]
    ]
    done = kerasnmt("translate", export_folder, "--confidence", "--n-best", 2, stdin=TEXT)
    assert done.code == 2 and "Received: another export, or a server." in done.err
    done = kerasnmt("translate", export_folder, "--confidence", stdin=TEXT)
    assert done.code == 2 and "an export without the signature 'confidence'" in done.err
    split = ("--confidence", "--alignments", "--search", "split_sentences=true")
    done = kerasnmt("translate", run_folder, *split, stdin=TEXT)
    assert done.code == 2 and "splits texts into sentences" in done.err


def test_n_best(kerasnmt, export_folder, translator):
    done = kerasnmt("translate", export_folder, "--n-best", 2, "--batch-size", 3, stdin=TEXT)
    assert done.err == ""
    rows = [line.split(" ||| ") for line in done.lines]
    # In the same batches, because other texts in a batch can change the last digits of a score.
    batches = [translator.n_best(LINES[i : i + 3]) for i in range(0, len(LINES), 3)]
    expected = [
        (index, text, score)
        for index, ranked in enumerate(ranked for batch in batches for ranked in batch)
        for text, score in ranked[:2]
    ]
    assert [(int(index), text) for index, text, _ in rows] == [row[:2] for row in expected]
    scores = [float(score) for _, _, score in rows]
    assert scores == pytest.approx([score for _, _, score in expected], abs=1e-6)
    # Two translations of a text, best first. The empty text has only one translation.
    indices = [index for index, _, _ in expected]
    assert indices == [0, 0, 1, 2, 2, 3, 3, 4, 5, 5, 6, 6, 7]
    for i in range(1, len(rows)):
        assert indices[i] != indices[i - 1] or scores[i] <= scores[i - 1]


@pytest.mark.usefixtures("eagerly")
def test_search_options_and_an_ensemble(kerasnmt, run_folder, other_run_folder, load_run_once):
    model, options = load_run_once(run_folder)
    ensemble = Ensemble([model, load_run_once(other_run_folder)[0]])
    changed = {**options, "beam_size": 2, "max_length": 6, "no_repeat_ngram": 1}
    texts = ["no", "", "he"]
    expected = ensemble.translate(texts, **changed)
    assert expected != model.translate(texts, **changed)
    assert expected != ensemble.translate(texts, **{**changed, "no_repeat_ngram": 0})
    asked = ["--search", "max_length=6", "--search", "no_repeat_ngram=1", "--beam-size", 2]
    done = kerasnmt("translate", run_folder, *asked, "--with", other_run_folder, stdin="no\n\nhe\n")
    assert done.lines == expected
    drawn = ["--search", "samples=4", "--search", "seed=3", "--search", "max_length=6"]
    drawn += ["--n-best", 4]
    done = kerasnmt("translate", run_folder, *drawn, stdin="no\n")
    scores = [float(line.split(" ||| ")[2]) for line in done.lines]
    assert 1 < len(scores) <= 4 and scores == sorted(scores, reverse=True)
    for wrong, message in (
        ("beam=3", "unknown search option 'beam'; did you mean 'beam_size'?"),
        ("top_p=0.5", "Expected samples=1 or more with top_p"),
    ):
        done = kerasnmt("translate", run_folder, "--search", wrong, stdin="no\n")
        assert (done.code, done.out) == (2, "")
        assert message in done.err


def test_long_lines_are_cut_with_one_warning(kerasnmt, export_folder, translator):
    # At different places, because a process shows the same warning only once.
    for before, options in enumerate([("--scores", "--alignments"), ("--n-best", 2), ()], start=1):
        text = "no\n" * before + LONG + "\nno\n"
        done = kerasnmt("translate", export_folder, "--batch-size", 2, *options, stdin=text)
        assert (done.code, done.err) == (
            0,
            f"warning: text {before + 1} has 91 tokens and was truncated to 20, the max_length "
            "of this search\n",
        )
        assert len(done.lines) == (8 if "--n-best" in options else before + 2)
    assert done.lines == translator.translate(["no"] * 3 + [LONG[:50], "no"])


def test_bytes_that_are_not_utf8(kerasnmt, export_folder, translator, tmp_path):
    path = tmp_path / "latin1"
    path.write_bytes(b"no\nhe\nZo\xeb\nno\n")
    expected = translator.translate(["no", "he"])
    for size in (1, 2, 64):
        done = kerasnmt("translate", export_folder, "--input", path, "--batch-size", size)
        assert (done.code, done.lines) == (2, expected)
        assert done.err.startswith(f"error: {path}, line 3: expected UTF-8. Received: byte 0xeb")
        assert done.err.count("\n") == 1
    done = kerasnmt("translate", export_folder, "--n-best", 1, stdin=b"\xff\n")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: standard input, line 1: expected UTF-8.")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--n-best", 4], "error: Expected at most 3, the beam size, for --n-best. Received: --n"),
        (["--n-best", 2, "--scores"], "error: Expected --n-best without --scores, because it"),
        (["--n-best", 2, "--alignments"], "error: Expected --n-best without --alignments, because"),
        (["--input", "no such file"], "error: no such file: No such file or directory\n"),
        (["--input", "/"], "error: /: Is a directory\n"),
    ],
)
def test_bad_usage(kerasnmt, export_folder, arguments, line):
    done = kerasnmt("translate", export_folder, *arguments, stdin="no\n")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(line)
    assert done.err.count("\n") == 1


def test_n_best_follows_the_beam_asked_for(kerasnmt, run_folder):
    done = kerasnmt("translate", run_folder, "--beam-size", 2, "--n-best", 3, stdin="no\n")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: Expected at most 2, the beam size, for --n-best.")


PROGRAM = """
import sys
from kerasnmt.cli.main import main

lite, lines, export = sys.argv[1:]
for arguments in ([lite, "--input", lines], [export, "--batch-size", "1"]):
    sys.argv = ["kerasnmt", "translate", *arguments]
    try:
        main()
    except SystemExit as end:
        assert not end.code
"""


@pytest.mark.thorough("starts TensorFlow; test_serve.py shows that nothing else is said")
def test_a_pipe_is_answered_line_by_line(
    export_folder, lite_folder, translator, load_once, tmp_path
):
    """A child process writes only translations to the output streams.

    First it translates a file with a LiteRT model, before anything else is loaded.
    """
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    del environment["TF_CPP_MIN_LOG_LEVEL"]
    lines = tmp_path / "lines"
    lines.write_text("Anna sees two dogs .\n")
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, lite_folder, lines, export_folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    )
    texts = ["Anna sees two dogs .", "", "no"]
    (by_lite,) = load_once(lite_folder).translate(["Anna sees two dogs ."])
    with process:
        try:
            assert process.stdout.readline().decode() == f"{by_lite}\n"
            for text, expected in zip(texts, translator.translate(texts), strict=True):
                process.stdin.write(f"{text}\n".encode())
                process.stdin.flush()
                ready, _, _ = select.select([process.stdout], [], [], 120)
                assert ready, "no answer while the input is open"
                assert process.stdout.readline().decode() == f"{expected}\n"
            output, errors = process.communicate(timeout=120)
        finally:
            process.kill()
    assert (process.returncode, output, errors) == (0, b"", b"")


def test_translate_through_a_server(kerasnmt, server, export_folder, tmp_path):
    path = tmp_path / "lines"
    path.write_text(TEXT)
    through = ("--server", server, "--model", "tiny")
    for options in (
        (),
        ("--n-best", 2, "--batch-size", 2),
        ("--scores", "--alignments", "--batch-size", 3, "--input", path),
    ):
        local = kerasnmt("translate", export_folder, *options, stdin=TEXT)
        assert kerasnmt("translate", *through, *options, stdin=TEXT) == local
    done = kerasnmt("translate", *through, "--version", 1, "--timeout", 60, stdin="no\n")
    assert (done.code, len(done.lines)) == (0, 1)


def test_what_was_answered_before_a_failure_is_written(kerasnmt, server, translator, tmp_path):
    """The third chunk of 16 batches has a line that is too long for the server."""
    path = tmp_path / "lines"
    path.write_text("no\nhe\n" * 16 + "a" * (9 << 20) + "\n")
    through = ("--server", server, "--model", "tiny", "--batch-size", 1)
    done = kerasnmt("translate", *through, "--input", path)
    assert (done.code, done.lines) == (2, translator.translate(["no", "he"]) * 16)
    assert done.err == (
        f"error: Expected {server} to serve the model 'tiny'. Received: 413 REQUEST ENTITY TOO "
        "LARGE: Expected at most 8388608 bytes in a request\n"
    )


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], "Expected either MODEL or --server URL."),
        (
            ["RUN", "--server", "URL", "--model", "tiny"],
            "Expected either MODEL or --server",
        ),
        (["RUN", "--model", "tiny"], "Expected --server URL with --model, --version and --timeout"),
        (["RUN", "--version", 1], "Expected --server URL with --model, --version and --timeout"),
        (["RUN", "--timeout", 1], "Expected --server URL with --model, --version and --timeout"),
        (["--server", "URL"], "Expected --model, the name of the model"),
        (
            ["--server", "URL", "--model", "tiny", "--beam-size", 3],
            "Expected --server URL without --beam-size",
        ),
        (
            ["--server", "URL", "--model", "tiny", "--n-best", 4],
            "Expected at most 3, the beam size, for --n-best. Received: --n-best 4.",
        ),
        (["--server", "URL", "--model", "tiny", "--timeout", 0], "Expected 0 < timeout <= 86400"),
        (
            ["--server", "URL", "--model", "x"],
            "Expected URL to serve the model 'x'. Received: 404 NOT FOUND: Servable not found for",
        ),
        (
            ["--server", "URL", "--model", "tiny", "--version", 2],
            "Expected URL to serve the model 'tiny', version 2. Received: 404 NOT FOUND:",
        ),
        (
            ["--server", "ftp://host", "--model", "x"],
            "Expected --server http://host:port, https://host:port or grpc://host:port. Received",
        ),
        (["--server", "grpc://", "--model", "x"], "Expected --server http://host:port, https:"),
        (["--server", "host:8501", "--model", "x"], "Expected --server http://host:port, https:"),
    ],
)
def test_bad_usage_of_a_server(kerasnmt, server, arguments, line):
    arguments = [server if argument == "URL" else argument for argument in arguments]
    done = kerasnmt("translate", *arguments, stdin="no\n")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {line.replace('URL to', f'{server} to')}")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("scheme", ["http", "grpc"])
def test_nobody_is_there(kerasnmt, monkeypatch, scheme):
    waits = []
    monkeypatch.setattr("kerasnmt.serving.client.serving_client.time.sleep", waits.append)
    done = kerasnmt(
        "translate", "--server", f"{scheme}://127.0.0.1:1", "--model", "x", stdin="no\n"
    )
    assert (done.code, done.out, len(waits)) == (2, "", 4)
    assert re.fullmatch(
        rf"error: Expected an answer from {scheme}://127.0.0.1:1. "
        r"Received: .*Connection refused.*; 5 tries\.\n",
        done.err,
    )


def test_without_the_package_for_grpc(kerasnmt, monkeypatch):
    monkeypatch.delitem(sys.modules, "kerasnmt.serving.client.grpc_client", raising=False)
    monkeypatch.delitem(vars(serving), "GrpcClient", raising=False)
    monkeypatch.setitem(sys.modules, "tensorflow_serving", None)
    for name in [name for name in sys.modules if name.startswith("tensorflow_serving.")]:
        monkeypatch.delitem(sys.modules, name)
    done = kerasnmt("translate", "--server", "grpc://127.0.0.1:1", "--model", "x", stdin="no\n")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: Expected the package tensorflow_serving")
    assert "pip install 'kerasnmt[serve]'" in done.err


@pytest.mark.usefixtures("eagerly")
def test_an_export_takes_terms_as_a_run(kerasnmt, run_folder, export_folder, tmp_path):
    terms = tmp_path / "terms.txt"
    terms.write_text("Hund\tHaus|Mann\n\n!Hund\n")
    glossary = tmp_path / "glossary.tsv"
    glossary.write_text("DOGS\tHaus\n")
    options = ["--terms", terms, "--glossary", glossary, "--ignore-case"]
    stdin = "no\nTwo old men read .\nTwo dogs read .\n"
    run, export = (
        kerasnmt("translate", folder, *options, stdin=stdin)
        for folder in (run_folder, export_folder)
    )
    assert export == run and run.code == 0
    assert "Hund" in run.lines[0] and "Haus" in run.lines[2]
