import json
import re
import struct
from pathlib import Path

import numpy as np
import pytest

from kerasnmt import viz

TEXT = "Anna sees two dogs ."
RECIPE = """\
model: {name: pointer_generator_gru, units: 5, embedding_dim: 6}
tokenizer: {shared: {kind: words, vocabulary_size: 9}}
data: {train: {builtin: 60}, validation: {builtin: 4}}
search: {beam_size: 2, max_length: 8}
"""


@pytest.mark.thorough("traces a run and an export; pictures and pages of others are drawn eagerly")
def test_the_picture(kerasnmt, run_folder, export_folder, translator, tmp_path):
    (translation,) = translator.translate([TEXT])
    pictures = [tmp_path / "new" / "run.png", tmp_path / "new" / "export.png"]
    for folder, picture in zip((run_folder, export_folder), pictures, strict=True):
        done = kerasnmt("attention", folder, TEXT, "--output", picture)
        assert done == (0, f"{translation}\n{picture}\n", "")
    one, other = (picture.read_bytes() for picture in pictures)
    assert one == other and len(one) > 5000
    assert one.startswith(b"\x89PNG\r\n\x1a\n")
    # A row for each word of the translation, a column for each of the source, and their ends.
    (attended,) = translator.attention([TEXT])
    width, height = struct.unpack(">II", one[16:24])
    assert width > 150 * 0.26 * (len(TEXT.split()) + 1)
    assert height > 150 * 0.26 * (len(translation.split()) + 1)
    # On request, for each token.
    done = kerasnmt("attention", run_folder, TEXT, "--pieces", "--output", pictures[0])
    assert done.code == 0
    width, height = struct.unpack(">II", pictures[0].read_bytes()[16:24])
    assert min(len(attended.target_tokens), len(attended.source_tokens)) > 10
    assert width > 150 * 0.26 * len(attended.source_tokens)
    assert height > 150 * 0.26 * len(attended.target_tokens)

    vectors = tmp_path / "figure.SVG"
    assert kerasnmt("attention", export_folder, TEXT, "--output", vectors).code == 0
    assert "<svg" in vectors.read_text()


@pytest.fixture(scope="module")
def pointer_run(tmp_path_factory):
    """A run of a model that copies, with large random weights, and its model."""
    from kerasnmt.text import WordTokenizer
    from kerasnmt.training import RunFolder
    from kerasnmt.zoo import pointer_generator_gru

    tokenizer = WordTokenizer(["sees", "two", "dogs", "sieht", "zwei"])  # ids 4 to 8
    model = pointer_generator_gru(tokenizer, embedding_dim=6, units=5)
    rng = np.random.default_rng(1)
    model.set_weights([1.3 * rng.normal(size=weight.shape) for weight in model.get_weights()])
    run = RunFolder(tmp_path_factory.mktemp("pointer") / "run")
    run.path.mkdir()
    run.recipe.write_text(RECIPE)
    model.save(run.model)
    return run.path, model


@pytest.mark.usefixtures("eagerly")
@pytest.mark.parametrize("target", [None, "Zoë sieht Hunde dogs"])
def test_generate_probability_is_drawn(kerasnmt, pointer_run, tmp_path, monkeypatch, target):
    drawn = []

    def attention_figure(weights, source_tokens, target_tokens, *further, **named):
        drawn.append((weights, source_tokens, target_tokens, named["generate_probability"]))
        return draw(weights, source_tokens, target_tokens, *further, **named)

    draw = viz.attention_figure
    monkeypatch.setattr(viz, "attention_figure", attention_figure)
    run, model = pointer_run
    options = [] if target is None else ["--target", target]
    picture = tmp_path / "picture.png"
    done = kerasnmt("attention", run, "Zoë sees two dogs", *options, "--output", picture)
    assert (done.code, done.lines[1:]) == (0, [str(picture)])
    assert picture.read_bytes().startswith(b"\x89PNG")
    ((weights, source_tokens, target_tokens, probability),) = drawn
    assert source_tokens == ["Zoë", "sees", "two", "dogs", "</s>"]
    if target is None:
        target_ids = [2]
        target = " ".join(target_tokens).removesuffix(" </s>")
        assert target
    else:
        target_ids = [2, 1, 7, 1, 6]
        assert target_tokens == ["Zoë", "sieht", "<unk>", "dogs", "</s>"]
    assert done.lines[0] == target
    records = model.attend(
        {"source_ids": np.array([[1, 4, 5, 6, 3]]), "target_ids": np.array([target_ids])}
    )
    known = slice(len(target_ids))
    np.testing.assert_allclose(weights[known], records["weights"][0], atol=1e-5)
    np.testing.assert_allclose(probability[known], records["generate_probability"][0], atol=1e-5)
    assert len(probability) == len(target_tokens)


def sentences_of(page):
    """Return the data in a page."""
    text = page.read_text("utf-8")
    return json.loads(re.search(r'id="sentences">(.*?)</script>', text, re.DOTALL)[1])


@pytest.mark.thorough("another page is made eagerly, of a given translation")
@pytest.mark.usefixtures("eagerly")
def test_page_of_several_sentences(kerasnmt, run_folder, export_folder, translator, tmp_path):
    texts = [TEXT, "two dogs ."]
    pages = [tmp_path / "new" / "run.html", tmp_path / "new" / "export.html"]
    translations = translator.translate(texts)
    for folder, page in zip((run_folder, export_folder), pages, strict=True):
        done = kerasnmt("attention", folder, *texts, "--output", page)
        assert done == (0, "\n".join([*translations, str(page), ""]), "")
    of_run, of_export = map(sentences_of, pages)
    for one, other, attended in zip(of_run, of_export, translator.attention(texts), strict=True):
        for sentence in (one, other):
            assert sentence["target"]["tokens"] == attended.target_tokens
            (source,) = sentence["sources"]
            assert source["tokens"] == attended.source_tokens
            assert [side["kind"] for side in (source, sentence["target"])] == [*attended.kinds]
            np.testing.assert_allclose(source["weights"], attended.weights, atol=2e-4)
        assert "choices" in one["target"] and "choices" not in other["target"]


@pytest.mark.usefixtures("eagerly")
def test_page_of_a_given_translation(kerasnmt, pointer_run, tmp_path, monkeypatch):
    run, model = pointer_run
    page = tmp_path / "page.html"
    texts = ("Zoë sees two dogs", "--target", "Zoë sieht dogs", "--output", page)
    assert kerasnmt("attention", run, *texts) == (0, f"Zoë sieht dogs\n{page}\n", "")
    (sentence,) = sentences_of(page)
    assert sentence["target"]["tokens"] == ["Zoë", "sieht", "dogs", "</s>"]
    assert sentence["sources"][0]["copied"][0] == 1  # no vocabulary holds this name
    (score,) = model.score(["Zoë sees two dogs"], ["Zoë sieht dogs"])
    assert sum(sentence["target"]["log_probability"]) == pytest.approx(score, abs=1e-3)

    def on_a_full_disk(path, text, **_):
        path.write_bytes(text[:9].encode())
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", on_a_full_disk)
    refused = (2, "", f"error: {page}: No space left on device\n")
    assert kerasnmt("attention", run, *texts) == refused
    assert sentences_of(page) == [sentence]  # the old page


@pytest.mark.usefixtures("eagerly")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a", "b", "--output", "x.png"], "one text for a picture, or --output FILE.html"),
        (["a", "b", "--target", "c", "--output", "x.html"], "Expected a text and a translation"),
        (["a", "--pieces", "--output", "x.html"], "Expected no --pieces for a page"),
        (["a", " ", "--output", "x.html"], "Expected texts with at least one token"),
    ],
)
def test_wrong_pages(kerasnmt, pointer_run, tmp_path, arguments, message):
    arguments[-1] = tmp_path / arguments[-1]
    done = kerasnmt("attention", pointer_run[0], *arguments)
    assert (done.code, done.out) == (2, "") and message in done.err
    assert done.err.count("\n") == 1 and not any(tmp_path.iterdir())


@pytest.mark.thorough("the text of a picture is cut too")
@pytest.mark.usefixtures("eagerly")
def test_long_texts_of_a_page_are_cut_with_a_warning(kerasnmt, run_folder, tmp_path):
    page = tmp_path / "page.html"
    done = kerasnmt("attention", run_folder, TEXT, "dogs " * 40, "--output", page)
    assert done.code == 0
    assert done.err.startswith("warning: text 2 has ") and done.err.count("\n") == 1


def test_a_long_text_is_cut_with_one_warning(kerasnmt, export_folder, tmp_path):
    done = kerasnmt("attention", export_folder, "dogs " * 40, "--output", tmp_path / "figure.png")
    assert done.code == 0
    assert done.err.startswith("warning: text 1 has ") and done.err.count("\n") == 1


@pytest.mark.parametrize("text", ["", " "])
def test_nothing_to_draw(kerasnmt, export_folder, tmp_path, text):
    done = kerasnmt("attention", export_folder, text, "--output", tmp_path / "figure.png")
    line = f"error: Expected a text with at least one token. Received: text={text!r}\n"
    assert done == (2, "", line)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["figure", "figure.xyz", "figure.", ".png"])
def test_unknown_format(kerasnmt, export_folder, tmp_path, name):
    picture = tmp_path / "new" / name
    done = kerasnmt("attention", export_folder, TEXT, "--output", picture)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: Expected an extension of a picture, one of ")
    assert "pdf, " in done.err and " png, " in done.err
    assert done.err.endswith(f"Received: --output {picture}\n") and done.err.count("\n") == 1
    assert not any(tmp_path.iterdir())


def test_a_place_that_cannot_be_written(kerasnmt, export_folder, tmp_path):
    (tmp_path / "file").touch()
    for picture, problem in (
        (tmp_path / "file" / "figure.png", "file: File exists"),
        (tmp_path / "folder.png", "folder.png, a folder. Add a file name."),
    ):
        (tmp_path / "folder.png").mkdir(exist_ok=True)
        done = kerasnmt("attention", export_folder, TEXT, "--output", picture)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("error: ") and done.err.endswith(f"/{problem}\n")
        assert done.err.count("\n") == 1
