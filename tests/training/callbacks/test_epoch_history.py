import json

import pytest

from kerasnmt.training import EpochHistory
from kerasnmt.training.callbacks import epoch_history


@pytest.fixture
def clock(monkeypatch):
    """Clocks that a test moves, for seconds and CPU seconds."""
    now = {"perf_counter": 1000.0, "process_time": 500.0}
    for name in now:
        monkeypatch.setattr(epoch_history.time, name, lambda name=name: now[name])

    def move(seconds, cpu_seconds):
        now["perf_counter"] += seconds
        now["process_time"] += cpu_seconds

    return move


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_epochs_across_an_interruption(tmp_path, clock):
    path = tmp_path / "history.jsonl"
    history = EpochHistory(path)
    history.on_train_begin()
    for epoch in range(3):
        clock(10, 15)
        history.on_epoch_end(epoch, {"loss": 3.0 - epoch})
    assert (history.seconds, history.cpu_seconds) == (30, 45)

    clock(100, 100)  # in another process, and the third epoch was lost
    history = EpochHistory(path, initial_epoch=2)
    assert (history.seconds, history.cpu_seconds) == (20, 30)
    clock(5, 5)  # of set-up
    history.on_train_begin()
    clock(7, 8)
    history.on_epoch_end(2, {"loss": 0.5})
    assert lines(path) == history.records
    assert lines(path) == [
        {"epoch": 1, "seconds": 10, "cpu_seconds": 15, "loss": 3},
        {"epoch": 2, "seconds": 20, "cpu_seconds": 30, "loss": 2},
        {"epoch": 3, "seconds": 27, "cpu_seconds": 38, "loss": 0.5},
    ]


def test_a_new_training_begins_anew(tmp_path, clock):
    (tmp_path / "history.jsonl").write_text('{"epoch": 1}\n')
    history = EpochHistory(tmp_path / "history.jsonl")
    assert (history.records, history.seconds) == ([], 0)


def test_what_is_no_number_is_null(tmp_path, clock):
    history = EpochHistory(tmp_path / "history.jsonl")
    history.on_train_begin()
    history.on_epoch_end(0, {"loss": float("nan"), "perplexity": float("inf")})
    assert lines(tmp_path / "history.jsonl") == [
        {"epoch": 1, "seconds": 0, "cpu_seconds": 0, "loss": None, "perplexity": None}
    ]
