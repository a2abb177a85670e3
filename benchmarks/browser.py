"""Time of a translation in the browser, beside ONNX Runtime in Python.

    npm install --prefix build onnxruntime-web
    python benchmarks/browser.py build/node_modules/onnxruntime-web/dist

Exports `--model` for the browser, opens the site in Chromium, and translates a sentence of ten
words alone, with one thread. For each number format, prints a JSON object: the MB of the model, the
milliseconds to load it and ONNX Runtime, and the median and lowest milliseconds of a translation
with a beam of 5, greedily, and of an answer of the page, which also has the tree and other words;
then those of `kerasnmt.runtime` in Python, and the load of the machine.
"""

import argparse
import functools
import json
import os
import shutil
import statistics
import tempfile
import threading
import time
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

from kerasnmt.runtime import load
from kerasnmt.serving import export_web
from kerasnmt.zoo import from_preset

SENTENCE = "She gave him the red book that she had read."
ROUNDS = 60
MEASURE = """async ([sentence, rounds]) => {
  const { load } = await import("./kerasnmt.js");
  const { Explorer } = await import("./explorer.js");
  const start = performance.now();
  const beam = await load("./model", { beam_size: 5 });
  const loaded = performance.now() - start;
  const greedy = await load("./model", { beam_size: 1 });
  const explorer = new Explorer(beam);
  const tasks = {
    beam_5: () => beam.best(sentence),
    greedy: () => greedy.best(sentence),
    page: () => explorer.ask("search", { text: sentence, prefix_ids: [] }),
  };
  const seconds = {};
  for (const [name, run] of Object.entries(tasks)) {
    seconds[name] = [];
    for (let round = 0; round < rounds; round++) {
      const begin = performance.now();
      await run();
      seconds[name].push((performance.now() - begin) / 1000);
    }
  }
  return [loaded, (await beam.best(sentence)).text, seconds];
}"""


class Handler(SimpleHTTPRequestHandler):
    """Static files without messages."""

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def in_browser(browser: Browser, site: Path) -> dict[str, Any]:
    """Measure the model of a site in Chromium."""
    handler = functools.partial(Handler, directory=site)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        tab = browser.new_page()
        tab.goto(f"http://127.0.0.1:{server.server_port}/README.md")  # a page without scripts
        loaded, text, seconds = tab.evaluate(MEASURE, [SENTENCE, ROUNDS])
        tab.close()
        server.shutdown()
    return {"load_ms": round(loaded), **in_ms(seconds), "text": text}


def in_python(model: Path) -> dict[str, Any]:
    """Measure the same model in Python."""
    seconds = {}
    for name, beam_size in (("python_beam_5", 5), ("python_greedy", 1)):
        translator = load(model, beam_size=beam_size)
        seconds[name] = []
        for _ in range(ROUNDS):
            start = time.perf_counter()
            translator.best([SENTENCE])
            seconds[name].append(time.perf_counter() - start)
    return in_ms(seconds)


def in_ms(seconds: dict[str, list[float]]) -> dict[str, list[float]]:
    """Return the median and the lowest, in milliseconds."""
    return {
        name: [round(1000 * one(times), 1) for one in (statistics.median, min)]
        for name, times in seconds.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("ort", type=Path, help="folder dist of onnxruntime-web")
    parser.add_argument("--model", default="tatoeba_en_fr_gru", help="preset that is measured")
    options = parser.parse_args()
    model = from_preset(options.model)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as place:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for weights in ("float32", "float16", "int8"):
            site = Path(place, weights)
            export_web(model, site, weights=weights, ort=options.ort)
            size = sum(path.stat().st_size for path in (site / "model").glob("*.onnx"))
            figures = {"weights": weights, "mb": round(size / 1e6, 1)}
            figures |= in_browser(browser, site) | in_python(site / "model")
            print(json.dumps(figures | {"load": round(os.getloadavg()[0], 1)}, ensure_ascii=False))


if __name__ == "__main__":
    main()
