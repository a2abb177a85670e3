"""Training on shards, which `kerasnmt train` reads during training."""

import gzip
import json
import shutil
import sys
from contextlib import contextmanager
from types import SimpleNamespace
from typing import NamedTuple

import pytest
import yaml
from rich.console import Console

from kerasnmt.cli.main import main
from kerasnmt.data import Shards, builtin_corpus
from kerasnmt.models import Seq2Seq
from kerasnmt.training import Recipe, RunFolder, TrainingProgress, corpora
from kerasnmt.training.batches import RecipeBatches
from kerasnmt.training.checks import check_batch_size
from kerasnmt.training.corpora import Corpora
from kerasnmt.training.prepared import prepare
from kerasnmt.training.starts import NewStart
from kerasnmt.training.tokenizers import train_tokenizers

pytestmark = pytest.mark.long("trains a recipe on shards, interrupts and resumes it")
SHARDS, PAIRS = 5, 60


class Training(NamedTuple):
    """Training on the command line."""

    run: RunFolder
    history: list
    stderr: str


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A recipe, its shards, and its validation data."""
    folder = tmp_path_factory.mktemp("shards")
    lines = [f"{pair.source}\t{pair.target}\n" for pair in builtin_corpus(PAIRS)]
    for number in range(SHARDS):
        text = "".join(lines[number::SHARDS]).encode()
        (folder / f"corpus-{number}.tsv.gz").write_bytes(gzip.compress(text))
    (folder / "valid.tsv").write_text("".join(lines[:4]))
    recipe = {
        "model": {"name": "luong_dot_lstm", "units": 8, "embedding_dim": 8},
        "tokenizer": {"shared": {"kind": "words", "vocabulary_size": None}},
        "data": {"train": {"pairs": "corpus-*.tsv.gz"}, "validation": {"pairs": "valid.tsv"}},
        "training": {"epochs": 2, "batch_size": 6, "learning_rate": 0.05, "checkpoint_every": 3},
        "search": {"beam_size": 1, "max_length": 8},
    }
    (folder / "recipe.yaml").write_text(yaml.safe_dump(recipe))
    return folder


def train(folder, run, *options):
    """Run `kerasnmt train` in this process, and return its exit code."""
    with pytest.MonkeyPatch.context() as patch:
        arguments = [str(folder / "recipe.yaml"), "--output", str(run.path), *options]
        patch.setattr(sys, "argv", ["kerasnmt", "train", *arguments])
        with pytest.raises(SystemExit) as caught:
            main()
    return caught.value.code


def copy_run(run, copy):
    """Copy the folder of a run."""
    shutil.copytree(run.path, copy.path)
    epoch = json.loads(copy.epoch.read_text())
    del epoch["lengths"]  # an earlier version did not write them
    copy.epoch.write_text(json.dumps(epoch))


@contextmanager
def without_reading_all():
    """Fail if all shards are read again."""
    pairs_of = Shards.__iter__

    def pairs_of_one_file(self):
        assert len(self.files) == 1, "the shards are checked again, which takes long"
        return pairs_of(self)

    def statistics(*_):
        raise AssertionError("the batches are counted again, which takes long")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Shards, "__iter__", pairs_of_one_file)
        patch.setattr(RecipeBatches, "statistics", statistics)
        yield


@pytest.fixture(scope="module")
def begun(folder, tmp_path_factory):
    """A run that ends before its first step, and a run that resumes from a copy of its folder."""
    whole, resumed = (RunFolder(tmp_path_factory.mktemp("begun") / name) for name in ("one", "two"))

    def fit(self, *_, **options):
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Seq2Seq, "fit", fit)
        assert train(folder, whole) == 130
        copy_run(whole, resumed)
        with without_reading_all():
            assert train(folder, resumed, "--resume") == 130
    return whole, resumed


@pytest.fixture(scope="module")
def runs(folder, tmp_path_factory):
    """Training without an interruption, and training from a copy of its folder in epoch 2."""
    whole, resumed = (RunFolder(tmp_path_factory.mktemp("runs") / name) for name in ("one", "two"))
    batch_ends = TrainingProgress.on_train_batch_end

    def copy_the_run(self, batch, logs=None):
        if whole.history.exists() and batch == 4:
            copy_run(whole, resumed)
        batch_ends(self, batch, logs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TrainingProgress, "on_train_batch_end", copy_the_run)
        assert not train(folder, whole)
    assert not resumed.results.exists()
    with without_reading_all():
        assert not train(folder, resumed, "--resume")
    return whole, resumed


@pytest.mark.thorough("trains twice, as the test of a resumed run without shards does")
def test_resuming_changes_nothing(runs):
    whole, resumed = (
        [json.loads(line) for line in run.history.read_text().splitlines()] for run in runs
    )
    assert len(whole) == 2
    for found, expected in zip(resumed, whole, strict=True):
        for name in ("loss", "perplexity", "val_loss", "val_bleu"):
            assert found[name] == pytest.approx(expected[name], rel=1e-5), name


@pytest.mark.parametrize(
    "name", ["begun", pytest.param("runs", marks=pytest.mark.thorough("trains twice"))]
)
def test_the_run_stores_what_takes_long(request, name):
    runs = request.getfixturevalue(name)
    whole = json.loads(runs[0].epoch.read_text())
    assert [sum(counts) for counts in whole["lengths"].values()] == [PAIRS, PAIRS]
    for run in runs:
        epoch = json.loads(run.epoch.read_text())
        assert epoch["pairs"] == epoch["sentences"] == PAIRS
        assert 10 <= epoch["batches"] < 30 and 0 < epoch["padding_share"] < 0.5
        recipe = Recipe.load(run.recipe)
        assert recipe.data.train.pairs.name == "corpus-*.tsv.gz"


def test_the_vocabulary_covers_all_shards(folder):
    recipe = Recipe.load(folder / "recipe.yaml")
    pairs = Corpora(recipe.data).pairs["train"]
    (tokenizer,) = train_tokenizers(recipe.tokenizer, pairs).values()
    words = {
        word for pair in builtin_corpus(PAIRS) for word in (pair.source + " " + pair.target).split()
    }
    assert tokenizer.vocabulary_size == 4 + len(words)


def test_the_first_pairs_make_a_shortlist(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(corpora, "_SAMPLE", 7)
    recipe = Recipe.load(folder / "recipe.yaml", ["search.shortlist=true"])
    model = prepare(NewStart(recipe, RunFolder(tmp_path / "run"), Console(quiet=True))).model
    kept = model.shortlist.document()
    pairs = [*Shards(folder / "corpus-*.tsv.gz")][:7]
    assert kept == model.make_shortlist(*zip(*pairs, strict=True)).document()


@pytest.mark.parametrize("change", ["another text", "a shard more", "a shard less"])
def test_changed_shards_are_not_resumed(change, folder, begun, tmp_path, capsys):
    run = RunFolder(shutil.copytree(begun[0].path, tmp_path / "run"))
    copy = shutil.copytree(folder, tmp_path / "data")
    recipe = run.recipe.read_text().replace(str(folder), str(copy))
    run.recipe.write_text(recipe)
    if change == "another text":
        (copy / "corpus-3.tsv.gz").write_bytes(gzip.compress(b"a\tb\n"))
    elif change == "a shard more":
        (copy / "corpus-9.tsv.gz").write_bytes(gzip.compress(b"a\tb\n"))
    else:
        (copy / "corpus-3.tsv.gz").unlink()
    assert train(copy, run, "--resume") == 2
    message = "error: Expected unchanged data to resume the run: data.train.pairs had "
    assert capsys.readouterr().err.splitlines()[-1].startswith(message)


def test_a_bad_shard_is_found_before_training(folder, tmp_path, capsys):
    copy = shutil.copytree(folder, tmp_path / "data")
    (copy / "corpus-3.tsv.gz").write_bytes(gzip.compress(b"a\tb\na b\n"))
    run = RunFolder(tmp_path / "run")
    assert train(copy, run) == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines[-2] == "checking 5 shards"
    assert lines[-1] == (
        "error: Expected lines of source TAB target. Received: "
        f"path='{copy}/corpus-3.tsv.gz', whose line 2 has no tab."
    )
    assert not run.path.exists()


def test_a_pattern_without_files(folder, tmp_path, capsys):
    run = RunFolder(tmp_path / "run")
    assert train(folder, run, f"data.train.pairs={tmp_path}/other-*.tsv") == 2
    message = f"error: data.train.pairs: no file matches {tmp_path}/other-*.tsv.\n"
    assert capsys.readouterr().err == message
    with pytest.raises(
        ValueError, match=r"^data\.train\.pairs: no file matches .*other-\*\.tsv\.$"
    ):
        Corpora(
            Recipe.load(folder / "recipe.yaml", [f"data.train.pairs={tmp_path}/other-*.tsv"]).data
        )


def test_what_several_processes_need(folder):
    data = Recipe.load(folder / "recipe.yaml").data
    with pytest.raises(ValueError, match=r"data\.train: Expected at least 6 shards"):
        Corpora(data, SimpleNamespace(count=6, index=0))
    second = Corpora(data, SimpleNamespace(count=4, index=1))
    assert second.own.files == second.pairs["train"].files[1::4]
    recipe = Recipe.load(folder / "recipe.yaml")  # with training.batch_size=6
    with pytest.raises(ValueError, match=r"multiple of .* training\.batch_size=6, and 4 processes"):
        check_batch_size(recipe, SimpleNamespace(count=4))
    check_batch_size(recipe, SimpleNamespace(count=3))


def test_what_patterns_exclude(folder):
    data = {"train": {"pairs": str(folder / "corpus-*.tsv.gz")}, "validation": {"builtin": 4}}
    document = {
        "model": {"name": "luong_dot_lstm"},
        "tokenizer": {"shared": {"kind": "words"}},
        "data": data,
        "training": {"guided_attention": 1.0},
    }
    for key in ("context", "alignments"):
        train = data["train"] | {key: str(folder / "valid.tsv")}
        with pytest.raises(ValueError, match=r"'data\.train' should have no context, align"):
            Recipe.from_dict(document | {"data": data | {"train": train}})


def test_validation_pairs_of_a_pattern_are_read_into_memory(folder):
    pattern = {"pairs": str(folder / "corpus-*.tsv.gz")}
    data = {"train": {"builtin": 8}, "validation": pattern}
    recipe = {
        "model": {"name": "luong_dot_lstm"},
        "tokenizer": {"shared": {"kind": "words"}},
        "data": data,
    }
    pairs = Corpora(Recipe.from_dict(recipe).data).pairs["validation"]
    assert pairs.cardinality() == PAIRS
