from types import SimpleNamespace

import pytest

from kerasnmt.training import Throughput
from kerasnmt.training.callbacks import throughput


@pytest.fixture
def training(monkeypatch):
    """The callback, the token count of a model, and a clock."""
    state = SimpleNamespace(seconds=100.0, tokens=0.0)
    monkeypatch.setattr(throughput.time, "perf_counter", lambda: state.seconds)
    callback = Throughput()
    perplexity = SimpleNamespace(tokens=0.0)
    callback.set_model(SimpleNamespace(perplexity=perplexity, r_drop=0.0))
    return callback, perplexity, state


def test_validation_is_left_out(training):
    callback, perplexity, clock = training
    callback.on_epoch_begin(0)
    callback.on_train_batch_begin(0)
    clock.seconds, perplexity.tokens = 104.0, 800.0
    callback.on_test_begin()
    clock.seconds, perplexity.tokens = 150.0, 30.0  # the metric counts validation now
    logs = {}
    callback.on_epoch_end(0, logs)
    assert logs == {"target_tokens_per_second": 200.0}


def test_r_drop_does_not_count_twice(training):
    callback, perplexity, clock = training
    callback.model.r_drop = 1.0
    callback.on_epoch_begin(0)
    clock.seconds, perplexity.tokens = clock.seconds + 4.0, 1600.0
    callback.on_epoch_end(0, logs := {})
    assert logs == {"target_tokens_per_second": 200.0}


def test_without_validation(training):
    callback, perplexity, clock = training
    for epoch, seconds in enumerate([2.0, 5.0]):
        callback.on_epoch_begin(epoch)
        clock.seconds += seconds
        perplexity.tokens = 100.0
        logs = {}
        callback.on_epoch_end(epoch, logs)
        assert logs == {"target_tokens_per_second": 100.0 / seconds}


def test_evaluation_outside_of_training(training):
    callback, _, _ = training
    callback.on_test_begin()  # no clock runs, and nothing is raised


def test_what_was_counted_before_an_interruption_is_left_out(training):
    callback, perplexity, clock = training
    callback.on_epoch_begin(0)
    perplexity.tokens = 300.0  # a checkpoint brought them back
    callback.on_train_batch_begin(0)
    callback.on_train_batch_begin(1)
    clock.seconds, perplexity.tokens = clock.seconds + 2.0, 700.0
    logs = {}
    callback.on_epoch_end(0, logs)
    assert logs == {"target_tokens_per_second": 200.0}
