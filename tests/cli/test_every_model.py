"""Every model of the zoo is trained, exported, checked and served, and answers requests."""

import re

import numpy as np
import pytest

from kerasnmt import zoo
from kerasnmt.data import builtin_scenes, caption_batches, story_batches
from kerasnmt.serving.contract.caption_contract import encode_png
from kerasnmt.text import PlainWordTokenizer, WordTokenizer
from tests.cli.conftest import write
from tests.conftest import PATIENCE
from tests.zoo.tiny_models import sizes

TEXTS = ["ann sees a dog", "", "bob sees zoe", "a dog sleeps"]
TARGETS = ["ann sieht den hund", "bob sieht zoe", "der hund schläft", "zoe schläft"]
SOURCES = ["ann sees a dog", "bob sees zoe", "a dog sleeps", "zoe sleeps"]
RECIPE = """\
tokenizer: {shared: {kind: words}}
data:
  train: {source: source, target: target}
  validation: {source: source, target: target}
training: {epochs: 1, learning_rate: 0.02}
search: {beam_size: 2, max_length: 6}
"""
STORIES = [["ann went home", "bob went out"], ["zoe slept"], ["ann slept", "bob slept"]]
QUESTIONS = ["where is ann", "where is zoe", "where is bob"]

pytestmark = [
    pytest.mark.usefixtures("eagerly"),
    pytest.mark.long("exports and serves a model of every kind"),
    pytest.mark.thorough("starts two processes; the tests of each verb do so with a translator"),
]


@pytest.fixture
def trained(kerasnmt, tmp_path):
    """Train a model; return its run, and the options for its requests."""

    def translation(name):
        recipe = RECIPE
        asked = ["--input", write(tmp_path / "texts", TEXTS), "--scores"]
        if name.startswith("context"):
            recipe = recipe.replace("target: target}", "target: target, context: target}")
            asked += ["--context", write(tmp_path / "contexts", reversed(TARGETS))]
        write(tmp_path / "source", SOURCES)
        write(tmp_path / "target", TARGETS)
        options = {"name": name, **sizes(name)}
        (tmp_path / "recipe.yaml").write_text(f"model: {options}\n{recipe}", encoding="utf-8")
        done = kerasnmt("train", tmp_path / "recipe.yaml", "--output", tmp_path / "run")
        assert done.code == 0, done.err
        return asked

    def captions(name):
        scenes = [(one.image, one.captions["en"].text) for one in builtin_scenes(4)]
        tokenizer = WordTokenizer.train([caption for _, caption in scenes])
        model = zoo.get_model(name)(tokenizer, image_size=64, filters=(2,), units=3)
        files = [tmp_path / "a.png", tmp_path / "b.png", tmp_path / "c.png"]
        files[0].write_bytes(encode_png(64, 64, (200, 10, 0)))
        files[1].write_bytes(b"no image")
        files[2].write_bytes(encode_png(10, 20, (0, 0, 90)))
        return fit(model, caption_batches(scenes, tokenizer), ["--image", *files, "--scores"])

    def stories(name):
        questions = list(zip(STORIES, QUESTIONS, ["home", "home", "out"], strict=True))
        tokenizer = PlainWordTokenizer(["ann", "bob", "zoe", "home", "out", "went", "slept"])
        model = zoo.get_model(name)(tokenizer, embedding_dim=4)
        lines = "\n\n".join("\n".join(story) for story in STORIES).split("\n")
        asked = ["--story", write(tmp_path / "stories", lines)]
        asked += ["--question", write(tmp_path / "questions", QUESTIONS), "--scores"]
        return fit(model, story_batches(questions, tokenizer), asked)

    def fit(model, batches, asked):
        model.compile("adam")
        assert np.isfinite(model.fit(batches, verbose=0).history["loss"]).all()
        (tmp_path / "run").mkdir()
        model.save(tmp_path / "run" / "model.keras")
        return asked

    kinds = {"memory_network": stories, "show_attend_tell_lstm": captions}
    return lambda name: (tmp_path / "run", kinds.get(name, translation)(name))


@pytest.mark.parametrize("name", zoo.list_models())
def test_from_training_to_a_server(name, trained, kerasnmt, serve, tmp_path):
    run, asked = trained(name)
    answers = kerasnmt("translate", run, *asked)
    assert (answers.code, answers.err) == (0, "")
    rows = [line.split("\t") for line in answers.lines]
    assert len(rows) == {"memory_network": 3, "show_attend_tell_lstm": 3}.get(name, 4)
    scores = [float(score) for _, score in rows]
    # Empty texts and invalid images have an empty answer.
    assert [score < 0 for score in scores] == [
        not (place == 1 and name != "memory_network") for place in range(len(rows))
    ]

    exported = kerasnmt("export", run, tmp_path / "served" / "tiny")
    assert (exported.code, exported.lines) == (0, [str(tmp_path / "served" / "tiny" / "1")])
    checked = kerasnmt("check", *exported.lines)
    assert checked.code == 0, checked.out
    (signatures,) = re.findall(r"^\S+ +signatures +(.*)$", checked.out, re.MULTILINE)
    attends = not name.startswith(("encoder_decoder", "memory"))
    assert ("attention" in signatures) == attends
    _, served, url = serve(tmp_path / "served" / "tiny", "--port", 0)
    server = ("--server", url, "--model", served, "--timeout", PATIENCE)
    for where in (exported.lines, server):
        again = kerasnmt("translate", *where, *asked)
        assert again.err == ""
        found = [line.split("\t") for line in again.lines]
        assert [text for text, _ in found] == [text for text, _ in rows]
        assert [float(score) for _, score in found] == pytest.approx(scores, abs=1e-4)
