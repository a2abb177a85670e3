"""The folders of trained models: their recipes are valid, and their scripts do what they say."""

import importlib.util
import sys
from pathlib import Path

import pytest

from kerasnmt.training import Recipe
from kerasnmt.training.model_section import check_model

ZOO = Path(__file__).parents[2] / "zoo"
FOLDERS = sorted(path.parent for path in ZOO.glob("*/recipe.yaml"))
SIGMORPHON = ZOO / "pointer_generator_gru_sigmorphon2018"


def script(name):
    specification = importlib.util.spec_from_file_location(name, SIGMORPHON / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_there_are_trained_models():
    assert [folder.name for folder in FOLDERS] == [
        "bahdanau_gru_multi30k_en_de",
        "pointer_generator_gru_sigmorphon2018",
    ]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_recipe_is_valid_and_the_card_is_there(folder):
    recipe = Recipe.load(folder / "recipe.yaml")
    check_model(recipe.model.name, recipe.model.keywords)
    assert folder.name.startswith(recipe.model.name)
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert card.startswith(f"# {recipe.model.name} on ")
    assert (folder / "results.json").exists()


def test_prepare(tmp_path, monkeypatch, capsys):
    published = tmp_path / "published"
    published.mkdir()
    rows = ["aufgehen\tging auf\tV;IND;PST", "Hahn\tHahnes\tN;GEN;SG"]
    for split in ("train-medium", "dev", "test"):
        text = "".join(f"{row}\n" for row in rows)
        (published / f"german-{split}").write_text(text, encoding="utf-8")
    arguments = [str(published), str(tmp_path / "data"), "--languages", "german"]
    monkeypatch.setattr(sys, "argv", ["prepare.py", *arguments])
    script("prepare").main()
    for split in ("train", "validation", "test"):
        assert (tmp_path / f"data/german/{split}.tsv").read_text(encoding="utf-8") == (
            "[V] [IND] [PST] a u f g e h e n\tg i n g ▁ a u f\n"
            "[N] [GEN] [SG] H a h n\tH a h n e s\n"
        )
    assert "german: train.tsv, validation.tsv, test.tsv" in capsys.readouterr().out


def test_vocabulary_of_what_is_seen_more_than_once(tmp_path):
    path = tmp_path / "train.tsv"
    path.write_text("[V] a b b\ta c\n[V] d\te\n", encoding="utf-8")
    assert script("reproduce").vocabulary_size(path) == 4 + 3  # [V], a, b


def test_distance_by_hand():
    distance = script("reproduce").distance
    assert distance("", "") == 0 and distance("abc", "abc") == 0
    assert distance("", "abc") == 3 and distance("abc", "") == 3
    assert distance("kitten", "sitting") == 3
    assert distance("ab", "ba") == 2 and distance("flaw", "lawn") == 2
