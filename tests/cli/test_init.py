import gzip
import json
import os
import random
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from rich.console import Console

from kerasnmt.presets import get_preset
from kerasnmt.presets.folders import shipped_presets
from kerasnmt.training import Recipe, RunFolder
from kerasnmt.training.starts import PresetStart

SMALL = [
    *("model.units=8", "model.embedding_dim=8", "training.epochs=1", "training.warmup_steps=0"),
    *("training.batch_size=450", "search.beam_size=2", "search.max_length=5"),
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with 1,000 pairs, in two files, in a compressed file and in one file."""
    rng = random.Random(1)
    pairs = [(" ".join(rng.choices("abcdefgh", k=4)), rng.choice("xyz")) for _ in range(1000)]
    columns = zip(*pairs, strict=True)
    sources, targets = ("".join(f"{text}\r\n" for text in column) for column in columns)
    (tmp_path / "train.en").write_text(sources)
    (tmp_path / "train.de").write_text(targets)
    (tmp_path / "train.en.gz").write_bytes(gzip.compress(sources.encode()))
    (tmp_path / "my: pairs #1.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in pairs))
    (tmp_path / "valid.en").write_text("it's a\n")
    (tmp_path / "valid.de").write_text("x\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def commands(done):
    """Return the rows of the table, and the printed commands."""
    table, _, commands = done.out.split("\n\n")
    rows = dict(line.split("  ", 1) for line in table.splitlines())
    return {name: value.strip() for name, value in rows.items()}, commands.split("\n")[:-1]


@pytest.mark.thorough("trains a model; test_train.py does so")
def test_from_two_files_to_a_translation(kerasnmt, folder, eagerly):
    """Run the commands that `init` prints, with smaller sizes."""
    done = kerasnmt("init", "--source", "train.en", "--target", "train.de")
    assert (done.code, done.err) == (0, "found 1,000 pairs in train.en and train.de\n")
    rows, (train, translate, serve, export, check) = commands(done)
    assert rows == {
        "recipe": "recipe.yaml",
        "training data": "900 pairs in recipe.train.source.txt and recipe.train.target.txt",
        "validation data": (
            "100 pairs in recipe.validation.source.txt and recipe.validation.target.txt"
        ),
        "model": "bahdanau_gru, 256 units",
        "tokenizer": "source: words; target: words",
        "length": "60 epochs, each with about 57 updates",
    }
    example = (folder / "recipe.validation.source.txt").read_text().splitlines()[0]
    assert train == "  kerasnmt train recipe.yaml --output runs/recipe"
    assert translate == f"  echo '{example}' | kerasnmt translate runs/recipe"
    assert export == "  kerasnmt export runs/recipe saved_models/recipe"
    assert serve == "  kerasnmt serve runs/recipe"
    assert check == "  kerasnmt check saved_models/recipe"

    _, *arguments = shlex.split(train)
    trained = kerasnmt(*arguments, *SMALL)
    assert trained.code == 0, trained.err
    echo, program = translate.split(" | ")
    said = subprocess.run(echo, shell=True, capture_output=True, text=True, check=True).stdout
    assert said == f"{example}\n"
    translated = kerasnmt(*program.split()[1:], stdin=said)
    assert (translated.code, translated.err, len(translated.lines)) == (0, "", 1)
    assert RunFolder("runs/recipe").final_results(1)["test"] == "validation"


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (["--pairs", "my: pairs #1.tsv"], ["new.train.tsv"]),
        (
            ["--source", "train.en.gz", "--target", "train.de"],
            ["new.train.source.txt.gz", "new.train.target.txt"],
        ),
    ],
)
def test_other_files(kerasnmt, folder, options, names):
    done = kerasnmt("init", *options, "--output", "new.yaml")
    assert done.code == 0
    rows, _ = commands(done)
    assert rows["training data"] == f"900 pairs in {' and '.join(names)}"
    assert [path.name for path in Recipe.load("new.yaml").data.files.values()][
        : len(names)
    ] == names


def test_validation_data_of_ones_own(kerasnmt, folder):
    validation = ["--validation-source", "valid.en", "--validation-target", "valid.de"]
    options = ["--pairs", "my: pairs #1.tsv", *validation, "--model", "pointer_generator_gru"]
    done = kerasnmt("init", *options, "--output", "a b/new #1.yaml")
    assert (done.code, done.err) == (0, "found 1,000 pairs in my: pairs #1.tsv\n")
    rows, (train, translate, *_) = commands(done)
    assert rows["validation data"] == "1 pairs in valid.en and valid.de"
    assert rows["tokenizer"] == "shared: words, at most 15"
    assert train == "  kerasnmt train 'a b/new #1.yaml' --output 'runs/new #1'"
    assert translate == """  echo 'it'"'"'s a' | kerasnmt translate 'runs/new #1'"""
    recipe = Recipe.load("a b/new #1.yaml")
    assert recipe.data.train.pairs == folder / "my: pairs #1.tsv"
    assert recipe.data.validation.source == folder / "valid.en"
    assert [path.name for path in (folder / "a b").iterdir()] == ["new #1.yaml"]


class TestATrainedModel:
    @pytest.fixture
    def pairs(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        words = [f"{a}{b}{c}" for a in "fhk" for b in "aeiou" for c in "nst"]  # 45
        text = "".join(f"{word}\t{' '.join(word)}\n" for word in words)
        (tmp_path / "mine.tsv").write_text(text)

    def test_a_preset_with_few_pairs(self, kerasnmt, pairs):
        done = kerasnmt("init", "--init-from", "g2p_dutch", "--pairs", "mine.tsv")
        rows, (train, *_) = commands(done)
        assert rows["training data"] == "41 pairs in recipe.train.tsv"
        assert rows["validation data"] == "4 pairs in recipe.validation.tsv"
        assert rows["tokenizer"] == "source: characters; target: words"
        assert train == "  kerasnmt train recipe.yaml --init-from g2p_dutch --output runs/recipe"
        header = " ".join(Path("recipe.yaml").read_text().split("\n\n")[0].split("\n# "))
        assert "Train it with `kerasnmt train --init-from g2p_dutch`; without this" in header
        assert "unchanged" not in header
        recipe = Recipe.load("recipe.yaml")
        assert recipe.model.keywords == {"units": 256, "embedding_dim": 128, "dropout": 0.4}
        assert recipe.search.options["max_length"] == 60
        training = recipe.training
        assert (training.epochs, training.learning_rate, training.monitor) == (20, 0.0002, "loss")
        preset = get_preset("g2p_dutch")
        start = PresetStart(recipe, RunFolder("runs/recipe"), Console(quiet=True), preset)
        assert len(start.trained().weights) == 23  # checks the model and the kinds of tokenizers

    @pytest.fixture
    def first(self, folder):
        """A run without a recipe."""
        (folder / "first run").mkdir()
        for name in ("model.keras", "tokenizer.json"):
            (folder / "first run" / name).touch()
        return folder / "first run"

    def test_a_run_gives_its_model_its_tokenizers_and_its_search(self, kerasnmt, first):
        (first / "recipe.yaml").write_text(
            "model: {name: luong_dot_lstm, embedding_dim: 8, tie_embeddings: true}\n"
            "tokenizer:\n"
            "  shared: {kind: sentencepiece, vocabulary_size: 18, normalization: nfkc}\n"
            "data: {train: {builtin: 100}, validation: {builtin: 9}}\n"
            "search: {beam_size: 3, replace_unknown: true, dictionary: {a: x, 'no': 'yes: 1'}}\n"
        )
        done = kerasnmt("init", "--init-from", "first run", *BOTH, "--output", "second.yaml")
        assert commands(done)[0]["model"] == "luong_dot_lstm"
        old, new = Recipe.load("first run/recipe.yaml"), Recipe.load("second.yaml")
        for section in ("model", "tokenizer", "search"):
            assert getattr(new, section) == getattr(old, section)
        with open("second.yaml") as recipe:
            assert (
                "#   kerasnmt train FILE --init-from 'first run' training.epochs=20"
                in recipe.read()
            )

    def test_a_run_without_search_options(self, kerasnmt, first):
        (first / "recipe.yaml").write_text(
            "model: {name: luong_dot_lstm}\ntokenizer: {shared: {kind: words}}\n"
            "data: {train: {builtin: 100}, validation: {builtin: 9}}\n"
        )
        done = kerasnmt("init", "--init-from", "first run", *BOTH)
        assert done.code == 0 and Recipe.load("recipe.yaml").search.options == {}

    def test_a_run_without_a_recipe(self, kerasnmt, first):
        done = kerasnmt("init", "--init-from", "first run", *BOTH)
        assert done.code == 2
        assert "Expected the folder of a run with a trained model." in done.err
        assert "which has no recipe.yaml" in done.err

    def test_a_preset_of_another_kind_of_model(self, kerasnmt, pairs, tmp_path):
        copy = shutil.copytree(shipped_presets()["scenes_en"], tmp_path / "captions")
        metadata = json.loads((copy / "metadata.json").read_text())
        metadata["about"]["model"] = {"units": 8}
        (copy / "metadata.json").write_text(json.dumps(metadata))
        done = kerasnmt("init", "--init-from", "captions", "--pairs", "mine.tsv")
        assert done.code == 2 and "show_attend_tell_lstm" in done.err
        assert not os.path.exists("recipe.yaml")

    @pytest.mark.parametrize(
        ("place", "options", "message"),
        [
            ("g2p_dutch", ["--model", "bahdanau_gru"], "Expected --model or --init-from. Received"),
            ("g2p_dutch", ["--output", "r.txt"], "Expected a name that ends with .yaml"),
            ("g2p_dutsch", [], "Did you mean the preset g2p_dutch?"),
            ("babi_context", [], "Expected a preset with the keywords of context_attention_gru"),
        ],
    )
    def test_what_does_not_fit_together(self, kerasnmt, pairs, place, options, message):
        done = kerasnmt("init", "--init-from", place, "--pairs", "mine.tsv", *options)
        assert done.code == 2 and message in done.err

    def test_too_few_pairs(self, kerasnmt, pairs):
        with open("mine.tsv") as lines, open("few.tsv", "w") as few:
            few.writelines(list(lines)[:19])
        done = kerasnmt("init", "--init-from", "g2p_dutch", "--pairs", "few.tsv")
        assert done.code == 2
        assert "Expected at least 20 pairs, to hold some out" in done.err


BOTH = ["--source", "train.en", "--target", "train.de"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "Expected --source FILE with --target FILE, or --pairs FILE."),
        (["--source", "train.en"], "or --pairs FILE. Received: --source."),
        (
            ["--source", "train.en", "--target", "./train.en"],
            "Expected two files. Received: train.en for both sides. If it has two columns, use",
        ),
        ([*BOTH, "--pairs", "p.tsv"], "Received: --source and --target and --pairs."),
        (
            [*BOTH, "--validation-target", "valid.de"],
            "Expected --validation-source FILE with --validation-target FILE, or "
            "--validation-pairs FILE. Received: --validation-target.",
        ),
        (
            ["--source", "train.en", "--target", "valid.de"],
            "with 1000 lines, target_path='valid.de'",
        ),
        (["--pairs", "none.tsv"], "Received: path='none.tsv' (No such file or directory)."),
        (
            ["--pairs", "train.en"],
            "Received: path='train.en', whose line 1 has no tab.",
        ),
        (
            ["--pairs", "empty", "--columns", "1"],
            "two different columns, such as --columns 1,3. Received",
        ),
        ([*BOTH, "--columns", "1,2"], "Expected columns with a file of pairs. Received:"),
        (["--pairs", "train.en", "--columns", "1,2"], "at least 2 columns. Received:"),
        (["--pairs", "empty"], "Received: path='empty', which is empty."),
        (
            ["--source", "valid.en", "--target", "valid.de"],
            "Expected at least 1,000 pairs, to hold",
        ),
        ([*BOTH, "--output", "."], "a name that ends with .yaml for the recipe. Received: ."),
        (
            [*BOTH, "--output", "mine.yaml"],
            "Received: mine.yaml, which exists. Choose another",
        ),
        ([*BOTH, "--output", "part.yaml"], "Received: part.train.source.txt, which exists."),
        (
            [*BOTH, "--model", "bahdanau_gur"],
            "unknown model 'bahdanau_gur'; did you mean 'bahdanau_gru'?",
        ),
    ],
)
def test_refusals(kerasnmt, folder, options, message):
    for name in ("empty", "mine.yaml", "part.train.source.txt"):
        (folder / name).touch()
    before = {path: path.read_bytes() for path in folder.iterdir()}
    done = kerasnmt("init", *options)
    assert (done.code, done.out) == (2, "")
    *_, error = done.err.splitlines()
    assert error.startswith("error: ") and message in error
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
