"""Comparison of the models of the zoo on the built-in corpus, with equal sizes, as a table.

    python benchmarks/zoo.py

Each model is trained in a child process, two at a time, on 16,000 pairs for 3 epochs. The
vocabulary has 3,000 words of both languages. The embeddings and the units have the size 64. The
dropout rate is 0.1, the batch size is 16, and Adam has a cosine schedule that starts at 0.004.

The models are scored on 300 held-out pairs: BLEU of greedy translations, of all sentences and of
the sentences with more than 15 words, perplexity of the references, and the alignment error rate of
the attention, given the references, against the gold alignment. Target tokens per CPU second are
measured in training, including tracing. Three rows show options. One row is IBM model 1, trained on
the same pairs and the test pairs. `copying.py` is the benchmark of models that copy.

`--models` selects rows. `--output` appends a JSON line for each finished row to a file.
"""

import argparse
import inspect
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

ROWS = {
    "bahdanau_gru, guided attention": ("bahdanau_gru", {}),
    "bahdanau_gru, coverage": ("bahdanau_gru", {"coverage": 0.1}),
    "luong_general_lstm, input feeding": ("luong_general_lstm", {"input_feeding": True}),
}
PAIRS, VOCABULARY, UNITS, BATCH, EPOCHS, LEARNING_RATE, TEST = 16_000, 3000, 64, 16, 3, 0.004, 300
COLUMNS = ("bleu", "bleu_long", "perplexity", "aer", "tokens_per_cpu_second", "cpu_seconds")
HEADINGS = ("model", "BLEU", "> 15 words", "perplexity", "AER", "tokens per CPU s", "CPU s")


def train(row: str, pairs: int, epochs: int) -> dict:
    """Train and score one row, in a child process."""
    import keras

    from kerasnmt.alignment import alignment_error_rate
    from kerasnmt.data import batches, builtin_corpus
    from kerasnmt.text import WordTokenizer
    from kerasnmt.training import translation_scores
    from kerasnmt.zoo import get_model

    corpus, test = builtin_corpus(pairs), builtin_corpus(TEST, "test")
    tokenizer = WordTokenizer.train(corpus, vocabulary_size=VOCABULARY)
    name, options = ROWS.get(row, (row, {}))
    keras.utils.set_random_seed(1)
    if "embedding_dim" in inspect.signature(get_model(name)).parameters:
        options = {"embedding_dim": UNITS, **options}
    model = get_model(name)(tokenizer, units=UNITS, dropout=0.1, **options)
    guide = {"alignments": [pair.alignment for pair in corpus]} if "guided" in row else {}
    data = batches(corpus, tokenizer, batch_size=BATCH, seed=1, cache=True, **guide)
    schedule = keras.optimizers.schedules.CosineDecay(
        0.0,
        epochs * len(corpus) // BATCH,
        alpha=0.05,
        warmup_target=LEARNING_RATE,
        warmup_steps=100,
    )
    model.compile(keras.optimizers.Adam(schedule, global_clipnorm=1.0))
    begin = time.process_time()
    model.fit(data, epochs=epochs, verbose=0, shuffle=False)
    seconds = time.process_time() - begin

    sources, references = [pair.source for pair in test], [pair.target for pair in test]
    translations = model.translate(sources, beam_size=1, max_length=60)
    long = [i for i, source in enumerate(sources) if len(source.split()) > 15]
    held_out = batches(test, tokenizer, batch_size=64, shuffle=False)
    tokens = sum(int((targets != 0).numpy().sum()) for _, targets, _ in data)
    scored = {
        "row": row,
        "parameters": model.count_params(),
        "bleu": translation_scores(translations, references)["bleu"],
        "bleu_long": translation_scores(
            [translations[i] for i in long], [references[i] for i in long]
        )["bleu"],
        "perplexity": model.evaluate(held_out, verbose=0, return_dict=True)["perplexity"],
        "aer": None,
        "tokens_per_cpu_second": epochs * tokens / seconds,
        "cpu_seconds": seconds,
    }
    if model.has_attention:
        links = model.align(sources, references)
        scored["aer"] = alignment_error_rate(links, [pair.alignment for pair in test])
    return scored


def ibm_model_1(pairs: int) -> dict:
    """Align the test pairs with IBM model 1, which is also trained on them."""
    from kerasnmt.alignment import IBMModel1, alignment_error_rate
    from kerasnmt.data import builtin_corpus

    corpus, test = builtin_corpus(pairs), builtin_corpus(TEST, "test")
    begin = time.process_time()
    aligner = IBMModel1().fit([*corpus, *test])
    links = [aligner.align(pair.source, pair.target) for pair in test]
    rate = alignment_error_rate(links, [pair.alignment for pair in test])
    row = dict.fromkeys(COLUMNS)
    return {**row, "row": "IBM model 1", "aer": rate, "cpu_seconds": time.process_time() - begin}


def table(scored: list[dict]) -> str:
    """Return the rows as a table in Markdown, sorted by BLEU."""
    formats = {"bleu": ".1f", "bleu_long": ".1f", "perplexity": ".2f", "aer": ".3f"}
    lines = ["| " + " | ".join(HEADINGS) + " |", "|" + "---|" * len(HEADINGS)]
    for row in sorted(scored, key=lambda row: -(row["bleu"] or 0)):
        cells = ["" if row[c] is None else format(row[c], formats.get(c, ",.0f")) for c in COLUMNS]
        lines.append(f"| {row['row']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument(
        "--models", nargs="*", metavar="ROW", help="rows of the table, by default all"
    )
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--output", type=Path, help="file to which JSON lines are appended")
    parser.add_argument("--row", help=argparse.SUPPRESS)  # for the child processes
    arguments = parser.parse_args()
    if arguments.row:
        print(json.dumps(train(arguments.row, arguments.pairs, arguments.epochs)))
        return

    def work(row: str) -> dict:
        if row == "IBM model 1":
            scored = ibm_model_1(arguments.pairs)
        else:
            command = [sys.executable, __file__, "--row", row]
            command += ["--pairs", str(arguments.pairs), "--epochs", str(arguments.epochs)]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            scored = json.loads(done.stdout)
        print(f"{time.perf_counter() - begin:6.0f} s  {row}", file=sys.stderr, flush=True)
        if arguments.output:
            with arguments.output.open("a", encoding="utf-8") as file:
                file.write(json.dumps(scored) + "\n")
        return scored

    from kerasnmt.models import Seq2Seq
    from kerasnmt.zoo import list_models

    begin = time.perf_counter()
    with ThreadPoolExecutor(arguments.workers) as pool:
        left_out = ("pointer_", "transformer_base")  # transformer_base is a larger transformer_tiny
        names = [name for name in list_models(Seq2Seq) if not name.startswith(left_out)]
        rows = arguments.models or [*names, *ROWS, "IBM model 1"]
        scored = list(pool.map(work, rows))
    print(table(scored))


if __name__ == "__main__":
    main()
