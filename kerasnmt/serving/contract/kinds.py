"""The kinds of exports, and how to find the kind of a given export."""

from collections.abc import Collection, Mapping

from kerasnmt.serving.contract.caption_contract import CaptionContract
from kerasnmt.serving.contract.export_contract import ExportContract
from kerasnmt.serving.contract.story_contract import StoryContract
from kerasnmt.serving.contract.translation_contract import ContextContract, TranslationContract
from kerasnmt.serving.protocol.meta_graph import Signature

CONTRACTS = (TranslationContract(), ContextContract(), CaptionContract(), StoryContract())


def contract_of(inputs: Collection[str]) -> ExportContract | None:
    """Return the contract of the exports whose signatures take these inputs, in any order.

    Args:
        inputs: The names of the inputs; an export's description lists them as `inputs`.

    Returns:
        The contract; None if no kind of export takes these inputs.
    """
    return next((one for one in CONTRACTS if {*one.inputs} == {*inputs}), None)


def declared_contract(signatures: Mapping[str, Signature]) -> ExportContract:
    """Return the contract for a SavedModel without a description.

    Args:
        signatures: The signatures by name.

    Returns:
        The contract of the inputs of `serving_default`. For inputs of no kind, or without this
        signature, the contract of translation: its `signature_problems` lists the differences.
    """
    default = signatures.get("serving_default")
    return contract_of(default.inputs if default else ()) or CONTRACTS[0]
