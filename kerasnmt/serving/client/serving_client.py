"""The base of the clients of a model server."""

import abc
import functools
import random
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np

from kerasnmt.serving.contract.kinds import likeliest_contract
from kerasnmt.serving.contract.served_model import ServedModel
from kerasnmt.serving.contract.translation_contract import TranslationContract
from kerasnmt.serving.protocol.meta_graph import Signature

_CONTRACT = TranslationContract()

_DAY = 86400  # seconds; sockets cannot wait much longer


class TransientError(ConnectionError):
    """The server could not be reached, did not answer in time, or was busy: try again later."""


class ServingClient(ServedModel, abc.ABC):
    """A model behind a TF Serving server, for `Translator`.

    The constructor requests the signatures of the model. A request that fails with a temporary
    failure is sent again. The wait doubles with each try and is multiplied by a random factor from
    0.5 to 1.5, so that many clients do not return at the same time. Rejected requests are not
    repeated.

    A subclass implements `_declared`, which requests the signatures, `_predict`, which runs a
    signature on texts, and `close`.

    Args:
        server: The server's URL.
        model: The name under which the server serves the model.
        version: The version of the model; `None` for the server's choice, which is the newest.
        timeout: Seconds to wait for each answer.
        tries: Maximum number of times that a request is sent.
        wait: Seconds before the second try.

    Attributes:
        signatures: Functions by name. Each takes `text`, a list of `str`, and returns the outputs
            by name as NumPy arrays. Strings are UTF-8 `bytes` in an array of dtype `object`.
        description: `beam_size`, if the server states it.

    Raises:
        ValueError: If an argument is out of range, the server does not have the model or rejects
            the request, or the answer is not that of an export of kerasnmt.
        TransientError: If the server could not be reached, did not answer in time or was busy in
            every try.
    """

    def __init__(
        self,
        server: str,
        model: str,
        version: int | None = None,
        *,
        timeout: float = 60.0,
        tries: int = 5,
        wait: float = 0.25,
    ) -> None:
        if not 0 < timeout <= _DAY or tries < 1 or not 0 <= wait <= _DAY:
            raise ValueError(
                "Expected 0 < timeout <= 86400, tries >= 1 and 0 <= wait <= 86400. Received: "
                f"timeout={timeout:g}, tries={tries}, wait={wait:g}"
            )
        self.server, self.model, self.version = server, model, version
        self._timeout, self._tries, self._wait = timeout, tries, wait
        declared = self._retried(self._declared)
        if problems := _CONTRACT.signature_problems(declared):
            default = declared.get("serving_default")
            likeliest = likeliest_contract(default.inputs if default else ())
            if not likeliest.signature_problems(declared):
                raise self._refused(f"{likeliest.kind}, where {_CONTRACT.kind} is expected")
            raise self._refused(f"a model that is not an export of kerasnmt: {problems[0]}")
        self.signatures = {
            name: functools.partial(self._ask, name) for name in _CONTRACT.served(declared)
        }
        shape = declared["n_best"].outputs["translations"].shape
        known = shape is not None and shape[1] > 0
        self.description: dict[str, Any] = {"beam_size": shape[1]} if known else {}

    @abc.abstractmethod
    def close(self) -> None:
        """Close the connection."""

    @abc.abstractmethod
    def _declared(self) -> Mapping[str, Signature]:
        """Request the signatures of the model.

        Raises:
            ValueError: If the server rejects the request; made by `_refused`.
            TransientError: If there is no answer.
        """

    @abc.abstractmethod
    def _predict(self, signature: str, texts: Sequence[str]) -> Mapping[str, np.ndarray]:
        """Run a signature, and return its outputs, at least those of the contract.

        Raises:
            ValueError: If the server rejects the request; made by `_refused`.
            TransientError: If there is no answer.
        """

    def _ask(self, signature: str, *, text: Sequence[str]) -> Mapping[str, np.ndarray]:
        outputs = self._retried(lambda: self._predict(signature, text))
        problems = _output_problems(signature, outputs)
        if problems := problems or _CONTRACT.shape_problems(signature, outputs, len(text)):
            raise self._refused(f"for {len(text)} texts, {problems[0]}")
        return outputs

    def _retried(self, ask: Callable[[], Any]) -> Any:
        for done in range(self._tries):
            if done:
                time.sleep(self._wait * 2 ** (done - 1) * random.uniform(0.5, 1.5))
            try:
                return ask()
            except TransientError as error:
                failure = error
        tries = "1 try" if self._tries == 1 else f"{self._tries} tries"
        raise TransientError(
            f"Expected an answer from {self.server}. Received: {failure}; {tries}."
        )

    def _refused(self, received: str) -> ValueError:
        version = "" if self.version is None else f", version {self.version}"
        return ValueError(
            f"Expected {self.server} to serve the model {self.model!r}{version}. "
            f"Received: {received}"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _output_problems(signature: str, outputs: Mapping[str, np.ndarray]) -> list[str]:
    problems = []
    for name, (dtype, _) in _CONTRACT.outputs[signature].items():
        if name in outputs:
            if outputs[name].dtype != (object if dtype == "string" else dtype):
                problems.append(f"{signature}: {name} is not of dtype {dtype}")
        elif name not in _CONTRACT.optional_outputs:
            problems.append(f"{signature}: no output {name!r}")
    return problems
