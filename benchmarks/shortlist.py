"""Time and quality of a search with a vocabulary shortlist, as JSON lines.

    python benchmarks/shortlist.py TRAIN TEST [--preset NAME | --vocabulary N --model NAME]

TRAIN and TEST are files of a source, a tab and a target per line, from which the shortlist is made,
and whose sources are translated on one core. With `--preset`, each line has the BLEU and the share
of translations that are those of the whole vocabulary. With `--vocabulary`, a model of the zoo with
N SentencePiece tokens on both sides is not trained: its times are those of a trained one that
writes as many tokens as it reads, and its translations mean nothing.

The passes with and without each list follow each other, in turn. `times_faster` is the median of
the ratios of their CPU seconds.
"""

import argparse
import gzip
import json
import os
import statistics
import time
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import sacrebleu
import tensorflow as tf

from kerasnmt import zoo
from kerasnmt.shortlist import Shortlist
from kerasnmt.tasks import TranslationTask, Translator
from kerasnmt.text import SentencePieceTokenizer

# Likely and frequent tokens of each list.
SIZES = ((10, 100), (20, 100), (50, 100), (100, 100))


def read(path: Path) -> tuple[list[str], list[str]]:
    """Return the sources and targets of a file, plain or compressed."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t")[:2] for line in file]
    sources, targets = zip(*rows, strict=True)
    return list(sources), list(targets)


def main() -> None:
    """Translate the test data with and without each shortlist, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("train", type=Path)
    parser.add_argument("test", type=Path)
    parser.add_argument("--preset", default="tatoeba_en_fr_gru")
    parser.add_argument("--vocabulary", type=int, help="number of tokens of an untrained model")
    parser.add_argument("--model", default="bahdanau_gru")
    parser.add_argument("--beam-size", type=int, default=5)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--sentences", type=int, default=10**9)
    parser.add_argument("--passes", type=int, default=3)
    arguments = parser.parse_args()
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    train = read(arguments.train)
    sources, references = (column[: arguments.sentences] for column in read(arguments.test))
    search = {"beam_size": arguments.beam_size, "max_length": 80}
    if arguments.vocabulary:
        tokenizer = SentencePieceTokenizer.train(train[0] + train[1], arguments.vocabulary)
        model = zoo.get_model(arguments.model)(tokenizer)
        search |= {"max_length_ratio": 1.0, "max_length_margin": 0}
    else:
        model = zoo.from_preset(arguments.preset)
    begin = time.process_time()
    longest, frequent = (max(column) for column in zip(*SIZES, strict=True))
    whole = model.make_shortlist(*train, size=longest, frequent=frequent)
    made = time.process_time() - begin

    def timed(translator: Translator) -> tuple[float, list[str]]:
        begin = time.process_time()
        found = translator.translate(sources, batch_size=arguments.batch_size)
        return time.process_time() - begin, found

    plain = Translator(TranslationTask(model, **search))
    timed(plain)  # traces the graph
    tokenizer = model.source_tokenizer
    ids = tokenizer.tokenize(tokenizer.normalize_source(sources))
    order = np.argsort(ids.row_lengths(), kind="stable")
    batches = np.split(order, range(arguments.batch_size, len(order), arguments.batch_size))
    for size, frequent in SIZES:
        table = whole.table[:, :size]
        model.shortlist = Shortlist(table, whole.frequent, whole.target_size, whole.vocabulary)
        listed = Translator(TranslationTask(model, shortlist=True, **search))
        timed(listed)
        pairs = [(timed(plain), timed(listed)) for _ in range(arguments.passes)]
        (_, full), (_, found) = pairs[-1]
        result = {
            "model": arguments.model if arguments.vocabulary else arguments.preset,
            "vocabulary": whole.target_size,
            "size": size,
            "frequent": frequent,
            "listed": round(
                np.mean(
                    [
                        model.shortlist.listed_ids(ids.to_tensor().numpy()[one]).size
                        for one in batches
                    ]
                )
            ),
            "made_cpu_seconds": round(made, 1),
            "plain_cpu_seconds": round(statistics.median(one for (one, _), _ in pairs), 2),
            "cpu_seconds": round(statistics.median(one for _, (one, _) in pairs), 2),
            "times_faster": round(statistics.median(a / b for (a, _), (b, _) in pairs), 2),
        }
        if not arguments.vocabulary:
            result |= {
                "plain_bleu": round(sacrebleu.corpus_bleu(full, [references]).score, 2),
                "bleu": round(sacrebleu.corpus_bleu(found, [references]).score, 2),
                "same": round(np.mean([a == b for a, b in zip(full, found, strict=True)]), 3),
            }
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
