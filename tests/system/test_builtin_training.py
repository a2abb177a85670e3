"""A short training on the built-in corpus translates, and its attention aligns the right words."""

import keras
import numpy as np
import pytest

from kerasnmt.data import batches, builtin_corpus
from kerasnmt.text import SentencePieceTokenizer
from kerasnmt.training import translation_scores
from kerasnmt.viz import alignment_error_rate, word_alignment
from kerasnmt.zoo import bahdanau_gru

TEST = builtin_corpus(100, "test")


@pytest.fixture(scope="module")
def model():
    keras.utils.set_random_seed(1)
    pairs = builtin_corpus(6000)
    tokenizer = SentencePieceTokenizer.train(pairs, vocabulary_size=1000)
    model = bahdanau_gru(tokenizer, units=96, embedding_dim=96, dropout=0.1)
    dataset = batches(pairs, tokenizer, batch_size=16, seed=1, cache=True)
    steps = 5 * sum(1 for _ in dataset)
    schedule = keras.optimizers.schedules.CosineDecay(
        0.0, steps, warmup_target=0.004, warmup_steps=100
    )
    model.compile(keras.optimizers.Adam(schedule, global_clipnorm=1.0))
    model.fit(dataset, epochs=5, verbose=0, shuffle=False)
    return model


def test_bleu_floor(model):
    translations = model.translate([pair.source for pair in TEST], beam_size=2, max_length=60)
    scores = translation_scores(translations, [pair.target for pair in TEST])
    assert scores["bleu"] > 60


def test_alignment_error_rate(model):
    predicted = []
    one_by_one = batches(TEST, model.source_tokenizer, batch_size=1, shuffle=False)
    by_target = {pair.target: pair.alignment for pair in TEST}
    gold = []
    for inputs, targets, _ in one_by_one:
        source, target = (
            [token.decode() for token in model.source_tokenizer.tokens(ids[0]).numpy()]
            for ids in (inputs["source_ids"], targets)
        )
        (weights,) = np.asarray(model.attend(inputs))
        indices = map(model.source_tokenizer.word_indices, (source, target))
        predicted.append(word_alignment(weights, *indices))
        text = model.target_tokenizer.detokenize(targets).numpy()[0].decode()
        gold.append(by_target[text])
    assert len(predicted) == len(TEST)
    assert alignment_error_rate(predicted, gold) <= 0.15
