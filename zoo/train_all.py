"""Train a recipe for several seeds and languages, and score the ensembles of the seeds.

    cd zoo/bahdanau_gru_g2p
    python ../train_all.py recipe.yaml runs --languages ady dut --seeds 1 2 3 --jobs 2 --set \
      'data.train.pairs=data/{language}_train.tsv' 'data.validation.pairs=data/{language}_dev.tsv' \
      'data.test.pairs=data/{language}_test.tsv'

`--set` changes the recipe; `{language}` stands for the language. Each training run is a
child process on one core, and writes to `runs/LANGUAGE_SEED`. A finished run is not trained
again, and an interrupted run is resumed. `runs/results.json` has the scores of each run, and those
of the ensemble of all seeds of a language. The script prints them as a table in Markdown.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from kerasnmt.atomic_write import atomic_write
from kerasnmt.training import Recipe

PROGRAM = [sys.executable, "-m", "kerasnmt.cli"]
SCORES = ("bleu", "chrf", "exact")


def run_folder(runs: Path, language: str, seed: int) -> Path:
    """Return the folder of a run."""
    return runs / "_".join(filter(None, (language, str(seed))))


def train(recipe: Path, run: Path, overrides: Sequence[str]) -> None:
    """Train a run in a child process, unless it is finished.

    Raises:
        SystemExit: If the training fails.
    """
    if (run / "results.json").exists():
        return
    resume = ["--resume"] if (run / "recipe.yaml").exists() else []
    command = [*PROGRAM, "train", recipe, *overrides, "--output", run, *resume]
    environment = os.environ | {"TF_NUM_INTRAOP_THREADS": "1", "TF_NUM_INTEROP_THREADS": "1"}
    print(f"training {run}", file=sys.stderr)
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{run}: {done.stderr.strip()[-2000:]}")


def check_settings(runs: Path, settings: Sequence[str]) -> None:
    """Check that earlier runs in a folder have the same recipe and changes.

    Raises:
        SystemExit: If they do not.
    """
    path, text = runs / "settings.json", json.dumps(settings, indent=1) + "\n"
    if not path.exists():
        with atomic_write(path) as temporary:
            temporary.write_text(text, encoding="utf-8")
    elif path.read_text(encoding="utf-8") != text:
        raise SystemExit(
            f"Expected the recipe and --set of the earlier runs in {runs}. Received others. Choose "
            "another folder."
        )


def ensemble(runs: Sequence[Path], test: Any) -> dict[str, float]:
    """Return the scores of an ensemble on the test pairs of a recipe."""
    if test.pairs:
        data = ["--pairs", test.pairs]
        data += ["--columns", ",".join(map(str, test.columns))] if test.columns else []
        data += ["--tags-column", str(test.tags)] if test.tags is not None else []
    else:
        data = ["--source", test.source, "--reference", test.target]
    others = [argument for run in runs[1:] for argument in ("--with", run)]
    command = [*PROGRAM, "evaluate", runs[0], *others, *data, "--json"]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    scores = json.loads(done.stdout)
    return {name: scores[name] for name in SCORES}


def table(results: dict[str, dict[str, Any]], score: str) -> str:
    """Return a row for each language: the mean and the deviation over seeds, and the ensemble."""
    lines = [f"| language | {score}, mean of seeds | deviation | ensemble |", "|---|---|---|---|"]
    rows: dict[str, list[float | None]] = {}
    for language, scores in results.items():
        own = [one[score] for one in scores["runs"].values()]
        deviation = statistics.stdev(own) if len(own) > 1 else None
        together = scores.get("ensemble", {}).get(score)
        rows[language or "all"] = [statistics.mean(own), deviation, together]
    columns = list(zip(*rows.values(), strict=True))
    rows["mean"] = [None if None in column else statistics.mean(column) for column in columns]
    for name, cells in rows.items():
        texts = ["–" if cell is None else f"{cell:.2f}" for cell in cells]
        lines.append("| " + " | ".join([name, *texts]) + " |")
    return "\n".join(lines)


def main() -> None:
    """Train and score all runs."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("recipe", type=Path)
    parser.add_argument("runs", type=Path, help="folder of the runs")
    parser.add_argument("--set", nargs="+", default=[], metavar="KEY=VALUE")
    parser.add_argument("--languages", nargs="+", default=[""], help="values of {language}")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1])
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="training runs at a time")
    parser.add_argument("--score", choices=SCORES, default="exact", help="score of the table")
    arguments = parser.parse_args()
    recipe = arguments.recipe.read_text(encoding="utf-8")
    check_settings(arguments.runs, [recipe, *arguments.set])
    changes = {
        language: [change.replace("{language}", language) for change in arguments.set]
        for language in arguments.languages
    }
    work = [
        (
            arguments.recipe,
            run_folder(arguments.runs, language, seed),
            [*changes[language], f"training.seed={seed}"],
        )
        for seed in arguments.seeds
        for language in arguments.languages
    ]
    with ThreadPoolExecutor(arguments.jobs) as pool:
        list(pool.map(train, *zip(*work, strict=True)))
    results: dict[str, dict[str, Any]] = {}
    for language in arguments.languages:
        runs = [run_folder(arguments.runs, language, seed) for seed in arguments.seeds]
        scored = [json.loads((run / "results.json").read_text(encoding="utf-8")) for run in runs]
        kept = (*SCORES, "perplexity", "parameters", "train_cpu_seconds")
        results[language] = {
            "runs": {
                str(seed): {name: one[name] for name in kept}
                for seed, one in zip(arguments.seeds, scored, strict=True)
            }
        }
        test = Recipe.load(arguments.recipe, changes[language]).data.test
        if len(runs) > 1 and test and not test.builtin:
            results[language]["ensemble"] = ensemble(runs, test)
    with atomic_write(arguments.runs / "results.json") as path:
        path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(table(results, arguments.score))


if __name__ == "__main__":
    main()
