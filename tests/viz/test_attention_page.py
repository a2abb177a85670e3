import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from kerasnmt.tasks import SentenceAttention
from kerasnmt.viz import attention_page, attention_table

WEIGHTS = np.array([[0.7, 0.3, 0.0], [0.004, 0.25, 0.746]], "float32")
ATTENDED = SentenceAttention(["<b>", "two", "</s>"], ["&amp;", "</s>"], WEIGHTS)


class Cells(HTMLParser):
    """Reader of the cells of a table, and of all tags."""

    def __init__(self, page):
        super().__init__()
        self.rows, self.tags, self.scripts = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("th", "td"):
            self.rows[-1].append(("", dict(attributes).get("style", "")))

    def handle_data(self, data):
        if self.tags and self.tags[-1] in ("th", "td") and self.rows:
            text, style = self.rows[-1][-1]
            self.rows[-1][-1] = (text + data, style)
        elif self.tags and self.tags[-1] == "script":
            self.scripts.append(data)


def test_table_has_the_weights_in_percent():
    (head, *rows) = Cells(attention_table(ATTENDED.document())).rows
    assert [text for text, _ in head] == ["", "<b>", "two", "</s>"]
    assert [[text for text, _ in row] for row in rows] == [
        ["&amp;", "70%", "30%", ""],
        ["</s>", "", "25%", "75%"],
    ]
    styles = [style for row in rows for _, style in row[1:]]
    assert styles[0] == "background:#628fd2;color:#fff"  # 255 + 0.7 (31 - 255) = 98 = 0x62
    assert styles[2].startswith("background:#ffffff;color:#111")


def test_table_of_a_source_from_right_to_left():
    attended = SentenceAttention(["שלום", "</s>"], ["hello"], np.array([[0.75, 0.25]], "float32"))
    assert attention_table(attended.document()).startswith("<table dir=rtl>")


def test_page_contains_its_sentences_and_loads_nothing():
    page = attention_page([ATTENDED, ATTENDED], title="A < B")
    read = Cells(page)
    (data,) = (script for script in read.scripts if script.startswith("["))
    first, second = json.loads(data)
    assert first == second == json.loads(json.dumps(ATTENDED.document()))
    assert first["sources"][0]["weights"] == [[0.7, 0.3, 0.0], [0.004, 0.25, 0.746]]
    assert "<title>A &lt; B</title>" in page and read.tags.count("table") == 2
    assert not {"link", "img", "iframe"} & {*read.tags}
    assert not re.search(r"<script[^>]* src=", page)
    assert "default-src 'none'" in page


def test_text_cannot_end_the_script():
    hostile = "</script><script>alert(1)</script>"
    page = attention_page([ATTENDED._replace(source_tokens=[hostile, "two", "</s>"])])
    assert Cells(page).tags.count("script") == 2
    assert "<script>alert" not in page


def test_kinds_tell_the_words():
    pieces = SentenceAttention(["▁two", "▁dog", "s", "</s>"], ["▁x", "</s>"], np.ones((2, 4)) / 4)
    (source,) = pieces._replace(kinds=("sentencepiece", None)).document()["sources"]
    assert (source["kind"], source["words"]) == ("sentencepiece", [0, 1, 1, 2])
    assert "words" not in pieces.document()["sources"][0]


def test_context_and_gate():
    attended = ATTENDED._replace(
        generate_probability=np.array([0.25, 1.0], "float32"),
        context_tokens=["dogs"],
        context_weights=np.array([[1.0], [1.0]], "float32"),
    )
    document = attended.document()
    assert [side["tokens"] for side in document["sources"]] == [ATTENDED.source_tokens, ["dogs"]]
    assert document["target"]["generate_probability"] == [0.25, 1.0]
    (head, *_) = Cells(attention_table(document)).rows
    assert [text for text, _ in head] == ["", "<b>", "two", "</s>", "dogs"]


def test_table_is_what_a_notebook_shows():
    assert ATTENDED._repr_html_() == attention_table(ATTENDED.document())
    assert SentenceAttention(["</s>"], [], np.zeros((0, 1)))._repr_html_() is None


def test_nothing_to_show():
    with pytest.raises(ValueError, match="at least one sentence"):
        attention_page([])
    empty = SentenceAttention(["</s>"], [], np.zeros((0, 1)))
    with pytest.raises(ValueError, match=r"none in sentences\[1\]"):
        attention_page([ATTENDED, empty])
