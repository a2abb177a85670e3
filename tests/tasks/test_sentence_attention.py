import numpy as np

from kerasnmt.tasks.sentence_attention import SentenceAttention

WEIGHTS = np.array(
    [
        [0.1, 0.2, 0.3, 0.4],
        [0.0, 0.5, 0.25, 0.25],
        [1.0, 0.0, 0.0, 0.0],
    ],
    "float32",
)


def test_pieces_become_words():
    pieces = SentenceAttention(
        ["▁two", "▁dog", "s", "</s>"], ["▁Hun", "de", "</s>"], WEIGHTS, np.array([0.5, 1.0, 0.25])
    )
    words = pieces.by_words("sentencepiece", "sentencepiece")
    assert words.source_tokens == ["two", "dogs", "</s>"]
    assert words.target_tokens == ["Hunde", "</s>"]
    # The pieces of a source word add up; the rows of a word of the translation are averaged.
    np.testing.assert_allclose(words.weights, [[0.05, 0.625, 0.325], [1.0, 0.0, 0.0]], rtol=1e-6)
    np.testing.assert_allclose(words.generate_probability, [0.75, 0.25])
    assert words.weights.dtype == np.float32


def test_words_stay():
    words = SentenceAttention(["two", "<unk>", "dogs", "</s>"], ["a▁b", "c", "</s>"], WEIGHTS)
    again = words.by_words("words", "words")
    assert (again.source_tokens, again.target_tokens) == (words.source_tokens, words.target_tokens)
    np.testing.assert_array_equal(again.weights, WEIGHTS)
    assert again.generate_probability is None


def test_characters_become_words_between_spaces():
    characters = SentenceAttention(["a", "▁", "b", "</s>"], ["x", "y", "</s>"], WEIGHTS)
    words = characters.by_words("characters", "characters")
    assert words.source_tokens == ["a", "b", "</s>"]
    assert words.target_tokens == ["xy", "</s>"]
    np.testing.assert_allclose(words.weights, [[0.05, 0.625, 0.325], [1.0, 0.0, 0.0]], rtol=1e-6)


def test_bare_spaces_belong_to_a_word():
    pieces = SentenceAttention(["▁", "two", "▁", "</s>"], ["▁", "▁", "zwei"], WEIGHTS)
    words = pieces.by_words("sentencepiece", "sentencepiece")
    assert (words.source_tokens, words.target_tokens) == (["two", "</s>"], ["zwei"])
    np.testing.assert_allclose(words.weights, [[0.7833333, 0.2166667]], rtol=1e-5)
    nothing = SentenceAttention(["▁", "</s>"], ["</s>"], np.array([[0.25, 0.75]], "float32"))
    words = nothing.by_words("sentencepiece", "sentencepiece")
    assert words.source_tokens == ["", "</s>"]
    np.testing.assert_allclose(words.weights, [[0.25, 0.75]])
