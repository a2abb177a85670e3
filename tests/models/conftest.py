import numpy as np
import pytest


@pytest.fixture(scope="module")
def make_model():
    """Create a tiny model with large random weights, so that words depend on all earlier words."""
    from kerasnmt.zoo import bahdanau_gru
    from tests.numerics import fill

    def make(seed=0, source=11, target=13, scale=1.0, **options):
        options = {"embedding_dim": 6, "units": 5, "dropout": 0.0, **options}
        return fill(bahdanau_gru(source, target, **options), seed, scale)

    return make


@pytest.fixture(scope="module")
def model(make_model):
    """A tiny model that tests must not change."""
    return make_model()


@pytest.fixture
def batch():
    """A batch of three pairs: inputs, targets and weights, with padding on both sides."""
    source = [[5, 9, 4, 10, 3], [6, 6, 3, 0, 0], [3, 0, 0, 0, 0]]
    target = [[12, 5, 7, 3], [4, 3, 0, 0], [9, 11, 3, 0]]
    targets = np.array(target, "int32")
    shifted = np.concatenate([np.full((3, 1), 2), targets[:, :-1]], axis=1)
    shifted[1, 2:] = shifted[2, 3:] = 0
    inputs = {"source_ids": np.array(source, "int32"), "target_ids": shifted.astype("int32")}
    return inputs, targets, (targets != 0).astype("float32")


@pytest.fixture(scope="module")
def make_text_model():
    """Create a tiny model from words to characters, with large random weights."""
    from kerasnmt.text import CharacterTokenizer, WordTokenizer
    from kerasnmt.zoo import bahdanau_gru
    from tests.numerics import fill

    def make(seed=0, words=("a", "dog", "man", "two", "dogs", "run", ".")):
        source, target = WordTokenizer(list(words)), CharacterTokenizer("abc de")
        model = bahdanau_gru(source, target, embedding_dim=6, units=5, dropout=0.0)
        return fill(model, seed, scale=1.3)

    return make


@pytest.fixture(scope="module")
def make_shared_model():
    """Create a tiny model of words, with one tokenizer for both sides of all models."""
    from kerasnmt.text import WordTokenizer
    from kerasnmt.zoo import bahdanau_gru
    from tests.numerics import fill

    tokenizer = WordTokenizer(["a", "dog", "man", "two", "dogs", "run", "."])

    def make(seed=0):
        model = bahdanau_gru(tokenizer, embedding_dim=6, units=5, dropout=0.0)
        return fill(model, seed, scale=1.3)

    return make
