import numpy as np
import pytest
import tensorflow as tf

from kerasnmt.text.sentence_ends import join_texts, split_text
from kerasnmt.text.split_sentences import join_sentences, split_sentences


def both_split(text):
    """Split a text with and without TensorFlow, and check that both give the same."""
    (split,) = split_sentences(tf.constant([text])).to_list()
    assert split_text(text) == [one.decode() for one in split]
    return split_text(text)


def both_joined(sentences):
    """Join sentences with and without TensorFlow, and check that both give the same."""
    joined = join_sentences(tf.ragged.constant([sentences])).numpy()[0].decode()
    assert join_texts(sentences) == joined
    return joined


@pytest.mark.parametrize(
    "sentences",
    [
        ["I am here.", "Where are you?", "Go!"],
        ["Où est la gare ?", "Elle attend.", "« Oui. »", "Non."],
        ["I was born in 1990.", "He said “No!”", "She left."],
        ["Это он.", "Где она?", "Да."],
        ["أين المحطة؟", "إنها تنتظر."],
        ["यह घर है।", "वह जाता है।"],
        ["Πού είσαι;", "(Εδώ) «Τι\u037e»", "Ο Γιάννης;", "Ἆρα ζῇ;", "Ναι; όχι; σε 5; Ok; Όχι."],
        ["πού είσαι;", "εδώ.", "τί\u0301\u037e", "όχι; 5; ok; όχι"],
        ["One; Two; and three."],
        # Not an end of a sentence.
        ["Mr. Smith met Dr. Who, J. Doe and the U.S. Army at 5 p.m. Monday."],
        ["MR. SMITH MET DR. WHO.", "HE LEFT."],
        ["Am 24. Dezember sah ich Karl II. Prinz von X. im 19. Stock.", "Es waren 250.", "Gut."],
        ["(Mio. Euro) Prof. Dr. Dr. Who.", "Küste.", "Hôtel.", "Rätsel lösen.", "Późno.", "Idę."],
        ["Yes.", "No.", "Das kostet 3,50 €.", "Er sagt: „Ja.“", "„Gut!“", "Où es-tu ?", "— Là."],
        ["Oh no.", "He is 10:30.", "It is $3.30.", "Or 21-14.", "Ben ve sen.", "OH NO.", "AH."],
        ["डॉ. शर्मा आए।", "Это ул. Ленина.", "Hauptstr.", "Berlin"],
        # Without capitals, before a lowercase letter.
        ["where is mr. smith?", "i'm late.", "oh no.", "an die küste.", "or 25. we go, ca. two"],
        ["¿qué?", "¡no! «oui ?» dit-il... non. 3 fois (ah!) oui"],
        ["He came (etc.) and went... and then. nothing 3.5 Euro a.M. No. 5"],
        ["Yahoo! is it"],
        [""],
        [" "],
    ],
)
def test_sentences(sentences):
    text = " ".join(sentences)
    assert both_split(text) == sentences
    assert both_joined(sentences) == text


def test_sentences_without_spaces():
    text = "犬が寝る。猫は「行く！」と言った。どこ？"
    sentences = ["犬が寝る。", "猫は「行く！」", "と言った。", "どこ？"]
    assert both_split(text) == sentences
    assert both_joined(sentences) == text


def test_sentences_of_two_letters_and_marks_of_the_text():
    assert both_split("Es regnet. Ja. Gut.\x1eUnd?") == ["Es regnet.", "Ja.", "Gut.", "Und?"]
    assert both_split("a\x1f") == ["a "]
    assert both_split("犬。 \t猫") == ["犬。", "猫"]


def test_empty_sentences_leave_no_spaces():
    rows = [["", "A.", "", "B."], ["犬。", "", "猫。"], [""]]
    assert [both_joined(row) for row in rows] == ["A. B.", "犬。猫。", ""]


def test_random_texts():
    rng = np.random.default_rng(0)
    marks = [*".…!?؟।。！？｡;\u037e」”»)¿\x1e\x1f", "...", "Dr.", "No. ", "ab. ", "24. ", "é mr. "]
    spaces = [*" \xa0\u202f\t\n\v\r"]
    alphabet = [*"aB9éÉ犬अǅάἈ", "Ü\u0308", *marks, *spaces]
    texts = ["".join(rng.choice(alphabet, size)) for size in rng.integers(0, 30, 500)]
    texts += [text.lower() for text in texts]
    split = split_sentences(tf.constant(texts)).to_list()
    assert [split_text(text) for text in texts] == [[one.decode() for one in row] for row in split]
