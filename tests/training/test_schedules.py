import pytest

from kerasnmt.training import learning_rate_schedule


def rates(schedule, *steps):
    return [float(schedule(step)) for step in steps]


def test_constant():
    assert learning_rate_schedule(0.1, 50) == 0.1


def test_constant_after_warm_up():
    schedule = learning_rate_schedule(0.1, 50, warmup_steps=10)
    assert rates(schedule, 0, 5, 10, 30, 50) == pytest.approx([0, 0.05, 0.1, 0.1, 0.1])


def test_cosine():
    schedule = learning_rate_schedule(0.1, 50, schedule="cosine")
    assert rates(schedule, 0, 25, 50) == pytest.approx([0.1, 0.05, 0], abs=1e-8)


def test_cosine_after_warm_up():
    schedule = learning_rate_schedule(0.1, 50, schedule="cosine", warmup_steps=10)
    assert rates(schedule, 0, 5, 10, 30, 50) == pytest.approx([0, 0.05, 0.1, 0.05, 0], abs=1e-8)


def test_a_warm_up_without_end():
    with pytest.raises(ValueError, match=r"fewer warmup_steps than the 50 .* warmup_steps=50"):
        learning_rate_schedule(0.1, 50, warmup_steps=50)


def test_unknown_schedule():
    with pytest.raises(ValueError, match="Received: schedule='linear'"):
        learning_rate_schedule(0.1, 50, schedule="linear")
