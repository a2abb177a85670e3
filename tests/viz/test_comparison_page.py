import pytest

from kerasnmt.viz import ComparedSentence, comparison_page

HISTORIES = {"one": [{"seconds": 60, "val_loss": 2.0}], "two": []}
TABLE = [["run", "BLEU"], ["one", "1.0"], ["two", "–"]]


def test_texts_stand_on_the_page_in_their_direction():
    sentence = ComparedSentence("a < b", ["مرحبا & كلب"], ["犬", '"</td>"'], [50.0, 12.345])
    page = comparison_page(TABLE, HISTORIES, [sentence], note="on 1 sentence", title="<runs>")
    for text in (
        "<title>&lt;runs&gt;</title>",
        "<th dir=auto>BLEU</th>",
        "<p>on 1 sentence</p>",
        '<p class="source" dir=auto>a &lt; b</p>',
        "<td dir=auto>مرحبا &amp; كلب</td>",
        '<td dir=auto>&quot;&lt;/td&gt;&quot;</td><td class="score">12.3</td>',
    ):
        assert text in page
    assert page.count("<svg") == 1 and "<?xml" not in page and "<script" not in page
    assert "differ" not in comparison_page(TABLE, HISTORIES, [])


def test_a_sentence_needs_a_translation_of_each_run():
    with pytest.raises(ValueError, match=r"each of 2 runs\. Received: 1 and 2"):
        comparison_page(TABLE, HISTORIES, [ComparedSentence("a", [], ["b"], [1.0, 2.0])])
