"""The kinds of exports, and how to find the kind of a given export."""

from collections.abc import Collection, Mapping
from typing import Any

from kerasnmt.serving.contract.caption_contract import CaptionContract
from kerasnmt.serving.contract.export_contract import ExportContract
from kerasnmt.serving.contract.story_contract import StoryContract
from kerasnmt.serving.contract.translation_contract import ContextContract, TranslationContract

CONTRACTS = (TranslationContract(), StoryContract(), ContextContract(), CaptionContract())


def described_contract(description: Mapping[str, Any]) -> ExportContract | None:
    """Find the kind of an export from the names of the examples in its description.

    Args:
        description: The export's description, as `read_description` returns it.

    Returns:
        The contract of the kind; None if there are no examples, or if their names are unknown.
    """
    names = description.get("examples", {}).keys()
    return next((one for one in CONTRACTS if one.example_names == names), None)


def contract_of(fields: Collection[str]) -> ExportContract:
    """Return the contract of a task, by the names of its fields, which are its inputs."""
    return next(one for one in CONTRACTS if {*one.inputs} == {*fields})


def likeliest_contract(inputs: Collection[str]) -> ExportContract:
    """Find the kind of an export without a description.

    Args:
        inputs: The names of the inputs of `serving_default`.

    Returns:
        The contract that has most of these inputs. In a tie it is the first one, which is the
        contract of translation.
    """
    return max(CONTRACTS, key=lambda one: len(one.inputs.keys() & {*inputs}))
