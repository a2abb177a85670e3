"""Time of an answer on the page of `kerasnmt serve`, and the pictures of the guides.

    python benchmarks/page.py
    python benchmarks/page.py --pictures tutorials/images

The first command starts `kerasnmt serve MODEL`, opens the page in Chromium, and types a sentence of
ten words. It prints one JSON object: the seconds from the start of the command to the first answer
on the page, the milliseconds from a key to its answer, which include the 40 that the page waits for
another key, and the load of the machine. The second command writes the pictures.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

SENTENCE = "She gave him the red book that she had read."
STORY = "Mary moved to the bathroom.\nMary got the football there.\nMary went back to the garden."
expect.set_options(timeout=120_000)


@contextmanager
def served(model: str) -> Iterator[str]:
    """Serve a model; yield the URL of its page."""
    command = [sys.executable, "-c", "from kerasnmt.cli.main import main; main()"]
    with subprocess.Popen(
        [*command, "serve", model, "--port", "0"], stderr=subprocess.PIPE, text=True
    ) as server:
        for line in server.stderr:
            if url := re.search(r"open (http://\S+)", line):
                break
        yield url[1]
        server.terminate()
        server.stderr.read()  # until the server has ended


def visited(browser: Browser, url: str, **request: str) -> Page:
    """Open a page, and wait for the answer to a request, or to the first example."""
    tab = browser.new_page(viewport={"width": 820, "height": 600})
    tab.goto(f"{url}#{urlencode(request)}")
    expect(tab.locator(".words")).not_to_be_empty()
    return tab


def measure(browser: Browser, model: str) -> None:
    start = time.perf_counter()
    with served(model) as url:
        tab = visited(browser, url)
        first = time.perf_counter() - start
        field = tab.get_by_label("Text")
        field.fill("")
        seconds = []
        for key in SENTENCE:
            with tab.expect_response("**/page/search"):
                field.press_sequentially(key)
                begin = time.perf_counter()
            # The answer is drawn in the next frame.
            tab.evaluate("() => new Promise(requestAnimationFrame)")
            seconds.append(time.perf_counter() - begin)
    figures = {"first_answer_seconds": round(first, 1)}
    figures["median_answer_ms"] = round(1000 * statistics.median(seconds))
    figures["slowest_answer_ms"] = round(1000 * max(seconds))
    print(json.dumps(figures | {"load": round(os.getloadavg()[0], 1)}))


def draw(browser: Browser, folder: Path) -> None:
    with served("tatoeba_en_fr_gru") as url:
        visited(browser, url).close()  # its answer waits for the tracing
        tab = visited(browser, url, text=SENTENCE)
        tab.locator(".words button").nth(2).click()
        expect(tab.get_by_role("heading", name="In place of")).to_be_visible()
        save(tab, folder / "page_translate.png", 3)
    with served("demo_en_de") as url:
        visited(browser, url).close()
        tab = visited(browser, url)
        tab.locator(".words .copied").first.hover()
        save(tab, folder / "page_copying.png", 4)
    with served("babi_memory") as url:
        visited(browser, url).close()
        tab = visited(browser, url, story=STORY, question="Where is the football?")
        save(tab, folder / "page_story.png", 3)


def save(tab: Page, path: Path, panels: int) -> None:
    """Save a picture of the first panels of a page."""
    tab.evaluate("scrollTo(0, 0)")
    box = tab.locator("section").nth(panels - 1).bounding_box()
    clip = {"x": 0, "y": 0, "width": 820, "height": box["y"] + box["height"] + 12}
    tab.screenshot(path=path, clip=clip, full_page=True)
    Image.open(path).quantize(96).save(path, optimize=True)  # half as many bytes
    print(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--model", default="tatoeba_en_fr_gru", help="model that is measured")
    parser.add_argument("--pictures", type=Path, metavar="FOLDER", help="write the pictures here")
    options = parser.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        if options.pictures:
            draw(browser, options.pictures)
        else:
            measure(browser, options.model)


if __name__ == "__main__":
    main()
