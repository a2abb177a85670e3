"""What the clients of a served model have in common."""

import abc
import functools
import random
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np

from kerasnmt.serving.contracts import likeliest_contract
from kerasnmt.serving.meta_graph import Signature
from kerasnmt.serving.transient_error import TransientError
from kerasnmt.serving.translation_contract import TranslationContract

_CONTRACT = TranslationContract()

_DAY = 86400  # seconds; sockets cannot wait for any number of them


class ServingClient(abc.ABC):
    """A model that a TF Serving server answers for, for `Translator` to use as one that is here.

    When it is made it asks the server for the signatures of the model. A failure that may pass is
    tried again, after a wait that doubles with each try and is drawn from 0.5 to 1.5 times its
    length, so that many clients do not come back at once. Nothing else is: a refusal is the same
    the next time.

    A transport has `_declared`, which asks for the signatures, `_predict`, which runs one on texts,
    and `close`.

    Args:
        server: the server's URL.
        model: the name under which it serves the model.
        version: of the model; None for the one that the server takes, which is the newest.
        timeout: seconds to wait for each answer.
        tries: how often a request is sent at most.
        wait: seconds before the second try.

    Attributes:
        signatures: functions by name. Each takes `text`, a list of `str`, and returns the outputs
            by name as NumPy arrays, strings as UTF-8 `bytes` in an array of dtype `object`.
        description: `beam_size`, where the server tells it.
        source_lengths: None, as a server does not count tokens.

    Raises:
        ValueError: an argument is out of range, the server does not have the model, refuses the
            request, or answers something else than what an export of kerasnmt does.
        TransientError: the server could not be reached, did not answer in time or was busy, at
            every try.
    """

    source_lengths = None

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
                raise self._refused(f"{likeliest.kind}, where one that translates is expected")
            raise self._refused(f"one that is no export of kerasnmt: {problems[0]}")
        self.signatures = {
            name: functools.partial(self._ask, name) for name in _CONTRACT.served(declared)
        }
        shape = declared["n_best"].outputs["translations"].shape
        known = shape is not None and shape[1] > 0
        self.description: dict[str, Any] = {"beam_size": shape[1]} if known else {}

    @abc.abstractmethod
    def close(self) -> None:
        """Closes the connection."""

    @abc.abstractmethod
    def _declared(self) -> Mapping[str, Signature]:
        """Asks for the signatures of the model.

        Raises:
            ValueError: `_refused`, with what the server said.
            TransientError: with why there was no answer.
        """

    @abc.abstractmethod
    def _predict(self, signature: str, texts: Sequence[str]) -> Mapping[str, np.ndarray]:
        """Runs a signature; returns at least those outputs of the contract that were answered.

        Raises:
            ValueError: `_refused`, with what the server said.
            TransientError: with why there was no answer.
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
        raise TransientError(f"Expected an answer of {self.server}. Received: {failure}; {tries}.")

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
