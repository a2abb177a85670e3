import numpy as np
import pytest
import tensorflow as tf

from kerasnmt.data import split_evenly, story_batches
from kerasnmt.text import PlainWordTokenizer, WordTokenizer

# Ids 4, 5, 6, …
TOKENIZER = PlainWordTokenizer(["mary", "john", "went", "home", "away", "where", "is", "home,away"])
QUESTIONS = [
    (("Mary went home.", "John went.", "..."), "Where is Mary?", "home", (0,)),
    (["John went away."], "John?", "Home,away"),
    ((), "Where is John?", "nowhere"),
]


def plain(batch):
    inputs, targets, weight = batch
    return (
        {name: ids.numpy().tolist() for name, ids in inputs.items()},
        targets.numpy().tolist(),
        weight.numpy().tolist(),
    )


def test_ids_by_hand():
    dataset = story_batches(QUESTIONS, TOKENIZER, shuffle=False)
    assert dataset.cardinality() == 1
    inputs, targets, weight = dataset.element_spec
    assert {spec.dtype for spec in (*inputs.values(), targets)} == {tf.int32}
    assert weight.dtype == tf.float32
    (batch,) = dataset
    assert plain(batch) == (
        {
            "story_ids": [
                [[4, 6, 7], [5, 6, 0]],  # a sentence of signs alone is none
                [[5, 6, 8], [0, 0, 0]],
                [[0, 0, 0], [0, 0, 0]],
            ],
            "question_ids": [[9, 10, 4], [5, 0, 0], [9, 10, 5]],
        },
        [7, 11, 1],  # an answer outside the vocabulary is unknown
        [1.0, 1.0, 1.0],
    )


def test_each_batch_is_padded_to_its_own_longest():
    batches = list(story_batches(QUESTIONS, TOKENIZER, batch_size=1, shuffle=False))
    shapes = [tuple(inputs["story_ids"].shape) for inputs, _, _ in batches]
    assert shapes == [(1, 2, 3), (1, 1, 3), (1, 1, 1)]
    assert [inputs["question_ids"].shape[1] for inputs, _, _ in batches] == [3, 1, 3]


def test_of_a_long_story_the_last_sentences_are_taken():
    long = [(["Mary.", "John.", "went", "home", "!"], "Where?", "home")]
    (batch,) = story_batches(long, TOKENIZER, max_sentences=2)
    assert plain(batch)[0]["story_ids"] == [[[6], [7]]]
    (batch,) = story_batches(long, TOKENIZER, max_sentences=None)
    assert plain(batch)[0]["story_ids"] == [[[4], [5], [6], [7]]]


def test_answers_with_a_vocabulary_of_their_own():
    answers = WordTokenizer(["away", "home,away"])
    (batch,) = story_batches(QUESTIONS[1:2], TOKENIZER, WordTokenizer(["Home,away"]))
    assert plain(batch)[1] == [4]
    (batch,) = story_batches(QUESTIONS[1:2], TOKENIZER, answers)  # it does not lower cases
    assert plain(batch)[1] == [1]


def test_shuffling():
    many = [((), "where", "home")] * 4 + [((), "is", "away")] * 36

    def order(dataset):
        return np.concatenate([targets for _, targets, _ in dataset]).tolist()

    dataset = story_batches(many, TOKENIZER, batch_size=7, seed=1)
    assert dataset.cardinality() == 6
    first, second = order(dataset), order(dataset)
    assert first != second and sorted(first) == sorted(second) == [7] * 4 + [8] * 36
    again = story_batches(many, TOKENIZER, batch_size=7, seed=1)
    assert (order(again), order(again)) == (first, second)
    assert order(story_batches(many, TOKENIZER, shuffle=False)) == [7] * 4 + [8] * 36


def test_rows_that_several_devices_add_weigh_nothing():
    (batch,) = split_evenly(story_batches(QUESTIONS, TOKENIZER, shuffle=False), 2)
    inputs, targets, weight = plain(batch)
    assert len(inputs["story_ids"]) == 4 and inputs["question_ids"][3] == [0, 0, 0]
    assert targets[3] == 0 and weight == [1.0, 1.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("questions", "options", "message"),
    [
        ([], {}, "at least one question"),
        ([("Mary went.", "Where?", "home")], {}, "story of question 1='Mary went.', one string"),
        (
            [(["Mary went."], "Where?", 3)],
            {},
            r"a story .* Received: .*, 'Where\?', 3\)",
        ),
        ([(["Mary went."], "Where?")], {}, "Expected tuples of a story"),
        ("Where?", {}, "Expected a list of questions. Received: questions='Where[?]', one string"),
        ([(["Mary went."], "Where?", "living room")], {}, "'living room', which is 2 words"),
        ([(["Mary went."], "Where?", "?")], {}, r"answer='\?', which is 0 words"),
        (QUESTIONS, {"batch_size": 0}, "batch_size to be at least 1. Received: batch_size=0"),
        (QUESTIONS, {"max_sentences": 0}, "max_sentences to be at least 1"),
    ],
)
def test_what_is_refused(questions, options, message):
    with pytest.raises(ValueError, match=message):
        story_batches(questions, TOKENIZER, **options)
