"""The page of a model in Chromium, from `kerasnmt serve` and from a site of static files."""

import base64
import functools
import io
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlencode, urlsplit
from xml.etree import ElementTree

import numpy as np
import pytest
from werkzeug.exceptions import NotFound
from werkzeug.middleware.shared_data import SharedDataMiddleware

from kerasnmt.calibration import Calibration
from kerasnmt.kinds import kind_of
from kerasnmt.serving import RestApp
from kerasnmt.serving.server.current_version import CurrentVersion
from kerasnmt.serving.server.page_app import PageApp
from kerasnmt.serving.server.page_models import ExportPageModel
from kerasnmt.serving.server.server_app import ServerApp
from kerasnmt.serving.server.task_session import TaskSession
from tests.conftest import wait_for_answer

pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
from playwright.sync_api import expect

ZARATHUSTRA = "the white dogs save the father of Zarathustra ."
KUTIMORIN = "has Kutimorin visited the soldier who is very angry ?"
SCRIPT = "<img src=x onerror=alert(1)>"
STATION = "Where is the train station?"
thorough = pytest.mark.thorough("a further part of the page; test_page_app.py has what it answers")


class Served(NamedTuple):
    url: str
    model: Any
    explorer: Any


@pytest.fixture(scope="module")
def server(start):
    """Serve a preset; return its URL, its model, and an explorer, or the task of stories."""
    from kerasnmt.cli.about_model import about_model
    from kerasnmt.tasks import Explorer, SearchTask, task_of
    from kerasnmt.zoo import from_preset

    @functools.cache
    def served(name):
        model = from_preset(name)
        task = task_of(model)
        page_model = kind_of(task.fields).page_model(task)
        page = PageApp(page_model, {"name": name, **about_model(name, page_model.fields, {})})
        rest = CurrentVersion(RestApp(TaskSession(task), name, 1))
        explorer = Explorer(task) if isinstance(task, SearchTask) else task
        return Served(start(ServerApp(rest, page=page)), model, explorer)

    return served


@pytest.fixture(scope="module")
def site(server, start, onnxruntime_web, tmp_path_factory):
    """The same as `server`, but the URL is that of static files, with the model in the browser."""
    from kerasnmt.serving import export_web

    @functools.cache
    def served(name):
        _, model, explorer = server(name)
        folder = tmp_path_factory.mktemp(name) / name
        dist = onnxruntime_web / "onnxruntime-web/dist"
        export_web(model, folder, weights="float32", ort=dist)
        files = SharedDataMiddleware(NotFound(), {"/": str(folder)})

        def app(environ, start_response):
            path = environ["PATH_INFO"]
            return files(
                {**environ, "PATH_INFO": path + "index.html" * (path == "/")}, start_response
            )

        return Served(start(app), model, explorer)

    return served


@pytest.fixture(
    params=["server", pytest.param("site", marks=pytest.mark.thorough("asks the same of a site"))]
)
def served(request):
    """Serve a preset of texts, on a server or as a site."""
    return request.getfixturevalue(request.param)


def visit(tab, url, **fields):
    """Open the page with a link to a request, and wait for the answer."""
    tab.goto(f"{url}/#{urlencode(fields)}")
    wait_for_answer(tab)


def panel(tab, title):
    return tab.locator("section").filter(has=tab.get_by_role("heading", name=title, exact=True))


def answer(tab):
    return " ".join(tab.locator(".words button:not(.end)").all_inner_texts())


def expect_answer(tab, text):
    expect(tab.locator(".words button:not(.end)")).to_have_text(text.split())


def assert_percents(texts, expected):
    """Assert that texts such as 52%, 2.5%, <0.1% or nothing are these probabilities."""
    for text, probability in zip(texts, expected, strict=True):
        number = float(text.strip("<%") or 0) / 100
        if text.startswith("<"):
            assert 0 < probability < number
        else:
            precision = 0.00056 if "." in text else 0.0056
            assert abs(number - probability) <= precision, (text, probability)


def assert_numbers(texts, expected):
    numbers = [float(text.replace("−", "-")) for text in texts]
    np.testing.assert_allclose(numbers, expected, atol=0.0051)


def drawing(tab):
    return panel(tab, "Alignment").locator("svg")


# The percents beside the words of a drawing, for each word that is focused.
NOTES = """svg => {
  const words = [...svg.querySelectorAll(".token")];
  return words.map((word) => {
    word.focus();
    return words.map((one) => one.nextSibling.textContent);
  });
}"""


def assert_drawn(tab, source, target, weights):
    """Assert that the drawing shows these weights of each word that is focused."""
    expect(drawing(tab).locator(".token")).to_have_text([*source, *target])
    shown = np.array(drawing(tab).evaluate(NOTES))
    size = len(source)
    assert_percents(shown[:size, size:].ravel(), weights.T.ravel())
    assert_percents(shown[size:, :size].ravel(), weights.ravel())
    assert not any(shown[:size, :size].ravel()) and not any(shown[size:, size:].ravel())


def named(tokens):
    return ["end" if token == "</s>" else token for token in tokens]


def test_typing_gives_the_translation_of_the_model(tab, served, eagerly):
    url, model, _ = served("demo_en_de")
    typed = "he saves Kutimorin ."
    (translation,) = model.translate([typed])
    visit(tab, url, text="he reads .")
    tab.get_by_label("Text").fill(typed)
    expect_answer(tab, translation)
    expect(tab.locator("#status")).to_have_text(re.compile(r"^answered in \d+ ms, \d+ ms of them"))
    expect(tab).to_have_title("demo_en_de · kerasnmt")


@pytest.mark.thorough("draws other weights than the page of an export")
def test_pointing_at_a_word_shows_its_weights(tab, served, eagerly):
    url, model, _ = served("demo_en_de")
    (attended,) = model.attention([ZARATHUSTRA])
    visit(tab, url, text=ZARATHUSTRA)
    source, target = named(attended.source_tokens), named(attended.target_tokens)
    assert_drawn(tab, source, target, attended.weights)
    tab.get_by_role("button", name="Heat map").click()
    assert_drawn(tab, source, target, attended.weights)
    # The words of the answer show theirs, too.
    place = attended.target_tokens.index("Zarathustra")
    words = (
        tab.locator(".words button").nth(place),
        drawing(tab).get_by_label("Zarathustra:").last,
    )
    for word in words:
        word.hover()
        notes = drawing(tab).locator(".token + text").all_text_contents()
        assert_percents(notes[: len(source)], attended.weights[place])


@pytest.mark.usefixtures("eagerly")
def test_a_click_on_a_word_shows_the_words_in_its_place_and_choosing_one_continues_it(tab, served):
    url, _, explorer = served("demo_en_de")
    request = {"text": "the white dogs run ."}
    found = explorer.search(request)
    choices = explorer.inspect(request, found.ids[0]).choices[1]
    visit(tab, url, **request)
    drawing(tab).get_by_role("button", name="weißen:").click()
    expect(tab.get_by_role("heading", name="In place of “weißen”")).to_be_visible()
    rows = panel(tab, "Answer").locator(".bars tr")
    expect(rows.locator("button")).to_have_text(named(choice.text for choice in choices))
    probabilities = np.exp([choice.log_probability for choice in choices])
    assert_percents(rows.locator(".number").all_inner_texts(), probabilities)
    second = choices[1]
    rows.locator("button").nth(1).click()
    chosen = explorer.search(request, [found.ids[0][0], *second.ids])
    expect_answer(tab, chosen.texts[0])
    assert answer(tab).startswith(f"die {second.text} ")
    tab.get_by_role("button", name="Back to the model's own answer").click()
    expect_answer(tab, found.texts[0])


@thorough
def test_a_translation_of_the_user_shows_its_score(tab, served, eagerly):
    url, model, explorer = served("demo_en_de")
    target = "die weiße Hunde retten den Vater"
    (score,) = model.score([ZARATHUSTRA], [target])
    visit(tab, url, text=ZARATHUSTRA)
    tab.get_by_text("Write a translation of your own").click()
    tab.get_by_label("Your translation").fill(target)
    expect_answer(tab, target)
    facts = panel(tab, "Answer").locator(".note").first
    expect(facts).to_contain_text("score of your text")
    (best,) = explorer.search({"text": ZARATHUSTRA}).scores[:1]
    ranked = score / ((5 + len(target.split()) + 1) / 6) ** 0.6
    found = re.fullmatch(
        "log-probability (.+) · score of your text (.+); the model's best has (.+)",
        facts.inner_text(),
    )
    assert_numbers(found.groups(), [score, ranked, best])


@thorough
def test_a_word_that_the_search_dropped_can_be_chosen(tab, served):
    url, _, explorer = served("demo_en_de")
    request = {"text": ZARATHUSTRA}
    dropped = next(node for node in explorer.search(request).tree if node.rank is None)
    assert dropped.step == 0
    visit(tab, url, **request)
    name = f"{dropped.token}, dropped by the search"
    panel(tab, "Search").get_by_role("button", name=name).first.click()
    expect(tab.get_by_role("heading", name="Best answers that begin with")).to_be_visible()
    expect_answer(tab, explorer.search(request, [dropped.id]).texts[0])


@thorough
def test_escape_closes_the_list_of_words(tab, served):
    visit(tab, served("demo_en_de").url, text=ZARATHUSTRA)
    word = tab.locator(".words button").first
    word.click()
    expect(tab.get_by_role("heading", name="In place of")).to_be_visible()
    expect(word).to_have_class(re.compile("chosen"))
    word.press("Escape")
    expect(tab.get_by_role("heading", name="In place of")).to_have_count(0)
    expect(word).to_be_focused()


@thorough
def test_a_text_that_is_too_long_is_said(tab, served):
    visit(tab, served("demo_en_de").url, text="a dog " * 80)
    expect(tab.locator("#status")).to_contain_text("tokens and was truncated to")


@thorough
def test_the_best_answers_and_what_the_model_thinks_of_the_second(tab, served, eagerly):
    from kerasnmt.serving import Translator

    url, _, explorer = served("demo_en_de")
    (ranked,) = Translator(explorer.task).n_best([ZARATHUSTRA])
    visit(tab, url, text=ZARATHUSTRA)
    rows = panel(tab, "Best answers").locator("tr")
    expect(rows.locator("button")).to_have_text([text for text, _ in ranked])
    assert_numbers(rows.locator("td:last-child").all_inner_texts(), [score for _, score in ranked])
    rows.nth(1).locator("button").click()
    expect_answer(tab, ranked[1][0])
    request = {"text": ZARATHUSTRA}
    second = explorer.inspect(request, explorer.search(request).ids[1])
    assert_drawn(
        tab, named(second.source_tokens), named(second.target_tokens), second.attention.weights
    )


@thorough
def test_the_tree_has_the_nodes_of_the_search(tab, served):
    url, _, explorer = served("demo_en_de")
    found = explorer.search({"text": ZARATHUSTRA})
    visit(tab, url, text=ZARATHUSTRA)
    words = panel(tab, "Search").locator("svg text")
    script = """words => words.map((word) => [
      word.firstChild.data, word.getAttribute("aria-label"), word.querySelector("title").textContent
    ])"""
    shown = words.evaluate_all(script)
    for node, (text, label, title) in zip(found.tree, shown, strict=True):
        (token,) = named([node.token])
        about = "dropped by the search" if node.rank is None else f"in answer {node.rank + 1}"
        assert (text, label) == (token, f"{token}, {about}")
        what, number = title.rsplit(maxsplit=1)
        assert what == f"{about}; log-probability up to here"
        assert_numbers([number], [node.log_probability])
    third = next(place for place, node in enumerate(found.tree) if node.rank == 2)
    words.nth(third).click()
    expect_answer(tab, found.texts[2])


@thorough
def test_copied_words_are_marked_and_say_so(tab, served):
    url, _, explorer = served("demo_en_de")
    visit(tab, url, text=ZARATHUSTRA)
    found = explorer.search({"text": ZARATHUSTRA})
    inspection = explorer.inspect({"text": ZARATHUSTRA}, found.ids[0])
    (copied,) = inspection.copied
    calibration = Calibration.of(inspection.calibration)
    for place, token in enumerate(inspection.target_tokens[:-1]):
        word = tab.locator(".words button").nth(place)
        name = re.fullmatch(
            r"(.*), probability ([\d.]+%), right with ([\d.]+%), "
            r"(copied from the source|generated) \(([\d.]+%)\)",
            word.get_attribute("aria-label"),
        )
        is_copied = copied[place] >= 0.5
        assert ("copied" in word.get_attribute("class").split()) == is_copied
        assert name[1] == token and name[4].startswith("copied") == is_copied
        probability = np.exp(inspection.log_probability[place])
        assert_percents([name[2], name[3]], [probability, calibration.of_words(probability)])
        assert_percents([name[5]], [copied[place] if is_copied else 1 - copied[place]])
    assert inspection.target_tokens[6] == "von" and copied[6] < 0.5
    assert inspection.target_tokens[7] == "Zarathustra" and copied[7] > 0.5


@pytest.mark.thorough("loads and traces a second preset")
def test_words_and_pieces(tab, served):
    url, _, explorer = served("tatoeba_en_fr_gru")
    request = {"text": STATION}
    found = explorer.search(request)
    attended = explorer.inspect(request, found.ids[0]).attention
    visit(tab, url, **request)
    words = attended.by_words("sentencepiece", "sentencepiece")
    assert len(words.target_tokens) < len(attended.target_tokens)
    assert_drawn(tab, named(words.source_tokens), named(words.target_tokens), words.weights)
    tab.get_by_role("button", name="Pieces").click()
    pieces = [
        named("␣" if one == "▁" else one for one in tokens)
        for tokens in (attended.source_tokens, attended.target_tokens)
    ]
    assert_drawn(tab, *pieces, attended.weights)
    expect(tab.locator(".words button")).to_have_text(pieces[1])


@pytest.mark.thorough("loads and traces a second preset")
def test_words_of_pieces_continue_with_whole_words(tab, served):
    url, _, explorer = served("tatoeba_en_fr_gru")
    request = {"text": STATION}
    choices = explorer.next_words(request, [])
    visit(tab, url, **request)
    tab.locator(".words button").first.click()
    rows = panel(tab, "Answer").locator(".bars tr")
    names = named(choice.text.replace("▁", "") for choice in choices)
    expect(rows.locator("button")).to_have_text(names)
    expect(rows.locator(".more")).to_have_text([one.best for one in choices])
    probabilities = np.exp([choice.log_probability for choice in choices])
    assert_percents(rows.locator(".number").all_inner_texts(), probabilities)
    rows.locator("button").nth(1).click()
    expect_answer(tab, choices[1].best)
    assert answer(tab).startswith(choices[1].text.strip("▁"))


@pytest.mark.thorough("shows of a third model's weights what it shows of the first two")
def test_each_head_of_a_transformer(tab, server, eagerly):
    url, _, explorer = server("tatoeba_en_fr_transformer")
    request = {"text": "I know."}
    inspection = explorer.inspect(request, explorer.search(request).ids[0])
    visit(tab, url, **request)
    tab.get_by_role("button", name="Pieces").click()
    heads = tab.get_by_role("combobox", name="Head")
    layers, of_layer, *_ = inspection.head_weights.shape
    expect(heads.locator("option")).to_have_count(1 + layers * of_layer)
    source, target = named(inspection.source_tokens), named(inspection.target_tokens)
    heads.select_option("layer 1, head 2")
    assert_drawn(tab, source, target, inspection.head_weights[0, 1])
    heads.select_option(index=0)
    assert_drawn(tab, source, target, inspection.attention.weights)


def scene(number):
    import tensorflow as tf

    from kerasnmt.data import builtin_scenes

    return tf.io.encode_png(builtin_scenes(number + 1, "train")[number].image).numpy()


@pytest.mark.thorough("another kind of request; a story is tried too")
def test_an_image_that_is_chosen_or_dropped(tab, served, eagerly):
    url, model, explorer = served("scenes_en")
    chosen, dropped = scene(0), scene(3)
    captions = model.caption([chosen, dropped])
    assert captions[0] != captions[1]
    tab.goto(url)
    file = {"name": "scene.png", "mimeType": "image/png", "buffer": chosen}
    tab.get_by_label("Drop a PNG or JPEG image here").set_input_files(file)
    expect_answer(tab, captions[0])
    script = """(base64) => {
      const data = new DataTransfer();
      const bytes = Uint8Array.from(atob(base64), (one) => one.charCodeAt(0));
      data.items.add(new File([bytes], "scene.png", { type: "image/png" }));
      return data;
    }"""
    data = tab.evaluate_handle(script, base64.b64encode(dropped).decode())
    tab.dispatch_event(".drop", "drop", {"dataTransfer": data})
    expect_answer(tab, captions[1])
    # The regions of a word are light where the model looks.
    request = {"image": dropped}
    (weights,) = explorer.inspect(request, explorer.search(request).ids[0]).attention.weights[1:2]
    tab.locator(".words button").nth(1).hover()
    squares = tab.locator(".picture rect")
    shades = squares.evaluate_all("all => all.map(one => +one.getAttribute('fill-opacity'))")
    np.testing.assert_allclose(shades, 0.8 * (1 - weights / weights.max()), atol=0.001)
    tab.mouse.move(0, 0)
    assert set(squares.evaluate_all("all => all.map(one => one.getAttribute('fill-opacity'))")) == {
        "0"
    }


def test_a_story_shows_what_each_hop_reads(tab, served):
    from kerasnmt.tasks.explorer import inspect_story

    url, _, task = served("babi_memory")
    request = {
        "story": "John went to the kitchen.\nMary went to the office.",
        "question": "Where is John?",
    }
    inspection = inspect_story(task, request)
    visit(tab, url, **request)
    expect(tab.locator(".words")).to_have_text(inspection.choices[0].text)
    rows = tab.locator(".hops tr:not(:first-child)")
    expect(rows.locator("th")).to_have_text(inspection.sentences)
    assert_percents(rows.locator("td").all_inner_texts(), inspection.weights.T.ravel())
    answers = panel(tab, "Answer").locator(".bars tr")
    expect(answers.locator("td:first-child")).to_have_text([one.text for one in inspection.choices])
    # An empty question has no answer.
    tab.get_by_label("Question").fill("")
    expect(tab.locator(".words")).to_be_empty()


@pytest.mark.thorough("another kind of request; a story is tried too")
def test_two_texts(tab, served, eagerly):
    url, _, explorer = served("babi_context")
    request = {"text": "where is mary ?", "context": "mary went to the office ."}
    inspection = explorer.inspect(request, explorer.search(request).ids[0])
    attended = inspection.attention
    visit(tab, url, **request)
    expect_answer(tab, inspection.text)
    weights = np.concatenate([attended.weights, attended.context_weights], axis=1)
    source = named([*attended.source_tokens, *attended.context_tokens])
    assert_drawn(tab, source, named(attended.target_tokens), weights)
    word = tab.locator(".words button").first
    expect(word).to_have_accessible_name(re.compile("copied from the context"))
    # The page has two fields, and the second is empty while the first is written.
    tab.get_by_role("textbox", name="Context").fill("")
    expect(tab.locator("#status")).to_have_text(re.compile("^answered"))


@thorough
def test_the_link_holds_the_sentence(tab, served):
    url, _, explorer = served("demo_en_de")
    sentence = "a & b #1 = Öl 100% + „x“ ."
    visit(tab, url, text=sentence)
    expect(tab.get_by_label("Text")).to_have_value(sentence)
    expect_answer(tab, explorer.search({"text": sentence}).texts[0])
    tab.get_by_label("Text").fill(ZARATHUSTRA)
    expect_answer(tab, explorer.search({"text": ZARATHUSTRA}).texts[0])
    assert parse_qs(urlsplit(tab.url).fragment) == {"text": [ZARATHUSTRA]}
    tab.reload()
    expect(tab.get_by_label("Text")).to_have_value(ZARATHUSTRA)
    # A link that is pasted into the open page.
    tab.goto(f"{url}/#{urlencode({'text': sentence})}")
    expect(tab.get_by_label("Text")).to_have_value(sentence)


def saved(tab, button):
    with tab.expect_download() as download:
        tab.get_by_role("button", name=button).click()
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


@thorough
def test_files_of_the_attention(tab, served):
    import tensorflow as tf

    url, _, explorer = served("demo_en_de")
    request = {"text": ZARATHUSTRA}
    visit(tab, url, **request)
    name, contents = saved(tab, "Save JSON")
    document = json.loads(contents)
    found = explorer.search(request)
    assert name == "attention.json" and document["text"] == ZARATHUSTRA
    assert document["sentence"].pop("score") == pytest.approx(found.scores[0], abs=1e-4)
    assert document["sentence"] == json.loads(
        json.dumps(explorer.inspect(request, found.ids[0]).document())
    )
    assert document["hypotheses"] == found.document()["hypotheses"]
    name, contents = saved(tab, "Save SVG")
    drawing = ElementTree.parse(io.BytesIO(contents)).getroot()
    texts = Counter(
        one.text for one in drawing.iter("{http://www.w3.org/2000/svg}text") if one.text
    )
    tokens = [
        *document["sentence"]["sources"][0]["tokens"],
        *document["sentence"]["target"]["tokens"],
    ]
    assert name == "attention.svg" and texts == Counter(named(tokens))
    assert all("fill" in one.attrib["style"] for one in drawing)
    name, contents = saved(tab, "Save PNG")
    picture = tf.io.decode_png(contents).numpy()
    assert name == "attention.png" and picture.shape[0] == 2 * float(drawing.attrib["height"])
    assert len(np.unique(picture.reshape(-1, picture.shape[-1]), axis=0)) > 20


def press_until(tab, key, selector):
    for _ in range(60):
        tab.keyboard.press(key)
        if tab.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"{key} does not reach {selector}")


@thorough
def test_the_keyboard_is_enough(tab, server):
    url, _, explorer = server("demo_en_de")
    request = {"text": ZARATHUSTRA}
    found = explorer.search(request)
    visit(tab, url, **request)
    tab.get_by_label("Text").focus()
    press_until(tab, "Tab", ".words button")
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    expect(tab.get_by_role("heading", name="In place of “weißen”")).to_be_visible()
    press_until(tab, "Tab", ".bars button")
    tab.keyboard.press("Tab")
    chosen = tab.evaluate("document.activeElement.textContent")
    tab.keyboard.press("Enter")
    expect(tab.locator(".words button").nth(1)).to_have_text(chosen)
    assert chosen != found.tokens[0][1]
    press_until(tab, "Tab", "svg .token[role=button]")
    tab.keyboard.press("Space")
    expect(tab.get_by_role("heading", name="In place of “die”")).to_be_visible()
    press_until(tab, "Tab", "section:last-child svg text")
    press_until(tab, "Tab", "[aria-label$='in answer 2']")
    with tab.expect_response("**/page/inspect"):
        tab.keyboard.press("Enter")


@thorough
def test_late_answers_are_dropped(tab, server):
    url, _, explorer = server("demo_en_de")
    visit(tab, url, text=ZARATHUSTRA)
    late = []
    tab.route(re.compile("/page/(search|inspect|words)$"), lambda route: late.append(route))

    def ask(action, *arguments):
        count = len(late)
        action(*arguments)
        for _ in range(1000):
            tab.wait_for_timeout(20)
            if len(late) > count:
                return late[-1]
        raise AssertionError("the page asks nothing")

    def arrive(route):
        with tab.expect_response("**/page/*") as response:
            route.continue_()
        response.value.finished()
        tab.evaluate("() => new Promise((done) => setTimeout(done, 50))")

    field = tab.get_by_label("Text")
    of_second = ask(panel(tab, "Best answers").locator("button").nth(1).click)
    of_first_text = ask(field.fill, "he reads .")
    arrive(ask(field.fill, KUTIMORIN))
    expected = explorer.search({"text": KUTIMORIN}).texts[0]
    expect_answer(tab, expected)
    arrive(of_first_text)
    arrive(of_second)
    assert answer(tab) == expected
    of_text = ask(field.fill, "he reads .")
    field.fill("")
    expect(panel(tab, "Answer")).to_be_hidden()
    arrive(of_text)
    expect(panel(tab, "Answer")).to_be_hidden()


def test_html_in_a_text_stays_text(tab, served, eagerly):
    url, *_ = served("demo_en_de")
    visit(tab, url, text=f"he saves {SCRIPT}")
    words = drawing(tab).locator(".token")
    expect(words.filter(has_text="onerror=alert(1)>").first).to_be_visible()
    tab.locator(".words button").first.click()
    tab.get_by_text("Write a translation of your own").click()
    tab.get_by_label("Your translation").fill(f"{SCRIPT} </script>")
    tab.locator(".words button").nth(1).click()
    expect(tab.get_by_role("heading", name="In place of")).to_be_visible()
    assert tab.locator("img").count() == 0 and tab.locator("script").count() == 3


class Export:
    """Session of an export of a model with two answers."""

    signatures = dict.fromkeys(("serving_default", "n_best", "attention"))

    def run(self, name, inputs):
        tokens = {
            f"{side}_tokens": np.array([[b"a", b"</s>"]], object) for side in ("source", "target")
        }
        answers = {
            "translations": np.array([[b"a", b"b"]], object),
            "scores": np.array([[-1.0, -2.0]]),
        }
        return answers if name == "n_best" else {**tokens, "weights": np.eye(2)[None]}


@pytest.fixture(scope="module")
def export_url(start):
    description = {"inputs": ["text"], "source_kind": "words", "target_kind": "words"}
    current = CurrentVersion(RestApp(Export(), "tiny", 3, description=description))
    model = ExportPageModel(current)
    about = {"name": "tiny", "description": "", "examples": []}
    return start(ServerApp(current, page=PageApp(model, about)))


def test_errors_are_shown_until_the_next_answer(tab, export_url, faults):
    visit(tab, export_url, text="a")
    tab.route("**/page/search", lambda route: route.abort("connectionrefused"))
    tab.get_by_label("Text").fill("he reads .")
    status = tab.locator("#status.error")
    expect(status).to_have_text("The server does not answer.")
    tab.unroute("**/page/search")
    tab.get_by_label("Text").fill("x" * 70_000)
    expect(status).to_have_text(
        re.compile(r"Expected texts of at most 65536 bytes\. Received: 70000")
    )
    tab.get_by_label("Text").fill("he reads .")
    expect(status).to_have_count(0)
    assert len(faults) == 2 and all("Failed to load resource" in fault for fault in faults)
    faults.clear()


def test_the_page_of_an_export_says_what_it_does_not_show(tab, export_url):
    visit(tab, export_url, text="a")
    expect(tab.locator("#about")).to_contain_text("Serve the run or the preset instead")
    expect_answer(tab, "a")
    assert_drawn(tab, ["a", "end"], ["a", "end"], np.eye(2))
    tab.locator(".words button").first.click()
    expect(tab.get_by_role("heading", name="In place of")).to_have_count(0)
    expect(tab.get_by_text("Write a translation of your own")).to_have_count(0)
    answers = panel(tab, "Best answers").locator("button")
    expect(answers).to_have_text(["a", "b"])
    expect(answers.nth(1)).to_be_disabled()
    expect(panel(tab, "Search")).to_be_hidden()


# The colors of an element's text and of what is behind it.
COLORS = """elements => elements.map((element) => {
  const pen = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const paint = (color) => {
    pen.fillStyle = color;
    pen.fillRect(0, 0, 1, 1);
    return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const behind = [];
  for (let one = element; one; one = one.parentElement)
    behind.unshift(getComputedStyle(one).backgroundColor);
  const look = getComputedStyle(element);
  return [behind.map(paint).at(-1), paint(element instanceof SVGElement ? look.fill : look.color)];
})"""


def luminance(color):
    channels = np.array(color) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(colors):
    """Return the contrast of WCAG 2, from 1 to 21."""
    dark, light = sorted(map(luminance, colors))
    return (light + 0.05) / (dark + 0.05)


@thorough
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_have_contrast_and_a_narrow_page_does_not_scroll_sideways(tab, server, scheme):
    tab.emulate_media(color_scheme=scheme)
    tab.set_viewport_size({"width": 360, "height": 700})

    def check(selectors):
        for selector in selectors.split(", "):
            colors = tab.locator(selector).evaluate_all(COLORS)
            assert min(map(contrast, colors)) >= 4.5, selector
        assert tab.evaluate("document.documentElement.scrollWidth") <= 360

    visit(tab, server("demo_en_de").url, text=ZARATHUSTRA)
    tab.locator(".words button").nth(1).click()
    expect(tab.get_by_role("heading", name="In place of")).to_be_visible()
    check(
        "h1, #about, h2, label, textarea, .row button, .words button, .words .copied, .words .end"
    )
    check(".note, #status, summary, .bars button, .bars .number, svg .token, svg .dropped")
    tab.get_by_role("button", name="Heat map").click()
    check("svg .token, [aria-pressed=true]")
    visit(tab, server("babi_memory").url, story="Mary got the ball there.", question="Where is it?")
    check(".hops td, .hops th, .bars td")


def test_words_of_a_slow_answer_come_while_they_are_made(server, tab):
    """The answer itself is held back here, so the words come from the stream."""
    url, model, _ = server("demo_en_de")
    held = []
    tab.route("**/page/search", lambda route: held.append(route))
    tab.goto(f"{url}/#{urlencode({'text': 'the dog sleeps .'})}")
    (best,) = model.translate(["the dog sleeps ."])
    words = tab.locator(".words")
    expect(words).to_have_text(best)
    expect(words.locator("button")).to_have_count(0)
    for route in held:
        route.continue_()
    expect(words.locator("button")).not_to_have_count(0)
    expect(words.locator(".provisional")).to_have_count(0)
