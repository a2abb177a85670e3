import json

import pytest

from kerasnmt.serving.contract.caption_contract import CaptionContract
from kerasnmt.serving.contract.kinds import CONTRACTS, described_contract, likeliest_contract
from kerasnmt.serving.contract.story_contract import StoryContract
from kerasnmt.serving.contract.translation_contract import TranslationContract


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (["texts", "translations"], TranslationContract),
        (["answers", "questions", "stories"], StoryContract),
        (["images", "captions"], CaptionContract),
        (["texts"], None),
        (["answers", "texts"], None),
        ([], None),
    ],
)
def test_the_names_of_examples_tell_the_kind(names, kind):
    found = described_contract({"examples": {name: [] for name in names}})
    assert (found and type(found)) == kind
    assert described_contract({"model": "x"}) is None


@pytest.mark.parametrize(
    ("inputs", "kind"),
    [
        (["text"], TranslationContract),
        (["story", "question"], StoryContract),
        (["image"], CaptionContract),
        (["story"], StoryContract),
        (["question", "more"], StoryContract),
        (["x"], TranslationContract),
        ([], TranslationContract),
    ],
)
def test_inputs_tell_the_likeliest_kind(inputs, kind):
    assert type(likeliest_contract(inputs)) is kind


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: contract.row)
def test_a_contract_is_whole(contract):
    """What `ExportContract` relies on in each."""
    assert contract.odd_values.keys() == contract.inputs.keys()
    assert contract.row in contract.inputs
    assert contract.outputs["serving_default"][contract.answer] == ("string", ("batch",))
    assert contract.further_checks().keys() <= contract.outputs.keys()
    assert contract.optional_signatures <= contract.outputs.keys()
    assert {len(row) for row in contract.example_rows} == {len(contract.inputs)}
    assert all(value.strip() for value in contract.example_rows[0])
    outputs = {name for signature in contract.outputs.values() for name in signature}
    assert contract.optional_outputs <= outputs
    rows = contract.example_rows
    columns = contract.columns(rows)
    assert list(columns) == list(contract.inputs)
    assert tuple(zip(*columns.values(), strict=True)) == rows
    examples = {
        contract.inputs[name]: [*map(contract.to_json, values)] for name, values in columns.items()
    }
    examples[contract.answers] = ["an answer"] * len(rows)
    description = json.loads(json.dumps({"examples": examples}))
    assert described_contract(description) is contract
    assert contract.described_examples(description) == (rows, ["an answer"] * len(rows))
    assert contract.described_examples({}) == ((), [])
