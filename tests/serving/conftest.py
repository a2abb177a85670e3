import numpy as np
import pytest

WORDS = ["a", "dog", "man", "two", "dogs", "run", "runs", "reads", "."]


@pytest.fixture(scope="session")
def make_translator_model():
    """Make a tiny model between words and characters, with large random weights."""
    from kerasnmt.text import CharacterTokenizer, WordTokenizer
    from kerasnmt.zoo import bahdanau_gru

    def make(seed=50, source=None):
        source = source or WordTokenizer(WORDS)
        target = CharacterTokenizer("abc de")
        model = bahdanau_gru(source, target, embedding_dim=6, units=5, dropout=0.0)
        rng = np.random.default_rng(seed)
        model.set_weights([1.3 * rng.normal(size=w.shape) for w in model.get_weights()])
        bias = model.decoder.generator.bias.numpy()
        bias[[1, 3]] += [-3.0, 0.5]  # few unknowns, some ends
        model.decoder.generator.bias.assign(bias)
        return model

    return make


@pytest.fixture(scope="session")
def word_model(make_translator_model):
    """One such model for all tests that do not change it."""
    return make_translator_model()


@pytest.fixture(scope="session")
def make_pointer_model():
    """Make a tiny model that copies, over one vocabulary of words, with large random weights."""
    from kerasnmt import zoo
    from kerasnmt.text import WordTokenizer

    def make(name="pointer_generator_gru", seed=50):
        constructor = getattr(zoo, name)
        model = constructor(WordTokenizer(WORDS), embedding_dim=6, units=5, dropout=0.0)
        rng = np.random.default_rng(seed)
        model.set_weights([1.3 * rng.normal(size=w.shape) for w in model.get_weights()])
        return model

    return make


SENTENCES = [
    "two dogs run .",
    "a man reads .",
    "dog",
    "",
    "a dog runs . a man runs .",
    "   ",
    "cat",
]


@pytest.fixture
def sentences():
    return list(SENTENCES)
