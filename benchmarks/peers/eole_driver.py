"""Driver of eole for compare.py, which times its data iterator, trainer and search."""

from typing import Any

import common
import eole.trainer
import torch
from eole import train_single
from eole.config.run import PredictConfig, TrainConfig
from eole.inference_engine import InferenceEnginePY
from eole.scorers import register_scorer
from eole.scorers.scorer import Scorer

# The architecture `rnn` has no bidirectional encoder.
GRU = {
    "model": {
        "architecture": "custom",
        "layers": 1,
        "hidden_size": common.UNITS,
        "embeddings": {"word_vec_size": common.UNITS, "position_encoding_type": None},
        "encoder": {"encoder_type": "brnn", "rnn_type": "GRU"},
        "decoder": {"decoder_type": "rnn", "rnn_type": "GRU", "global_attention": "general"},
    },
    "training": {"learning_rate": common.LEARNING_RATE},
}
TRANSFORMER = {
    "model": {
        "architecture": "transformer",
        "layers": common.LAYERS,
        "heads": common.HEADS,
        "hidden_size": common.WIDTH,
        "transformer_ff": common.HIDDEN_UNITS,
        "embeddings": {"word_vec_size": common.WIDTH},
        "add_qkvbias": True,
        "add_ffnbias": True,
        "share_embeddings": True,
        "share_decoder_embeddings": True,
    },
    "training": {
        "param_init_method": "xavier_uniform",
        "attention_dropout": [common.ATTENTION_DROPOUT],
        "decay_method": "noam",
        "learning_rate": common.MAX_LEARNING_RATE * (common.WIDTH * common.WARMUP_STEPS) ** 0.5,
        "warmup_steps": common.WARMUP_STEPS,
    },
}


def configuration(arguments) -> TrainConfig:
    data, system = arguments.data, GRU if arguments.system == "eole_gru" else TRANSFORMER
    transforms = ["sentencepiece", "filtertoolong"]
    length = {"src_seq_length": common.MAX_LENGTH, "tgt_seq_length": common.MAX_LENGTH}
    fits = arguments.mode == "fit"
    texts = {
        name: {"path_src": f"{data}/{split}.source", "path_tgt": f"{data}/{split}.target"}
        for name, split in (("corpus", "train"), ("valid", "validation"))
    }
    return TrainConfig(
        seed=42,
        data={name: paths | {"transforms": transforms} for name, paths in texts.items()},
        src_vocab=str(data / "pieces.vocabulary"),
        share_vocab=True,
        pad_token="<pad>",
        transforms=transforms,
        transforms_configs={
            "sentencepiece": {"src_subword_model": str(data / "pieces.model")}
            | {"tgt_subword_model": str(data / "pieces.model")},
            "filtertoolong": length,
        },
        valid_metrics=["translations"] if fits else [],
        model=system["model"],
        training=system["training"]
        | {
            "model_path": str(arguments.run),
            "optim": "adam",
            "max_grad_norm": common.CLIP_NORM,
            "dropout": [common.DROPOUT],
            "label_smoothing": common.LABEL_SMOOTHING,
            "normalization": "tokens",
            "batch_size": common.BATCH_SIZE,
            # An epoch. Its sentences are tokenized when it begins.
            "bucket_size": len(common.lines(data / "train.source")),
            "num_workers": 0,  # the CPU time of another process would not count
            "train_steps": 10**9 if fits else arguments.warmup + arguments.steps,
            "valid_steps": arguments.validate_every if fits else 10**9,
            "save_checkpoint_steps": 0,  # saves at the end
            "keep_checkpoint": 1 if fits else 0,
        },
    )


@register_scorer(metric="translations")
class Translations(Scorer):
    """Scorer that keeps the translations of the validation data."""

    higher_is_better = True

    def compute_score(self, preds, texts_refs, texts_srcs=None):
        self.latest = preds
        return 0.0


def train(arguments) -> dict:
    steps, curve = common.Steps(arguments), common.Curve(arguments)
    parameters = 0

    class Trainer(eole.trainer.Trainer):
        """Trainer that counts steps, and stops the clock for the validation."""

        def __init__(self, model: Any, *args: Any, **kwargs: Any) -> None:
            nonlocal parameters
            super().__init__(model, *args, **kwargs)
            parameters = sum(weight.numel() for weight in model.parameters())

        def _train_step(self, batches, *args, **kwargs) -> None:
            target = batches[0]["tgt"][:, 1:]
            steps.begin(int(target.ne(self.train_loss.padding_idx).sum()))
            super()._train_step(batches, *args, **kwargs)

        def validate(self, *args, **kwargs):
            curve.clock.stop()
            found = super().validate(*args, **kwargs)
            translations = self.valid_scorers["translations"]["scorer"].latest
            curve.add(self.optim.training_step - 1, translations)
            curve.clock.resume()
            return found

        def _should_stop_early(self, *args) -> bool:
            return curve.done

    eole.trainer.Trainer = Trainer
    train_single.main(configuration(arguments), device_id=-1)
    return {"parameters": parameters} | ({} if arguments.mode == "fit" else steps.result())


def decode(arguments) -> dict:
    engine = InferenceEnginePY(
        PredictConfig(
            model_path=str(arguments.run),
            src="",
            beam_size=arguments.beam_size,
            batch_size=arguments.batch_size,
            length_penalty="wu",
            alpha=common.LENGTH_PENALTY,
            max_length=common.MAX_LENGTH,
        )
    )

    if arguments.system == "eole_transformer":
        # eole 0.6.4 does not load shared embeddings, and adds biases that it has not trained.
        model = engine.predictor.model
        model.tgt_emb.embeddings.weight = model.src_emb.embeddings.weight
        model.generator.weight = model.src_emb.embeddings.weight
        for layer in model.encoder.transformer_layers:
            torch.nn.init.zeros_(layer.self_attn.final_linear.bias)

    def translate(texts: list[str]) -> list[str]:
        return [best for best, *_ in engine.infer_list(texts)[2]]

    return common.decode(arguments, translate)


if __name__ == "__main__":
    common.main(train, decode)
