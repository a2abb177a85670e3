"""Driver of kerasnmt for words.py."""

import argparse
import os
from functools import partial

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import common
import keras
import words

from kerasnmt.data import batches
from kerasnmt.text import CharacterTokenizer, WordTokenizer, with_tags
from kerasnmt.training import Adam, learning_rate_schedule
from kerasnmt.zoo import get_model


def train(options: argparse.Namespace) -> dict:
    keras.utils.set_random_seed(options.seed)
    course = words.Course(options)
    name, sizes = options.systems[0], {}
    # Phones are words. Then letters are words, too, because a pointer needs one vocabulary.
    kind = partial(CharacterTokenizer.train, tags=True) if options.tags else WordTokenizer.train
    sources = {
        part: [with_tags(row[0], row[2]) if options.tags else " ".join(row[0]) for row in rows]
        for part, rows in course.rows.items()
    }
    targets = [row[1] for row in course.rows["train"]]
    if name == "pointer_generator_lstm":
        source = target = kind([*sources["train"], *targets])
    else:
        source, target = kind(sources["train"]), kind(targets)
    if name == "luong_general_lstm":
        sizes = {"encoder_units": 2 * words.UNITS}
    if name == "hard_monotonic_lstm" and options.tags:
        sizes = {"tags": "concat"}
    model = get_model(name)(
        source,
        target,
        units=words.UNITS,
        embedding_dim=words.EMBEDDINGS,
        dropout=words.DROPOUT,
        **sizes,
    )
    rate = learning_rate_schedule(options.learning_rate, course.updates, schedule="cosine")
    model.compile(Adam(rate, global_clipnorm=words.CLIP_NORM), label_smoothing=0.0)
    dataset = batches(
        (sources["train"], targets),
        source,
        target,
        batch_size=words.BATCH_SIZE,
        max_length=words.MAX_LENGTH,
        seed=options.seed,
        cache=True,
        few_shapes=False,
        extended_vocabulary=model.copies,
    )

    def translate(part: str) -> list[str]:
        search = {"beam_size": 1, "max_length": words.MAX_LENGTH}
        return model.translate(sources[part], batch_size=words.BATCH_SIZE, **search)

    def validate(epoch: int, logs: dict) -> None:
        course.validate(translate, model.get_weights)

    model.fit(
        dataset.repeat(),
        steps_per_epoch=course.updates_per_epoch,
        epochs=options.epochs,
        callbacks=[keras.callbacks.LambdaCallback(on_epoch_end=validate)],
        verbose=0,
        shuffle=False,
    )
    model.set_weights(course.best)
    return course.result(model.count_params(), translate, "kerasnmt", "keras", "tensorflow")


if __name__ == "__main__":
    common.answer(train(words.arguments()))
