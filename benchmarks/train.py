"""Training speed of a zoo model, as one JSON line.

    python benchmarks/train.py --source train.en.gz --target train.de.gz --steps 60
    KERAS_BACKEND=jax python benchmarks/train.py --steps 60

Small published recurrent models have these sizes: a joint SentencePiece vocabulary of 8,000
pieces, embeddings and units of size 256, batches of 64 sentences, a dropout rate of 0.2, label
smoothing of 0.1, and Adam of `kerasnmt.training`. Transformers have their default sizes and dropout
rates. The benchmark measures `--steps` steps after `--warmup` steps, so that tracing is not
measured. `cpu_seconds` is the time of all threads of this process in these steps, including the
input pipeline. Target tokens include the end token, but no padding. On JAX, which compiles each
shape, there is first a step with a batch of each shape. Its time is `compile_cpu_seconds`.
"""

import argparse
import inspect
import json
import os
import resource
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")  # like `kerasnmt train`

import keras
import yaml

from kerasnmt.data import batches, builtin_corpus, read_parallel
from kerasnmt.text import SentencePieceTokenizer
from kerasnmt.training import Adam
from kerasnmt.training.up_to_date import bring_up_to_date
from kerasnmt.zoo import get_model


class Window(keras.callbacks.Callback):
    """Callback that measures wall seconds, CPU seconds and target tokens between two steps."""

    def __init__(self, first: int, last: int) -> None:
        super().__init__()
        self.first, self.last = first, last
        self.seconds = self.cpu_seconds = self.tokens = 0.0

    def _now(self) -> tuple[float, float, float]:
        bring_up_to_date(self.model)
        return time.perf_counter(), time.process_time(), float(self.model.perplexity.tokens)

    def on_train_batch_begin(self, batch: int, logs: dict | None = None) -> None:
        if batch == self.first:
            self.begin = self._now()

    def on_train_batch_end(self, batch: int, logs: dict | None = None) -> None:
        if batch == self.last:
            spent = [end - begin for begin, end in zip(self.begin, self._now(), strict=True)]
            self.seconds, self.cpu_seconds, self.tokens = spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--source", help="file of sources, by default the built-in corpus")
    parser.add_argument("--target", help="file of their translations")
    parser.add_argument("--model", default="bahdanau_gru", help="name of a model")
    parser.add_argument(
        "--option", action="append", default=[], metavar="KEY=VALUE", help="argument of the model"
    )
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--warmup", type=int, default=10)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--vocabulary-size", type=int, default=8000)
    parser.add_argument("--units", type=int, default=256)
    parser.add_argument("--scheduled-sampling", type=float, default=0.0)
    parser.add_argument("--jit-compile", action="store_true", help="compile the step with XLA")
    arguments = parser.parse_args()

    if arguments.source:
        pairs = read_parallel(arguments.source, arguments.target)
    else:
        pairs = [(pair.source, pair.target) for pair in builtin_corpus(8000)]
    on_jax = keras.backend.backend() == "jax"
    keras.utils.set_random_seed(1)
    tokenizer = SentencePieceTokenizer.train(pairs, vocabulary_size=arguments.vocabulary_size)
    make = get_model(arguments.model)
    sizes = {"embedding_dim": arguments.units, "units": arguments.units, "dropout": 0.2}
    if "embedding_dim" not in inspect.signature(make).parameters:
        sizes = {}
    options = (option.split("=") for option in arguments.option)
    model = make(tokenizer, **sizes, **{key: yaml.safe_load(value) for key, value in options})
    model.compile(
        Adam(1e-3, global_clipnorm=1.0),
        label_smoothing=0.1,
        scheduled_sampling=arguments.scheduled_sampling,
        jit_compile=on_jax or arguments.jit_compile,
    )
    dataset = batches(
        pairs,
        tokenizer,
        batch_size=arguments.batch_size,
        seed=1,
        cache=True,
        few_shapes=on_jax or arguments.jit_compile,
        fill=on_jax,
    )
    shapes = {}
    for batch in dataset.as_numpy_iterator() if on_jax else ():
        shapes[batch[0]["source_ids"].shape + batch[1].shape] = batch
    compiling = time.process_time()
    if shapes:
        model.fit((one for one in shapes.values()), steps_per_epoch=len(shapes), verbose=0)
    compiling = time.process_time() - compiling
    steps = arguments.warmup + arguments.steps
    window = Window(arguments.warmup, steps - 1)
    model.fit(dataset.repeat().take(steps), callbacks=[window], verbose=0, shuffle=False)
    print(
        json.dumps(
            {
                "model": " ".join([arguments.model, *arguments.option]),
                "backend": keras.backend.backend(),
                "shapes_compiled": len(shapes),
                "compile_cpu_seconds": round(compiling, 1),
                "parameters": model.count_params(),
                "scheduled_sampling": arguments.scheduled_sampling,
                "steps": arguments.steps,
                "batch_size": arguments.batch_size,
                "seconds": round(window.seconds, 2),
                "cpu_seconds": round(window.cpu_seconds, 2),
                "cpu_seconds_per_step": round(window.cpu_seconds / arguments.steps, 4),
                "target_tokens_per_second": round(window.tokens / window.seconds),
                "target_tokens_per_cpu_second": round(window.tokens / window.cpu_seconds),
                "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
            }
        )
    )


if __name__ == "__main__":
    main()
