"""Driver of yoyodyne for words.py, with its data module, its models and its trainer."""

import argparse
import copy
import math
from functools import partial

import common
import lightning
import torch
import words
from maxwell import sed
from torch.utils.data import DataLoader
from yoyodyne import data, models, optimizers, trainers
from yoyodyne.data import datasets
from yoyodyne.models import modules

MODELS = {
    "yoyodyne_soft_attention_lstm": models.SoftAttentionLSTMModel,
    "yoyodyne_hard_attention_lstm": models.HardAttentionLSTMModel,
    "yoyodyne_pointer_generator_lstm": models.PointerGeneratorLSTMModel,
    "yoyodyne_transducer_lstm": models.TransducerLSTMModel,
}


def new_model(options: argparse.Namespace, module: data.DataModule) -> models.BaseModel:
    kind = MODELS[options.systems[0]]
    part = {"dropout": words.DROPOUT, "embedding_size": words.EMBEDDINGS}
    units, others = words.UNITS, {}
    if kind is models.HardAttentionLSTMModel:
        units, others = units // 2, {"enforce_monotonic": True}
    if kind is models.TransducerLSTMModel:
        path = f"{module.model_dir}/costs.pkl"
        samples = [
            ([*map(module.index, source)], [*map(module.index, target)])
            for source, *_, target in module.parser.samples(module.train)
        ]
        sed.StochasticEditDistance.fit_from_data(samples).params.write_params(path)
        others = {"sed_path": path, "index": module.index}
    features = False
    if options.tags:  # True stands for the encoder of the source
        soft = kind is models.SoftAttentionLSTMModel
        features = soft or modules.LinearEncoder(output_size=words.EMBEDDINGS, **part)
    return kind(
        source_encoder=modules.LSTMEncoder(hidden_size=units, **part),
        features_encoder=features,
        decoder_dropout=words.DROPOUT,
        decoder_hidden_size=words.UNITS,
        embedding_size=words.EMBEDDINGS,
        max_target_length=words.MAX_LENGTH,
        vocab_size=module.vocab_size,
        target_vocab_size=module.target_vocab_size,
        optimizer=partial(optimizers.Adam, lr=options.learning_rate, eps=1e-7),  # that of Keras
        **others,
    )


def train(options: argparse.Namespace) -> dict:
    lightning.seed_everything(options.seed)
    course = words.Course(options)
    module = data.DataModule(
        model_dir=str(options.home / "runs" / options.systems[0]),
        train=str(options.train),
        features_col=3 if options.tags else 0,
        target_sep="" if options.tags else " ",
        max_target_length=words.MAX_LENGTH,
    )
    mapper = data.Mapper(module.index)
    loaders = {
        part: DataLoader(
            datasets.MappableDataset(str(getattr(options, part)), mapper, module.parser),
            collate_fn=module.collator,
            batch_size=words.BATCH_SIZE,
            shuffle=part == "train",
        )
        for part in words.PARTS
    }
    model = new_model(options, module)

    def translate(part: str) -> list[str]:
        model.eval()
        with torch.inference_mode():
            found = [row for batch in loaders[part] for row in model.predict_step(batch, 0)]
        model.train()
        return [module.target_sep.join(mapper.decode_target(row)) for row in found]

    class Epochs(lightning.Callback):
        """Callback that sets the learning rate, and keeps the best epoch."""

        def on_train_batch_start(self, trainer, *args) -> None:
            done = trainer.global_step / course.updates
            for group in trainer.optimizers[0].param_groups:
                group["lr"] = options.learning_rate * (1 + math.cos(math.pi * done)) / 2

        def on_train_epoch_end(self, *args) -> None:
            course.validate(translate, lambda: copy.deepcopy(model.state_dict()))

    trainer = trainers.Trainer(
        accelerator="cpu",
        max_epochs=options.epochs,
        gradient_clip_val=words.CLIP_NORM,
        callbacks=[Epochs()],
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(model, train_dataloaders=loaders["train"])
    model.load_state_dict(course.best)
    parameters = sum(weight.numel() for weight in model.parameters())
    return course.result(parameters, translate, "yoyodyne", "lightning", "torch")


if __name__ == "__main__":
    common.answer(train(words.arguments()))
