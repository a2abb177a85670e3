"""Contexts, images and stories on the command line."""

import re

import pytest

from kerasnmt import zoo
from kerasnmt.text import WordTokenizer
from tests.cli.conftest import write
from tests.zoo.tiny_models import TINY

SOURCES = ["where ann", "", "zoe"]
TARGETS = ["home", "out", "zoe"]
CONTEXTS = ["went home", "out", "zoe"]


RECIPE = """\
model: {name: context_attention_gru}
tokenizer: {shared: {kind: words}}
data: {train: {builtin: 60}, validation: {builtin: 4}}
search: {beam_size: 2, max_length: 4}
"""


class Echo:
    """Translator whose answers repeat the rows of the request."""

    description = {"beam_size": 1}  # noqa: RUF012

    def __init__(self, *fields):
        self.fields = fields

    def ask(self, request, batch_size, first_number):
        rows = zip(*(request[field] for field in self.fields), strict=True)
        return [("|".join(map(str, row)), -1.0) for row in rows]


@pytest.fixture
def echo(kerasnmt, monkeypatch, tmp_path):
    """Run `translate` with a model that reads these fields and returns them."""

    def ask(fields, *arguments, stdin=""):
        monkeypatch.setattr(
            "kerasnmt.cli.translate.load_translator", lambda *_, **__: Echo(*fields)
        )
        return kerasnmt("translate", tmp_path, *arguments, "--batch-size", 2, stdin=stdin)

    return ask


def test_contexts(echo, tmp_path):
    contexts = tmp_path / "contexts"
    contexts.write_text("a\n\nc", encoding="utf-8")
    done = echo(["text", "context"], "--context", contexts, stdin="x\ny\nz\n")
    assert (done.lines, done.err) == (["x|a", "y|", "z|c"], "")
    done = echo(["text", "context"], "--context", contexts, stdin="x\ny\nz\nw\n")
    assert done.code == 2 and done.lines[:2] == ["x|a", "y|"]
    assert done.err == (
        f"error: Expected one context for each text. Received: {contexts} with 3 for 4 texts.\n"
    )


def test_images(echo, tmp_path):
    files = [tmp_path / f"{number}.png" for number in range(5)]
    for number, file in enumerate(files):
        file.write_bytes(b"%d" % number)
    expected = [f"b'{number}'" for number in range(5)]
    assert echo(["image"], "--image", *files).lines == expected
    several = [word for file in files for word in ("--image", file)]
    assert echo(["image"], *several, "--scores").lines == [f"{one}\t-1.000000" for one in expected]
    done = echo(["image"], "--image", tmp_path / "none.png")
    assert (done.code, done.err) == (2, f"error: {tmp_path}/none.png: No such file or directory\n")


def test_fields_by_name(echo, tmp_path):
    contexts = write(tmp_path / "contexts", ["a", "b"])
    texts = write(tmp_path / "texts", ["x", "y"])
    named = ("--field", f"text={texts}", "--field", f"context={contexts}")
    assert echo(["text", "context"], *named).lines == ["x|a", "y|b"]
    done = echo(["text"], "--input", texts, "--field", f"text={contexts}")
    assert done.err == f"error: Expected one file of text. Received: {texts} and {contexts}.\n"
    assert echo(["image"], "--image", texts, "--field", f"image={contexts}").lines == [
        "b'x\\ny\\n'",
        "b'a\\nb\\n'",
    ]
    for wrong in ("context", "table=f", "=f"):
        done = echo(["text"], "--field", wrong)
        assert done.err.startswith("error: Expected --field NAME=FILE, with one of the names text,")
        assert done.err.endswith(f"Received: --field {wrong}.\n")


def test_stories(echo, tmp_path):
    stories = write(tmp_path / "stories", ["", "a b", "c", "", " ", "d", "", "e", "f"])
    done = echo(["story", "question"], "--story", stories, stdin="x\ny\nz\n")
    assert done.out == "a b\nc|x\nd|y\ne\nf|z\n"
    questions = write(tmp_path / "questions", "wxyz")
    done = echo(["story", "question"], "--story", stories, "--question", questions)
    assert done.code == 2
    assert done.err == (
        f"error: Expected one story for each question. Received: {stories} with 3 for 4 "
        "questions.\n"
    )
    write(stories, ["a", "b"])
    done = echo(["story", "question"], "--story", stories, "--question", questions)
    assert done.out == "".join(f"a\nb|{question}\n" for question in "wxyz")


@pytest.mark.parametrize(
    ("fields", "arguments", "message"),
    [
        (["text", "context"], [], "Expected texts and --context FILE, which this model reads. Rec"),
        (["text"], ["--context", "f"], "Received: texts and --context FILE."),
        (["image"], [], "Expected --image FILES, which this model reads. Received: texts."),
        (["story", "question"], [], "Expected --story FILE and questions, which this model reads."),
        (["text"], ["--image", "f"], "Expected texts, which this model reads. Received: --image F"),
        (
            ["image"],
            ["--image", "f", "--story", "f"],
            "Expected the options of one kind of request",
        ),
        (
            ["image"],
            ["--image", "f", "--input", "f"],
            "Expected the options of one kind of request",
        ),
        (["text"], ["--question", "f"], "FILES; --story FILE and questions. Received: questions."),
        (["text"], ["f"], "Expected one MODEL. Received: "),
        (
            ["image"],
            ["--image", "f", "--n-best", "1"],
            "Expected texts with --n-best. Received: image",
        ),
        (["image"], ["--image", "f", "--alignments"], "Received: image."),
        (["image"], ["--image", "f", "--prefix", "f"], "Received: image."),
    ],
)
def test_requests_of_another_kind(echo, fields, arguments, message):
    done = echo(fields, *arguments, stdin="x\n")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: Expected") and message in done.err
    assert done.err.count("\n") == 1


@pytest.fixture(scope="module")
def context_run(tmp_path_factory):
    """A run of a model that reads contexts, and its model."""
    import numpy as np

    words = ["where", "is", "ann", "bob", "went", "home", "out"]
    model = zoo.context_attention_gru(WordTokenizer(words), **TINY)
    rng = np.random.default_rng(7)
    model.set_weights([1.3 * rng.normal(size=weight.shape) for weight in model.get_weights()])
    folder = tmp_path_factory.mktemp("context")
    model.save(folder / "model.keras")
    (folder / "recipe.yaml").write_text(RECIPE)
    return folder, model


@pytest.mark.usefixtures("eagerly")
def test_every_verb_takes_contexts(kerasnmt, context_run, tmp_path):
    run, model = context_run
    source, target, context = (
        write(tmp_path / name, lines)
        for name, lines in (("source", SOURCES), ("target", TARGETS), ("context", CONTEXTS))
    )
    given = ["--source", source, "--target", target]
    scores = model.score(SOURCES, TARGETS, contexts=CONTEXTS)
    done = kerasnmt("score", run, *given, "--context", context)
    assert [float(line) for line in done.lines] == pytest.approx(scores, abs=1e-5)
    assert scores != pytest.approx(model.score(SOURCES, TARGETS, contexts=[""] * 3), abs=1e-3)

    done = kerasnmt("align", run, *given, "--context", context)
    links = model.align(SOURCES, TARGETS, contexts=CONTEXTS)
    assert done.lines == [" ".join(f"{one}-{other}" for one, other in pairs) for pairs in links]

    translations = model.translate(SOURCES, contexts=CONTEXTS, beam_size=2, max_length=4)
    reference = write(tmp_path / "reference", translations)
    given_reference = ["--source", source, "--reference", reference]
    done = kerasnmt("evaluate", run, *given_reference, "--context", context, "--json")
    assert '"chrf": 100.0' in done.out

    write(tmp_path / "one", CONTEXTS[2:])
    picture = ["--output", tmp_path / "picture.svg", "--context", tmp_path / "one"]
    done = kerasnmt("attention", run, SOURCES[2], *picture)
    assert done.lines == [translations[2], str(tmp_path / "picture.svg")]
    done = kerasnmt("attention", run, SOURCES[2], *picture, "--target", "home")
    assert done.lines == ["home", str(tmp_path / "picture.svg")]

    without = {
        "score": given,
        "align": given,
        "evaluate": given_reference,
        "attention": [SOURCES[2], *picture[:2]],
    }
    for verb, arguments in without.items():
        done = kerasnmt(verb, run, *arguments)
        assert (done.code, done.out) == (2, "")
        assert done.err.endswith(
            "error: Expected texts and --context FILE, which this model reads. Received: texts.\n"
        )
    write(context, CONTEXTS[:2])
    done = kerasnmt("score", run, *given, "--context", context)
    assert re.fullmatch(
        r"error: Expected one line of --context for each text\. Received: .* 2 for 3 texts\.\n",
        done.err,
    )
