"""Driver of JoeyNMT for compare.py, which times JoeyNMT's data loaders, training and search."""

import os

import common
import torch
from joeynmt.config import parse_global_args, set_validation_args
from joeynmt.prediction import predict, prepare
from joeynmt.training import TrainManager


def configuration(arguments) -> dict:
    data = arguments.data
    tokenizer = {"model_file": str(data / "pieces.model"), "pretokenizer": "none"}
    side = {
        "max_length": common.MAX_LENGTH,
        "lowercase": False,
        "normalize": False,
        "level": "bpe",
        "voc_file": str(data / "pieces.vocabulary"),
        "tokenizer_type": "sentencepiece",
        "tokenizer_cfg": tokenizer,
    }
    special = {"unk": "<unk>", "pad": "<pad>", "bos": "<s>", "eos": "</s>"}
    symbols = {f"{name}_token": token for name, token in special.items()}
    symbols |= {f"{name}_id": number for number, name in enumerate(special)}
    layer = {
        "type": "recurrent",
        "rnn_type": "gru",
        "embeddings": {"embedding_dim": common.UNITS},
        "hidden_size": common.UNITS,
        "dropout": common.DROPOUT,
        "num_layers": 1,
    }
    return {
        "name": "joeynmt",
        "joeynmt_version": "2.3.0",
        "model_dir": str(arguments.run),
        "use_cuda": False,
        "fp16": False,
        "random_seed": 42,
        "data": {
            "train": str(data / "train"),
            "dev": str(data / "validation"),
            "test": str(data / "test"),
            "dataset_type": "plain",
            "src": side | {"lang": "source"},
            "trg": side | {"lang": "target"},
            "special_symbols": symbols,
        },
        "testing": {
            "n_best": 1,
            "load_model": str(arguments.run / "latest.ckpt"),
            "beam_size": arguments.beam_size,
            "beam_alpha": common.LENGTH_PENALTY,
            "batch_size": arguments.batch_size,
            "batch_type": "sentence",
            "max_output_length": common.MAX_LENGTH,
            "eval_metrics": ["bleu"],
            "sacrebleu_cfg": {"tokenize": "13a"},
        },
        "training": {
            "optimizer": "adam",
            "normalization": "tokens",
            "adam_betas": [0.9, 0.999],
            "learning_rate": common.LEARNING_RATE,
            "clip_grad_norm": common.CLIP_NORM,
            "label_smoothing": common.LABEL_SMOOTHING,
            "loss": "crossentropy",
            "batch_size": common.BATCH_SIZE,
            "batch_type": "sentence",
            "scheduling": "plateau",
            "patience": 100,
            "decrease_factor": 0.5,
            "early_stopping_metric": "bleu",
            "epochs": 1000,
            "overwrite": True,
            "shuffle": True,
            "print_valid_sents": [0],
            "keep_best_ckpts": 1,
        },
        "model": {
            "initializer": "xavier_uniform",
            "bias_initializer": "zeros",
            "init_rnn_orthogonal": True,
            "embed_initializer": "normal",
            "embed_init_weight": 0.1,
            "tied_embeddings": False,
            "encoder": layer | {"bidirectional": True},
            "decoder": layer
            | {
                "hidden_dropout": common.DROPOUT,
                "input_feeding": True,
                "init_hidden": "bridge",
                "attention": "bahdanau",
            },
        },
    }


def train(arguments, config: dict) -> None:
    fits = arguments.mode == "fit"
    arguments.run.mkdir(parents=True, exist_ok=True)
    validate_every = arguments.validate_every if fits else 10**9
    config["training"] |= {"validation_freq": validate_every, "logging_freq": validate_every // 2}
    if not fits:
        config["training"]["updates"] = arguments.warmup + arguments.steps
    args = parse_global_args(config, rank=0, mode="train")
    model, train_data, dev_data, _ = prepare(args, rank=0, mode="train")
    trainer = TrainManager(
        model=model,
        model_dir=args.model_dir,
        device=args.device,
        n_gpu=0,
        rank=0,
        num_workers=args.num_workers,
        autocast=args.autocast,
        seed=args.seed,
        train_args=args.train,
        dev_args=set_validation_args(args.test),
    )
    steps, curve = common.Steps(arguments), common.Curve(arguments)
    step, validate = trainer._train_step, trainer._validate

    def counted_step(batch):
        steps.begin(int(batch.ntokens))
        return step(batch)

    def timed_validation(data):
        curve.clock.stop()
        validate(data)
        hypotheses = common.lines(arguments.run / f"{trainer.stats.steps}.hyps")
        curve.add(trainer.stats.steps, hypotheses)
        trainer.stats.is_max_update = curve.done
        curve.clock.resume()

    if fits:
        trainer._validate = timed_validation
    else:
        trainer._train_step = counted_step
        trainer._save_checkpoint = lambda *args, **kwargs: None
    trainer.train_and_validate(train_data=train_data, valid_data=dev_data)
    result = {} if fits else steps.result()
    common.answer({"parameters": sum(weight.numel() for weight in model.parameters())} | result)


def decode(arguments, config: dict) -> None:
    args = parse_global_args(config, rank=0, mode="translate")
    model, _, _, data = prepare(args, rank=0, mode="translate")

    def translate(texts: list[str]) -> list[str]:
        data.reset_cache()
        for text in texts:
            data.set_item(text)
        return predict(
            model=model,
            data=data,
            compute_loss=False,
            device=args.device,
            rank=0,
            n_gpu=0,
            normalization="none",
            num_workers=0,
            args=args.test,
            autocast=args.autocast,
        )[2]

    common.answer(common.decode(arguments, translate))


def main() -> None:
    arguments = common.arguments()
    # One thread, because with two, the threads of OpenMP spin, which only costs CPU time.
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    config = configuration(arguments)
    (decode if arguments.mode == "decode" else train)(arguments, config)


if __name__ == "__main__":
    main()
