"""Speed of the beam search of a Transformer with and without caches, as a JSON line.

    python benchmarks/full_passes.py RUN --source test.en.gz

RUN is the folder of a run of `transformer_tiny` or `transformer_base`. All methods use the same
weights and the same search, and must return the same translations:

- `with_caches`: a step computes the keys and values of the last word. Those of the earlier words
  are cached.
- `full_passes`: a step calls the decoder on all earlier words, with the memory repeated for each
  hypothesis, and uses the last prediction.
- `last_prediction`: like `full_passes`, but a step computes only the logits of the last word.

Each method translates a batch before the clock starts, so that tracing is not measured. The methods
take turns. `cpu_seconds` is the median over `--rounds` of the time of all threads of this process.
"""

import argparse
import gzip
import json
import os
import statistics
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
from keras import ops

from kerasnmt.cli.loading import load_run
from kerasnmt.layers import TimeCache, TransformerDecoder
from kerasnmt.models import Seq2Seq


class FullPasses(TransformerDecoder):
    """Decoder that caches only the words."""

    def initial_state(
        self, states: list[Any], memory: dict[str, Any], training: bool = False, steps: int = 0
    ) -> list[TimeCache]:
        no_words = ops.zeros((ops.shape(memory["memory_mask"])[0], 1))
        return [TimeCache.allocate(no_words, steps)] if steps else []

    def step(
        self, ids: Any, state: list[TimeCache], memory: dict[str, Any]
    ) -> tuple[Any, dict[str, Any], list[TimeCache]]:
        batch, hypotheses = ops.shape(ids)
        cache = state[0].write(ops.cast(ids, "float32")[..., None])
        length = ops.max(cache.length)
        words = ops.cast(cache.values[..., :length, 0], "int32")
        memory = keras.tree.map_structure(lambda one: ops.repeat(one, hypotheses, axis=0), memory)
        outputs, weights = self.last(ops.reshape(words, (-1, length)), memory)

        def of_hypotheses(tensor: Any) -> Any:
            return ops.reshape(tensor, (batch, hypotheses, ops.shape(tensor)[-1]))

        return of_hypotheses(outputs), {"weights": of_hypotheses(weights)}, [cache]

    def last(self, words: Any, memory: dict[str, Any]) -> tuple[Any, Any]:
        """Return the logits and the weights of the last word."""
        outputs, records = self.call(words, [], memory)
        return outputs[:, -1], records["weights"][:, -1]


class LastPrediction(FullPasses):
    """Decoder that computes only the last prediction."""

    def last(self, words: Any, memory: dict[str, Any]) -> tuple[Any, Any]:
        features, weights = self._run(words, memory)
        return self._generate(features[:, -1]), self._records(weights)["weights"][:, -1]


def with_decoder(model: Seq2Seq, kind: type[TransformerDecoder]) -> Seq2Seq:
    """Return the same model with another decoder class."""
    decoder = kind.from_config(model.decoder.get_config())
    again = Seq2Seq(
        encoder=model.encoder,
        bridge=None,
        decoder=decoder,
        source_tokenizer=model.source_tokenizer,
        target_tokenizer=model.target_tokenizer,
        share_embeddings=model.share_embeddings,
        name=kind.__name__,
    )
    decoder.set_weights(model.decoder.get_weights())
    return again


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("run", type=Path, help="folder of a run")
    parser.add_argument("--source", type=Path, required=True, help="file of sources")
    parser.add_argument("--beam-size", type=int, default=5)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()

    opened = gzip.open if arguments.source.suffix == ".gz" else open
    with opened(arguments.source, "rt", encoding="utf-8", newline="\n") as file:
        texts = [line.rstrip("\r\n") for line in file]
    model, _ = load_run(arguments.run)
    ways = {
        "with_caches": model,
        "full_passes": with_decoder(model, FullPasses),
        "last_prediction": with_decoder(model, LastPrediction),
    }
    batch_size, beam_size = arguments.batch_size, arguments.beam_size
    found: dict[str, list[str]] = {}
    spent: dict[str, list[float]] = {name: [] for name in ways}
    for one in ways.values():
        one.translate(texts[:batch_size], beam_size=beam_size, batch_size=batch_size)
    for _ in range(arguments.rounds):
        for name, one in ways.items():
            begin = time.process_time()
            found[name] = one.translate(texts, beam_size=beam_size, batch_size=batch_size)
            spent[name].append(time.process_time() - begin)
    medians = {name: statistics.median(seconds) for name, seconds in spent.items()}
    first = found["with_caches"]
    equal = {name: sum(map(str.__eq__, first, others)) for name, others in found.items()}
    result = {
        "beam_size": beam_size,
        "batch_size": batch_size,
        "sentences": len(texts),
        "equal_translations": min(equal.values()),
        "cpu_seconds": {name: round(seconds, 2) for name, seconds in medians.items()},
        "times_as_long": {
            name: round(seconds / medians["with_caches"], 2) for name, seconds in medians.items()
        },
    }
    print(json.dumps(result))
    if min(equal.values()) < len(texts):
        raise SystemExit("the methods return different translations")


if __name__ == "__main__":
    main()
