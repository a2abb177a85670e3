"""Cost of the normalizers of attention and output, beside the softmax.

    python benchmarks/normalizers.py

A training step (see `floor.py`) runs with each normalizer in the attention, and with each in the
output, in turns with the softmax in this process, `--rounds` times. `cost` is the median over the
rounds of the CPU seconds of the step, divided by those with the softmax everywhere. Prints one JSON
line per normalizer.
"""

import argparse
import json
import statistics

from floor import RECURRENT, spent, step_of

MODELS = {"bahdanau_gru": RECURRENT, "transformer_tiny": {}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("models", nargs="*", default=list(MODELS))
    parser.add_argument("--rounds", type=int, default=9)
    arguments = parser.parse_args()
    for name in arguments.models:
        options = MODELS[name]
        steps = {("softmax", "softmax"): step_of(name, options)}
        for one in ("entmax15", "sparsemax"):
            steps[one, "softmax"] = step_of(name, {**options, "normalizer": one})
            steps["softmax", one] = step_of(name, options, loss=one)
        for step in steps.values():
            spent(step, 2)  # traces it
        rounds = [
            {key: spent(step, 2)[0] for key, step in steps.items()} for _ in range(arguments.rounds)
        ]
        for attention, output in steps:
            costs = [one[attention, output] / one["softmax", "softmax"] for one in rounds]
            line = {"model": name, "attention": attention, "output": output}
            seconds = statistics.median(one[attention, output] for one in rounds)
            line |= {"cpu_s": round(seconds, 3), "cost": round(statistics.median(costs), 3)}
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
