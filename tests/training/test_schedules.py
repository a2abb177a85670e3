import pytest

from kerasnmt.training import InverseSquareRoot, learning_rate_schedule


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


def test_inverse_square_root_by_hand():
    schedule = learning_rate_schedule(0.1, 500, schedule="inverse_sqrt", warmup_steps=4)
    assert rates(schedule, 0, 1, 3, 15, 99) == pytest.approx([0.025, 0.05, 0.1, 0.05, 0.02])
    config = schedule.get_config()
    assert rates(InverseSquareRoot.from_config(config), 1, 99) == pytest.approx([0.05, 0.02])


def test_inverse_square_root_is_the_published_one():
    """Vaswani et al. (2017), equation 3, with d_model = 512 and 4000 warm-up steps."""
    schedule = InverseSquareRoot((512 * 4000) ** -0.5, 4000)
    steps = (1, 100, 4000, 100_000)
    published = [512**-0.5 * min(n**-0.5, n * 4000**-1.5) for n in steps]
    assert rates(schedule, *(n - 1 for n in steps)) == pytest.approx(published, rel=1e-5)


def test_inverse_square_root_without_a_warm_up():
    with pytest.raises(ValueError, match=r"a usual value is 4000\. Received: warmup_steps=0$"):
        learning_rate_schedule(0.1, 50, schedule="inverse_sqrt")
