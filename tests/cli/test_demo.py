import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from kerasnmt.cli import demo
from kerasnmt.cli.loading import load_run
from kerasnmt.data import builtin_corpus

pytestmark = pytest.mark.long("trains and exports a model")

DEMO = Path(demo.__file__).with_name("demo.yaml")
SMALL = [
    *("data.train.builtin=100", "data.validation.builtin=4", "data.test.builtin=6"),
    *("tokenizer.shared.vocabulary_size=100", "model.units=8", "model.embedding_dim=8"),
    *("training.epochs=1", "training.warmup_steps=0", "search.beam_size=2", "search.max_length=15"),
]


@pytest.fixture
def steps(monkeypatch, run_folder, export_folder, load_export_once, translator):
    """Mock the steps of the demo: the run, its model, its export and the check of the export."""
    from kerasnmt.serving.check.check_report import CheckReport, CheckRow

    steps = {"passed": True, "translations": None, "run": run_folder}

    def train(recipe, directory, *, resume, console):
        steps["recipe"] = recipe
        assert not resume
        shutil.copytree(run_folder, directory)
        return {"bleu": 12.34, "train_seconds": 5.6, "train_cpu_seconds": 7.8}

    def translate(texts, **options):
        assert options == {"beam_size": 3, "max_length": 20}
        return translator.translate(texts)

    def load(directory):
        assert (directory / "model.keras").exists()
        model = SimpleNamespace(name="bahdanau_gru", translate=translate)
        return model, {"beam_size": 3, "max_length": 20}

    def export_next_version(model, directory, **options):
        assert options == {"beam_size": 3, "max_length": 20}
        steps["exports"] = directory
        return str(shutil.copytree(export_folder, directory / "1"))

    def check_export(directory, texts, expected):
        steps["translations"] = dict(zip(texts, expected, strict=True))
        return CheckReport(directory, (CheckRow("expected", steps["passed"], "so it is"),))

    def load_export(directory):
        assert Path(directory) == steps["exports"] / "1"
        return load_export_once(export_folder)

    monkeypatch.setattr("kerasnmt.training.train", train)
    monkeypatch.setattr("kerasnmt.cli.demo.load_run", load)
    monkeypatch.setattr("kerasnmt.serving.export_next_version", export_next_version)
    monkeypatch.setattr("kerasnmt.serving.check_export", check_export)
    monkeypatch.setattr("kerasnmt.serving.load_export", load_export)
    return steps


def test_what_is_shown(kerasnmt, steps, tmp_path):
    output = tmp_path / "made" / "demo"
    done = kerasnmt("demo", "data.test.builtin=6", "training.epochs=3", "--output", output)
    assert (done.code, steps["recipe"].training.epochs) == (0, 3)
    shown, table, heading, commands = done.out.split("\n\n")
    expected = [f"{source}\n  -> {text}" for source, text in steps["translations"].items()]
    assert len(expected) == 4 and shown == "\n".join(expected)
    assert all(steps["translations"].values())
    rows = dict(line.split("  ", 1) for line in table.splitlines())
    assert {name: value.strip() for name, value in rows.items()} == {
        "BLEU on 6 held-out sentences": "12.3",
        "training": "6 s, 8 CPU s",
        "same translations through the export": "4 of 4",
        "export": f"{output}/saved_models/bahdanau_gru/1 (passes the check)",
        "attention picture": str(output / "attention.png"),
        "model": str(output / "run" / "model.keras"),
        "results": str(output / "run" / "results.json"),
    }
    assert heading.startswith("Next steps: ")
    (first,) = (pair.source for pair in builtin_corpus(1, "test"))
    assert commands.splitlines() == [
        f"  echo '{first}' | kerasnmt translate {output}/run",
        f"  kerasnmt serve {output}/saved_models/bahdanau_gru",
        f"  tensorboard --logdir {output}/run/logs",
    ]
    assert (output / "attention.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert "ok    expected  so it is\nall 1 passed\n" in done.err


def test_a_second_call_exports_the_trained_model_again(kerasnmt, steps, tmp_path, monkeypatch):
    from kerasnmt.training import Recipe
    from kerasnmt.training.training import train

    monkeypatch.setattr("kerasnmt.training.train", train)
    output = tmp_path / "demo"
    run = shutil.copytree(steps["run"], output / "run")
    Recipe.load(DEMO, ["data.test.builtin=6", "training.epochs=3"]).save(run / "recipe.yaml")
    (run / "tokenizer.json").touch()
    results = {"bleu": 1.0, "train_seconds": 1.0, "train_cpu_seconds": 1.0, "early_stopping": False}
    (run / "results.json").write_text(json.dumps({**results, "epochs": 3}))
    overrides = ["data.test.builtin=6", "training.epochs=3"]
    done = kerasnmt("demo", *overrides, "--output", output)
    first, *_ = done.err.splitlines()
    assert done.code == 0 and "resume" not in done.err
    assert first == (
        f"{run} contains a trained model from an earlier demo; it is exported as the next version, "
        "without further training"
    )
    done = kerasnmt("demo", *overrides, "training.seed=5", "--output", output)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: Expected the recipe of the run to resume")


@pytest.mark.parametrize(("stop", "code"), [("KeyboardInterrupt", 130), ("Terminated", 143)])
def test_an_interruption_says_how_to_go_on(kerasnmt, tmp_path, monkeypatch, stop, code):
    from kerasnmt import training

    def train(recipe, directory, *, resume, console):
        raise getattr(training, stop, KeyboardInterrupt)

    monkeypatch.setattr("kerasnmt.training.train", train)
    done = kerasnmt("demo", "--output", tmp_path / "demo")
    assert (done.code, done.out) == (code, "")
    assert done.err.endswith("\ninterrupted; run the same command again to resume the training\n")


def test_a_check_that_fails(kerasnmt, steps, tmp_path):
    steps["passed"] = False
    done = kerasnmt("demo", "--output", tmp_path / "demo")
    assert done.code == 1
    assert "(FAILS the check)" in done.out
    assert "Next steps" not in done.out


@pytest.mark.thorough("trains, exports and checks a model; each step has its own tests")
@pytest.mark.filterwarnings("ignore:text .* was truncated")
def test_the_main_job(kerasnmt, tmp_path):
    output = tmp_path / "made" / "demo"
    done = kerasnmt("demo", *SMALL, "--output", output)
    assert done.code == 0
    run, version = output / "run", output / "saved_models" / "bahdanau_gru" / "1"

    # Four translations, by the model and by the export.
    shown, table, _, commands = done.out.split("\n\n")
    lines = shown.split("\n")
    sources, translations = lines[::2], [line.removeprefix("  -> ") for line in lines[1::2]]
    assert len(sources) == 4 and all(line.startswith("  -> ") for line in lines[1::2])
    model, options = load_run(run)
    assert options == {"beam_size": 2, "max_length": 15}
    assert model.translate(sources, **options) == translations

    rows = dict(line.split("  ", 1) for line in table.splitlines())
    rows = {name: value.strip() for name, value in rows.items()}
    results = json.loads((run / "results.json").read_text())
    assert (results["test"], results["epochs"]) == ("test", 1)
    assert rows.pop("training") == (
        f"{results['train_seconds']:.0f} s, {results['train_cpu_seconds']:.0f} CPU s"
    )
    assert rows == {
        "BLEU on 6 held-out sentences": f"{results['bleu']:.1f}",
        "same translations through the export": "4 of 4",
        "export": f"{version} (passes the check)",
        "attention picture": str(output / "attention.png"),
        "model": str(run / "model.keras"),
        "results": str(run / "results.json"),
    }
    assert f"tensorboard --logdir {run / 'logs'}" in commands
    assert (output / "attention.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert list((run / "logs").rglob("events.out.*"))

    # Progress, and the rows of the check, are messages.
    assert "training on the built-in corpus" in done.err
    assert "ok    expected      4 translations as expected\n" in done.err

    # A second call would resume the run, but not with another recipe.
    before = sorted(output.rglob("*"))
    again = kerasnmt("demo", *SMALL, "training.seed=5", "--output", output)
    assert (again.code, again.out) == (2, "")
    assert again.err.splitlines()[-1].startswith("error: Expected the recipe of the run to resume")
    assert sorted(output.rglob("*")) == before


@pytest.mark.parametrize(
    ("override", "problem"),
    [
        ("training.epoch=1", "unknown key 'training.epoch'; did you mean 'training.epochs'?"),
        ("data.test=null", "Expected data.test.builtin, because the demo is scored on the"),
        ("data.test={pairs: a.tsv}", "Expected data.test.builtin, because the demo is scored"),
    ],
)
def test_bad_overrides(kerasnmt, tmp_path, override, problem):
    done = kerasnmt("demo", override, "--output", tmp_path / "demo")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: ") and problem in done.err and done.err.count("\n") == 1
    assert not any(tmp_path.iterdir())
