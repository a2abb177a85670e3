"""Compare kerasnmt with other libraries: training steps, training, and translation.

    python benchmarks/peers/compare.py HOME steps --corpus DATA
    python benchmarks/peers/compare.py HOME fit --corpus DATA --cpu-minutes 40
    python benchmarks/peers/compare.py HOME decode --corpus DATA    # after fit

HOME is a folder outside the project, for all files. The first call creates an environment in HOME
for each peer of `--systems`: JoeyNMT 2.3.0, eole 0.6.4 and Transformers 5.24.0 on PyTorch 2.13.0,
and OpenNMT-tf 2.32.0 on TensorFlow 2.13.1. They take about 6 GB with PyTorch for CPUs, and twenty
minutes.

DATA is a folder with `train.tsv`, `validation.tsv` and `test.tsv`: a source, a tab and a target in
each line, as `zoo/bahdanau_gru_tatoeba/prepare.py` writes them. Or it is the folder of Multi30k,
English to German, that its model card describes, with `train`, `val` and `test_2016_flickr`, each
as `.en.gz` and `.de.gz`. BLEU compares with all references of a sentence, from consecutive
lines. All files of a corpus are in `HOME/NAME`, where NAME is the name of DATA.

All systems share a joint SentencePiece vocabulary of 8,000 pieces, a dropout rate of 0.2, label
smoothing of 0.1, Adam, gradients of norm 1 at most, and batches of 64 pairs:

- Recurrent models have about 8 million parameters: embeddings and units of size 256, a
  bidirectional GRU as encoder, a GRU with input feeding as decoder, and a learning rate of 0.001.
  JoeyNMT uses Bahdanau's attention, and its counterpart is `bahdanau_gru`. OpenNMT-tf and eole use
  Luong's attention. Their counterpart is `luong_general_gru` with input feeding and
  `encoder_units=512`, for the same number of units in each direction of the encoder as in
  OpenNMT-tf. It is also trained in half precision, `mixed_bfloat16` of Keras, which is faster on
  CPUs with AVX512_BF16 or AMX. It translates in float32. The peers train in float32.
- Transformers have 2.4 million parameters, in the sizes of `transformer_tiny`: 4 and 4 layers, 4
  heads, width 128, feed-forward blocks of 256, one matrix for all embeddings and the output, and a
  dropout rate of 0.1 for attention weights. The learning rate rises to 0.002 in 1,000 steps, and
  falls with the square root of the steps. The peers are eole and the `MarianMTModel` of Hugging
  Face's Transformers, with `Seq2SeqTrainer`.
- The exports of `transformer_tiny` for CTranslate2, in float32 and int8, only translate. Their
  memory includes TensorFlow, which writes them.

The peers use their default settings, and differ in these:

- Batches: JoeyNMT does not batch pairs of similar lengths. The others do, kerasnmt with
  `few_shapes=False`, and Marian with `train_sampling_strategy="group_by_length"`, which is not its
  default. eole leaves out pairs whose source is already in the batch, and makes the same batches in
  each epoch, in another order.
- Tokenization: OpenNMT-tf reads pieces that this script wrote. JoeyNMT encodes each batch. eole
  encodes an epoch when it begins, in one process instead of three, so that all CPU time counts. The
  clock of `steps` starts later. kerasnmt and Marian encode the corpus once.
- Recurrent models of eole: each direction of the encoder has 128 units, because one size is for
  encoder and decoder. The decoder starts from the last states of the encoder, without a bridge. All
  weights start from a uniform distribution.
- Transformers: Marian normalizes features after each sublayer, the others before. Its output has no
  bias, and a translation starts with padding. eole has dropout in feed-forward blocks, too. By
  default, it computes the entropy of the attention in each step.
- Beam search: the length penalty of Marian is a division by the length. The others use the formula
  of Wu et al. (2016). eole limits a translation to about twice the length of its source.

kerasnmt trains with oneDNN on every CPU, like `kerasnmt train`.

- `steps`: measures `--steps` steps after `--warmup` steps. The systems take turns, `--rounds`
  times. The results are medians.
- `fit`: trains for `--cpu-minutes`. Greedy validation after each `--validate-every` steps is not
  counted. One system per core is trained at a time. Writes `curves.png`, with the curves of all
  systems that were trained on this corpus, and the models for `decode`.
- `decode`: translates `--sentences` sentences with greedy search and with 5 beams, in batches of
  64, and a tenth of them one by one.

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
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from operator import itemgetter
from pathlib import Path

HERE = Path(__file__).parent
# Packages of each peer
PEERS = {
    "joeynmt": ["torch==2.13.0", "numpy<2"],
    "opennmt": ["opennmt-tf==2.32.0", "tensorflow-cpu==2.13.1", "sentencepiece", "sacrebleu"],
    "eole": ["torch==2.13.0", "eole==0.6.4", "sacrebleu"],
    "marian": [
        *("torch==2.13.0", "transformers==5.24.0", "accelerate==1.15.0"),
        *("sentencepiece", "sacremoses", "sacrebleu"),
    ],
    "yoyodyne": [  # for words.py
        *("torch==2.13.0", "lightning==2.6.6", "torchmetrics==1.9.0", "maxwell==0.2.6"),
        *("jsonargparse[signatures]", "omegaconf", "rich", "wandb"),
    ],
}
# The name of a peer's system begins with the peer. The others are systems of kerasnmt.
SYSTEMS = {
    "bahdanau_gru": "kerasnmt, bahdanau_gru",
    "joeynmt": "JoeyNMT, GRU",
    "luong_general_gru": "kerasnmt, luong_general_gru",
    "luong_general_gru-bfloat16": "kerasnmt, luong_general_gru, bfloat16",
    "opennmt": "OpenNMT-tf, GRU",
    "eole_gru": "eole, GRU",
    "transformer_tiny": "kerasnmt, transformer_tiny",
    "transformer_tiny-ctranslate2-float32": "kerasnmt, transformer_tiny, CTranslate2",
    "transformer_tiny-ctranslate2-int8": "kerasnmt, transformer_tiny, CTranslate2, int8",
    "eole_transformer": "eole, Transformer",
    "marian": "Hugging Face, Marian",
}
# Color of a system and of its counterparts in the picture, by the beginnings of their names
COLORS = {
    "C0": ("bahdanau", "joeynmt"),
    "C1": ("luong", "opennmt", "eole_gru"),
    "C2": ("transformer", "eole_transformer", "marian"),
}
SIDES = ("source", "target")
MULTI30K = {"train": "train", "validation": "val", "test": "test_2016_flickr"}


def pip(python: Path, *packages: str) -> None:
    subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)


def install(home: Path, peer: str) -> None:
    """Create the environment of a peer."""
    environment = home / peer
    python, installed = environment / "bin/python", environment / "installed"
    if installed.exists():
        return
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    pip(python, *PEERS[peer])
    if peer == "joeynmt":
        # Its requirements conflict. These are the packages that it imports.
        pip(python, "--no-deps", "joeynmt==2.3.0")
        needed = "importlib_metadata sentencepiece==0.2.0 sacrebleu subword-nmt sacremoses datasets"
        needed += " pyyaml tensorboard matplotlib seaborn packaging pillow numpy<2"
        pip(python, *needed.split())
        # PyTorch 2.13 no longer accepts the argument `verbose` of a schedule.
        (builders,) = environment.glob("lib/*/site-packages/joeynmt/builders.py")
        code = builders.read_text(encoding="utf-8").splitlines(keepends=True)
        code = [line for line in code if '"verbose": False,' not in line]
        builders.write_text("".join(code), encoding="utf-8")
    if peer == "yoyodyne":
        # It also requires torchaudio and torchvision, which it does not import.
        pip(python, "--no-deps", "yoyodyne==0.5.27")
    installed.touch()


def read_pairs(corpus: Path, split: str) -> list[tuple[str, str]]:
    """Return the sentence pairs of a split."""
    table = corpus / f"{split}.tsv"
    if table.exists():
        rows = (line.split("\t") for line in table.read_text(encoding="utf-8").splitlines())
        return [(source, target) for source, target, *_ in rows]
    files = (corpus / f"{MULTI30K[split]}.{language}.gz" for language in ("en", "de"))
    sides = (gzip.decompress(file.read_bytes()).decode().splitlines() for file in files)
    return list(zip(*sides, strict=True))


def write_lines(path: Path, lines: Iterable[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def with_references(pairs: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield each sentence with all its references, from consecutive pairs, between tabs."""
    for source, group in groupby(pairs, itemgetter(0)):
        yield source, "\t".join(target for _, target in group)


def prepare(data: Path, corpus: Path) -> None:
    """Write the corpus, its pieces, and the vocabulary in the formats of the peers."""
    import sentencepiece

    if (data / "prepared").exists():
        return
    data.mkdir(parents=True, exist_ok=True)
    for split in MULTI30K:
        pairs = read_pairs(corpus, split)
        columns = zip(*(pairs if split == "train" else with_references(pairs)), strict=True)
        for side, texts in zip(SIDES, columns, strict=True):
            write_lines(data / f"{split}.{side}", texts)
    sentencepiece.SentencePieceTrainer.train(
        input=[str(data / f"train.{side}") for side in SIDES],
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
    write_lines(data / "pieces.vocabulary", entries)
    write_lines(data / "opennmt.vocabulary", ["<blank>", "<s>", "</s>", *entries[4:]])
    numbers = {entry: number for number, entry in enumerate(entries)}
    (data / "marian.json").write_text(json.dumps(numbers), encoding="utf-8")
    for side in SIDES:
        texts = (data / f"train.{side}").read_text(encoding="utf-8").splitlines()
        encoded = pieces.encode([text.strip() for text in texts], out_type=str)
        write_lines(data / f"train.pieces.{side}", map(" ".join, encoded))
    (data / "prepared").touch()


def cores_of(arguments: argparse.Namespace) -> set[int]:
    cores = os.sched_getaffinity(0)
    return cores if arguments.all_cores else {min(cores)}


def peer_of(system: str) -> str | None:
    peer = system.partition("_")[0]
    return peer if peer in PEERS else None


def drive(arguments: argparse.Namespace, system: str, *options: str, cores: set[int]) -> dict:
    """Run a driver, and read its answer."""
    peer, mode, results = peer_of(system), arguments.mode, arguments.results
    python = arguments.home / peer / "bin/python" if peer else sys.executable
    command = [python, HERE / f"{peer or 'kerasnmt'}_driver.py", mode, "--system", system]
    command += ["--results", results, *options]
    # PyTorch would start a thread for each core of the machine.
    environment = os.environ | {"OMP_NUM_THREADS": str(len(cores))}
    if not peer:
        environment |= {"PYTHONPATH": str(HERE.parents[1])}
    if not peer and mode != "decode":
        environment |= {"TF_ENABLE_ONEDNN_OPTS": "1"}
    log = results / f"{system}_{mode}.log"
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
        raise SystemExit(f"{SYSTEMS[system]} failed in {mode}; see {log}")
    return json.loads(answers[-1].removeprefix("RESULT "))


def medians(results: list[dict]) -> dict:
    return {
        key: statistics.median(result[key] for result in results)
        for key, value in results[0].items()
        if value is not None
    }


def steps(arguments: argparse.Namespace) -> Iterator[dict]:
    options = ["--steps", str(arguments.steps), "--warmup", str(arguments.warmup)]
    results = {system: [] for system in arguments.systems}
    for _ in range(arguments.rounds):
        for system in arguments.systems:
            results[system].append(drive(arguments, system, *options, cores=cores_of(arguments)))
    for system, found in results.items():
        yield {"system": SYSTEMS[system]} | medians(found)


def fit(arguments: argparse.Namespace) -> Iterator[dict]:
    free = sorted(os.sched_getaffinity(0))
    options = ["--cpu-minutes", str(arguments.cpu_minutes)]
    options += ["--validate-every", str(arguments.validate_every)]

    def run(system: str) -> dict:
        core = free.pop()
        try:
            return drive(arguments, system, *options, cores={core})
        finally:
            free.append(core)

    with ThreadPoolExecutor(len(free)) as pool:
        results = dict(zip(arguments.systems, pool.map(run, arguments.systems), strict=True))
    curves = read_curves(arguments.results)
    for system, result in results.items():
        yield {"system": SYSTEMS[system]} | result | curves[system][-1]
    draw(curves, arguments.results / "curves.png")


def read_curves(results: Path) -> dict[str, list[dict]]:
    """Return the curves of all systems that were trained, by the names of the systems."""
    paths = {system: results / "runs" / system / "curve.jsonl" for system in SYSTEMS}
    return {
        system: [json.loads(line) for line in path.read_text().splitlines()]
        for system, path in paths.items()
        if path.exists()
    }


def draw(curves: dict[str, list[dict]], path: Path) -> None:
    """Plot BLEU of the validation data against the CPU time of training, one line per system.

    A system has the color of its counterparts. Systems of kerasnmt have solid lines, and
    those in half precision have lines of dashes and dots.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.add_subplot()
    styles = {None: "-", "joeynmt": "--", "opennmt": ":", "eole": "--", "marian": ":"}
    for system, points in curves.items():
        minutes, bleu = ([point[key] for point in points] for key in ("cpu_minutes", "val_bleu"))
        (color,) = (color for color, names in COLORS.items() if system.startswith(names))
        style = "-." if "-" in system else styles[peer_of(system)]
        axes.plot(
            minutes, bleu, style, color=color, marker="o", markersize=3, label=SYSTEMS[system]
        )
    axes.set_xlabel("CPU minutes of training")
    axes.set_ylabel("BLEU, validation data, greedy")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    figure.legend(loc="outside upper center", ncols=2)
    figure.savefig(path, dpi=150)


def decode(arguments: argparse.Namespace) -> Iterator[dict]:
    results = {}
    for _ in range(arguments.rounds):
        for batch_size, sentences in ((64, arguments.sentences), (1, arguments.sentences // 10)):
            for beam_size in (1, 5):
                options = ["--batch-size", batch_size, "--beam-size", beam_size]
                options += ["--sentences", sentences]
                for system in arguments.systems:
                    found = drive(arguments, system, *map(str, options), cores=cores_of(arguments))
                    results.setdefault((system, batch_size, beam_size), []).append(found)
    for (system, batch_size, beam_size), found in results.items():
        setting = {"system": SYSTEMS[system], "batch_size": batch_size, "beam_size": beam_size}
        yield setting | medians(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("home", type=Path, help="folder outside the project")
    parser.add_argument("mode", choices=("steps", "fit", "decode"))
    parser.add_argument("--corpus", type=Path, required=True, help="folder of sentence pairs")
    parser.add_argument(
        "--systems", nargs="+", choices=SYSTEMS, default=[*SYSTEMS], help="systems to measure"
    )
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--warmup", type=int, default=10)
    parser.add_argument("--sentences", type=int, default=1000, help="sentences of decode")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of steps and decode")
    parser.add_argument("--all-cores", action="store_true", help="for steps and decode")
    parser.add_argument("--cpu-minutes", type=float, default=40.0, help="time of fit per system")
    parser.add_argument(
        "--validate-every",
        type=int,
        default=454,
        help="steps of fit between validations; an epoch of Multi30k has 454, one of Tatoeba 2053",
    )
    arguments = parser.parse_args()

    arguments.home = arguments.home.resolve()
    arguments.results = arguments.home / arguments.corpus.name
    if arguments.mode != "decode":
        arguments.systems = [name for name in arguments.systems if "ctranslate2" not in name]
    for peer in filter(None, map(peer_of, arguments.systems)):
        install(arguments.home, peer)
    prepare(arguments.results / "data", arguments.corpus)
    for result in {"steps": steps, "fit": fit, "decode": decode}[arguments.mode](arguments):
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
