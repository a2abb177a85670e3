import sys

import pytest

from kerasnmt import training
from kerasnmt.cli.main import main

RECIPE = """\
model: {name: bahdanau_gru}
tokenizer: {shared: {kind: words, vocabulary_size: 100}}
data: {train: {pairs: train.tsv}, validation: {pairs: val.tsv}}
"""
RESULTS = {
    "model": "bahdanau_gru",
    "parameters": 12345,
    "seed": 1,
    "test": "validation",
    "bleu": 31.416,
    "bleu_signature": "nrefs:1|" + "long|" * 30,
    "chrf": 55.5,
    "chrf_signature": "nrefs:1|nc:6",
    "exact": 12.5,
    "perplexity": 4.56789,
    "train_seconds": 1234.5,
    "train_cpu_seconds": 2345.6,
    "epochs": 3,
    "target_tokens_per_second": 2600.4,
    "history": [],
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "a recipe.yaml").write_text(RECIPE)
    for name in ("train.tsv", "val.tsv"):
        (tmp_path / name).write_text("a\tb\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(monkeypatch, train, *arguments):
    """Run `kerasnmt train` in this process, with a replacement for `training.train`."""
    monkeypatch.setattr(training, "train", train, raising=False)
    monkeypatch.setattr(sys, "argv", ["kerasnmt", "train", *arguments])
    with pytest.raises(SystemExit) as caught:
        main()
    return caught.value.code


def test_arguments_and_results(folder, monkeypatch, capsys):
    calls = []

    def train(recipe, output, *, resume, init_from, console):
        calls.append((recipe, output, resume, init_from))
        console.print("progress")
        return RESULTS

    options = ["model.units=8", "training.epochs=3", "--output", "[r]", "--init-from", "other"]
    assert run(monkeypatch, train, "a recipe.yaml", *options) == 0
    ((recipe, output, resume, init_from),) = calls
    assert recipe.model.keywords == {"units": 8}
    assert recipe.training.epochs == 3
    assert recipe.data.train.pairs == folder / "train.tsv"
    assert (str(output), resume, str(init_from)) == ("[r]", False, "other")
    out, err = capsys.readouterr()
    assert err == "progress\n"
    lines = dict(line.split("  ", 1) for line in out.splitlines())
    lines = {name: value.strip() for name, value in lines.items()}
    assert lines == {
        "model": "bahdanau_gru, 12,345 parameters",
        "BLEU (validation)": f"31.42  {RESULTS['bleu_signature']}",
        "chrF (validation)": "55.50  nrefs:1|nc:6",
        "exact (validation)": "12.50%",
        "perplexity (validation)": "4.568",
        "epochs": "3",
        "seconds": "1,234",
        "CPU seconds": "2,346",
        "target tokens/s": "2,600",
        "best model": "[r]/model.keras",
        "results": "[r]/results.json",
        "TensorBoard": "tensorboard --logdir '[r]/logs'",
    }


def stopping(stop, *, writes):
    """Return a replacement for `training.train` that stops."""

    def train(recipe, output, *, resume, init_from, console):
        if writes:
            output.mkdir()
            (output / "recipe.yaml").touch()
        raise stop

    return train


RESUME = (
    "interrupted; to resume: kerasnmt train 'a recipe.yaml' model.units=8 --output run --resume"
)
DIVERGES = "The loss of batch 2 in epoch 1 is nan: training diverges."


@pytest.mark.parametrize(
    ("stop", "writes", "code", "said"),
    [
        (KeyboardInterrupt, True, 130, RESUME),
        ("Terminated", True, 143, RESUME),
        (
            KeyboardInterrupt,
            False,
            130,
            "interrupted before the training began; nothing was written",
        ),
        (FloatingPointError(DIVERGES), False, 1, f"error: {DIVERGES}"),
        (OSError(28, "disk full", "a.npz"), True, 2, f"{RESUME}\nerror: a.npz: disk full"),
        (OSError(13, "not allowed", "run"), False, 2, "error: run: not allowed"),
    ],
)
def test_what_is_said_when_training_stops(folder, monkeypatch, capsys, stop, writes, code, said):
    stop = training.Terminated if stop == "Terminated" else stop
    arguments = ["a recipe.yaml", "model.units=8", "--output", "run"]
    assert run(monkeypatch, stopping(stop, writes=writes), *arguments) == code
    assert capsys.readouterr() == ("", f"{said}\n")


def test_a_perplexity_that_is_not_finite(folder, monkeypatch, capsys):
    def train(recipe, output, *, resume, init_from, console):
        return RESULTS | {"perplexity": None}

    assert run(monkeypatch, train, "a recipe.yaml", "--output", "run") == 0
    assert "perplexity (validation)  inf\n" in capsys.readouterr().out


def test_bad_recipe(folder, monkeypatch, capsys):
    assert run(monkeypatch, None, "a recipe.yaml", "trainin.epochs=3", "--output", "run") == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == (
        "error: a recipe.yaml with overrides: unknown key 'trainin'; did you mean 'training'?\n"
    )


def test_missing_data(folder, monkeypatch, capsys):
    (folder / "val.tsv").unlink()
    assert run(monkeypatch, None, "a recipe.yaml", "--output", "run") == 2
    missing = f"error: data.validation.pairs: the file {folder / 'val.tsv'} does not exist."
    assert capsys.readouterr() == ("", f"{missing}\n")
    (folder / "recipes").mkdir()
    (folder / "a recipe.yaml").rename(folder / "recipes" / "recipe.yaml")
    (folder / "recipes" / "README.md").touch()
    assert run(monkeypatch, None, "recipes/recipe.yaml", "--output", "run") == 2
    missing = f"error: data.train.pairs: the file {folder / 'recipes/train.tsv'} does not exist."
    where = " recipes/README.md describes the source of the data.\n"
    assert capsys.readouterr() == ("", missing + where)
    assert not (folder / "run").exists()


def test_resume(folder, monkeypatch, capsys):
    from kerasnmt.training.training import train

    assert run(monkeypatch, train, "a recipe.yaml", "--output", "run", "--resume") == 2
    assert capsys.readouterr().err.startswith("error: Expected the folder of a run to resume.")
