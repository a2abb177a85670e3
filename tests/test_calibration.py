"""The fit of a calibration, and the error that it reduces."""

from types import SimpleNamespace

import numpy as np
import pytest

from kerasnmt.calibration import (
    Calibration,
    expected_calibration_error,
    fit_logistic,
    right_words,
)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def logit(p):
    return np.log(p) - np.log1p(-p)


def test_the_fit_finds_the_parameters_of_synthetic_data():
    rng = np.random.default_rng(1)
    features = rng.normal(size=(40_000, 2)) * [2.0, 0.5]
    truth = np.array([0.7, -0.4, 0.2])
    expected = sigmoid(features @ truth[:2] + truth[2])
    labels = rng.uniform(size=len(features)) < expected
    found = fit_logistic(features, labels)
    np.testing.assert_allclose(found, truth, atol=0.05)
    # Shares instead of labels have no noise.
    np.testing.assert_allclose(fit_logistic(features, expected), truth, atol=1e-3)
    np.testing.assert_array_equal(found, fit_logistic(features, labels))


def test_the_fit_is_a_minimum():
    rng = np.random.default_rng(2)
    features, labels = rng.normal(size=(30, 1)), rng.uniform(size=30) < 0.3
    found = fit_logistic(features, labels)
    high, low = (labels.sum() + 1) / (labels.sum() + 2), 1 / ((~labels).sum() + 2)
    errors = sigmoid(features[:, 0] * found[0] + found[1]) - np.where(labels, high, low)
    np.testing.assert_allclose([errors.sum(), errors @ features[:, 0]], 0, atol=1e-4)


@pytest.mark.parametrize("labels", [np.ones(5), np.zeros(5), [0, 0, 1, 1, 1]])
@pytest.mark.parametrize("features", [np.arange(5.0), np.ones(5), np.full(5, -13.8)])
def test_labels_that_are_equal_or_separated_give_finite_parameters(labels, features):
    found = fit_logistic(np.asarray(features)[:, None], labels)
    assert np.isfinite(found).all() and np.abs(found).max() < 50
    predicted = sigmoid(np.asarray(features) * found[0] + found[1])
    assert predicted.mean() == pytest.approx(np.mean(labels), abs=0.15)


@pytest.mark.parametrize(
    ("text", "reference", "right"),
    [
        ("two dogs run", "two dogs run", [1, 1, 1]),
        ("two cats run", "two dogs run", [1, 0, 1]),
        ("run two dogs", "two dogs run", [0, 1, 1]),
        ("the the dog", "the dog", [1, 0, 1]),
        ("dogs", "", [0]),
        ("", "dogs", []),
        ("Two dogs.", "two dogs.", [0, 1]),
    ],
)
def test_right_words(text, reference, right):
    np.testing.assert_array_equal(right_words(text.split(), text, reference), np.array(right, bool))


def test_right_words_without_spaces():
    """Other pieces of the same characters are right."""
    found = right_words(["犬", "が走", "る。"], "犬が走る。", "犬が 走った。")
    np.testing.assert_array_equal(found, [True, True, False])


def test_longest_common_subsequence_is_the_longest():
    rng = np.random.default_rng(3)
    for _ in range(50):
        one, other = (list(rng.choice(list("abc"), rng.integers(1, 7))) for _ in range(2))
        subsets = [
            [word for bit, word in enumerate(one) if mask >> bit & 1]
            for mask in range(1 << len(one))
        ]

        def is_within(part, whole):
            rest = iter(whole)
            return all(word in rest for word in part)

        longest = max(len(part) for part in subsets if is_within(part, other))
        kept = right_words(one, " ".join(one), " ".join(other))
        assert kept.sum() == longest
        assert is_within([word for word, keep in zip(one, kept, strict=True) if keep], other)


def test_error_by_hand():
    # Bins [0, 0.5] and (0.5, 1]: |0.5 - 0.35| and |2/3 - 0.8|.
    probabilities, right = [0.2, 0.5, 0.7, 0.8, 0.9], [0, 1, 1, 1, 0]
    expected = (2 * abs(0.5 - 0.35) + 3 * abs(2 / 3 - 0.8)) / 5
    assert expected_calibration_error(probabilities, right, bins=2) == pytest.approx(expected)
    assert expected_calibration_error([0.0, 1.0], [0, 1]) == 0.0
    assert expected_calibration_error([1.0], [0.25]) == pytest.approx(0.75)
    for wrong in (([], []), ([0.5], [1, 0]), ([1.1], [1]), ([float("nan")], [1])):
        with pytest.raises(ValueError, match="as many probabilities from 0 to 1"):
            expected_calibration_error(*wrong)


def confidence(words, probabilities):
    probabilities = np.array(probabilities, float)
    return SimpleNamespace(
        text=" ".join(words),
        words=words,
        probabilities=probabilities,
    )


def test_a_known_temperature_of_words():
    """Words are right as often as a temperature of 2 and a bias say."""
    rng = np.random.default_rng(4)
    some, references = [], []
    for _ in range(1500):
        p = rng.uniform(0.05, 0.99, 8)
        right = rng.uniform(size=8) < sigmoid(0.5 * logit(p) + 0.3)
        words = [f"w{place}" for place in range(8)]
        some.append(confidence(words, p))
        pairs = zip(words, right, strict=True)
        references.append(" ".join(word if one else f"{word}x" for word, one in pairs))
    found = Calibration.fit(some, references)
    assert (found.word_slope, found.word_bias) == pytest.approx((0.5, 0.3), abs=0.05)
    assert found.pairs == 1500
    p = np.concatenate([one.probabilities for one in some])
    labels = np.concatenate(
        [right_words(one.words, one.text, ref) for one, ref in zip(some, references, strict=True)]
    )
    before = expected_calibration_error(p, labels)
    assert expected_calibration_error(found.of_words(p), labels) < 0.02 < before / 4


@pytest.mark.parametrize("reference", ["a b", "x y"])
def test_words_that_are_all_right_or_all_wrong(reference):
    right = 4 if reference == "a b" else 0
    with pytest.raises(
        ValueError,
        match=rf"right and wrong words .* with 4 words, of which {right} are",
    ):
        Calibration.fit([confidence(["a", "b"], [0.9, 0.8])] * 2, [reference] * 2)


def test_document_and_extremes():
    found = Calibration.fit([confidence(["a", "b"], [1.0, 0.0]), confidence([], [])], ["a c", "x"])
    assert found.pairs == 1 and Calibration.of(found.document()) == found
    assert Calibration.of(None) is None
    probabilities = found.of_words(np.array([0.0, 1e-300, 0.5, 1.0]))
    assert np.isfinite(probabilities).all() and (np.diff(probabilities) >= 0).all()
    # Older models have kept numbers of whole translations too.
    assert Calibration.of({**found.document(), "slope": 1.0, "length": 0.1, "bias": 0.0}) == found
    with pytest.raises(ValueError, match=r"a calibration with word_slope, .* Received: \{'a': 1\}"):
        Calibration.of({"a": 1})
