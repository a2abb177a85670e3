from types import SimpleNamespace

import pytest
from tensorboard.plugin_util import markdown_to_safe_html

from kerasnmt.text import CharacterTokenizer, SentencePieceTokenizer, WordTokenizer
from kerasnmt.training import SampleTranslations
from kerasnmt.zoo import encoder_decoder_gru


def written(events, folder, callback, model, epochs):
    callback.set_model(model)
    callback.on_train_begin()
    for epoch in epochs:
        callback.on_epoch_end(epoch)
    callback.on_train_end()
    return {
        step: value.decode("utf-8")
        for step, value in events(folder / "translations")["translations"]
    }


def translating(answer):
    """Return a model with this answer, and the options of its calls."""
    asked = []

    def translate(texts, **options):
        asked.append((texts, options))
        return [answer(text) for text in texts]

    return SimpleNamespace(translate=translate), asked


def test_a_table_of_each_epoch(events, tmp_path):
    model, asked = translating(str.upper)
    callback = SampleTranslations(tmp_path, ["a b", "c"], ["x", "y z"], every=2, max_length=30)
    tables = written(events, tmp_path, callback, model, range(4, 8))
    table = "| source | reference | translation |\n| --- | --- | --- |\n"
    table += "| a b | x | A B |\n| c | y z | C |"
    assert tables == {5: table, 7: table}
    assert asked == [(["a b", "c"], {"beam_size": 1, "max_length": 30})] * 2


def cells(markdown):
    """Return the texts of the cells in TensorBoard, as a browser shows them."""
    from html.parser import HTMLParser

    found = []

    class Parser(HTMLParser):
        def handle_starttag(self, tag, attributes):
            assert tag in {"table", "thead", "tbody", "tr", "th", "td"}, tag
            if tag == "td":
                found.append("")

        def handle_data(self, data):
            if found and data.strip():
                found[-1] += data

    Parser().feed(markdown_to_safe_html(markdown))
    return found


@pytest.mark.parametrize(
    "text",
    [
        "a | b || c",
        "<script>alert(1)</script> <b>x</b> &amp; &lt; &#124;",
        "*a* **b** _c_ __d__ `e` ~~f~~ ![i](http://x/y.png) [l](http://x) <http://x>",
        r"back\slash \| \* C:\new",
        "# 1. - + > : $x$ {a} http://example.org a@b.c",
        "das Mädchen „schläft“ 你好 🙂 ⁇",
        "",
    ],
)
def test_text_is_shown_as_it_is(events, tmp_path, text):
    model, _ = translating(lambda text: text)
    callback = SampleTranslations(tmp_path, [text, "next"], [text, "row"])
    table = written(events, tmp_path, callback, model, [0])[0]
    assert cells(table) == [text, text, text, "next", "row", "next"]


def test_lines_and_controls_become_spaces(events, tmp_path):
    model, _ = translating(lambda text: text)
    text = " a\nb\r\n\tc\u2028d\x00\x02\x03e "
    callback = SampleTranslations(tmp_path, [text], ["| x |"])
    table = written(events, tmp_path, callback, model, [0])[0]
    assert cells(table) == ["a b c d e", "| x |", "a b c d e"]
    assert len(table.split("\n")) == 3


@pytest.mark.parametrize(
    "kind",
    [
        SentencePieceTokenizer,
        pytest.param(WordTokenizer, marks=pytest.mark.thorough("translates with other tokens")),
        pytest.param(
            CharacterTokenizer, marks=pytest.mark.thorough("translates with other tokens")
        ),
    ],
)
def test_models_of_any_tokenizer(events, tmp_path, kind):
    pairs = [("two dogs run", "zwei hunde laufen"), ("dogs run", "hunde laufen")]
    tokenizer = kind.train(pairs, 22 if kind is SentencePieceTokenizer else 10)
    model = encoder_decoder_gru(tokenizer, units=4, embedding_dim=3)
    callback = SampleTranslations(tmp_path, ["two dogs run"], ["zwei"], max_length=20)
    table = written(events, tmp_path, callback, model, [0])[0]
    (translation,) = model.translate(["two dogs run"], beam_size=1, max_length=20)
    assert cells(table) == ["two dogs run", "zwei", " ".join(translation.split())]


@pytest.mark.parametrize(("sources", "references"), [([], []), (["a"], []), (["a"], ["b", "c"])])
def test_a_reference_for_each_source(tmp_path, sources, references):
    with pytest.raises(ValueError, match="Expected a reference for each source"):
        SampleTranslations(tmp_path, sources, references)
    with pytest.raises(ValueError, match=r"Expected every to be at least 1\. Received: every=0\."):
        SampleTranslations(tmp_path, ["a"], ["b"], every=0)
