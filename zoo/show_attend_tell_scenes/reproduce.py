"""Train `show_attend_tell_lstm` on the built-in scenes, and measure captions and attention.

    python reproduce.py OUTPUT --language de
    python reproduce.py --score scenes_de --language de

The script measures two figures on 1,000 held-out scenes. The first is the share of captions without
a wrong word. The second is about the words for colors and shapes in given captions. It is the share
of these words whose largest attention weight is on a region in the cell of the named object. The
script writes `model.keras` and `results.json`, with both figures and the training time, to OUTPUT.
With `--score`, the script only measures a preset.
"""

import argparse
import json
import os
import time
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np

from kerasnmt.atomic_write import atomic_write
from kerasnmt.data import Scene, builtin_scenes, caption_batches
from kerasnmt.models import CaptionModel
from kerasnmt.text import WordTokenizer
from kerasnmt.training import learning_rate_schedule
from kerasnmt.zoo import from_preset, show_attend_tell_lstm

BATCH_SIZE = 32


def pairs_of(scenes: list[Scene], language: str) -> list[tuple[np.ndarray, str]]:
    """Return each image with its caption."""
    return [(scene.image, scene.captions[language].text) for scene in scenes]


def exact_captions(model: CaptionModel, scenes: list[Scene], language: str) -> float:
    """Return the share of captions without a wrong word."""
    captions = model.caption([scene.image for scene in scenes], beam_size=1, max_length=30)
    right = [
        caption == scene.captions[language].text
        for caption, scene in zip(captions, scenes, strict=True)
    ]
    return sum(right) / len(right)


def looked_at_named(model: CaptionModel, scenes: list[Scene], language: str) -> float:
    """Return the share of words for colors and shapes whose largest weight is on the object."""
    batches = caption_batches(
        pairs_of(scenes, language), model.target_tokenizer, batch_size=100, shuffle=False
    )
    weights = [row for inputs, _, _ in batches for row in model.attend(inputs)["weights"].numpy()]
    looked = []
    for scene, of_words in zip(scenes, weights, strict=True):
        regions = scene.regions(*model.encoder.grid)
        for word, named in enumerate(scene.captions[language].named):
            if named is not None:
                looked.append(regions[named, of_words[word].argmax()])
    return float(np.mean(looked))


def measured(model: CaptionModel, language: str) -> dict[str, float]:
    """Return both figures, on the held-out scenes."""
    test = builtin_scenes(1000, "test")
    return {
        "exact_captions": exact_captions(model, test, language),
        "looked_at_named": looked_at_named(model, test, language),
    }


def main() -> None:
    """Train and measure."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("output", type=Path, nargs="?", help="folder for the model and results.json")
    what.add_argument("--score", metavar="PRESET", help="a preset to measure")
    parser.add_argument(
        "--language", choices=("en", "de"), default="en", help="language of the captions"
    )
    parser.add_argument("--scenes", type=int, default=8000, help="number of training scenes")
    parser.add_argument("--epochs", type=int, default=10, help="number of epochs")
    parser.add_argument("--doubly-stochastic", type=float, default=0.0, help="weight of the loss")
    parser.add_argument("--seed", type=int, default=1, help="seed of weights and order")
    arguments = parser.parse_args()
    if arguments.score is not None:
        print(json.dumps(measured(from_preset(arguments.score), arguments.language)))
        return
    keras.utils.set_random_seed(arguments.seed)
    pairs = pairs_of(builtin_scenes(arguments.scenes), arguments.language)
    captions = [caption for _, caption in pairs]
    words = {word for caption in captions for word in caption.split()}
    tokenizer = WordTokenizer.train(captions, vocabulary_size=len(words) + 4)
    model = show_attend_tell_lstm(
        tokenizer,
        embedding_dim=64,
        units=128,
        dropout=0.1,
        doubly_stochastic=arguments.doubly_stochastic,
    )
    steps = arguments.epochs * (len(pairs) // BATCH_SIZE)
    rate = learning_rate_schedule(0.003, steps, schedule="cosine", warmup_steps=100)
    model.compile(keras.optimizers.Adam(rate, global_clipnorm=1.0), label_smoothing=0.0)
    wall, cpu = time.perf_counter(), time.process_time()
    data = caption_batches(pairs, tokenizer, batch_size=BATCH_SIZE, seed=arguments.seed)
    history = model.fit(data, epochs=arguments.epochs, shuffle=False, verbose=2).history
    seconds = time.perf_counter() - wall, time.process_time() - cpu
    results = {
        "model": model.name,
        "language": arguments.language,
        "parameters": model.count_params(),
        "scenes": arguments.scenes,
        "epochs": arguments.epochs,
        "doubly_stochastic": arguments.doubly_stochastic,
        "seed": arguments.seed,
        **measured(model, arguments.language),
        "train_seconds": round(seconds[0]),
        "train_cpu_seconds": round(seconds[1]),
        "history": history["loss"],
    }
    with atomic_write(arguments.output / "model.keras") as path:
        model.save(path)
    with atomic_write(arguments.output / "results.json") as path:
        path.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    print(json.dumps({name: value for name, value in results.items() if name != "history"}))


if __name__ == "__main__":
    main()
