"""Driver of OpenNMT-tf for compare.py, which times its input pipeline, trainer and search."""

import contextlib
import os
import shutil
import time
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import common
import opennmt
import sentencepiece
import tensorflow as tf

HERE = Path(__file__).parent


def configuration(home: Path) -> dict:
    data = home / "data"
    return {
        "model_dir": str(home / "runs" / "opennmt"),
        "data": {
            "train_features_file": str(data / "train.pieces.en"),
            "train_labels_file": str(data / "train.pieces.de"),
            "source_vocabulary": str(data / "opennmt.vocabulary"),
            "target_vocabulary": str(data / "opennmt.vocabulary"),
            "source_sequence_controls": {"end": True},
        },
        "params": {
            "optimizer": "Adam",
            "optimizer_params": {"global_clipnorm": common.CLIP_NORM},
            "learning_rate": common.LEARNING_RATE,
            "label_smoothing": common.LABEL_SMOOTHING,
            "average_loss_in_time": True,
            "length_penalty": common.LENGTH_PENALTY,
            "maximum_decoding_length": common.MAX_LENGTH,
        },
        "train": {
            "batch_type": "examples",
            "batch_size": common.BATCH_SIZE,
            "length_bucket_width": 2,
            "sample_buffer_size": 29000,
            "maximum_features_length": common.MAX_LENGTH,
            "maximum_labels_length": common.MAX_LENGTH,
            "save_summary_steps": 10**9,
            "save_checkpoints_steps": None,
            "keep_checkpoint_max": 1,
        },
        "infer": {"batch_size": common.BATCH_SIZE, "n_best": 1, "length_bucket_width": 5},
    }


def make_runner(config: dict) -> opennmt.Runner:
    build = opennmt.config.load_model_from_file(str(HERE / "opennmt_model.py"), as_builder=True)
    return opennmt.Runner(build, config, auto_config=False, seed=42)


class Translator:
    """Model that translates lines of text with the search of OpenNMT-tf, which is compiled once."""

    def __init__(self, home: Path, model, config: dict) -> None:
        self.model, self.config = model, config
        self.pieces = sentencepiece.SentencePieceProcessor(model_file=f"{home}/data/pieces.model")
        self.file = home / "runs" / f"opennmt_{os.getpid()}.txt"
        self.search = None

    def dataset(self, texts: list[str], batch_size: int) -> tf.data.Dataset:
        lines = (" ".join(self.pieces.encode(text, out_type=str)) + "\n" for text in texts)
        self.file.write_text("".join(lines), encoding="utf-8")
        width = self.config["infer"].get("length_bucket_width")
        inputter = self.model.examples_inputter
        dataset = inputter.make_inference_dataset(
            str(self.file), batch_size, length_bucket_width=width
        )
        if self.search is None:
            self.search = tf.function(self.model.infer, input_signature=(dataset.element_spec,))
            self.search.get_concrete_function()
        return dataset

    def translate_batch(self, features) -> list[tuple[int, str]]:
        found = tf.nest.map_structure(lambda tensor: tensor.numpy(), self.search(features))
        translations = []
        for tokens, length in zip(found["tokens"], found["length"], strict=True):
            best = [token.decode() for token in tokens[0][: length[0]]]
            translations.append(self.pieces.decode(best))
        return list(zip(map(int, found["index"]), translations, strict=True))

    def translate(self, texts: list[str], batch_size: int) -> list[str]:
        found = []
        for features in self.dataset(texts, batch_size):
            found += self.translate_batch(features)
        return [text for _, text in sorted(found)]


class TimeIsUpError(Exception):
    """Exception that ends training."""


def train(arguments, config: dict) -> None:
    fits = arguments.mode == "fit"
    if fits:
        config["train"]["save_checkpoints_steps"] = arguments.validate_every
    else:
        config["model_dir"] += "_steps"  # keep the model of `fit`
    shutil.rmtree(config["model_dir"], ignore_errors=True)
    runner = make_runner(config)
    data = arguments.home / "data"
    curve = common.Curve(arguments.home / "runs" / "opennmt_curve.jsonl", arguments.cpu_minutes)
    clock, counts = common.Clock(), {"steps": 0, "tokens": 0}
    group, save = opennmt.training._group_batches, opennmt.training.Trainer._save_checkpoint
    parameters, translator = 0, None

    def counted_batches(batches, size):
        nonlocal clock
        for batch in group(batches, size):
            if counts["steps"] == arguments.warmup and not fits:
                clock, counts["tokens"] = common.Clock(), 0
            if counts["steps"] == arguments.warmup + arguments.steps and not fits:
                return
            counts["steps"] += 1
            counts["tokens"] += int(tf.reduce_sum(batch[0][1]["length"]))
            yield batch

    def saved(trainer, step, moving_average=None):
        nonlocal parameters, translator
        parameters = int(trainer._model.count_params())
        if not fits or step % arguments.validate_every:
            return
        curve.clock.stop()
        save(trainer, step, moving_average)
        if translator is None:
            trainer._model.params["beam_width"] = 1
            translator = Translator(arguments.home, trainer._model, runner._finalize_config())
        found = translator.translate(common.lines(data / "val.en"), common.BATCH_SIZE)
        curve.add(int(step), found, common.lines(data / "val.de"))
        if curve.done:
            raise TimeIsUpError
        curve.clock.resume()

    opennmt.training._group_batches = counted_batches
    opennmt.training.Trainer._save_checkpoint = saved
    with contextlib.suppress(TimeIsUpError):
        runner.train()
    clock.stop()
    result = {"parameters": parameters}
    if not fits:
        result |= common.steps_result(clock, arguments.steps, counts["tokens"])
    common.answer(result)


def decode(arguments, config: dict) -> None:
    config["params"]["beam_width"] = arguments.beam_size
    runner = make_runner(config)
    merged = runner._finalize_config()
    model = runner._init_model(merged)
    checkpoint = opennmt.utils.checkpoint.Checkpoint.from_config(merged, model)
    if checkpoint.restore(weights_only=True) is None:
        raise SystemExit("OpenNMT-tf has no checkpoint. Run compare.py fit first.")
    translator = Translator(arguments.home, model, merged)
    texts = common.lines(arguments.home / "data" / "test.en")[: arguments.sentences]
    translator.translate(common.warmup_texts(arguments), arguments.batch_size)
    found, times = [], []
    if arguments.batch_size == 1:
        dataset = translator.dataset(texts, 1)  # created before the clock starts
        clock = common.Clock()
        for features in dataset:
            begin = time.perf_counter()
            found += translator.translate_batch(features)
            times.append(time.perf_counter() - begin)
        translations = [text for _, text in sorted(found)]
    else:
        clock = common.Clock()
        translations = translator.translate(texts, arguments.batch_size)
    clock.stop()
    common.answer(common.decode_result(clock, times, translations, arguments.home))


def main() -> None:
    arguments = common.arguments()
    config = configuration(arguments.home)
    (decode if arguments.mode == "decode" else train)(arguments, config)


if __name__ == "__main__":
    main()
