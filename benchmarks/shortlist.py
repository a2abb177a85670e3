"""Time and quality of a search with a vocabulary shortlist, as JSON lines.

    python benchmarks/shortlist.py TRAIN TEST [--vocabulary N] [--size N …]

TRAIN and TEST are files of a source, a tab and a target per line, such as those of
`zoo/bahdanau_gru_tatoeba`. The shortlist is made from the pairs of TRAIN, and the sources of TEST
are translated on one core, by `--preset`. Each line is a size of the shortlist: `listed` is the
mean number of ids of a batch, and `same` the share of translations that are those of the whole
vocabulary.

With `--vocabulary`, a model with the architecture of the preset and N SentencePiece tokens is not
trained. It writes 1.2 times as many tokens as it reads, so its times are near those of a trained
one, and its translations mean nothing.

The passes without and with a shortlist follow each other in turn. `times_faster` is the median of
the ratios of their CPU seconds, which include reading and writing text.
"""

import argparse
import gzip
import json
import os
import statistics
import time
from itertools import chain
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import sacrebleu
import tensorflow as tf

from kerasnmt import zoo
from kerasnmt.ids import END_ID
from kerasnmt.shortlist import Shortlist
from kerasnmt.tasks import TranslationTask, Translator
from kerasnmt.text import SentencePieceTokenizer


def read(path: Path) -> tuple[list[str], list[str]]:
    """Return the sources and targets of a file, plain or compressed."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t")[:2] for line in file]
    sources, targets = zip(*rows, strict=True)
    return list(sources), list(targets)


def mean_size(model, sources: list[str], batch_size: int) -> int:
    """Return the mean number of listed ids of batches of similar length."""
    tokenizer = model.source_tokenizer
    ids = tokenizer.tokenize(tokenizer.normalize_source(sources))
    order = np.argsort(ids.row_lengths(), kind="stable")
    padded = ids.to_tensor().numpy()[order]
    batches = (padded[i : i + batch_size] for i in range(0, len(order), batch_size))
    return round(statistics.mean(len(model.shortlist.listed_ids(one)) for one in batches))


def main() -> None:
    """Translate the test data with and without each shortlist, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("train", type=Path)
    parser.add_argument("test", type=Path)
    parser.add_argument("--preset", default="tatoeba_en_fr_gru")
    parser.add_argument("--vocabulary", type=int, help="number of tokens of an untrained model")
    parser.add_argument("--text", type=Path, help="further pairs, for a tokenizer of more tokens")
    parser.add_argument("--size", type=int, nargs="+", default=[20, 50, 100])
    parser.add_argument("--frequent", type=int, default=100)
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
    preset = zoo.get_preset(arguments.preset)
    if arguments.vocabulary:
        more = [*chain(*read(arguments.text))] if arguments.text else []
        tokenizer = SentencePieceTokenizer.train(
            [*train[0], *train[1], *more], arguments.vocabulary
        )
        model = zoo.get_model(preset.model_name)(tokenizer, **preset.about.get("model", {}))
        bias = np.zeros(arguments.vocabulary, "float32")
        bias[END_ID] = -100.0  # it must not end before its maximum length
        model.decoder.generator.bias.assign(bias)
        search |= {"max_length_ratio": 1.2, "max_length_margin": 0}
    else:
        model = preset.load()

    def timed(translator: Translator) -> tuple[float, list[str]]:
        begin = time.process_time()
        found = translator.translate(sources, batch_size=arguments.batch_size)
        return time.process_time() - begin, found

    begin = time.process_time()
    whole = model.make_shortlist(*train, size=max(arguments.size), frequent=arguments.frequent)
    made = time.process_time() - begin
    plain = Translator(TranslationTask(model, **search))
    _, full = timed(plain)  # traces the graph
    for size in arguments.size:
        table = whole.table[:, :size]
        model.shortlist = Shortlist(table, whole.frequent, whole.target_size, whole.vocabulary)
        listed = Translator(TranslationTask(model, shortlist=True, **search))
        _, found = timed(listed)
        times = [(timed(plain)[0], timed(listed)[0]) for _ in range(arguments.passes)]
        result = {
            "model": preset.model_name if arguments.vocabulary else arguments.preset,
            "vocabulary": whole.target_size,
            "size": size,
            "frequent": arguments.frequent,
            "listed": mean_size(model, sources, arguments.batch_size),
            "made_cpu_seconds": round(made, 1),
            "plain_cpu_seconds": round(statistics.median(one for one, _ in times), 2),
            "cpu_seconds": round(statistics.median(one for _, one in times), 2),
            "times_faster": round(statistics.median(one / other for one, other in times), 2),
        }
        if not arguments.vocabulary:
            result |= {
                "plain_bleu": round(sacrebleu.corpus_bleu(full, [references]).score, 2),
                "bleu": round(sacrebleu.corpus_bleu(found, [references]).score, 2),
                "same": round(statistics.mean(a == b for a, b in zip(full, found, strict=True)), 3),
            }
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
