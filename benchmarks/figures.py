"""Measure most figures of the benchmark pages again, one command after the other.

    python benchmarks/figures.py [NAME …]         # make figures
    python benchmarks/figures.py --list

Each command of `COMMANDS` writes `benchmarks/results/figures/NAME.json`: the command, the commit,
the versions, the processor, the load of the machine when it started, the wall seconds, the CPU
seconds of all processes, and what it printed. A result of the present commit of `kerasnmt` and of
the script stays, so an interrupted call resumes. With changes that are not committed, all commands
run. The data of the cards must be there; a command without its data is named at the end. The exit
code is 1 if a command failed.
"""

import argparse
import json
import os
import resource
import shlex
import subprocess
import sys
import time
from datetime import date
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks/results/figures"
TATOEBA = "zoo/bahdanau_gru_tatoeba/data"
COMMANDS = {
    "startup": "benchmarks/startup.py --rounds 1",
    "first_words": "benchmarks/first_words.py --beam-size 1 --beam-size 5",
    "page": "benchmarks/page.py",
    "decoder": "benchmarks/decoder.py luong_general_lstm luong_general_lstm:input_feeding=true",
    "floor": "benchmarks/floor.py",
    "drop_ins": "benchmarks/drop_ins.py",
    "normalizers": "benchmarks/normalizers.py",
    "serving": "benchmarks/serving.py --vocabulary-size 2000",
    "serving_greedy": "benchmarks/serving.py --vocabulary-size 2000 --beam-size 1",
    "runtimes": f"benchmarks/runtimes.py tatoeba_en_fr_gru --pairs {TATOEBA}/en_fr/test.tsv "
    "--rounds 1 --alone 50 --weights float32 int8 --runtimes SavedModel ONNX LiteRT",
    "runtimes_transformer": "benchmarks/runtimes.py tatoeba_en_fr_transformer "
    f"--pairs {TATOEBA}/en_fr/test.tsv --rounds 1 --alone 50 --weights float32 int8",
    "tokens": "benchmarks/runtimes.py tatoeba_en_fr_transformer --rounds 2 --alone 5 "
    f"--pairs {TATOEBA}/en_fr/test.tsv --weights int8 --runtimes CTranslate2 "
    "--search beam_size=3 shortlist=true",
    "int8_products": "benchmarks/int8_products.py",
    "terms": f"benchmarks/terms.py {TATOEBA}/en_fr/test.tsv",
    "shortlist": f"benchmarks/shortlist.py {TATOEBA}/en_fr/train.tsv {TATOEBA}/en_fr/test.tsv",
    "confidence": f"benchmarks/confidence.py tatoeba_en_fr_gru {TATOEBA}/en_fr/validation.tsv "
    f"{TATOEBA}/en_fr/test.tsv",
    "fuzz": "benchmarks/fuzz.py",
    "streaming": "benchmarks/streaming.py",
    "shards": "benchmarks/shards.py",
    "growth": "benchmarks/growth.py --plot benchmarks/results",
    "copying": "benchmarks/copying.py",
    "sorting": "benchmarks/sorting.py",
    "zoo": "benchmarks/zoo.py",
    **{
        f"evaluate_{preset}": f"-m kerasnmt.cli evaluate {preset} --pairs {data}"
        for preset, data in {
            "tatoeba_en_fr_gru": f"{TATOEBA}/en_fr/test.tsv",
            "tatoeba_fr_en_gru": f"{TATOEBA}/fr_en/test.tsv",
            "tatoeba_en_de_gru": f"{TATOEBA}/en_de/test.tsv",
            "tatoeba_de_en_gru": f"{TATOEBA}/de_en/test.tsv",
            "tatoeba_en_fr_transformer": f"{TATOEBA}/en_fr/test.tsv",
            "tatoeba_fr_en_transformer": f"{TATOEBA}/fr_en/test.tsv",
            "g2p_english": "zoo/bahdanau_gru_cmudict/data/test.tsv",
            "dates_iso": "zoo/luong_general_lstm_dates/data/test.tsv",
            "words_to_numbers": "zoo/luong_general_lstm_numbers/data/words_to_numbers/test.tsv",
            "numbers_to_words": "zoo/luong_general_lstm_numbers/data/numbers_to_words/test.tsv",
        }.items()
    },
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="by default all")
    parser.add_argument("--list", action="store_true", help="print the names and their commands")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(COMMANDS):
        parser.error(f"no figures are named {', '.join(sorted(unknown))}: see --list")
    chosen = {name: COMMANDS[name] for name in arguments.names or COMMANDS}
    if arguments.list:
        print("\n".join(f"{name:28} python {command}" for name, command in chosen.items()))
        return 0
    states = {name: make(name, command) for name, command in chosen.items()}
    for state in sorted(set(states.values())):
        print(f"{state}: {', '.join(name for name in states if states[name] == state)}")
    return int("failed" in states.values())


def make(name, command):
    """Run a command unless its result is there; return what became of it."""
    words = shlex.split(command)
    data = [word for word in words if word.endswith(".tsv")]
    if missing := [word for word in data if not (ROOT / word).exists()]:
        return f"needs {', '.join(missing)}"
    code = [tree("kerasnmt"), *(tree(word) for word in words if word.endswith(".py"))]
    file = RESULTS / f"{name}.json"
    if None not in code and file.exists() and json.loads(file.read_text())["code"] == code:
        return "there already"
    print(f"{name}: python {command}", flush=True)
    load, start, before = os.getloadavg()[0], time.monotonic(), children()
    run = subprocess.run(
        [sys.executable, *words], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False
    )
    if run.returncode:
        return "failed"
    result = {
        "command": f"python {command}",
        "code": code,
        "commit": git("rev-parse", "--short", "HEAD"),
        "date": str(date.today()),
        "versions": {package: version(package) for package in ("tensorflow", "keras")},
        "processor": processor(),
        "load": round(load, 1),
        "seconds": round(time.monotonic() - start, 1),
        "cpu_seconds": round(children() - before, 1),
        "output": run.stdout.splitlines(),
    }
    RESULTS.mkdir(exist_ok=True)
    file.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    return "made"


def tree(path):
    """Return the hash of a file or folder in the commit, or None if it has other changes."""
    return None if git("status", "--porcelain", "--", path) else git("rev-parse", f"HEAD:{path}")


def git(*words):
    return subprocess.run(
        ["git", *words], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()


def children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def processor():
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = (line.partition(": ")[2] for line in lines if line.startswith("model name"))
    return next(names, "unknown")


if __name__ == "__main__":
    sys.exit(main())
