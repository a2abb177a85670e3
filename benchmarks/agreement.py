"""Agreement of the runtimes with TensorFlow: translations, scores and attention weights.

    npm install --prefix build onnxruntime-web
    python benchmarks/agreement.py build/node_modules/onnxruntime-web/dist [PRESET …]

Translates 200 texts with TensorFlow, and with the export of the same model in ONNX Runtime in
Python, with `search.onnx`, in Node and in Chromium: in batches, and the first 50 one by one. The
models are the presets that are named, on held-out sentences of `--pairs`; without a name, a tiny
model with large random weights of every zoo model that translates, on random texts with unknown
words and empty lines. For each model and runtime, prints the number of equal translations, the
largest differences of the scores and of the attention weights, and of the translations that differ,
the largest difference between their scores in TensorFlow: it is small where two translations are
equally good.
"""

import argparse
import functools
import json
import random
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import keras
import numpy as np
import onnxruntime
import tensorflow as tf
from playwright.sync_api import sync_playwright

from kerasnmt import zoo
from kerasnmt.data import read_tsv
from kerasnmt.runtime import load
from kerasnmt.serving import export_onnx, export_web
from kerasnmt.tasks import Translator, task_of
from kerasnmt.text import WordTokenizer
from kerasnmt.training import grouped, texts

COUNT, ALONE, BATCH = 200, 50, 64
WORDS = [f"w{number}" for number in range(60)]
SEARCH = {"beam_size": 5, "max_length": 12}
# Sizes of the tiny models. Random norms of a Transformer would make all words alike.
TRANSFORMER = {"units": 16, "num_heads": 2, "hidden_units": 16, "dropout": 0.0}
RECURRENT = {"embedding_dim": 16, "units": 16, "dropout": 0.0}
ASK = """const { load } = await import("./kerasnmt.js");
  const model = await load("./model");
  const answers = [];
  for (const batchSize of [64, 1]) {
    const some = batchSize > 1 ? data : data.slice(0, 50);
    const columns = model.description.inputs.length > 1 ? { contexts: some } : {};
    const best = await model.best(some, { batchSize, ...columns });
    const attention = model.description.graphs.records.includes("weights")
      ? await model.attention(some, { batchSize, ...columns }) : [];
    answers.push([best.map(({ text, score }) => [text, score]),
                  attention.map(({ weights }) => weights.map((row) => [...row]))]);
  }"""


class Answers(NamedTuple):
    """What a runtime answers: translations with scores, and attention weights if there are any."""

    best: list[tuple[str, float]]
    weights: list[np.ndarray]


class Handler(SimpleHTTPRequestHandler):
    """Static files without messages."""

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def random_model(name: str) -> keras.Model:
    """Make a tiny model with large random weights, whose best words stand out."""
    transformer = name.startswith("transformer")
    sizes = TRANSFORMER if transformer else RECURRENT
    model = zoo.get_model(name)(WordTokenizer(WORDS), **sizes)
    rng = np.random.default_rng(56)
    for weight in model.weights:
        scale = 3.0 if "/generator/" in weight.path else 0.5
        weight.assign(scale * rng.normal(size=weight.shape))
        if transformer and "norm" in weight.path:
            weight.assign(np.full(weight.shape, weight.path.endswith("gamma")))
    return model


def random_texts() -> list[str]:
    """Make texts of up to 12 words. Some words are unknown, and some repeat."""
    rng = random.Random(7)
    words = [*WORDS, *(f"unknown{number}" for number in range(6))]
    return ["", "  ", *(" ".join(rng.choices(words, k=rng.randint(1, 12))) for _ in range(198))]


def in_python(translator: Translator, lines: list[str], batch_size: int) -> Answers:
    """Ask TensorFlow, or ONNX Runtime in Python."""
    options: dict[str, Any] = {"batch_size": batch_size}
    if len(translator.fields) > 1:
        options["contexts"] = lines
    best = translator.best(lines, **options)
    try:
        attention = translator.attention(lines, **options)
    except ValueError:  # the model has no attention
        attention = []
    return Answers(best, [one.weights for one in attention])


def in_search(path: Path, model: keras.Model, lines: list[str], batch_size: int) -> Answers:
    """Ask `search.onnx`, with the tokenizers of the model."""
    session = onnxruntime.InferenceSession(path)
    names = [one.name for one in session.get_outputs()]
    wanted = {one.name for one in session.get_inputs()}
    codec = task_of(model).codec
    best, weights = [], []
    for start in range(0, len(lines), batch_size):
        columns = [tf.constant(lines[start : start + batch_size])] * (1 + model.reads_context)
        source = codec.encode_source(*columns, max_length=SEARCH["max_length"])
        inputs = {name: one.numpy() for name, one in source.inputs().items() if name in wanted}
        outputs = dict(zip(names, session.run(None, inputs), strict=True))
        ids = outputs["ids"][:, 0]
        for row, text in enumerate(codec.decode(tf.constant(ids), source).numpy()):
            empty = bool(source.empty[row])  # the translation of an empty text is empty
            best.append(("", 0.0) if empty else (text.decode(), outputs["scores"][row, 0]))
            if "weights" in outputs:
                size = 0 if empty else np.count_nonzero(ids[row])
                length = np.count_nonzero(inputs["source_ids"][row])
                weights.append(outputs["weights"][row, 0, :size, :length])
    return Answers(best, weights)


def in_node(site: Path, lines: list[str]) -> list[Answers]:
    """Ask ONNX Runtime in Node."""
    program = (
        'import { readFileSync } from "node:fs"; const data = JSON.parse(readFileSync(0, "utf8"));'
        f"{ASK} console.log(JSON.stringify(answers));"
    )
    command = ["node", "--input-type=module", "--eval", program]
    done = subprocess.run(
        command, cwd=site, input=json.dumps(lines), stdout=subprocess.PIPE, text=True, check=True
    )
    return read(json.loads(done.stdout))


def in_chromium(browser: Any, site: Path, lines: list[str]) -> list[Answers]:
    """Ask ONNX Runtime in Chromium."""
    handler = functools.partial(Handler, directory=site)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        tab = browser.new_page()
        tab.goto(f"http://127.0.0.1:{server.server_port}/README.md")  # a page without scripts
        answers = tab.evaluate(f"async (data) => {{ {ASK} return answers; }}", lines)
        tab.close()
        server.shutdown()
    return read(answers)


def read(answers: Sequence[Any]) -> list[Answers]:
    """Read the answers of JavaScript."""
    return [
        Answers([(text, score) for text, score in best], [*map(np.array, weights)])
        for best, weights in answers
    ]


def compare(name: str, found: Answers, expected: Answers, lines: list[str], scorer: Any) -> None:
    """Print the agreement of a runtime with TensorFlow."""
    equal, score, weight, gap = 0, 0.0, 0.0, 0.0
    for row, (ours, theirs) in enumerate(zip(found.best, expected.best, strict=True)):
        if ours[0] != theirs[0]:
            pair = [lines[row]] * 2
            contexts = {"contexts": pair} if len(scorer.fields) > 1 else {}
            scores = scorer.score(pair, [ours[0], theirs[0]], **contexts)
            gap = max(gap, abs(scores[0] - scores[1]))
            continue
        equal += 1
        score = max(score, abs(ours[1] - theirs[1]))
        if expected.weights:
            difference = np.abs(found.weights[row] - expected.weights[row])
            weight = max(weight, difference.max(initial=0.0))
    weights = f"{weight:.1e}" if expected.weights else ""
    different = f"{len(found.best) - equal} (gap {gap:.1e})" if equal < len(found.best) else ""
    row = f"| {name} | {equal} of {len(found.best)} | {score:.1e} | {weights} | {different} |"
    print(row, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("ort", type=Path, help="folder dist of onnxruntime-web")
    parser.add_argument("presets", nargs="*", help="presets, instead of random models")
    parser.add_argument("--pairs", type=Path, help="file with a source, a tab and a translation")
    parser.add_argument("--models", nargs="+", help="zoo models, instead of all that translate")
    arguments = parser.parse_args()
    if arguments.presets:
        if arguments.pairs is None:
            parser.error("Presets need --pairs.")
        SEARCH["max_length"] = 30
        lines = grouped(texts(read_tsv(arguments.pairs)))[0][:COUNT]
        models = {name: functools.partial(zoo.from_preset, name) for name in arguments.presets}
    else:
        lines = random_texts()
        names = arguments.models or [
            name for name in zoo.list_models() if not name.startswith(("show", "memory"))
        ]
        models = {name: functools.partial(random_model, name) for name in names}
    print("| model, runtime | equal | scores differ by | weights differ by | different |")
    print("|---|---|---|---|---|")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for name, make in models.items():
            keras.backend.clear_session()
            model = make()
            with tempfile.TemporaryDirectory() as place:
                site, whole = Path(place, "site"), Path(place, "whole")
                export_web(model, site, ort=arguments.ort, weights="float32", **SEARCH)
                export_onnx(model, whole, whole=True, **SEARCH)
                theirs = Translator(task_of(model, **SEARCH))
                ours = load(site / "model")
                runtimes = {
                    "Python": lambda some, size, ours=ours: in_python(ours, some, size),
                    "search.onnx": lambda some, size, whole=whole, model=model: in_search(
                        whole / "search.onnx", model, some, size
                    ),
                }
                expected = [
                    in_python(theirs, lines, BATCH),
                    in_python(theirs, lines[:ALONE], 1),
                ]
                compare(f"{name}, alone", expected[1], cut(expected[0]), lines, theirs)
                for runtime, ask in runtimes.items():
                    compare(f"{name}, {runtime}", ask(lines, BATCH), expected[0], lines, theirs)
                    alone = ask(lines[:ALONE], 1)
                    compare(f"{name}, {runtime}, alone", alone, expected[1], lines, theirs)
                shutil.copytree(arguments.ort.parent.parent, Path(place, "node_modules"))
                for runtime, answers in {
                    "Node": in_node(site, lines),
                    "Chromium": in_chromium(browser, site, lines),
                }.items():
                    compare(f"{name}, {runtime}", answers[0], expected[0], lines, theirs)
                    compare(f"{name}, {runtime}, alone", answers[1], expected[1], lines, theirs)


def cut(answers: Answers) -> Answers:
    """Return the answers to the texts that are also translated one by one."""
    return Answers(answers.best[:ALONE], answers.weights[:ALONE])


if __name__ == "__main__":
    main()
