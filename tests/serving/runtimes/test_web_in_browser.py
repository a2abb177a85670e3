"""Sites with a model in Chromium, with the files of onnxruntime-web as their CDN has them.

The files come from the npm package. The CDN itself is not asked.
"""

import base64
import functools
import json
import shutil
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlencode

import pytest

from kerasnmt.runtime import load
from kerasnmt.serving.runtimes.web.export import write_scripts
from tests.conftest import PATIENCE, wait_for_answer
from tests.serving.runtimes.onnx_models import FILES

playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
pytestmark = pytest.mark.usefixtures("eagerly")

TEXTS = ["two dogs run .", "zeb runs . zeb and anna run .", "", "anna zeb a zeb"]
BLANK = "<!doctype html><link rel=icon href='data:,'>"
CDN = "cdn.jsdelivr.net/npm/onnxruntime-web@"
ASK = """async (texts) => {
  const { load } = await import("./kerasnmt.js");
  return load("./model").then((model) => model.best(texts), (error) => error.message);
}"""
# The description of the model for visits without a network, or null before the worker is ready.
KEPT = """async () => {
  const registration = await navigator.serviceWorker.getRegistration();
  const kept = await caches.match("model/kerasnmt.json");
  return registration?.active ? kept?.text() : null;
}"""


class Handler(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def whole(site, tmp_path_factory):
    """A site with the files of onnxruntime-web, and a page without scripts."""
    folder = shutil.copytree(site, tmp_path_factory.mktemp("web") / "site")
    (folder / "blank.html").write_text(BLANK)
    return folder


@pytest.fixture(scope="module")
def folder(whole, tmp_path_factory):
    """The same site, which takes onnxruntime-web from its CDN."""
    folder = shutil.copytree(whole, tmp_path_factory.mktemp("web") / "site")
    write_scripts(folder)
    return folder


@pytest.fixture
def visit(tab, faults, onnxruntime_web):
    """Serve a folder, open a blank page of it, and route the address of the CDN to the package."""
    servers, changed = [], {}

    def answer(route):
        name = route.request.url.rpartition("/")[2]
        path = onnxruntime_web / "onnxruntime-web/dist" / name
        headers = {"Access-Control-Allow-Origin": "*"}
        route.fulfill(body=changed.get(name) or path.read_bytes(), headers=headers)

    def visit(folder, files=(), page="blank.html"):
        changed.update(files)
        handler = functools.partial(Handler, directory=folder)
        servers.append(ThreadingHTTPServer(("127.0.0.1", 0), handler))
        threading.Thread(target=servers[-1].serve_forever, daemon=True).start()
        tab.route(f"https://{CDN}*/dist/*", answer)
        tab.goto(f"http://127.0.0.1:{servers[-1].server_port}/{page}")
        return tab

    visit.leave = lambda: stop(servers.pop())
    yield visit
    tab.close()  # a request that a stopped server cuts off would be a fault
    stop(*servers)


def stop(*servers):
    for server in servers:
        server.shutdown()
        server.server_close()


def wait_until(tab, done, about):
    """Wait until a function returns true; a failure shows `about`."""
    for _ in range(50 * PATIENCE):
        if done():
            return
        tab.wait_for_timeout(20)
    raise AssertionError(about)


def taken(tab, faults, part, count):
    """Wait until `count` faults contain a text; remove and return them."""
    wait_until(tab, lambda: sum(part in fault for fault in faults) >= count, faults)
    found = [fault for fault in faults if part in fault]
    assert len(found) == count, faults
    faults[:] = [fault for fault in faults if part not in fault]
    return found


def test_a_browser_answers_as_python(folder, visit, faults):
    tab = visit(folder)
    found = tab.evaluate(ASK, TEXTS)
    expected = load(folder / "model").best(TEXTS)
    assert [one["text"] for one in found] == [text for text, _ in expected]
    scores = [score for _, score in expected]
    assert [one["score"] for one in found] == pytest.approx(scores, abs=1e-4)
    asked = [fault.rpartition("/")[2] for fault in taken(tab, faults, CDN, 2)]
    assert sorted(asked) == ["ort-wasm-simd-threaded.wasm", "ort.wasm.bundle.min.mjs"]


def test_a_browser_decodes_images(whole, captions, visit, tmp_path):
    """Files, a broken one among them, and what a canvas can draw."""
    site = shutil.copytree(whole, tmp_path / "site")
    shutil.copytree(captions[1], site / "captions")
    program = """async (files) => {
      const { load } = await import("./kerasnmt.js");
      const model = await load("./captions");
      const bytes = (file) => Uint8Array.from(atob(file), (one) => one.charCodeAt(0));
      const blobs = files.map((file) => new Blob([bytes(file)]));
      const bitmap = await createImageBitmap(blobs[0]);
      const wrong = await model.caption({}).catch((error) => error.message);
      return [await model.best([...blobs, bitmap]), await model.caption(blobs[1]), wrong];
    }"""
    files = [*FILES[:3], b"two dogs", FILES[4]]
    encoded = [base64.b64encode(file).decode() for file in files]
    found, caption, wrong = visit(site).evaluate(program, encoded)
    expected = load(captions[1]).ask({"image": [*files, files[0]]})
    assert [one["text"] for one in found] == [text for text, _ in expected]
    scores = [score for _, score in expected]
    assert [one["score"] for one in found] == pytest.approx(scores, abs=1e-4)
    assert (caption, found[3]) == (expected[1][0], {"text": "", "score": 0})
    assert wrong.startswith("Expected an image that a canvas can draw. Received: ")


@pytest.mark.parametrize("name", ["ort.wasm.bundle.min.mjs", "ort-wasm-simd-threaded.wasm"])
def test_other_files_of_the_cdn_are_not_run(name, folder, visit, faults):
    tab = visit(folder, {name: b"globalThis.run = true"})
    message = tab.evaluate(ASK, TEXTS)
    assert message.endswith(f"{name} cannot be fetched, or is damaged. Copy or export it again")
    taken(tab, faults, "integrity", 2)  # messages of Chromium
    taken(tab, faults, CDN, 2)


def test_damaged_models_are_refused(whole, visit, faults, tmp_path):
    copy = shutil.copytree(whole, tmp_path / "site")
    with (copy / "model/step.onnx").open("ab") as file:
        file.write(b" ")
    tab = visit(copy)
    message = tab.evaluate(ASK, TEXTS)
    assert message.startswith("./model: the model cannot be loaded: ./model/step.onnx cannot be")
    taken(tab, faults, "integrity", 2)


def test_the_page_stays_new_and_works_without_a_network(whole, visit, faults, tmp_path):
    """After a visit, the model changes, and then the server stops.

    The tab also reports requests to other hosts; a site with onnxruntime-web makes none.
    """
    site = shutil.copytree(whole, tmp_path / "site")
    path = site / "model/kerasnmt.json"
    tab = visit(site, page=f"index.html#{urlencode({'text': TEXTS[1]})}")

    def answer():
        wait_for_answer(tab)
        return tab.locator(".words button:not(.end)").all_inner_texts()

    def wait_until_kept():
        wait_until(tab, lambda: tab.evaluate(KEPT) == path.read_text(), "not kept")

    longer = load(whole / "model").translate(TEXTS[1:2])[0].split()
    assert answer() == longer
    wait_until_kept()
    shorter = {"max_length_ratio": 0.1, "max_length_margin": 1}
    path.write_text(json.dumps({**json.loads(path.read_text()), **shorter}))
    expected = load(site / "model").translate(TEXTS[1:2])[0].split()
    assert len(longer) > len(expected) > 0
    tab.reload()
    assert answer() == expected
    wait_until_kept()
    visit.leave()
    tab.reload()
    assert answer() == expected
    assert tab.evaluate("fetch('blank.js').catch(() => 'no server')") == "no server"
    taken(tab, faults, "ERR_FAILED", 1)


def test_the_page_in_a_file_says_what_it_needs(whole, tab):
    tab.goto((whole / "index.html").as_uri())
    message = "Expected this page from a web server. Received: a file."
    playwright.expect(tab.locator("#status.error")).to_contain_text(message)
