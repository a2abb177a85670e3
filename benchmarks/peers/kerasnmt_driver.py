"""Driver of kerasnmt for compare.py."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import common
import keras

from kerasnmt.data import batches, read_parallel
from kerasnmt.models import in_float32
from kerasnmt.serving import Translator, export_ctranslate2, load_ctranslate2
from kerasnmt.text import SentencePieceTokenizer
from kerasnmt.training import Adam, InverseSquareRoot
from kerasnmt.zoo import get_model

RECURRENT = {"embedding_dim": common.UNITS, "units": common.UNITS}
OPTIONS = {
    "bahdanau_gru": RECURRENT,
    "luong_general_gru": RECURRENT | {"input_feeding": True, "encoder_units": 2 * common.UNITS},
    "transformer_tiny": {
        "units": common.WIDTH,
        "num_heads": common.HEADS,
        "hidden_units": common.HIDDEN_UNITS,
        "encoder_layers": common.LAYERS,
        "decoder_layers": common.LAYERS,
        "attention_dropout": common.ATTENTION_DROPOUT,
    },
}


class Steps(keras.callbacks.Callback):
    """Callback that measures the time between two steps."""

    def __init__(self, first: int, last: int) -> None:
        super().__init__()
        self.first, self.last = first, last

    def on_train_batch_begin(self, batch: int, logs: dict | None = None) -> None:
        if batch == self.first:
            self.tokens = -float(self.model.perplexity.tokens)
            self.clock = common.Clock()

    def on_train_batch_end(self, batch: int, logs: dict | None = None) -> None:
        if batch == self.last:
            self.tokens += float(self.model.perplexity.tokens)
            self.clock.stop()


class Validation(keras.callbacks.Callback):
    """Callback that translates the validation data after each epoch, and stops after some time."""

    def __init__(self, curve: common.Curve, sources: list[str]) -> None:
        super().__init__()
        self.curve, self.sources, self.steps = curve, sources, 0

    def on_train_batch_end(self, batch: int, logs: dict | None = None) -> None:
        self.steps += 1

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        self.curve.clock.stop()
        translations = self.model.translate(self.sources, beam_size=1)
        self.curve.add(self.steps, translations)
        self.model.stop_training = self.curve.done
        self.curve.clock.resume()


def train(arguments) -> dict:
    data = arguments.data
    name, _, precision = arguments.system.partition("-")
    keras.config.set_dtype_policy(f"mixed_{precision}" if precision else "float32")
    keras.utils.set_random_seed(42)
    pairs = read_parallel(data / "train.source", data / "train.target")
    tokenizer = SentencePieceTokenizer.train(pairs, vocabulary_size=8000)
    model = get_model(name)(tokenizer, dropout=common.DROPOUT, **OPTIONS[name])
    rate = common.LEARNING_RATE
    if name == "transformer_tiny":
        rate = InverseSquareRoot(common.MAX_LEARNING_RATE, common.WARMUP_STEPS)
    model.compile(
        Adam(rate, global_clipnorm=common.CLIP_NORM), label_smoothing=common.LABEL_SMOOTHING
    )
    dataset = batches(
        pairs,
        tokenizer,
        batch_size=common.BATCH_SIZE,
        max_length=common.MAX_LENGTH,
        seed=1,
        cache=True,
        few_shapes=False,
    )
    if arguments.mode == "steps":
        count = arguments.warmup + arguments.steps
        steps = Steps(arguments.warmup, count - 1)
        model.fit(dataset.repeat().take(count), callbacks=[steps], verbose=0, shuffle=False)
        result = common.steps_result(steps.clock, arguments.steps, steps.tokens)
        return {"parameters": model.count_params()} | result
    curve = common.Curve(arguments)
    model.fit(
        dataset.repeat(),
        steps_per_epoch=arguments.validate_every,
        epochs=1000,
        callbacks=[Validation(curve, common.lines(data / "validation.source"))],
        verbose=0,
        shuffle=False,
    )
    model.save(arguments.run / "model.keras")
    return {"parameters": model.count_params()}


def translator(arguments) -> Callable[[list[str]], list[str]]:
    """Return a function that translates with the model, or with its export for CTranslate2."""
    run, _, weights = arguments.system.partition("-ctranslate2-")
    path = arguments.results / "runs" / run / "model.keras"
    model = in_float32(keras.saving.load_model(path, compile=False))
    options = {
        "beam_size": arguments.beam_size,
        "length_penalty": common.LENGTH_PENALTY,
        "max_length": common.MAX_LENGTH,
    }
    if not weights:
        return lambda texts: model.translate(texts, batch_size=arguments.batch_size, **options)
    with tempfile.TemporaryDirectory() as parent:
        folder = export_ctranslate2(model, Path(parent, "1"), weights=weights, **options)
        export = Translator(load_ctranslate2(folder))
    return lambda texts: export.translate(texts, batch_size=arguments.batch_size)


def decode(arguments) -> dict:
    return common.decode(arguments, translator(arguments))


if __name__ == "__main__":
    common.main(train, decode)
