"""Base class of sessions, which run the signatures of a model for a server and the check."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from kerasnmt.kinds import kind_of
from kerasnmt.serving.protocol.meta_graph import Signature, TensorInfo
from kerasnmt.tasks.served_model import Progress, ServedModel, whole_progress


class Session(AbstractContextManager):
    """Base class of sessions. Several threads can run a session at the same time.

    Attributes:
        signatures: Mapping of the signatures, with the dtype and shape of each input and output.
    """

    signatures: Mapping[str, Signature]
    _closed = False

    def run(self, signature: str, inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """Run a signature once.

        Args:
            signature: Name of the signature.
            inputs: Dict of the inputs, arrays or nested lists, with `str` or `bytes` for strings.

        Returns:
            A dict of the outputs, as arrays of their dtypes. Strings are `bytes` in an array of
            dtype `object`.

        Raises:
            RuntimeError: If the run fails, or the session is closed.
        """
        raise NotImplementedError

    def progress(self, request: Mapping[str, str | bytes]) -> Iterator[Progress]:
        """Answer one request, and return an iterator of the words as they are made.

        By default, the whole answer is one piece.

        Args:
            request: Dict with the fields of `serving_default`, one text each.

        Returns:
            An iterator of the progress; see `kerasnmt.tasks.ServedModel.progress`.

        Raises:
            ValueError: If the request has other fields, or the search draws several samples.
            RuntimeError: If the run fails, here or while the iterator runs.
        """
        signature = self.signatures.get("serving_default")
        if signature is None or len(signature.outputs) != 2 or "score" not in signature.outputs:
            raise ValueError(
                "Expected a model whose 'serving_default' gives a text and its score, to stream "
                f"the text. Received: a model with the signatures {sorted(self.signatures)}."
            )
        check_fields(request, [*signature.inputs])
        inputs = {name: [one] for name, one in request.items()}
        outputs = self.run("serving_default", inputs)
        return iter([whole_progress(outputs)])

    def close(self) -> None:
        """Free the model. A closed session cannot run again. To close it twice has no effect."""
        self._closed = True

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError("Expected an open session. It was closed. Create a new one.")

    def _check_signature(self, name: str) -> None:
        """Check that the session is open, and has a signature."""
        self._check_open()
        if name not in self.signatures:
            raise ValueError(
                f"Expected one of the signatures {sorted(self.signatures)}. Received: "
                f"signature={name!r}"
            )

    def __exit__(self, *_: object) -> None:
        self.close()


class ServedModelSession(Session):
    """Session of an export that has been loaded for `Translator`.

    Args:
        model: The export. Its functions return all outputs of the contract that are not optional.
            Functions that are not in the contract are left out.
    """

    def __init__(self, model: ServedModel) -> None:
        self._model: Any = model
        contract = kind_of(model.fields).contract
        self.signatures = {
            name: Signature(
                {one: TensorInfo(one, "string", [-1]) for one in contract.inputs_of(name)},
                {
                    output: TensorInfo(output, dtype, [-1] * len(axes))
                    for output, (dtype, axes) in contract.outputs[name].items()
                    if output not in contract.optional_outputs
                },
            )
            for name in contract.outputs
            if name in model.signatures
        }

    def run(self, signature: str, inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """Run a signature once; see `Session`."""
        self._check_signature(signature)
        try:
            outputs = self._model.signatures[signature](**inputs)
        except Exception as error:  # each runtime has its own
            raise RuntimeError(str(error)) from error
        return {name: np.asarray(values) for name, values in outputs.items()}

    def progress(self, request: Mapping[str, str | bytes]) -> Iterator[Progress]:
        """Answer one request; see `Session`."""
        self._check_open()
        return model_progress(self._model, request)

    def close(self) -> None:
        """Free the model; see `Session`."""
        super().close()
        self._model = None


def model_progress(model: ServedModel, request: Mapping[str, str | bytes]) -> Iterator[Progress]:
    """Answer one request with a model that takes prefixes; see `Session.progress`."""
    check_fields(request, model.fields, ["prefix"] if "forced_prefix" in model.signatures else [])
    progress = model.progress(request)

    def steps() -> Iterator[Progress]:
        try:
            yield from progress
        except ValueError:
            raise
        except Exception as error:  # each runtime has its own
            raise RuntimeError(str(error)) from error

    return steps()


def check_fields(
    request: Mapping[str, Any], fields: Sequence[str], optional: Sequence[str] = ()
) -> None:
    """Check that a request has the fields of a model, and no others.

    Raises:
        ValueError: If a field is missing or unknown.
    """
    if missing := [name for name in fields if name not in request]:
        raise ValueError(f"Expected {' and '.join(fields)}. Missing: {', '.join(missing)}")
    if unknown := sorted(request.keys() - {*fields, *optional}):
        allowed = " and ".join(fields) + "".join(f", or also {name}" for name in optional)
        raise ValueError(f"Expected {allowed}. Received: {', '.join(unknown)}")
