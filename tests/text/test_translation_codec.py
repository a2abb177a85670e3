import numpy as np
import pytest
import tensorflow as tf

from kerasnmt.text import CharacterTokenizer, WordTokenizer
from kerasnmt.text.translation_codec import TranslationCodec

WORDS = WordTokenizer(["a", "b", "c"])  # ids 4, 5 and 6
LETTERS = CharacterTokenizer("xyz")


def numpy(tensors):
    return {name: tensor.numpy().tolist() for name, tensor in tensors.items()}


def test_two_vocabularies():
    codec = TranslationCodec(WORDS, LETTERS)
    source = codec.encode_source(tf.constant(["a b", "", "c q"]))
    assert source.empty.numpy().tolist() == [False, True, False]
    inputs, targets = codec.teacher_forced(source, codec.encode_target(["xy", "z", ""], source))
    assert numpy(inputs) == {
        "source_ids": [[4, 5, 3], [3, 0, 0], [6, 1, 3]],
        "target_ids": [[2, 4, 5], [2, 6, 0], [2, 0, 0]],
    }
    assert targets.numpy().tolist() == [[4, 5, 3], [6, 3, 0], [3, 0, 0]]
    assert codec.decode(targets, source).numpy().tolist() == [b"xy", b"z", b""]
    tokens = codec.source_tokens(source).numpy().tolist()
    assert tokens == [[b"a", b"b", b"</s>"], [b"</s>", b"", b""], [b"c", b"<unk>", b"</s>"]]


def test_words_to_copy_have_one_id_in_source_context_and_target():
    codec = TranslationCodec(WORDS, WORDS, copies=True)
    texts = {"source": tf.constant(["a q"]), "context": tf.constant(["r q b"])}
    source = codec.encode_source(**texts)
    inputs, targets = codec.teacher_forced(source, codec.encode_target(["q r s"], source))
    assert numpy(inputs) == {
        "source_ids": [[4, 1, 3]],
        "context_ids": [[1, 1, 5, 3]],
        "extended_source_ids": [[4, 7, 3]],
        "extended_context_ids": [[8, 7, 5, 3]],
        "target_ids": [[2, 1, 1, 1]],
    }
    assert targets.numpy().tolist() == [[7, 8, 1, 3]]
    assert codec.decode(targets, source).numpy() == ["q r ⁇".encode()]
    assert codec.source_tokens(source, "context_ids").numpy().tolist() == [
        [b"r", b"q", b"b", b"</s>"]
    ]
    all_of_them = codec.decode_all(tf.constant([[[7, 3], [8, 5]]]), source)
    assert all_of_them.numpy().tolist() == [[b"q", b"r b"]]


def test_words_that_are_cut_away_have_no_id():
    codec = TranslationCodec(WORDS, WORDS, copies=True)
    source = codec.encode_source(tf.constant(["a q r"]), max_length=3)
    assert numpy(source.inputs())["extended_source_ids"] == [[4, 7, 3]]
    assert source.unknown_words.to_list() == [[b"q"]]


@pytest.mark.parametrize("dictionary", [None, {"q": "Q", "a": "A"}])
def test_unknown_words_become_the_words_that_they_attend_to(dictionary):
    codec = TranslationCodec(WORDS, WORDS, replace_unknown=True, dictionary=dictionary)
    source = codec.encode_source(tf.constant(["a q r", "b"]))
    ids = tf.constant([[[1, 5, 1, 3]], [[1, 3, 0, 0]]])
    # Rows: target words. The largest weight of the second source is on its end token and padding.
    weights = np.array(
        [
            [[[0.1, 0.6, 0.2, 0.1], [1, 0, 0, 0], [0.4, 0.3, 0.2, 0.1], [0, 0, 0, 1]]],
            [[[0.1, 0.5, 0.4, 0.0], [0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]],
        ],
        "float32",
    )
    replaced = codec.replace(ids, weights, source)
    assert replaced.numpy().tolist() == [[[8, 5, 7, 3]], [[7, 3, 0, 0]]]
    expected = [b"q b a", b"b"] if dictionary is None else [b"Q b A", b"b"]
    assert codec.decode(replaced[:, 0], source).numpy().tolist() == expected


def test_no_texts():
    codec = TranslationCodec(WORDS, WORDS, copies=True)
    source = codec.encode_source(tf.zeros([0], tf.string))
    assert {name: one.shape for name, one in source.inputs().items()} == {
        "source_ids": (0, 1),
        "extended_source_ids": (0, 1),
    }
