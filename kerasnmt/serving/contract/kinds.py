"""The kinds of exports, and how to find the kind of a given export."""

from collections.abc import Collection

from kerasnmt.serving.contract.caption_contract import CaptionContract
from kerasnmt.serving.contract.export_contract import ExportContract
from kerasnmt.serving.contract.story_contract import StoryContract
from kerasnmt.serving.contract.translation_contract import ContextContract, TranslationContract

CONTRACTS = (TranslationContract(), ContextContract(), CaptionContract(), StoryContract())


def contract_of(inputs: Collection[str]) -> ExportContract | None:
    """Return the contract of the exports whose signatures take these inputs, in any order.

    Args:
        inputs: The names of the inputs; an export's description lists them as `inputs`.

    Returns:
        The contract; None if no kind of export takes these inputs.
    """
    return next((one for one in CONTRACTS if {*one.inputs} == {*inputs}), None)


def declared_contract(inputs: Collection[str]) -> ExportContract:
    """Return the contract for a SavedModel without a description.

    Args:
        inputs: The names of the inputs of `serving_default`.

    Returns:
        The contract of these inputs; for inputs of no kind the contract of translation, which says
        in its `signature_problems` what it expects.
    """
    return contract_of(inputs) or CONTRACTS[0]
