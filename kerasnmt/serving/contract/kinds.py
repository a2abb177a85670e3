"""Kinds of exports, and the kind of a given export."""

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
        inputs: Names of the inputs, such as `inputs` in the description of an export.

    Returns:
        The contract, or None if no kind of export takes these inputs.
    """
    return next((one for one in CONTRACTS if {*one.inputs} == {*inputs}), None)


def declared_contract(signatures: Mapping[str, Signature]) -> ExportContract:
    """Return the contract for a SavedModel without a description.

    Args:
        signatures: Dict of the signatures.

    Returns:
        The contract of the inputs of `serving_default`. If there is no such signature, or its
        inputs belong to no kind, the contract of translation, whose `signature_problems` lists the
        differences.
    """
    default = signatures.get("serving_default")
    return contract_of(default.inputs if default else ()) or CONTRACTS[0]
