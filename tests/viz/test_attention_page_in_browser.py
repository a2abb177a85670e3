"""The file of `attention_page` in Chromium."""

import numpy as np
import pytest

from kerasnmt.tasks.sentence_attention import SentenceAttention
from kerasnmt.viz import attention_page

pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
from playwright.sync_api import expect

SCRIPT = "</script><img src=x onerror=alert(1)>"
WEIGHTS = np.array([[0.75, 0.25, 0.0], [0.1, 0.8, 0.1], [0.0, 0.004, 0.996]], "float32")
TWO = [
    SentenceAttention(["ein", SCRIPT, "</s>"], ["a", SCRIPT, "</s>"], WEIGHTS),
    SentenceAttention(["▁ja", "wohl", "</s>"], ["yes", "sir", "</s>"], WEIGHTS),
]


class Inspected:
    """A sentence with probabilities and other words."""

    def document(self):
        document = TWO[1]._replace(kinds=("sentencepiece", "words")).document()
        choices = [[{"ids": [4], "text": "well", "log_probability": np.log(0.25)}]] * 3
        return document | {
            "target": document["target"] | {"log_probability": [-1.0, -0.5, 0], "choices": choices}
        }


@pytest.fixture
def write(tmp_path):
    """Write a page; return its URL."""

    def write(sentences):
        path = tmp_path / "page.html"
        path.write_text(attention_page(sentences, "Two & more"), encoding="utf-8")
        return path.as_uri()

    return write


def test_each_sentence_has_its_weights_and_its_texts_stay_texts(tab, write):
    tab.goto(write(TWO))
    expect(tab).to_have_title("Two & more")
    drawings = tab.locator("section svg")
    expect(drawings).to_have_count(2)
    words = drawings.first.locator(".token")
    expect(words).to_have_text(["ein", SCRIPT, "end", "a", SCRIPT, "end"])
    notes = drawings.first.locator(".token + text")
    words.nth(4).focus()
    expect(notes).to_have_text(["10%", "80%", "10%", "", "", ""])
    tab.locator("section").first.locator(".words button").last.hover()
    expect(notes).to_have_text(["", "", "100%", "", "", ""])
    tab.locator("section").first.get_by_role("button", name="Heat map").click()
    expect(drawings.first.locator(".cell")).to_have_count(9)
    drawings.first.locator(".token").nth(1).hover()
    expect(notes).to_have_text(["", "", "", "25%", "80%", ""])
    assert tab.locator("img").count() == 0


def test_a_sentence_in_characters_is_named_by_its_words(tab, write):
    letters = SentenceAttention(["<de>", *"an▁dir", "</s>"], ["a", "</s>"], np.zeros((2, 8)))
    tab.goto(write([letters._replace(kinds=("characters", "words"))]))
    expect(tab.get_by_role("heading", level=2)).to_have_text("<de>an dir")
    tokens = tab.locator("section svg .token")
    expect(tokens).to_have_text(["<de>", *"an␣dir", "end", "a", "end"])


def test_words_from_right_to_left_stand_from_right_to_left(tab, write):
    hebrew = SentenceAttention(["אוהב", "Tom", "</s>"], ["سلام", "دنیا", "</s>"], WEIGHTS)
    tab.goto(write([hebrew]))
    of_token = "all => all.map(one => +one.getAttribute('x'))"
    places = tab.locator("section svg .token").evaluate_all(of_token)
    assert places[:3] == sorted(places[:3], reverse=True)
    assert places[3:] == sorted(places[3:], reverse=True)
    buttons = tab.locator(".words button").evaluate_all("all => all.map(one => one.offsetLeft)")
    assert buttons == sorted(buttons, reverse=True)
    tab.get_by_role("button", name="Heat map").click()
    places = tab.locator("section svg .cell").evaluate_all(of_token)
    assert places == sorted(places[:3], reverse=True) * 3


def test_an_inspected_sentence_shows_probabilities_and_other_words(tab, write):
    tab.goto(write([Inspected()]))
    expect(tab.locator("section .note").first).to_have_text("log-probability −1.50")
    words = tab.locator("svg .token")
    expect(words).to_have_text(["jawohl", "end", "yes", "sir", "end"])
    words.nth(2).focus()
    expect(tab.locator("svg .token + text")).to_have_text(["100%", "", "", "", ""])
    tab.keyboard.press("Enter")
    expect(tab.get_by_role("heading", name="In place of “yes”")).to_be_visible()
    expect(tab.locator(".bars td")).to_have_text(["well", "", "25%", ""])
    tab.get_by_role("button", name="Pieces").click()
    expect(words).to_have_text(["▁ja", "wohl", "end", "yes", "sir", "end"])


class Calibrated:
    """Pieces of three words, of which the model is more or less sure, and a calibration."""

    def __init__(self, **calibration):
        self.calibration = calibration

    def document(self):
        tokens = ["▁two", "▁do", "gs", "▁run", "</s>"]
        weights = np.full((5, 2), 0.5, "float32")
        one = SentenceAttention(["▁zwei", "</s>"], tokens, weights)
        document = one._replace(kinds=("sentencepiece", "sentencepiece")).document()
        scores = np.log([0.95, 0.9, 0.5, 0.8, 0.1]).tolist()
        return document | {
            "target": document["target"] | {"log_probability": scores} | self.calibration
        }


def test_words_show_how_sure_the_model_is(tab, write):
    tab.goto(write([Calibrated()]))
    words, legend = tab.locator(".words button"), tab.locator(".legend")
    expect(words).to_have_text(["two", "dogs", "run", "end"])
    classes = "all => all.map(one => one.className.trim())"
    assert words.evaluate_all(classes) == ["", "doubtful", "unsure", "end"]
    expect(legend).to_contain_text("The model's probability of a word:")
    expect(legend.locator("span")).to_have_text(
        ["90% or more", "70% to 90%", "40% to 70%", "below 40%"]
    )
    # Lines of other styles, so that no color is needed.
    style = "all => all.map(one => getComputedStyle(one).borderBottomStyle)"
    lines = legend.locator("span").evaluate_all(style)
    assert lines == ["none", "dotted", "dashed", "solid"]
    assert words.evaluate_all(style)[1:3] == ["dashed", "dotted"]
    tab.get_by_role("button", name="Pieces").click()
    assert words.evaluate_all(classes) == ["", "", "doubtful", "unsure", "end"]


def test_calibrated_words(tab, write):
    """Of half of the logit, with a bias."""
    calibration = {"word_slope": 0.5, "word_bias": -1.0}
    tab.goto(write([Calibrated(calibration=calibration)]))
    words, legend = tab.locator(".words button"), tab.locator(".legend")
    expect(legend).to_contain_text("Probability that a word is right:")
    p = np.array([0.95, 0.45, 0.8])
    right = 1 / (1 + np.exp(1.0 - 0.5 * np.log(p / (1 - p))))
    titles = words.evaluate_all("all => all.map(one => one.title)")
    expected = [
        f"probability {100 * o:.0f}%, right with {100 * r:.0f}%"
        for o, r in zip(p, right, strict=True)
    ]
    assert titles == [*expected, "probability 10%"]
    assert [round(one, 2) for one in right] == [0.62, 0.25, 0.42]
    classes = words.evaluate_all("all => all.map(one => one.className.trim())")
    assert classes == ["doubtful", "dubious", "doubtful", "end"]
    tab.get_by_role("button", name="Pieces").click()
    expect(legend).to_contain_text("The model's probability of a word:")


def test_without_scripts_a_file_shows_tables(browser, write):
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(write(TWO))
    expect(tab.locator("table")).to_have_count(2)
    cells = tab.locator("table").first.locator("td")
    expect(cells).to_have_text(["75%", "25%", "", "10%", "80%", "10%", "", "", "100%"])
    context.close()
