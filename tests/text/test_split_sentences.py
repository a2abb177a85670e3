import pytest
import tensorflow as tf

from kerasnmt.text.split_sentences import join_sentences, split_sentences


@pytest.mark.parametrize(
    "sentences",
    [
        ["I am here.", "Where are you?", "Go!", "He left... She stayed."][:3],
        ["Où est la gare ?", "Elle attend.", "« Oui. »", "Non."],
        ["I was born in 1990.", "He said “No!”", "She left."],
        ["Это он.", "Где она?", "Да."],
        ["أين المحطة؟", "إنها تنتظر."],
        ["यह घर है।", "वह जाता है।"],
        # Not an end of a sentence.
        ["Mr. Smith met Dr. Who, J. Doe and the U.S. Army at 5 p.m. Monday."],
        ["He came (etc.) and went... and then. nothing 3.5 Euro a.M. No. 5"],
        ["Yahoo! is it"],
        ["", ""][:1],
        [" "],
    ],
)
def test_sentences(sentences):
    text = " ".join(sentences)
    (split,) = split_sentences(tf.constant([text])).to_list()
    assert [one.decode() for one in split] == sentences
    assert join_sentences(tf.ragged.constant([split])).numpy()[0].decode() == text


def test_sentences_without_spaces():
    text = "犬が寝る。猫は「行く！」と言った。どこ？"
    (split,) = split_sentences(tf.constant([text])).to_list()
    assert [one.decode() for one in split] == [
        "犬が寝る。",
        "猫は「行く！」",
        "と言った。",
        "どこ？",
    ]
    assert join_sentences(tf.ragged.constant([split])).numpy()[0].decode() == text


def test_sentences_of_two_letters_and_marks_of_the_text():
    (split,) = split_sentences(tf.constant(["Es regnet. Ja. Gut.\x1eUnd?"])).to_list()
    assert [one.decode() for one in split] == ["Es regnet.", "Ja.", "Gut.", "Und?"]


def test_empty_sentences_leave_no_spaces():
    texts = join_sentences(tf.ragged.constant([["", "A.", "", "B."], ["犬。", "", "猫。"], [""]]))
    assert [text.decode() for text in texts.numpy()] == ["A. B.", "犬。猫。", ""]
