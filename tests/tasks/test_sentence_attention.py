import numpy as np
import pytest

from kerasnmt.tasks import SentenceAttention
from kerasnmt.viz import attention_text

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


def outputs(**further):
    """A batch of the signature `attention` with a full row, a shorter row and an empty row."""
    weights = np.stack([WEIGHTS, np.zeros_like(WEIGHTS), np.zeros_like(WEIGHTS)])
    weights[1, 0, :2] = [0.25, 0.75]
    return {
        "source_tokens": np.array(
            [[b"two", b"old", b"dogs", b"</s>"], [b"dog", b"</s>", b"", b""], [b"</s>", *[b""] * 3]]
        ),
        "target_tokens": np.array(
            [[b"Hunde", "schön".encode(), b"</s>"], [b"</s>", b"", b""], [b"", b"", b""]]
        ),
        "weights": weights,
        **further,
    }


def test_a_batch_loses_its_padding():
    whole, short, empty = SentenceAttention.of_batch(outputs())
    assert whole.source_tokens == ["two", "old", "dogs", "</s>"]
    assert whole.target_tokens == ["Hunde", "schön", "</s>"]
    np.testing.assert_array_equal(whole.weights, WEIGHTS)
    assert (short.source_tokens, short.target_tokens) == (["dog", "</s>"], ["</s>"])
    np.testing.assert_array_equal(short.weights, [[0.25, 0.75]])
    assert (empty.source_tokens, empty.target_tokens) == (["</s>"], [])
    assert empty.weights.shape == (0, 1)
    for one in (whole, short, empty):
        assert one.generate_probability is one.context_tokens is one.context_weights is None


def test_it_shows_itself():
    whole, _, empty = SentenceAttention.of_batch(
        outputs(generate_probability=np.array([[0.9, 0.6, 0.0]] * 3, "float32"))
    )
    assert repr(whole).split("\n") == [
        "       two  old  dogs  </s>  p_gen",
        "Hunde  ░░░  ░░░  ▒▒▒▒  ▒▒▒▒  █████",
        "schön       ▓▓▓  ▒▒▒▒  ▒▒▒▒  ▓▓▓▓▓",
        "</s>   ███",
    ]
    assert str(whole) == repr(whole)
    assert whole._repr_png_().startswith(b"\x89PNG\r\n")
    axes, _ = whole.figure("two old dogs").axes
    assert axes.get_title(loc="left") == "two old dogs"
    drawn, gate = axes.images
    np.testing.assert_array_equal(drawn.get_array(), WEIGHTS)
    np.testing.assert_allclose(gate.get_array(), [[0.9], [0.6], [0.0]], rtol=1e-6)
    # There is no picture for an empty translation.
    assert repr(empty).strip() == "</s>  p_gen"
    assert empty._repr_png_() is None


def test_a_context_follows_the_source():
    of_context = np.array([[[0.5, 0.5], [0.0, 1.0], [0.0, 0.0]]] * 3, "float32")
    batch = outputs(context_tokens=np.array([[b"cats", b"</s>"]] * 3), context_weights=of_context)
    whole, short, _ = SentenceAttention.of_batch(batch)
    assert whole.context_tokens == ["cats", "</s>"]
    np.testing.assert_array_equal(short.context_weights, [[0.5, 0.5]])
    assert repr(whole).split("\n")[:2] == [
        "       two  old  dogs  </s>  cats  </s>",
        "Hunde  ░░░  ░░░  ▒▒▒▒  ▒▒▒▒  ▓▓▓▓  ▓▓▓▓",
    ]
    axes, _ = whole.figure().axes
    assert [label.get_text() for label in axes.get_xticklabels()][4:] == ["cats", "</s>"]
    assert axes.get_xlabel() == "source, context"
    pieces = SentenceAttention(
        ["▁two", "</s>"],
        ["▁Hun", "de"],
        WEIGHTS[:2, :2],
        context_tokens=["▁c", "ats", "</s>"],
        context_weights=WEIGHTS[:2, :3],
    )
    words = pieces.by_words("sentencepiece", "sentencepiece")
    assert words.context_tokens == ["cats", "</s>"]
    np.testing.assert_allclose(words.context_weights, [[0.4, 0.275]], rtol=1e-6)


def test_a_wide_table_is_continued_below():
    text = attention_text(np.eye(3), ["aaaa", "bb", "cccc"], ["x", "yy", "z"], width=12)
    assert text.split("\n") == [
        *("    aaaa  bb", "x   ████", "yy        ██", "z"),
        "",
        *("    cccc", "x", "yy", "z   ████"),
    ]


def test_characters_take_their_width():
    # Two places each, none for the accent; a line break would break the table.
    text = attention_text([[1.0, 0.0], [0.0, 0.3]], ["犬", "e\u0301"], ["走る", "a\nb"], width=80)
    assert text.split("\n") == ["      犬  e\u0301", "走る  ██", "a�b       ▒"]


def test_text_from_right_to_left_has_its_columns_from_right_to_left():
    mark = "\u200e"  # keeps the order of the columns in terminals that reorder letters
    text = attention_text(
        [[1.0, 0.0], [0.0, 0.3]], ["می\u200cخواهم", "</s>"], ["I", "גן"], width=80
    )
    assert text.split("\n") == [
        f"{mark}  {mark}  {mark}</s>  {mark}می\u200cخواهم",
        f"{mark}I {mark}  {mark}      {mark}███████",
        f"{mark}גן{mark}  {mark}▒▒▒▒",
    ]


def test_words_of_unknown_kinds():
    weights = np.full((2, 2), 0.5, "float32")
    tokens = ["▁a", "b"], ["▁c", "d"]
    unknown = SentenceAttention(*tokens, weights)
    with pytest.raises(ValueError, match=r"because this attention does not know them\. Received"):
        unknown.by_words()
    known = unknown._replace(kinds=("sentencepiece", "sentencepiece"))
    expected = unknown.by_words("sentencepiece", "sentencepiece")
    np.testing.assert_array_equal(known.by_words().weights, expected.weights)
    assert known.by_words().source_tokens == ["ab"]
