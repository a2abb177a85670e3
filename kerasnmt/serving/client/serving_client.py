"""Base class of clients of a model server."""

import abc
import functools
import random
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from kerasnmt.serving.contract.export_contract import declared_contract
from kerasnmt.serving.protocol.meta_graph import Signature
from kerasnmt.tasks.served_model import ServedModel

_DAY = 86400  # seconds; sockets cannot wait much longer


class TransientError(ConnectionError):
    """Error if the server could not be reached, did not answer in time or was busy."""


class ServingClient(ServedModel, AbstractContextManager):
    """Base class of clients of a model on TF Serving, for `Translator`.

    The constructor requests the signatures of the model, and its description as far as the server
    knows it. After a temporary failure, the client sends a request again. The wait doubles with
    each try, and is multiplied by a random factor from 0.5 to 1.5, so that many clients do not
    return at the same time. Rejected requests are not sent again.

    A subclass implements `_declared`, which requests both, `_predict`, which runs a signature, and
    `close`.

    Args:
        server: Address of the server.
        model: Name of the model on the server.
        version: Version of the model, or None for the server's choice, which is the newest.
        timeout: Number of seconds to wait for each answer.
        tries: Maximum number of times that a request is sent.
        wait: Number of seconds before the second try.

    Attributes:
        signatures: Dict of functions. Each takes its inputs as keywords, lists of `str` or `bytes`,
            and returns a dict of its outputs as NumPy arrays. Strings are UTF-8 `bytes` in an array
            of dtype `object`.
        description: `beam_size`, `source_tags` and `default_tags`, if the server states them.

    Raises:
        ValueError: If an argument is out of range, the server does not have the model or rejects
            the request, or the answer does not come from an export of kerasnmt.
        TransientError: If the server could not be reached, did not answer in time or was busy in
            all tries.
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
        declared, described = self._retried(self._declared)
        self.description: dict[str, Any] = described
        self.contract = declared_contract(declared)
        # An export for LiteRT has no `n_best`.
        if problems := self.contract.signature_problems(declared, {"n_best"}):
            raise self._refused(f"a model that is not an export of kerasnmt: {problems[0]}")
        self.fields = tuple(self.contract.inputs)
        names = self.contract.known_signatures(declared)
        self.signatures = {name: functools.partial(self._ask, name) for name in names}
        if "n_best" in self.signatures:
            shape = declared["n_best"].outputs["translations"].shape
            if shape is not None and shape[1] > 0:
                self.description["beam_size"] = shape[1]

    @abc.abstractmethod
    def close(self) -> None:
        """Close the connection."""

    @abc.abstractmethod
    def _declared(self) -> tuple[Mapping[str, Signature], dict[str, Any]]:
        """Request the signatures and the description of the model.

        Raises:
            ValueError: If the server rejects the request; see `_refused`.
            TransientError: If there is no answer.
        """

    @abc.abstractmethod
    def _predict(
        self, signature: str, inputs: Mapping[str, Sequence[str | bytes]]
    ) -> Mapping[str, np.ndarray]:
        """Run a signature, and return at least its outputs in the contract.

        Raises:
            ValueError: If the server rejects the request; see `_refused`.
            TransientError: If there is no answer.
        """

    def _ask(self, signature: str, **inputs: Sequence[str | bytes]) -> Mapping[str, np.ndarray]:
        outputs = self._retried(lambda: self._predict(signature, inputs))
        count = len(next(iter(inputs.values())))
        problems = self._output_problems(signature, outputs)
        if problems := problems or self.contract.shape_problems(signature, outputs, count):
            raise self._refused(f"for {count} {self.contract.rows}, {problems[0]}")
        return outputs

    def _output_problems(self, signature: str, outputs: Mapping[str, np.ndarray]) -> list[str]:
        problems = []
        for name, (dtype, _) in self.contract.outputs[signature].items():
            if name in outputs:
                if outputs[name].dtype != (object if dtype == "string" else dtype):
                    problems.append(f"{signature}: {name} is not of dtype {dtype}")
            elif name not in self.contract.optional_outputs:
                problems.append(f"{signature}: no output {name!r}")
        return problems

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

    def __exit__(self, *_: object) -> None:
        self.close()
