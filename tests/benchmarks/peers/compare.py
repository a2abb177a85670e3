"""Compare kerasnmt with JoeyNMT and OpenNMT-tf: training steps, training, and translation.

    python tests/benchmarks/peers/compare.py HOME steps --corpus DATA
    python tests/benchmarks/peers/compare.py HOME fit --corpus DATA --cpu-minutes 40
    python tests/benchmarks/peers/compare.py HOME decode --corpus DATA    # after fit

HOME is a folder outside the project, for all files. The first call creates an environment for each
peer, JoeyNMT 2.3.0 on PyTorch 2.13.0 and OpenNMT-tf 2.32.0 on TensorFlow 2.13.1, which takes about
4 GB and ten minutes. DATA contains the files of Multi30k that its model card describes: `train`,
`val` and `test_2016_flickr`, each as `.en.gz` and `.de.gz`.

All systems have the same sizes: a joint SentencePiece vocabulary of 8,000 pieces, embeddings and
units of size 256, a bidirectional GRU as encoder, a GRU with input feeding as decoder, a dropout
rate of 0.2, label smoothing of 0.1, Adam with a learning rate of 0.001, and batches of 64 pairs.
They have about 8 million parameters. JoeyNMT uses Bahdanau's attention, and its counterpart is
`bahdanau_gru`. OpenNMT-tf uses Luong's attention, and its counterpart is `luong_general_gru` with
input feeding and `encoder_units=512`, for the same number of units in each direction of the
encoder. `luong_general_gru` is also trained in half precision, `mixed_bfloat16` of Keras, which is
faster on CPUs with AVX512_BF16 or AMX. It translates in float32. The peers train in float32.

kerasnmt and OpenNMT-tf batch pairs of similar lengths, kerasnmt with `few_shapes=False`. JoeyNMT
does not.

The peers use their default settings. kerasnmt trains with oneDNN on every CPU, like
`kerasnmt train`.

- `steps`: measures `--steps` steps after `--warmup` steps. The systems take turns, `--rounds`
  times. The results are medians.
- `fit`: trains for `--cpu-minutes`. Greedy validation after each epoch is not counted. One system
  per core is trained at a time. Writes `HOME/curves.png`, with the curves of all systems that were
  trained in this folder, and the models for `decode`.
- `decode`: translates 1,000 sentences with greedy search and with 5 beams, in batches of 64, and
  100 sentences one by one.

Each system runs on one core, because threads that wait for each other use CPU time, and the systems
start different numbers of threads. With `--all-cores`, `steps` and `decode` run with the default
threads of each system on all cores. The clock starts after the warm-up.
"""

import argparse
import gzip
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
PEERS = ("joeynmt", "opennmt")
LABELS = {
    "bahdanau_gru": "kerasnmt, bahdanau_gru",
    "joeynmt": "JoeyNMT",
    "luong_general_gru": "kerasnmt, luong_general_gru",
    "luong_general_gru-bfloat16": "kerasnmt, luong_general_gru, bfloat16",
    "opennmt": "OpenNMT-tf",
}
SYSTEMS = tuple(LABELS)


def pip(python: Path, *packages: str) -> None:
    subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)


def install(home: Path) -> None:
    """Create the environments of the peers."""
    joey, opennmt = (home / name / "bin" / "python" for name in ("joeynmt", "opennmt"))
    if not (home / "joeynmt" / "installed").exists():
        subprocess.run([sys.executable, "-m", "venv", home / "joeynmt"], check=True)
        pip(joey, "torch==2.13.0", "numpy<2")
        # Its requirements conflict. These are the packages that it imports.
        pip(joey, "--no-deps", "joeynmt==2.3.0")
        needed = "importlib_metadata sentencepiece==0.2.0 sacrebleu subword-nmt sacremoses datasets"
        needed += " pyyaml tensorboard matplotlib seaborn packaging pillow numpy<2"
        pip(joey, *needed.split())
        # PyTorch 2.13 no longer accepts the argument `verbose` of a schedule.
        (builders,) = (home / "joeynmt").glob("lib/*/site-packages/joeynmt/builders.py")
        code = builders.read_text(encoding="utf-8").splitlines(keepends=True)
        code = [line for line in code if '"verbose": False,' not in line]
        builders.write_text("".join(code), encoding="utf-8")
        (home / "joeynmt" / "installed").touch()
    if not (home / "opennmt" / "installed").exists():
        subprocess.run([sys.executable, "-m", "venv", home / "opennmt"], check=True)
        pip(opennmt, "opennmt-tf==2.32.0", "tensorflow-cpu==2.13.1", "sentencepiece", "sacrebleu")
        (home / "opennmt" / "installed").touch()


def prepare(home: Path, corpus: Path) -> None:
    """Write the corpus in the format of each peer."""
    import sentencepiece

    data = home / "data"
    if (data / "prepared").exists():
        return
    data.mkdir(parents=True, exist_ok=True)
    splits = {"train": "train", "val": "val", "test_2016_flickr": "test"}
    for split, name in splits.items():
        for language in ("en", "de"):
            text = gzip.decompress((corpus / f"{split}.{language}.gz").read_bytes())
            (data / f"{name}.{language}").write_bytes(text)
    sentencepiece.SentencePieceTrainer.train(
        input=[str(data / "train.en"), str(data / "train.de")],
        model_prefix=str(data / "pieces"),
        vocab_size=8000,
        model_type="unigram",
        unk_id=0,
        pad_id=1,
        bos_id=2,
        eos_id=3,
        minloglevel=2,
    )
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(data / "pieces.model"))
    entries = [pieces.id_to_piece(number) for number in range(len(pieces))]
    for peer, vocabulary in (
        ("joeynmt", entries),
        ("opennmt", ["<blank>", "<s>", "</s>", *entries[4:]]),
    ):
        text = "".join(f"{entry}\n" for entry in vocabulary)
        (data / f"{peer}.vocabulary").write_text(text, encoding="utf-8")
    for language in ("en", "de"):
        lines = (data / f"train.{language}").read_text(encoding="utf-8").splitlines()
        encoded = (" ".join(pieces.encode(line.strip(), out_type=str)) for line in lines)
        text = "".join(f"{line}\n" for line in encoded)
        (data / f"train.pieces.{language}").write_text(text, encoding="utf-8")
    (data / "prepared").touch()


def cores_of(arguments: argparse.Namespace) -> set[int]:
    cores = os.sched_getaffinity(0)
    return cores if arguments.all_cores else {min(cores)}


def drive(home: Path, system: str, mode: str, *options: str, cores: set[int]) -> dict:
    """Run a driver, and read its answer."""
    peer = system if system in PEERS else None
    python = home / peer / "bin" / "python" if peer else Path(sys.executable)
    command = [python, HERE / f"{peer or 'kerasnmt'}_driver.py", mode, "--home", home, *options]
    command += [] if peer else ["--system", system]
    environment = os.environ | ({"PYTHONPATH": str(HERE.parents[2])} if not peer else {})
    if not peer and mode != "decode":
        environment |= {"TF_ENABLE_ONEDNN_OPTS": "1"}
    if peer == "joeynmt":
        environment |= {"OMP_NUM_THREADS": str(len(cores))}
    log = home / f"{system}_{mode}.log"
    with log.open("w") as errors:
        done = subprocess.run(
            list(map(str, command)),
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=environment,
            cwd=HERE,
            preexec_fn=lambda: os.sched_setaffinity(0, cores),
        )
    answers = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    if not answers:
        raise SystemExit(f"{LABELS[system]} failed in {mode}; see {log}")
    return json.loads(answers[-1].removeprefix("RESULT "))


def medians(results: list[dict]) -> dict:
    return {
        key: statistics.median(result[key] for result in results)
        for key, value in results[0].items()
        if value is not None
    }


def steps(home: Path, arguments: argparse.Namespace) -> Iterator[dict]:
    options = ["--steps", str(arguments.steps), "--warmup", str(arguments.warmup)]
    results = {system: [] for system in arguments.systems}
    for _ in range(arguments.rounds):
        for system in arguments.systems:
            found = drive(home, system, "steps", *options, cores=cores_of(arguments))
            results[system].append(found)
    for system, found in results.items():
        yield {"system": LABELS[system]} | medians(found)


def fit(home: Path, arguments: argparse.Namespace) -> Iterator[dict]:
    cores = sorted(os.sched_getaffinity(0))
    free = list(cores)

    def run(system: str) -> dict:
        core = free.pop()
        try:
            return drive(
                home, system, "fit", "--cpu-minutes", str(arguments.cpu_minutes), cores={core}
            )
        finally:
            free.append(core)

    with ThreadPoolExecutor(len(cores)) as pool:
        results = dict(zip(arguments.systems, pool.map(run, arguments.systems), strict=True))
    curves = {}
    for system, label in LABELS.items():
        name = "opennmt_curve.jsonl" if system == "opennmt" else f"{system}/curve.jsonl"
        if system not in results and not (home / "runs" / name).exists():
            continue
        lines = (home / "runs" / name).read_text().splitlines()
        curves[label] = [json.loads(line) for line in lines]
        if system in results:
            yield {"system": label} | results[system] | curves[label][-1]
    draw(curves, home / "curves.png")


def draw(curves: dict[str, list[dict]], path: Path) -> None:
    """Plot BLEU of the validation data against the CPU time of training, one line per system."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot()
    for label, points in curves.items():
        minutes, bleu = ([point[key] for point in points] for key in ("cpu_minutes", "val_bleu"))
        axes.plot(minutes, bleu, marker="o", markersize=3, label=label)
    axes.set_xlabel("CPU minutes of training")
    axes.set_ylabel("BLEU, validation data, greedy")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    figure.legend(loc="outside upper center", ncols=2)
    figure.savefig(path, dpi=150)


def decode(home: Path, arguments: argparse.Namespace) -> Iterator[dict]:
    results = {}
    for _ in range(arguments.rounds):
        for batch_size, sentences in ((64, 1000), (1, 100)):
            for beam_size in (1, 5):
                for system in arguments.systems:
                    options = {
                        "--batch-size": batch_size,
                        "--beam-size": beam_size,
                        "--sentences": sentences,
                    }
                    flat = [str(part) for option in options.items() for part in option]
                    key = (system, batch_size, beam_size)
                    found = drive(home, system, "decode", *flat, cores=cores_of(arguments))
                    results.setdefault(key, []).append(found)
    for (system, batch_size, beam_size), found in results.items():
        setting = {"system": LABELS[system], "batch_size": batch_size, "beam_size": beam_size}
        yield setting | medians(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("home", type=Path, help="folder outside the project")
    parser.add_argument("what", choices=("steps", "fit", "decode"))
    parser.add_argument("--corpus", type=Path, required=True, help="folder of Multi30k")
    parser.add_argument(
        "--systems", nargs="+", choices=SYSTEMS, default=SYSTEMS, help="systems to measure"
    )
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--warmup", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3, help="rounds of steps and decode")
    parser.add_argument("--all-cores", action="store_true", help="for steps and decode")
    parser.add_argument("--cpu-minutes", type=float, default=40.0, help="time of fit per system")
    arguments = parser.parse_args()

    home = arguments.home.resolve()
    install(home)
    prepare(home, arguments.corpus)
    for result in {"steps": steps, "fit": fit, "decode": decode}[arguments.what](home, arguments):
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
