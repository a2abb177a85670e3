"""Make a preset of a trained model: `kerasnmt/presets/NAME`, or `zoo/presets/NAME`.

    python zoo/make_preset.py zoo/bahdanau_gru_g2p/presets.yaml g2p_dutch runs/g2p_dutch/model.keras

The YAML file describes presets. `all` has the keys that they share; under its name, each preset has
its own keys. Without `model`, the keywords of the model come from `recipe.yaml` in the same folder.
Besides the keys of `model.save_to_preset(about=…)`, there are

- `weights`: the number format of the weights file.
- `test`: a file of pairs, relative to the YAML file. The preset is scored on it, and its `bleu`,
  `chrf`, `exact` and `error` (100 - `exact`) fill the braces in `score`. The first percentile of
  the search's scores becomes `low_score`. Without `test`, write the score itself.
- `fold_case`: whether the source's characters are looked up in lowercase too, and texts are read
  in the Unicode form NFC if the model has no other one; see `CharacterTokenizer`.
- `default_language`: the language of texts without a tag; see `TranslationModel.set_language`.
- `inputs`: the requests of the examples. The preset computes their outputs.

Presets of the package `kerasnmt-presets` are in `zoo/presets`. The script replaces an existing
preset. Without a trained model, it describes and scores the existing preset again.
"""

import argparse
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import yaml

from kerasnmt.data import builtin_scenes, read_tsv
from kerasnmt.models import in_float32, load_model
from kerasnmt.presets import Preset
from kerasnmt.presets.folders import SECOND, SECOND_NAMES, SHIPPED, shipped_presets
from kerasnmt.tasks import Translator, task_of
from kerasnmt.text import CharacterTokenizer
from kerasnmt.text.split_sentences import split_sentences
from kerasnmt.training import Recipe, grouped, texts, translation_scores
from kerasnmt.zoo import from_preset


def scores(preset: Preset, model: Any, pairs: Any) -> dict[str, float]:
    """Score a preset on pairs. Consecutive pairs with the same source are its references."""
    sources, references = grouped(texts(pairs))
    answers = Translator(task_of(model, **preset.search)).best(sources)
    found = translation_scores([text for text, _ in answers], references)
    # Of single sentences, because the score of a text is the sum of the scores of its sentences.
    single = split_sentences(sources).row_lengths() == 1
    low = np.percentile(np.array([score for _, score in answers])[single], 1)
    return {**found, "error": 100 - found["exact"], "low": float(f"{low:.3g}")}


def outputs(model: Any, requests: list[dict[str, Any]]) -> list[str]:
    """Return the answers to the requests of a card's examples."""
    if "text" in requests[0]:
        contexts = [one["context"] for one in requests] if "context" in requests[0] else None
        asked = [one["text"] for one in requests]
        return model.translate(asked, contexts=contexts)
    if "story" in requests[0]:
        stories = [one["story"].splitlines() for one in requests]
        return model.answer(stories, [one["question"] for one in requests])
    scenes = builtin_scenes(1 + max(one["scene"] for one in requests), "test")
    images = np.stack([scenes[one["scene"]].image for one in requests])
    return model.caption(images)


def main() -> None:
    """Make a preset."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("document", type=Path, help="YAML file with the descriptions")
    parser.add_argument("name", help="name of the preset in this file")
    parser.add_argument("model", type=Path, nargs="?", help="trained model, a model.keras")
    arguments = parser.parse_args()
    document = yaml.safe_load(arguments.document.read_text(encoding="utf-8"))
    about = {**document["all"], **document[arguments.name]}
    recipe = arguments.document.parent / "recipe.yaml"
    columns = tags = None
    if recipe.exists():
        trained = Recipe.load(recipe)
        about.setdefault("model", trained.model.keywords)
        columns, tags = trained.data.train.columns, trained.data.train.tags
    weights = about.pop("weights", "float16")
    fold_case = about.pop("fold_case", False)
    language = about.pop("default_language", None)
    test, inputs = about.pop("test", None), about.pop("inputs")
    with tempfile.TemporaryDirectory() as folder:
        if arguments.model is None:
            model = from_preset(arguments.name)
        else:
            model = in_float32(load_model(arguments.model, compile=False))
        if fold_case:
            config = model.source_tokenizer.get_config()
            config |= {"fold_case": True, "normalization": config["normalization"] or "nfc"}
            model.source_tokenizer = CharacterTokenizer(**config)
        if language is not None:
            model.set_language(language)
        place = model.save_to_preset(Path(folder, arguments.name), weights=weights, about=about)
        preset = Preset(place)
        model = preset.load()
        if test is not None:
            pairs = read_tsv(arguments.document.parent / test, columns, tags=tags)
            found = scores(preset, model, pairs)
            about["score"] = about["score"].format(**found)
            about["low_score"] = found["low"]
        answers = outputs(model, inputs)
        about["examples"] = [
            {"input": one, "output": answer} for one, answer in zip(inputs, answers, strict=True)
        ]
        made = model.save_to_preset(
            Path(folder, "made", arguments.name), weights=weights, about=about
        )
        place = (SECOND if arguments.name in SECOND_NAMES else SHIPPED) / arguments.name
        shutil.rmtree(place, ignore_errors=True)
        shutil.move(made, place)
    print(about["score"], *(one["output"] for one in about["examples"]), sep="\n")
    print(f"{len(shipped_presets())} presets")


if __name__ == "__main__":
    main()
