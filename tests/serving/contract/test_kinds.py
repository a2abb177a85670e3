import json

import pytest

from kerasnmt.serving.contract.caption_contract import CaptionContract
from kerasnmt.serving.contract.kinds import CONTRACTS, contract_of, declared_contract
from kerasnmt.serving.contract.story_contract import StoryContract
from kerasnmt.serving.contract.translation_contract import ContextContract, TranslationContract
from kerasnmt.serving.protocol.meta_graph import Signature


@pytest.mark.parametrize(
    ("inputs", "kind"),
    [
        (["text"], TranslationContract),
        (["context", "text"], ContextContract),
        (["story", "question"], StoryContract),
        (["image"], CaptionContract),
        (["story"], None),
        (["question", "story", "more"], None),
        ([], None),
    ],
)
def test_inputs_give_the_kind(inputs, kind):
    found = contract_of(inputs)
    assert (found and type(found)) == kind
    declared = {"serving_default": Signature(dict.fromkeys(inputs), {})}
    assert type(declared_contract(declared)) is (kind or TranslationContract)


def test_without_the_default_signature_the_kind_is_translation():
    assert type(declared_contract({})) is TranslationContract


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: contract.row)
def test_a_contract_is_whole(contract):
    """Check that each contract has what `ExportContract` uses."""
    assert [*contract.odd_values] == [*contract.inputs]
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
    examples = {name: [*map(contract.to_json, values)] for name, values in columns.items()}
    examples[contract.answer] = ["an answer"] * len(rows)
    description = json.loads(json.dumps({"examples": examples}))
    assert contract_of(contract.inputs) is contract
    assert contract.described_examples(description) == (rows, ["an answer"] * len(rows))
    assert contract.described_examples({}) == ((), [])
