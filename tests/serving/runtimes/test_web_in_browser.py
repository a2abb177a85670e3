"""Sites with a model in Chromium, with the files of onnxruntime-web as their CDN has them.

The files come from the npm package. The CDN itself is not asked.
"""

import functools
import shutil
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from kerasnmt.runtime import load
from kerasnmt.serving import export_web
from kerasnmt.serving.runtimes.web.export import write_scripts

playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
pytestmark = pytest.mark.usefixtures("eagerly")

TEXTS = ["two dogs run .", "zeb runs . zeb and anna run .", "", "anna zeb a zeb"]
BLANK = "<!doctype html><link rel=icon href='data:,'>"
CDN = "cdn.jsdelivr.net/npm/onnxruntime-web@"
ASK = """async (texts) => {
  const { load } = await import("./kerasnmt.js");
  return load("./model").then((model) => model.best(texts), (error) => error.message);
}"""


class Handler(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def whole(make_pointer_model, onnxruntime_web, tmp_path_factory):
    """A site with the files of onnxruntime-web."""
    folder = tmp_path_factory.mktemp("web") / "site"
    dist = onnxruntime_web / "onnxruntime-web/dist"
    export_web(make_pointer_model(seed=56), folder, ort=dist, beam_size=3, max_length=10)
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
    stop(*servers)


def stop(*servers):
    for server in servers:
        server.shutdown()
        server.server_close()


def taken(tab, faults, part, count):
    """Wait until so many faults have a part, remove them from the faults, and return them."""
    found = []
    while len(found) < count:
        tab.wait_for_timeout(20)
        found = [fault for fault in faults if part in fault]
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


def test_the_page_works_without_a_network_after_a_visit(whole, visit, faults):
    """The tab also reports requests to other hosts; a site with onnxruntime-web makes none."""
    tab = visit(whole, page="index.html")
    tab.evaluate("navigator.serviceWorker.ready.then(() => null)")
    visit.leave()
    tab.reload()
    tab.get_by_label("Text").fill(TEXTS[1])
    words = tab.locator(".words button:not(.end)")
    playwright.expect(words).to_have_text(load(whole / "model").translate(TEXTS[1:2])[0].split())
    assert tab.evaluate("fetch('blank.js').catch(() => 'no server')") == "no server"
    taken(tab, faults, "ERR_FAILED", 1)


def test_the_page_in_a_file_says_what_it_needs(whole, tab):
    tab.goto((whole / "index.html").as_uri())
    message = "Expected this page from a web server. Received: a file."
    playwright.expect(tab.locator("#status.error")).to_contain_text(message)
