"""Comparison of attentions and cells on pronunciation and inflection, as a table.

    python benchmarks/attentions.py --pronunciation G2P --inflection CONLL --output attentions.jsonl
    python benchmarks/attentions.py --output attentions.jsonl --table

`G2P` has the files `LANGUAGE_train.tsv`, `_dev` and `_test` of SIGMORPHON 2020, task 1, and `CONLL`
has `LANGUAGE-train-medium`, `-dev` and `-test` of CoNLL-SIGMORPHON 2017, task 1. The tags of a form
are single tokens in front of its lemma. All models have embeddings of 64 and about the same size,
and are trained with the same number of updates, about 1,500, in batches of 32, with a dropout rate
of 0.3, and Adam with a cosine schedule that starts at 0.002. The first 150 development words choose
the epoch. Search is greedy.

Each training runs in a child process, and appends a JSON line to `--output`: the percentage of test
words that are exactly right, the target tokens per CPU second of training, and the CPU
seconds. A training that the file already has is skipped, so an interrupted comparison goes on where
it was. `--table` prints the means over languages, and the standard deviation over seeds.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

ROWS: dict[str, dict[str, Any]] = {
    "bahdanau_gru": {"name": "bahdanau_gru"},
    "bahdanau_gru, sparsemax": {"name": "bahdanau_gru", "normalizer": "sparsemax"},
    "bahdanau_gru, entmax15": {"name": "bahdanau_gru", "normalizer": "entmax15"},
    "bahdanau_gru, layer normalization": {"name": "bahdanau_gru", "layer_normalization": True},
    "bahdanau_gru, location-sensitive": {
        "name": "bahdanau_gru",
        "attention": "location_sensitive",
    },
    "bahdanau_gru, monotonic": {"name": "bahdanau_gru", "attention": "monotonic"},
    "bahdanau_gru, chunkwise": {"name": "bahdanau_gru", "attention": "chunkwise"},
    "bahdanau_gru, gaussian": {"name": "bahdanau_gru", "attention": "gaussian"},
    "bahdanau_gru, tag features": {"name": "bahdanau_gru", "tags": "concat"},
    "bahdanau_gru, monotonic, tag features": {
        "name": "bahdanau_gru",
        "attention": "monotonic",
        "tags": "concat",
    },
    "luong_general_lstm": {"name": "luong_general_lstm"},
    "luong_general_lstm, input feeding": {"name": "luong_general_lstm", "input_feeding": True},
    "cgru": {"name": "cgru"},
    "cgru, layer normalization": {"name": "cgru", "layer_normalization": True},
    "cgru, four transitions": {"name": "cgru", "transitions": 4},
    "hard_attention_lstm": {"name": "hard_attention_lstm"},
    "hard_monotonic_lstm, order 0": {"name": "hard_monotonic_lstm", "order": 0},
    "hard_monotonic_lstm, order 0, tag features": {
        "name": "hard_monotonic_lstm",
        "order": 0,
        "tags": "concat",
    },
    "hard_monotonic_lstm, order 1": {"name": "hard_monotonic_lstm", "order": 1},
    "transformer_tiny": {"name": "transformer_tiny"},
    "transformer_tiny, ssru": {"name": "transformer_tiny", "decoder": "ssru"},
    "transformer_tiny, average_attention": {
        "name": "transformer_tiny",
        "decoder": "average_attention",
    },
}
UPDATES, BATCH, CHOOSING = 1500, 32, 150
SIZES = {"embedding_dim": 64, "units": 128, "dropout": 0.3}
TRANSFORMER = {"units": 64, "hidden_units": 256, "num_heads": 4, "encoder_layers": 2}
TRANSFORMER |= {"decoder_layers": 2, "dropout": 0.3}
LANGUAGES = {"pronunciation": ["bul", "dut", "geo"], "inflection": ["finnish", "german", "turkish"]}


def pronunciation(folder: Path, language: str, part: str) -> Iterator[tuple[str, str]]:
    """Yield words and their phones."""
    for line in (folder / f"{language}_{part}.tsv").read_text(encoding="utf-8").splitlines():
        word, phones = line.split("\t")
        yield word, phones


def inflection(folder: Path, language: str, part: str) -> Iterator[tuple[str, str]]:
    """Yield lemmas, with the tags of a form in front, and the form with spaces between letters."""
    from kerasnmt.text import with_tags

    name = f"{language}-train-medium" if part == "train" else f"{language}-{part}"
    for line in (folder / name).read_text(encoding="utf-8").splitlines():
        lemma, form, tags = line.split("\t")
        yield with_tags(lemma, tags), " ".join(form)


PAIRS = {"pronunciation": pronunciation, "inflection": inflection}


def train(row: str, task: str, folder: Path, language: str, seed: int) -> dict[str, Any]:
    """Train and score one model."""
    from rich.console import Console

    from kerasnmt.training import Recipe, train

    with tempfile.TemporaryDirectory() as place:
        paths = {part: Path(place, f"{part}.tsv") for part in ("train", "dev", "test")}
        for part, path in paths.items():
            pairs = [*PAIRS[task](folder, language, part)]
            pairs = pairs[:CHOOSING] if part == "dev" else pairs
            text = "".join(f"{source}\t{target}\n" for source, target in pairs)
            path.write_text(text, encoding="utf-8")
        count = len(paths["train"].read_text(encoding="utf-8").splitlines())
        transformer = ROWS[row]["name"].startswith("transformer")
        recipe = Recipe.from_dict(
            {
                "model": (TRANSFORMER if transformer else SIZES) | ROWS[row],
                "tokenizer": {
                    "source": {"kind": "characters", "tags": True},
                    "target": {"kind": "words"},
                },
                "data": {
                    "train": {"pairs": str(paths["train"])},
                    "validation": {"pairs": str(paths["dev"])},
                    "test": {"pairs": str(paths["test"])},
                },
                "training": {
                    "batch_size": BATCH,
                    "epochs": -(-UPDATES * BATCH // count),
                    "learning_rate": 0.002,
                    "learning_rate_schedule": "cosine",
                    "warmup_steps": 200,
                    "monitor": "exact",
                    "seed": seed,
                },
                "search": {"beam_size": 1, "max_length": 60},
            }
        )
        with open(os.devnull, "w", encoding="utf-8") as silence:
            results = train(recipe, Path(place, "run"), console=Console(file=silence))
    return {
        "row": row,
        "task": task,
        "language": language,
        "seed": seed,
        "exact": results["exact"],
        "parameters": results["parameters"],
        "tokens_per_cpu_second": results["target_tokens_per_second"]
        * results["train_seconds"]
        / results["train_cpu_seconds"],
        "cpu_seconds": results["train_cpu_seconds"],
    }


def table(lines: list[dict[str, Any]]) -> str:
    """Return the rows as a table in Markdown, in the order of `ROWS`."""
    headings = ["model"]
    headings += [language for task in LANGUAGES for language in (*LANGUAGES[task], task)]
    headings += ["spread", "tokens per CPU s"]
    found = defaultdict(list)
    for line in lines:
        found[line["row"], line["language"]].append(line)
    text = ["| " + " | ".join(headings) + " |", "|" + "---|" * len(headings)]
    for row in ROWS:
        cells, spreads, speeds = [], [], []
        for languages in LANGUAGES.values():
            means = []
            for language in languages:
                exact = [line["exact"] for line in found[row, language]]
                speeds += [line["tokens_per_cpu_second"] for line in found[row, language]]
                means += [statistics.mean(exact)] if exact else []
                spreads += [statistics.stdev(exact)] if len(exact) > 1 else []
                cells.append(f"{means[-1]:.1f}" if exact else "")
            cells.append(f"{statistics.mean(means):.1f}" if len(means) == len(languages) else "")
        cells.append(f"{statistics.mean(spreads):.1f}" if spreads else "")
        cells.append(f"{statistics.mean(speeds):,.0f}" if speeds else "")
        if any(cells):
            text.append(f"| {row} | " + " | ".join(cells) + " |")
    return "\n".join(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--pronunciation", type=Path, help="folder of SIGMORPHON 2020")
    parser.add_argument("--inflection", type=Path, help="folder of CoNLL-SIGMORPHON 2017")
    parser.add_argument("--output", type=Path, required=True, help="file of JSON lines")
    parser.add_argument("--rows", nargs="+", choices=ROWS, default=[*ROWS])
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--languages", nargs="+", help="languages instead of the usual six")
    parser.add_argument("--table", action="store_true", help="print the table and train nothing")
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    folders = {"pronunciation": options.pronunciation, "inflection": options.inflection}
    if options.one:
        row, task, language, seed = options.one
        print(json.dumps(train(row, task, folders[task], language, int(seed))))
        return
    text = options.output.read_text(encoding="utf-8") if options.output.exists() else ""
    lines = [json.loads(line) for line in text.splitlines()]
    if options.table:
        print(table(lines))
        return
    done = {(line["row"], line["language"], line["seed"]) for line in lines}
    for seed in options.seeds:
        for task, folder in folders.items():
            for language in LANGUAGES[task] if folder else []:
                for row in options.rows:
                    wanted = not options.languages or language in options.languages
                    # Words to pronounce have no tags.
                    fits = task == "inflection" or "tags" not in ROWS[row]
                    if not (wanted and fits) or (row, language, seed) in done:
                        continue
                    one = ["--one", row, task, language, str(seed)]
                    command = [sys.executable, __file__, f"--{task}", folder, "--output"]
                    child = subprocess.run(
                        [*command, options.output, *one], stdout=subprocess.PIPE, text=True
                    )
                    if child.returncode:
                        print(f"{row}, {language}, seed {seed}: failed", file=sys.stderr)
                        continue
                    with options.output.open("a", encoding="utf-8") as file:
                        file.write(child.stdout.splitlines()[-1] + "\n")


if __name__ == "__main__":
    main()
