"""Export for CTranslate2, with the interface of a session."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np

from kerasnmt.serving.contract.export_contract import ExportContract
from kerasnmt.serving.contract.kinds import contract_of
from kerasnmt.serving.export.ctranslate2_model import load_ctranslate2
from kerasnmt.serving.protocol.meta_graph import Signature, TensorInfo


class CTranslate2Session:
    """Export for CTranslate2, with the interface of `SavedModelSession`, for servers and the check.

    Several threads can run it.

    Args:
        directory: Path of a folder that `export_ctranslate2` wrote.

    Attributes:
        signatures: Dict of the signatures, with the dtype and shape of each input and output.

    Raises:
        ValueError: See `load_ctranslate2`.
    """

    def __init__(self, directory: str | Path) -> None:
        self._served = load_ctranslate2(directory)
        contract = cast(ExportContract, contract_of(self._served.fields))
        inputs = {name: TensorInfo(name, "string", [-1]) for name in contract.inputs}
        self.signatures = {
            name: Signature(
                inputs,
                {
                    output: TensorInfo(output, dtype, [-1] * len(axes))
                    for output, (dtype, axes) in contract.outputs[name].items()
                    if output not in contract.optional_outputs
                },
            )
            for name in self._served.signatures
        }

    def run(self, signature: str, inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """Run a signature once; see `SavedModelSession.run`."""
        return {**self._served.signatures[signature](**inputs)}

    def close(self) -> None:
        """Do nothing: the memory is free when the session is."""

    def __enter__(self) -> "CTranslate2Session":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
