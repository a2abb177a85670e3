"""Time to the first words of a streamed translation, as one JSON line per search.

    python benchmarks/first_words.py --beam-size 1 --beam-size 5

Translates sentences of everyday English one after the other with `--preset`, whole with
`model.translate` and in pieces with `model.stream`, `--repeats` times after a first round. Each
line has the medians over the sentences, in milliseconds: of `translate`, of the first piece and of
all pieces of `stream`, and of the share of the time of `translate` until the first piece.
"""

import argparse
import json
import os
import statistics
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from kerasnmt import zoo

SENTENCES = [
    "I can't hear you.",
    "Where did you buy these shoes?",
    "She has been working here since last summer.",
    "If it rains tomorrow, we will stay at home and read.",
    "My brother and his wife live in a small house near the river.",
    "He asked me whether I knew the woman who was standing at the door.",
    "I would like to know when the next train to the airport leaves.",
    "They wanted to go to the beach, but the car would not start.",
    "Nobody knows why the old man left the village without saying a word to his children.",
    "When I was a child, my grandmother told me stories about the war every evening before I went "
    "to bed.",
]


def timed(action) -> float:
    """Return the milliseconds that an action takes."""
    start = time.perf_counter()
    action()
    return 1000 * (time.perf_counter() - start)


def measured(model, text: str, options: dict) -> tuple[float, float, float]:
    """Return the times of the whole translation, of the first piece, and of all pieces."""
    whole = timed(lambda: model.translate([text], **options))
    start = time.perf_counter()
    pieces = model.stream(text, **options)
    first = next(pieces, "")
    until_first = 1000 * (time.perf_counter() - start)
    rest = "".join(pieces)
    total = 1000 * (time.perf_counter() - start)
    assert first + rest == model.translate([text], **options)[0]
    return whole, until_first, total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--preset", default="tatoeba_en_fr_gru")
    parser.add_argument("--beam-size", type=int, action="append")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    model = zoo.from_preset(arguments.preset)
    for beam_size in arguments.beam_size or [1, 5]:
        options = {"beam_size": beam_size, "max_length": 60}
        for text in SENTENCES:
            measured(model, text, options)  # trace the graphs
        times = [
            [
                statistics.median(column)
                for column in zip(
                    *(measured(model, text, options) for _ in range(arguments.repeats)),
                    strict=True,
                )
            ]
            for text in SENTENCES
        ]
        whole, first, total = (statistics.median(column) for column in zip(*times, strict=True))
        share = statistics.median(one[1] / one[0] for one in times)
        print(
            json.dumps(
                {
                    "preset": arguments.preset,
                    "beam_size": beam_size,
                    "translate_ms": round(whole, 1),
                    "first_piece_ms": round(first, 1),
                    "stream_ms": round(total, 1),
                    "first_share": round(share, 2),
                }
            ),
            flush=True,
        )


if __name__ == "__main__":
    main()
