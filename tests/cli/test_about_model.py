import base64

import pytest

from kerasnmt.cli.about_model import about_model
from kerasnmt.serving.contract.caption_contract import encode_png
from kerasnmt.training import RunFolder

RECIPE = """\
model: {{name: bahdanau_gru}}
tokenizer: {{shared: {{kind: words}}}}
data: {{train: {{builtin: 9}}, validation: {{pairs: {pairs}}}}}
"""


@pytest.fixture
def run(tmp_path):
    """A folder with a recipe, and the file of its validation data."""
    pairs = tmp_path / "pairs.tsv"
    RunFolder(tmp_path).recipe.write_text(RECIPE.format(pairs=pairs))
    return str(tmp_path), pairs


def test_examples_of_a_run_are_short_and_different(run):
    place, pairs = run
    texts = ["b", "b", " ", "x" * 81, "a dog", "c", "x" * 80, "d"]
    pairs.write_text("".join(f"{text}\ty\n" for text in texts))
    examples = [{"text": text} for text in ("b", "a dog", "c", "x" * 80)]
    assert about_model(place, ["text"], {}) == {"description": "", "examples": examples}
    assert about_model(place, ["text", "context"], {})["examples"] == []


@pytest.mark.parametrize("content", [None, "a line without a tab\n"])
def test_validation_data_that_cannot_be_read_gives_no_examples(run, content):
    place, pairs = run
    if content:
        pairs.write_text(content)
    assert about_model(place, ["text"], {}) == {"description": "", "examples": []}


def test_examples_of_an_export_are_not_empty():
    given = {"examples": {"text": ["a", "", "b"], "context": ["c", "d", " "], "translation": []}}
    about = about_model("saved_models/x", ["text", "context"], given)
    assert about["examples"] == [{"text": "a", "context": "c"}]


@pytest.mark.parametrize("name", ["scenes_en", "babi_memory", "babi_context"])
def test_examples_of_presets_have_the_fields_of_the_model(name):
    fields = {"scenes_en": ["image"], "babi_memory": ["story", "question"]}
    about = about_model(name, fields.get(name, ["text", "context"]), {})
    assert about["description"] and about["examples"]
    for example in about["examples"]:
        assert [*example] == fields.get(name, ["text", "context"])
        if name == "scenes_en":
            assert base64.b64decode(example["image"])[:4] == encode_png(1, 1, (0,))[:4]
