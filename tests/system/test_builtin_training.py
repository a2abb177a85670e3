"""Short training on the built-in corpus gives translations, and attention to the right words."""

import keras
import pytest

from kerasnmt.alignment import alignment_error_rate
from kerasnmt.data import batches, builtin_corpus
from kerasnmt.text import WordTokenizer
from kerasnmt.training import Adam, translation_scores
from kerasnmt.zoo import bahdanau_gru

pytestmark = pytest.mark.long("trains a model until it translates")

TEST = builtin_corpus(100, "test")


@pytest.fixture(scope="module")
def model():
    keras.utils.set_random_seed(1)
    pairs = builtin_corpus(8000)
    tokenizer = WordTokenizer.train(pairs, vocabulary_size=3000)
    model = bahdanau_gru(tokenizer, units=48, embedding_dim=48, dropout=0.1, coverage=0.1)
    dataset = batches(pairs, tokenizer, batch_size=32, seed=1, cache=True)
    steps = 3 * sum(1 for _ in dataset)
    schedule = keras.optimizers.schedules.CosineDecay(
        0.0, steps, alpha=0.05, warmup_target=0.01, warmup_steps=60
    )
    model.compile(Adam(schedule, global_clipnorm=1.0))
    model.fit(dataset, epochs=3, verbose=0, shuffle=False)
    return model


def test_bleu_floor(model):
    translations = model.translate([pair.source for pair in TEST], beam_size=2, max_length=60)
    scores = translation_scores(translations, [pair.target for pair in TEST])
    assert scores["bleu"] > 60


def test_alignment_error_rate(model):
    predicted = model.align([pair.source for pair in TEST], [pair.target for pair in TEST])
    assert alignment_error_rate(predicted, [pair.alignment for pair in TEST]) <= 0.15
