import fcntl
import json
import math
import os

import pytest

from kerasnmt import folder_lock
from kerasnmt.training import RunFolder


def test_a_new_folder_is_unused_and_has_nothing_to_resume(tmp_path):
    run = RunFolder(tmp_path / "run")
    run.check_unused()
    with pytest.raises(ValueError, match=r"folder of a run to resume\. Received: .*run, which has"):
        run.check_resumable()


@pytest.mark.parametrize("name", ["recipe.yaml", "model.keras", "checkpoints", "history.jsonl"])
def test_a_folder_in_use(tmp_path, name):
    (tmp_path / name).touch()
    with pytest.raises(ValueError, match=rf"without a run\. Received: .*, which has a {name}\."):
        RunFolder(tmp_path).check_unused()


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "pairs.tsv").touch()
    run = RunFolder(tmp_path / "pairs.tsv")
    message = r"^Expected a folder to write to\. Received: .*/pairs\.tsv, a file\. Choose another"
    with pytest.raises(ValueError, match=message), run.locked():
        raise AssertionError


def test_other_files_do_not_matter(tmp_path):
    (tmp_path / "notes.txt").touch()
    RunFolder(tmp_path).check_unused()


@pytest.mark.parametrize("missing", ["recipe", "tokenizers"])
def test_what_a_run_that_is_resumed_needs(tmp_path, missing):
    run = RunFolder(tmp_path)
    for name in {"recipe", "tokenizers"} - {missing}:
        getattr(run, name).touch()
    path = getattr(run, missing)
    with pytest.raises(ValueError, match=rf"Received: {tmp_path}, which has no {path.name}\."):
        run.check_resumable()


def test_a_second_training_is_kept_out(tmp_path):
    """Each opens the file separately, like another process."""
    run, other = RunFolder(tmp_path / "run"), RunFolder(tmp_path / "run")
    with run.locked():
        message = rf"other process trains.*{run.path}, in use by the process {os.getpid()}"
        with pytest.raises(ValueError, match=message), other.locked():
            pass
        assert run.lock.exists()
    with other.locked():
        pass


def test_a_lock_leaves_nothing_behind(tmp_path):
    with RunFolder(tmp_path / "new").locked():
        pass
    assert not (tmp_path / "new").exists()
    (tmp_path / "old").mkdir()
    with RunFolder(tmp_path / "old").locked():
        pass
    assert list((tmp_path / "old").iterdir()) == []
    with RunFolder(tmp_path / "used").locked():
        (tmp_path / "used" / "recipe.yaml").touch()
    assert [path.name for path in (tmp_path / "used").iterdir()] == ["recipe.yaml"]


def test_a_file_of_a_killed_training_is_no_lock(tmp_path):
    run = RunFolder(tmp_path)
    run.lock.write_text("12345\n")
    with run.locked():
        assert run.lock.read_text() == f"{os.getpid()}\n"
    assert not run.lock.exists()


def test_a_lock_whose_file_was_deleted_meanwhile_is_taken_again(tmp_path, monkeypatch):
    run = RunFolder(tmp_path)
    flock, deleted = fcntl.flock, []

    def delete_once(descriptor, operation):
        flock(descriptor, operation)
        if not deleted:  # the process that had the lock ends between `open` and `flock`
            deleted.append(run.lock)
            run.lock.unlink()

    monkeypatch.setattr(fcntl, "flock", delete_once)
    with run.locked():
        assert deleted and run.lock.exists()
        with (
            pytest.raises(ValueError, match="in which no other process trains"),
            RunFolder(tmp_path).locked(),
        ):
            pass


def test_a_file_system_without_locks(tmp_path, monkeypatch):
    def flock(descriptor, operation):
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", flock)
    with (
        pytest.warns(UserWarning, match=f"{tmp_path}/run: the file system has no locks"),
        RunFolder(tmp_path / "run").locked(),
    ):
        pass


def test_a_system_without_locks(tmp_path, monkeypatch):
    """As on Windows, where an open file also stays."""

    def unlink(path, missing_ok):
        raise PermissionError(13, "in use", path)

    monkeypatch.setattr(folder_lock, "fcntl", None)
    run, other = RunFolder(tmp_path), RunFolder(tmp_path)
    with run.locked(), other.locked():
        assert run.lock.read_text() == f"{os.getpid()}\n"
        monkeypatch.setattr(type(run.lock), "unlink", unlink)
    assert run.lock.exists()


def test_numbers_that_json_lacks_are_null(tmp_path):
    value = {"perplexity": math.inf, "history": [{"loss": math.nan, "bleu": 0.5}], "name": "ä"}
    RunFolder.write_json(tmp_path / "results.json", value)
    text = (tmp_path / "results.json").read_text(encoding="utf-8")
    assert json.loads(text) == {
        "perplexity": None,
        "history": [{"loss": None, "bleu": 0.5}],
        "name": "ä",
    }
    assert RunFolder.read_json(tmp_path / "results.json") == json.loads(text)
    (tmp_path / "results.json").write_text(text[:20])
    with pytest.raises(ValueError, match=r"results\.json: the file is damaged: "):
        RunFolder.read_json(tmp_path / "results.json")


@pytest.mark.parametrize("content", ["", "{", "[]", "null", "{}", '{"epochs": "x"}'])
def test_damaged_results_are_named(tmp_path, content):
    run = RunFolder(tmp_path)
    run.results.write_text(content)
    with pytest.raises(ValueError, match=r"results\.json: the file is damaged: "):
        run.final_results(1)
    run.results.write_text('{"epochs": 3, "early_stopping": false}')
    assert run.final_results(3)["epochs"] == 3 and run.final_results(4) is None
