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


def configuration(arguments) -> dict:
    data = arguments.data
    return {
        "model_dir": str(arguments.run),
        "data": {
            "train_features_file": str(data / "train.pieces.source"),
            "train_labels_file": str(data / "train.pieces.target"),
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

    def __init__(self, arguments, model, config: dict) -> None:
        self.model, self.config = model, config
        pieces = str(arguments.data / "pieces.model")
        self.pieces = sentencepiece.SentencePieceProcessor(model_file=pieces)
        self.file = arguments.run / f"{os.getpid()}.txt"
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
    shutil.rmtree(arguments.run, ignore_errors=True)
    runner = make_runner(config)
    steps, curve = common.Steps(arguments), common.Curve(arguments)
    group, save = opennmt.training._group_batches, opennmt.training.Trainer._save_checkpoint
    parameters, translator = 0, None

    def counted_batches(batches, size):
        for batch in group(batches, size):
            if steps.done:
                return
            steps.begin(int(tf.reduce_sum(batch[0][1]["length"])))
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
            translator = Translator(arguments, trainer._model, runner._finalize_config())
        texts = common.lines(arguments.data / "validation.source")
        curve.add(int(step), translator.translate(texts, common.BATCH_SIZE))
        if curve.done:
            raise TimeIsUpError
        curve.clock.resume()

    if not fits:
        opennmt.training._group_batches = counted_batches
    opennmt.training.Trainer._save_checkpoint = saved
    with contextlib.suppress(TimeIsUpError):
        runner.train()
    common.answer({"parameters": parameters} | ({} if fits else steps.result()))


def decode(arguments, config: dict) -> None:
    config["params"]["beam_width"] = arguments.beam_size
    runner = make_runner(config)
    merged = runner._finalize_config()
    model = runner._init_model(merged)
    checkpoint = opennmt.utils.checkpoint.Checkpoint.from_config(merged, model)
    if checkpoint.restore(weights_only=True) is None:
        raise SystemExit("OpenNMT-tf has no checkpoint. Run compare.py fit first.")
    translator = Translator(arguments, model, merged)
    texts = common.test_texts(arguments)
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
    common.answer(common.decode_result(clock, times, translations, arguments))


def main() -> None:
    arguments = common.arguments()
    config = configuration(arguments)
    (decode if arguments.mode == "decode" else train)(arguments, config)


if __name__ == "__main__":
    main()
