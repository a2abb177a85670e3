"""Driver of kerasnmt for compare.py."""

import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import common
import keras

from kerasnmt.data import batches, read_parallel
from kerasnmt.models import in_float32
from kerasnmt.text import SentencePieceTokenizer
from kerasnmt.training import Adam
from kerasnmt.zoo import get_model

OPTIONS = {"luong_general_gru": {"input_feeding": True, "encoder_units": 2 * common.UNITS}}


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

    def __init__(self, curve: common.Curve, data) -> None:
        super().__init__()
        self.curve, self.data, self.steps = curve, data, 0

    def on_train_batch_end(self, batch: int, logs: dict | None = None) -> None:
        self.steps += 1

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        self.curve.clock.stop()
        translations = self.model.translate(common.lines(self.data / "val.en"), beam_size=1)
        self.curve.add(self.steps, translations, common.lines(self.data / "val.de"))
        self.model.stop_training = self.curve.done
        self.curve.clock.resume()


def main() -> None:
    arguments = common.arguments()
    data, run = arguments.home / "data", arguments.home / "runs" / arguments.system
    name, _, precision = arguments.system.partition("-")
    if arguments.mode == "decode":
        model = in_float32(keras.saving.load_model(run / "model.keras", compile=False))
        options = {"beam_size": arguments.beam_size, "length_penalty": common.LENGTH_PENALTY}
        options |= {"max_length": common.MAX_LENGTH}
        size = arguments.batch_size
        texts = common.lines(data / "test.en")[: arguments.sentences]
        model.translate(common.warmup_texts(arguments), batch_size=size, **options)
        translations, times = [], []
        clock = common.Clock()
        if size == 1:
            for text in texts:
                begin = time.perf_counter()
                translations += model.translate([text], batch_size=1, **options)
                times.append(time.perf_counter() - begin)
        else:
            translations = model.translate(texts, batch_size=size, **options)
        clock.stop()
        common.answer(common.decode_result(clock, times, translations, arguments.home))

    keras.config.set_dtype_policy(f"mixed_{precision}" if precision else "float32")
    keras.utils.set_random_seed(42)
    pairs = read_parallel(data / "train.en", data / "train.de")
    tokenizer = SentencePieceTokenizer.train(pairs, vocabulary_size=8000)
    model = get_model(name)(
        tokenizer,
        embedding_dim=common.UNITS,
        units=common.UNITS,
        dropout=common.DROPOUT,
        **OPTIONS.get(name, {}),
    )
    model.compile(
        Adam(common.LEARNING_RATE, global_clipnorm=common.CLIP_NORM),
        label_smoothing=common.LABEL_SMOOTHING,
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
        common.answer({"parameters": model.count_params()} | result)
    curve = common.Curve(run / "curve.jsonl", arguments.cpu_minutes)
    model.fit(
        dataset.repeat(),
        steps_per_epoch=arguments.validate_every,
        epochs=1000,
        callbacks=[Validation(curve, data)],
        verbose=0,
        shuffle=False,
    )
    model.save(run / "model.keras")
    common.answer({"parameters": model.count_params()})


if __name__ == "__main__":
    main()
