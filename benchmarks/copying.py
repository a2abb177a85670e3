"""Copying of unseen names by a pointer-generator and by the replacement of unknown words.

    python benchmarks/copying.py

Trains `pointer_generator_gru` and `bahdanau_gru` on the built-in corpus, with a vocabulary of 3,000
words of both languages. It contains one of eight names of the training data. The models translate
the split whose names occur in no other split, `bahdanau_gru` with `replace_unknown=True`. The
benchmark counts the names of the references that the translations have at the same places among
their names. It also compares the translations of exports and models, and prints a
JSON line for each model.
"""

import argparse
import json
import os
import tempfile
import time
from itertools import zip_longest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras

from kerasnmt.data import batches, builtin_corpus
from kerasnmt.serving import Translator, load_export
from kerasnmt.text import WordTokenizer
from kerasnmt.training import translation_scores
from kerasnmt.zoo import get_model

VOCABULARY, UNITS, BATCH, EPOCHS, LEARNING_RATE = 3000, 128, 32, 4, 0.003


def copied(translation: str, reference: str, names: set[str]) -> list[bool]:
    """Return for each name of a reference whether the translation has it at the same place.

    Places are counted among the words in `names`. A wrong name takes a place. A missing name shifts
    the places of the names after it.
    """
    wanted = [word for word in reference.split() if word in names]
    found = [word for word in translation.split() if word in names]
    return [one == other for one, other in zip_longest(wanted, found[: len(wanted)])]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--pairs", type=int, default=20_000)
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--models", nargs="*", default=["pointer_generator_gru", "bahdanau_gru"])
    arguments = parser.parse_args()

    corpus = builtin_corpus(arguments.pairs)
    test = builtin_corpus(arguments.sentences, "unseen_names")
    sources, references = [pair.source for pair in test], [pair.target for pair in test]
    names = {name for pair in [*corpus, *test] for name in pair.names}
    tokenizer = WordTokenizer.train(corpus, vocabulary_size=VOCABULARY)
    for name in arguments.models:
        keras.utils.set_random_seed(1)
        model = get_model(name)(tokenizer, units=UNITS, embedding_dim=UNITS, dropout=0.1)
        data = batches(
            corpus,
            tokenizer,
            batch_size=BATCH,
            seed=1,
            cache=True,
            extended_vocabulary=model.copies,
        )
        schedule = keras.optimizers.schedules.CosineDecay(
            0.0,
            arguments.epochs * len(corpus) // BATCH,
            alpha=0.05,
            warmup_target=LEARNING_RATE,
            warmup_steps=100,
        )
        model.compile(keras.optimizers.Adam(schedule, global_clipnorm=1.0))
        wall, cpu = time.perf_counter(), time.process_time()
        model.fit(data, epochs=arguments.epochs, verbose=0, shuffle=False)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        tokens = arguments.epochs * sum(int((words != 0).numpy().sum()) for _, words, _ in data)

        options = {"beam_size": 2, "max_length": 60, "replace_unknown": not model.copies}
        translations = model.translate(sources, **options)
        with tempfile.TemporaryDirectory() as folder:
            model.export(f"{folder}/1", **options)
            served = Translator(load_export(folder)).translate(sources)
        right, right_of_several = [], []
        for pair, translation in zip(test, translations, strict=True):
            marks = copied(translation, pair.target, names)
            right += marks
            right_of_several += marks if len(marks) > 1 else []
        print(
            json.dumps(
                {
                    "model": name,
                    "parameters": model.count_params(),
                    "names": len(right),
                    "copied": sum(right) / len(right),
                    "names_in_sentences_with_several": len(right_of_several),
                    "copied_of_several": sum(right_of_several) / len(right_of_several),
                    "bleu": translation_scores(translations, references)["bleu"],
                    "export_equals_model": sum(map(str.__eq__, served, translations)),
                    "train_seconds": wall,
                    "train_cpu_seconds": cpu,
                    "tokens_per_cpu_second": tokens / cpu,
                }
            ),
            flush=True,
        )


if __name__ == "__main__":
    main()
