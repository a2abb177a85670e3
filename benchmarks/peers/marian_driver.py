"""Driver of Hugging Face's Marian for compare.py, which times its trainer and search."""

import common
from transformers import (
    DataCollatorForSeq2Seq,
    MarianConfig,
    MarianMTModel,
    MarianTokenizer,
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
    set_seed,
)


def new_model(tokenizer: MarianTokenizer) -> MarianMTModel:
    sizes = {
        "layers": common.LAYERS,
        "attention_heads": common.HEADS,
        "ffn_dim": common.HIDDEN_UNITS,
    }
    config = MarianConfig(
        **{f"{part}_{key}": size for part in ("encoder", "decoder") for key, size in sizes.items()},
        d_model=common.WIDTH,
        dropout=common.DROPOUT,
        attention_dropout=common.ATTENTION_DROPOUT,
        activation_function="relu",
        scale_embedding=True,
        vocab_size=tokenizer.vocab_size,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        forced_eos_token_id=tokenizer.eos_token_id,
        decoder_start_token_id=tokenizer.pad_token_id,
    )
    return MarianMTModel(config)


def dataset(arguments, tokenizer: MarianTokenizer, split: str) -> list[dict]:
    sources, targets = (
        common.lines(arguments.data / f"{split}.{side}") for side in ("source", "target")
    )
    encoded = tokenizer(sources, text_target=targets)
    rows = zip(encoded["input_ids"], encoded["labels"], strict=True)
    return [{"input_ids": source, "labels": target} for source, target in rows]


def translate(
    model: MarianMTModel, tokenizer: MarianTokenizer, texts: list[str], batch_size: int, **options
) -> list[str]:
    """Translate texts in batches of similar lengths."""
    order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
    translations = {}
    for begin in range(0, len(order), batch_size):
        numbers = order[begin : begin + batch_size]
        batch = [texts[number] for number in numbers]
        found = model.generate(
            **tokenizer(batch, return_tensors="pt", padding=True),
            length_penalty=common.LENGTH_PENALTY,
            max_length=common.MAX_LENGTH,
            **options,
        )
        best = tokenizer.batch_decode(found, skip_special_tokens=True)
        translations |= zip(numbers, best, strict=True)
    return [translations[number] for number in range(len(texts))]


def train(arguments) -> dict:
    set_seed(42)
    steps, curve = common.Steps(arguments), common.Curve(arguments)
    fits = arguments.mode == "fit"
    pieces = str(arguments.data / "pieces.model")
    tokenizer = MarianTokenizer(pieces, pieces, str(arguments.data / "marian.json"))
    model = new_model(tokenizer)

    class Trainer(Seq2SeqTrainer):
        """Trainer that counts steps, and stops the clock for the validation."""

        def training_step(self, model, inputs, *args, **kwargs):
            steps.begin(int(inputs["labels"].ne(-100).sum()))
            return super().training_step(model, inputs, *args, **kwargs)

        def evaluate(self, *args, **kwargs) -> dict:
            # The evaluation of the base class would translate in another order.
            curve.clock.stop()
            model.eval()
            texts = common.lines(arguments.data / "validation.source")
            translations = translate(model, tokenizer, texts, common.BATCH_SIZE, num_beams=1)
            curve.add(self.state.global_step, translations)
            self.control.should_evaluate = False  # not again at the end of the epoch
            self.control.should_training_stop = curve.done
            curve.clock.resume()
            return {}

    trainer = Trainer(
        model=model,
        args=Seq2SeqTrainingArguments(
            output_dir=str(arguments.run),
            use_cpu=True,
            per_device_train_batch_size=common.BATCH_SIZE,
            train_sampling_strategy="group_by_length",
            learning_rate=common.MAX_LEARNING_RATE,
            lr_scheduler_type="inverse_sqrt",
            warmup_steps=common.WARMUP_STEPS,
            label_smoothing_factor=common.LABEL_SMOOTHING,
            max_grad_norm=common.CLIP_NORM,
            max_steps=10**9 if fits else arguments.warmup + arguments.steps,
            eval_strategy="steps" if fits else "no",
            eval_steps=arguments.validate_every,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
        ),
        data_collator=DataCollatorForSeq2Seq(tokenizer, model),
        train_dataset=[
            row
            for row in dataset(arguments, tokenizer, "train")
            if max(map(len, row.values())) <= common.MAX_LENGTH
        ],
        eval_dataset=dataset(arguments, tokenizer, "validation"),
        processing_class=tokenizer,
    )
    trainer.train()
    result = {"parameters": model.num_parameters(only_trainable=True)}
    if not fits:
        return result | steps.result()
    trainer.save_model()
    return result


def decode(arguments) -> dict:
    model = MarianMTModel.from_pretrained(arguments.run)
    tokenizer = MarianTokenizer.from_pretrained(arguments.run)
    return common.decode(
        arguments,
        lambda texts: translate(
            model, tokenizer, texts, arguments.batch_size, num_beams=arguments.beam_size
        ),
    )


if __name__ == "__main__":
    common.main(train, decode)
