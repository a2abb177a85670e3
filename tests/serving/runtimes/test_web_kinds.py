"""Captions and answers to questions in JavaScript are those of Python, from the same files."""

import random

import numpy as np
import pytest

from kerasnmt import zoo
from kerasnmt.data import builtin_scenes
from kerasnmt.png import png_of
from kerasnmt.runtime import load
from kerasnmt.runtime.images import decoded_images
from kerasnmt.serving import export_onnx
from kerasnmt.serving.runtimes.web.export import write_scripts
from kerasnmt.serving.server.task_page_models import SearchPageModel, StoryPageModel
from kerasnmt.tasks import Translator, task_of
from tests.serving.runtimes.onnx_models import CAPTION_OPTIONS, FILES, IMAGES, odd_stories
from tests.serving.runtimes.test_web_search import assert_alike

pytestmark = pytest.mark.usefixtures("eagerly")

LOAD = 'import { load } from "./kerasnmt.js"; import { explorerOf } from "./explorer.js";'
LISTS = "JSON.parse(JSON.stringify(found, (_, one) => (ArrayBuffer.isView(one) ? [...one] : one)))"


@pytest.fixture(scope="module")
def folder(onnxruntime_web, tmp_path_factory):
    """The JavaScript, beside the npm package onnxruntime-web."""
    folder = tmp_path_factory.mktemp("javascript")
    write_scripts(folder)
    (folder / "node_modules").symlink_to(onnxruntime_web)
    return folder


def pixels(image):
    height, width, _ = image.shape
    return {"data": image.ravel().tolist(), "width": width, "height": height}


def check_answers(found, expected):
    assert [one["text"] for one in found] == [text for text, _ in expected]
    scores = [one["score"] for one in found], [score for _, score in expected]
    np.testing.assert_allclose(*scores, rtol=1e-5, atol=1e-4)


def test_images_are_equal(folder, in_node):
    program = """import { fitted } from "./images.js";
    answer = data.map((image) => [1, 3].map((channels) => [...fitted(image, 6, 7, channels)]))"""
    found = in_node(folder, program, [pixels(image) for image in IMAGES])
    for channels, place in ((1, 0), (3, 1)):
        expected, _ = decoded_images(FILES, 6, 7, channels)
        numbers = np.reshape([one[place] for one in found], expected.shape)
        np.testing.assert_allclose(numbers, expected, atol=1e-3)


def test_captions(captions, folder, in_node):
    """All captions, samples, attention weights, and what the page asks about a caption."""
    model, export = captions
    program = f"""{LOAD}
    const {{ images, export: folder, ids }} = data;
    const [model, sampling] = [await load(folder), await load(folder, {{ samples: 4, seed: 3 }})];
    const found = [await model.best(images), await model.nBest(images, {{ batchSize: 2 }})];
    found.push(await sampling.nBest([images[0], images[3]]));
    found.push(await model.attention(images), await model.caption(images[1]));
    model.readRequest = () => model.read(images[1]);
    const explorer = explorerOf(model);
    found.push(explorer.model.page, await explorer.ask("search", {{ image: "" }}));
    found.push(await explorer.ask("words", {{ image: "", prefix_ids: ids }}));
    found.push(await explorer.ask("inspect", {{ image: "", target: "a b" }}));
    answer = {LISTS}"""
    ids = model.target_tokenizer.tokenize(["c"]).to_list()[0]
    data = {"images": [pixels(image) for image in IMAGES], "export": export, "ids": ids}
    best, ranked, samples, attended, caption, about, *documents = in_node(folder, program, data)
    task = task_of(model, **CAPTION_OPTIONS)
    check_answers(best, Translator(task).ask({"image": FILES}))
    assert caption == best[1]["text"] and len({one["text"] for one in best}) > 1
    outputs = task.signatures["attention"](image=FILES)
    for row, one in enumerate(attended):
        tokens = [token.decode() for token in outputs["target_tokens"][row].numpy() if token]
        assert one["targetTokens"] == tokens
        assert one["sourceTokens"] == ["1,1", "1,2", "2,1", "2,2"]
        weights = outputs["weights"][row, : len(tokens)]
        np.testing.assert_allclose(one["weights"], weights, atol=1e-4)
    python = SearchPageModel(task)
    request = {"image": FILES[1]}
    assert about == python.describe()
    expected = [python.search(request, []), python.words(request, ids)]
    expected.append(python.inspect(request, python.encode(request, "a b")))
    for found, document in zip(documents, expected, strict=True):
        assert found.pop("seconds") > 0
        assert_alike(found, document)
    # Samples depend on each bit of the pixels, and those of a stretched image differ by rounding.
    images, _ = decoded_images([FILES[0], FILES[3]], 8, 8, 3)
    options = {**CAPTION_OPTIONS, "samples": 4, "seed": 3}
    drawn = model.search({"images": images}, n_best=4, **options)
    for row, found in enumerate(samples):
        ids, scores = drawn.ids[row], drawn.scores[row].numpy()
        texts = [text.decode() for text in model.target_tokenizer.detokenize(ids).numpy()]
        expected = [pair for pair in zip(texts, scores, strict=True) if pair[1] > -1e8]
        check_answers(found, expected)
        assert len(expected) > 1
    for row, found in enumerate(ranked):
        assert found[0] == best[row] and len(found) == 3


def test_answers(answers, folder, in_node):
    """Answers, their weights, and what the page shows."""
    model, export = answers
    columns = odd_stories()
    texts = {
        name: [one if isinstance(one, str) else one.decode("utf-8", "replace") for one in column]
        for name, column in columns.items()
    }
    program = f"""{LOAD}
    const {{ story, question, export: folder }} = data;
    const model = await load(folder);
    const stories = story.map((one) => one.split("\\n"));
    const found = [await model.best(stories, question, {{ batchSize: 5 }})];
    found.push(await model.answer(stories[0], question[0]), await model.answer([], []));
    const explorer = explorerOf(model);
    found.push(explorer.model.page);
    for (const [row, one] of story.entries())
      found.push(await explorer.ask("search", {{ story: one, question: question[row] }}));
    answer = {LISTS}"""
    found = in_node(folder, program, {**texts, "export": export})
    best, first, none, about, *documents = found
    check_answers(best, load(export).ask(texts))
    assert (first, none) == (best[0]["text"], [])
    python = StoryPageModel(task_of(model))
    assert {**about, "grid": None} == python.describe()
    for row, document in enumerate(documents):
        assert document.pop("seconds") > 0
        request = {name: column[row] for name, column in texts.items()}
        assert_alike(document, python.search(request, []))
    assert None in [document["sentence"] for document in documents]


def test_what_is_refused(captions, answers, folder, in_node):
    program = f"""{LOAD}
    const message = (error) => error.message;
    const [captions, answers] = [await load(data[0]), await load(data[1])];
    answer = [
      await load(data[1], {{ beam_size: 2 }}).catch(message),
      await captions.caption("a.png").catch(message),
      await captions.caption({{ data: [1, 2], width: 3, height: 1 }}).catch(message),
      await captions.caption(new Blob([])).catch(message),
      await captions.caption([{{ data: [1], width: 1, height: 1 }}, null]).catch(message),
      await answers.answer("a story", "Where?").catch(message),
      await answers.answer([["a"]], ["Where?", "Who?"]).catch(message),
      await answers.answer(["a"], "Where?", {{ beam_size: 2 }}).catch(message),
    ]"""
    assert in_node(folder, program, [captions[1], answers[1]]) == [
        "Expected no options of the search, because memory_network does not search. Received: "
        "beam_size",
        'Expected an image, or a list of images as images. Received: "a.png".',
        "Expected an image as {data, width, height} with 1, 3 or 4 bytes for each pixel. Received: "
        "2 bytes, width=3, height=1.",
        "Expected an image as {data, width, height}, because there is no browser to decode it. "
        "Received: Blob.",
        'Expected a list of images as images. Received: [{"data":[1],"width":1,"height":1},null].',
        "Expected a list of sentences, or a list of lists of sentences as stories. Received: "
        '"a story".',
        "Expected as many stories as questions. Received: 2 questions, 1 stories.",
        "Expected an option of this method. Received: beam_size. Pass options of the search to "
        "load.",
    ]


def random_stories(count):
    """Draw stories of 1 to 60 sentences about people and places, each with a question."""
    draw = random.Random(7)
    people, places = ["Mary", "John", "Sandra", "Daniel"], ["kitchen", "garden", "office"]
    verbs = ["went to", "moved to", "travelled to", "left", "took the milk in"]
    rows = []
    for _ in range(count):
        story = [
            f"{draw.choice(people)} {draw.choice(verbs)} the {draw.choice(places)}."
            for _ in range(draw.randint(1, 60))
        ]
        rows.append(["\n".join(story), f"Where is {draw.choice([*people, 'the milk'])}?"])
    return rows


@pytest.mark.thorough("trained models, by the same code")
@pytest.mark.parametrize("weights", ["float32", "int8"])
@pytest.mark.parametrize("preset", ["scenes_en", "babi_memory"])
def test_trained_models(preset, weights, folder, in_node, tmp_path):
    """200 requests to TensorFlow, ONNX Runtime in Python and in Node have the same answers."""
    model = zoo.from_preset(preset)
    export = export_onnx(model, tmp_path / "onnx", weights=weights)
    if preset == "scenes_en":
        images = [scene.image for scene in builtin_scenes(200, "test")]
        request = {"image": [png_of(image) for image in images]}
        call, data = "model.best(data.rows)", [pixels(image) for image in images]
    else:
        rows = random_stories(200)
        request = {"story": [story for story, _ in rows], "question": [one for _, one in rows]}
        call = (
            "model.best(data.rows.map(([one]) => one.split('\\n')), data.rows.map((one) => one[1]))"
        )
        data = rows
    program = f"{LOAD} const model = await load(data.export); answer = await {call};"
    python = load(export).ask(request)
    check_answers(in_node(folder, program, {"export": export, "rows": data}), python)
    expected = Translator(task_of(model)).ask(request)
    if weights == "float32":
        check_answers([{"text": text, "score": score} for text, score in python], expected)
    else:
        same = [one[0] == other[0] for one, other in zip(python, expected, strict=True)]
        assert np.mean(same) > 0.98
