"""Kill a random process of a training run at a random time, again and again, and resume it.

    python benchmarks/kills.py --kills 20

The run is a small one on the built-in corpus, in two processes. The benchmark prints how long
each kill took until all processes had ended, and compares the losses of all epochs with a run
without interruption.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RECIPE = """
model: {name: bahdanau_gru, units: 16, embedding_dim: 16, dropout: 0.2}
tokenizer: {shared: {kind: words, vocabulary_size: 300}}
data: {train: {builtin: 96}, validation: {builtin: 16}, max_length: 13}
training: {epochs: 24, batch_size: 16, checkpoint_every: 2, seed: 1}
search: {max_length: 13}
"""
# Seconds from the start of training to a kill: some while it starts, most while it trains.
SOONEST, LATEST = 5.0, 40.0


def start(folder, run, *words):
    """Start the training in two processes."""
    command = [sys.executable, "-m", "kerasnmt.cli", "launch", "-n", "2", "train"]
    return subprocess.Popen(
        [*command, "recipe.yaml", "--output", run, *words],
        cwd=folder,
        env=os.environ | {"JAX_COMPILATION_CACHE_DIR": str(folder / "cache")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    """Wait for the end of a run that is not killed."""
    _, error = process.communicate()
    if process.returncode:
        raise RuntimeError(error)


def kill(process, seconds):
    """Kill a random process after some seconds, and return what happened, or None if too late."""
    try:
        process.wait(seconds)
        return None
    except subprocess.TimeoutExpired:
        children = subprocess.run(
            ["pgrep", "-P", str(process.pid)], capture_output=True, text=True, check=False
        )
        found = [int(line) for line in children.stdout.split()]
        index = random.randrange(len(found))
        begin = time.monotonic()
        os.kill(found[index], signal.SIGKILL)
        process.communicate()
        return index, process.returncode, time.monotonic() - begin


def losses(folder, run):
    lines = (folder / run / "history.jsonl").read_text().splitlines()
    return [(json.loads(line)["loss"], json.loads(line)["val_loss"]) for line in lines]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    random.seed(arguments.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "recipe.yaml").write_text(RECIPE)
        finish(start(folder, "whole"))
        kills = []
        while len(kills) < arguments.kills:
            begun = (folder / "killed" / "recipe.yaml").exists()
            process = start(folder, "killed", *(["--resume"] if begun else []))
            killed = kill(process, random.uniform(SOONEST, LATEST))
            if killed is None:
                print(f"the training was done after {len(kills)} kills")
                break
            kills.append(killed)
            index, code, seconds = killed
            latest = max((folder / "killed" / "checkpoints").glob("*.npz"), default=None)
            print(
                f"kill {len(kills):2}: process {index}, exit code {code}, all ended after "
                f"{seconds:.2f} s, latest checkpoint {latest.stem if latest else 'none'}",
                flush=True,
            )
        else:
            finish(start(folder, "killed", "--resume"))
        whole, resumed = losses(folder, "whole"), losses(folder, "killed")
        differences = [
            abs(left - right)
            for one, other in zip(whole, resumed, strict=True)
            for left, right in zip(one, other, strict=True)
        ]
        print(f"longest end {max(seconds for *_, seconds in kills):.2f} s")
        print(f"final loss {whole[-1][0]:.6f}, after kills {resumed[-1][0]:.6f}; ", end="")
        print(f"largest difference of a loss in {len(whole)} epochs {max(differences):.1e}")


if __name__ == "__main__":
    main()
