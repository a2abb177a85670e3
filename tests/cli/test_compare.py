"""`kerasnmt compare`."""

import json
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest

from kerasnmt.training import compared_scores, translation_scores
from tests.cli.conftest import write

pytestmark = pytest.mark.usefixtures("eagerly")

SOURCES = ["Anna sees two dogs .", "The man <sleeps> .", "", "مرحبا بالعالم", "no"]


def make_run(run, folder, pairs, **results):
    """Return a finished run: the model of another run, test pairs, and results."""
    shutil.copytree(run, folder)
    recipe = (folder / "recipe.yaml").read_text()
    test = f"validation: {{builtin: 4}}, test: {{pairs: {json.dumps(str(pairs))}}}"
    (folder / "recipe.yaml").write_text(recipe.replace("validation: {builtin: 4}", test))
    (folder / "tokenizer.json").write_text("{}")
    history = [
        {"epoch": 1, "seconds": 60.0, "loss": 3.0, "val_loss": 2.5, "val_bleu": 1.0},
        {"epoch": 2, "seconds": 120.0, "loss": 2.0, "val_loss": None, "val_bleu": 3.0},
    ]
    common = {"model": "bahdanau_gru", "parameters": 12345, "test": "test", "perplexity": 7.25}
    common |= {"train_seconds": 150.0, "epochs": 2, "history": history}
    (folder / "results.json").write_text(json.dumps(common | results))
    return folder


@pytest.fixture(scope="module")
def runs(run_folder, other_run_folder, load_run_once, tmp_path_factory):
    """Two finished runs, their sources and references, and their translations."""
    folder = tmp_path_factory.mktemp("runs")
    options = {"beam_size": 3, "length_penalty": 0.6, "max_length": 20}
    translations = [
        load_run_once(run)[0].translate(SOURCES, **options)
        for run in (run_folder, other_run_folder)
    ]
    references = [text.rsplit(" ", 1)[0] for text in translations[0]]
    pairs = write(folder / "test.tsv", map("\t".join, zip(SOURCES, references, strict=True)))
    return (
        make_run(run_folder, folder / "small", pairs),
        make_run(other_run_folder, folder / "läufe & <b>", pairs, parameters=99, perplexity=9.0),
        references,
        translations,
    )


def test_a_row_for_each_run(kerasnmt, runs):
    small, other, references, (first, second) = runs
    done = kerasnmt("compare", small, other, "--format", "json")
    assert (done.code, done.err) == (0, "")
    one, two = map(json.loads, done.lines)
    expected = compared_scores(second, first, references)
    for name in ("bleu", "chrf", "exact"):
        assert one[name] == pytest.approx(expected[f"baseline_{name}"], abs=1e-4)
        assert two[name] == pytest.approx(expected[name], abs=1e-4)
        assert one[f"{name}_p_value"] is None
        assert two[f"{name}_p_value"] == expected[f"{name}_p_value"]
    assert (one["parameters"], two["parameters"], two["perplexity"]) == (12345, 99, 9.0)
    assert (one["minutes"], one["val_loss"], one["epochs"], one["sentences"]) == (2.5, 2.5, 2, 5)
    size = (small / "model.keras").stat().st_size
    assert one["megabytes"] == pytest.approx(size / 1e6, abs=1e-3)

    heading, *rows, note = kerasnmt("compare", small, other).lines
    assert heading.split() == [
        *(
            "run",
            "model",
            "parameters",
            "MB",
            "minutes",
            "epochs",
            "lowest",
            "val.",
            "loss",
            "perplexity",
        ),
        *("BLEU", "p", "chrF", "p", "exact", "%", "p"),
    ]
    assert [row.split()[-6] for row in rows] == [f"{one['bleu']:.2f}", f"{two['bleu']:.2f}"]
    assert rows[0].endswith("–")
    assert note.startswith("on 5 sentences of the test data, BLEU with the tokenizer ")
    done = kerasnmt("compare", small, other, "--format", "csv")
    assert done.lines[0].startswith("run,model,parameters") and ",," in done.lines[1]


def test_translations_are_kept_until_the_model_changes(kerasnmt, runs, monkeypatch, tmp_path):
    small, _, _, (first, _) = runs
    run = shutil.copytree(small, tmp_path / "run")
    kerasnmt("compare", run)
    kept = [json.loads(path.read_text()) for path in (run / "translations").iterdir()]
    assert {"translations": first} in kept

    def load(*_):
        raise ValueError("the model is loaded")

    monkeypatch.setattr("kerasnmt.cli.compare.load_translator", load)
    assert kerasnmt("compare", run).code == 0
    recipe = run / "recipe.yaml"
    recipe.write_text(recipe.read_text().replace("beam_size: 3", "beam_size: 2"))
    assert kerasnmt("compare", run).err == "error: the model is loaded\n"


def test_other_data(kerasnmt, runs, tmp_path):
    small, other, *_ = runs
    source, reference = write(tmp_path / "a", ["no", "he"]), write(tmp_path / "b", ["ja", "er"])
    options = ("--source", source, "--reference", reference, "--format", "json")
    done = kerasnmt("compare", small, other, *options, "--tokenize", "char")
    one, two = map(json.loads, done.lines)
    assert one["sentences"] == 2 and one["bleu_tokenizer"] == "char"
    assert one["perplexity"] is two["perplexity"] is None
    scores = translation_scores(
        kerasnmt("translate", small, "--input", source).lines, ["ja", "er"], tokenize="char"
    )
    assert one["bleu"] == pytest.approx(scores["bleu"], abs=1e-4)
    # Two references of one source.
    pairs = write(tmp_path / "pairs.csv", ["de,en", "ja,no", "nein,no"])
    done = kerasnmt("compare", small, "--pairs", pairs, "--columns", "en,de", "--format", "json")
    assert json.loads(done.out)["sentences"] == 1


class Page(HTMLParser):
    """Tags of a page, and its texts."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.texts.append(data)


def test_a_page(kerasnmt, runs, tmp_path):
    small, other, references, (first, second) = runs
    path = tmp_path / "pages" / "page.html"
    done = kerasnmt("compare", small, other, "--output", path)
    assert (done.code, done.err) == (0, f"{path}\n")
    text = path.read_text(encoding="utf-8")
    page = Page(text)
    names = {tag for tag, _ in page.tags}
    assert {"svg", "article", "table"} <= names and not {"script", "b", "sleeps", "img"} & names
    assert not any("src" in attributes for _, attributes in page.tags)
    assert "läufe & <b>" in "".join(page.texts) and "The man <sleeps> ." in page.texts
    differ = [row for row in range(5) if first[row] != second[row]]
    assert text.count("<article>") == len(differ) > 0
    for row in differ:
        assert SOURCES[row] in page.texts
        assert {references[row], first[row], second[row]} - {""} <= {*page.texts}
    kerasnmt("compare", small, other, "--output", path)
    assert path.read_text(encoding="utf-8") == text  # equal runs give equal pages


def test_a_page_of_equal_runs(kerasnmt, runs, tmp_path):
    small, *_ = runs
    done = kerasnmt("compare", small, small, "--output", tmp_path / "page.html", "--format", "json")
    assert json.loads(done.lines[1])["bleu_p_value"] == 1.0
    assert "<article>" not in (tmp_path / "page.html").read_text()


@pytest.fixture
def broken(runs, tmp_path):
    """Runs that cannot be compared, by what is wrong."""
    small, *_ = runs
    folders = {
        name: shutil.copytree(small, tmp_path / name) for name in ("open", "bad", "else", "new")
    }
    (folders["open"] / "results.json").unlink()
    (folders["bad"] / "results.json").write_text('{"test": "test", "epochs": 2}')
    other = write(tmp_path / "other.tsv", ["no\tja"])
    recipe = (folders["else"] / "recipe.yaml").read_text()
    (folders["else"] / "recipe.yaml").write_text(
        recipe.replace(str(small.parent / "test.tsv"), str(other))
    )
    fingerprint = {"data.test.pairs": {"bytes": 1, "sha256": "0"}}
    (folders["new"] / "data.json").write_text(json.dumps(fingerprint))
    return folders | {"none": tmp_path}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("open", "Expected finished runs. Received: RUN, without results.json. Finish it with"),
        ("bad", "RUN/results.json: the file is damaged: expected model of type str"),
        ("none", "Expected the folder of a training run. Received: RUN, without recipe.yaml."),
        (
            "else",
            "Expected runs with the same test data. Received: FIRST with 5 sentences, and RUN",
        ),
        ("new", "test.tsv, which has changed since or is missing. Choose other data with --pairs"),
    ],
)
def test_what_is_not_compared(kerasnmt, runs, broken, name, message):
    done = kerasnmt("compare", runs[0], broken[name])
    assert (done.code, done.out) == (2, "")
    message = message.replace("RUN", str(broken[name])).replace("FIRST", str(runs[0]))
    assert message in done.err and done.err.count("\n") == 1


def test_wrong_options(kerasnmt, runs):
    for options, message in (
        (["--output", "page.png"], "Expected --output FILE.html. Received: --output page.png."),
        (["--source", "a"], "Expected --source FILE with --reference FILE, or --pairs FILE."),
        (["--columns", "a,b"], "Expected --pairs FILE with --columns and --tags-column."),
    ):
        done = kerasnmt("compare", runs[0], *options)
        assert (done.code, done.out, done.err) == (2, "", f"error: {message}\n")
    assert not Path("page.png").exists()
