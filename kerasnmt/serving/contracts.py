"""The kinds of exports, and how an export shows which it is."""

from collections.abc import Collection, Mapping
from typing import Any

from kerasnmt.serving.caption_contract import CaptionContract
from kerasnmt.serving.context_contract import ContextContract
from kerasnmt.serving.export_contract import ExportContract
from kerasnmt.serving.story_contract import StoryContract
from kerasnmt.serving.translation_contract import TranslationContract

CONTRACTS = (TranslationContract(), StoryContract(), ContextContract(), CaptionContract())


def described_contract(description: Mapping[str, Any]) -> ExportContract | None:
    """Finds the kind of an export by the names of its description's examples.

    Args:
        description: What the export says of itself.

    Returns:
        The contract of its kind; None where it has no examples, or others.
    """
    names = description.get("examples", {}).keys()
    return next((one for one in CONTRACTS if one.example_names == names), None)


def likeliest_contract(inputs: Collection[str]) -> ExportContract:
    """Finds the kind of an export without a description.

    Args:
        inputs: The names of the inputs of `serving_default`.

    Returns:
        The contract that has most of them; where several do, or none does, the first, which is that
        of translation.
    """
    return max(CONTRACTS, key=lambda one: len(one.inputs.keys() & {*inputs}))
