"""What an export promises: the signatures of a SavedModel, and what their outputs mean."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from kerasnmt.serving.meta_graph import Signature, TensorInfo

# What comes to a server that anybody can reach; each is to be answered, alone and among others.
ODD_TEXTS = {
    "no text": b"",
    "only spaces": b"   \t ",
    "10,000 characters": b"two dogs . " * 909 + b"x",
    "a word of 10,000 characters": b"x" * 10_000,
    "emoji": "👩\u200d👩\u200d👧 🇩🇪 dogs 🙂🙂".encode(),
    "bytes that are not UTF-8": b"\xff\xfe dogs \xc3( \xed\xa0\x80",
    "text from right to left": "שלום עולם مرحبا بالعالم .".encode(),
    "combining marks": "a\u0301\u0323\u0308 Z\u0351\u036b\u0343 e\u0301".encode(),
    "a null byte": b"two\0dogs \0 run",
    "control characters": bytes(range(1, 32)) + b"\x7f two dogs",
    "line breaks": b"two dogs\nrun .\r\n",
}

SCORE_TOLERANCE = 1e-4

# A row of a request: a string for each input of the signatures, in the order of the contract.
Row = tuple[str | bytes, ...]
# What a request returns, by name; strings as `bytes` in an array of dtype `object`.
Outputs = Mapping[str, np.ndarray]

# The dtype and the axes of every input.
_INPUT = ("string", ("batch",))


class ExportContract:
    """What all exports of a kind promise, as its subclass says.

    All signatures take the same inputs, each string `[batch]`, any bytes, and treat every row
    alone. The methods look at names and NumPy arrays only. Those called `…_problems` return what is
    wrong as sentences; an empty list means that nothing is.

    Attributes:
        kind: what such an export is, in words for messages.
        inputs: the inputs of the signatures; with each the name under which the export's
            description lists examples of it.
        outputs: the outputs of each signature with their dtypes and axes, batch first.
        answer: the output of `serving_default` that is compared with what a model said.
        answers: the name under which the description lists these.
        row: the input by whose name a row is called in messages.
        example_rows: what an export is tried with where its description holds no examples. The
            first is an ordinary one, which is answered beside odd ones.
        odd_values: for each input what it is to take as well, by names for messages.
        optional_signatures: which of `outputs` an export may lack.
        optional_outputs: which outputs a signature may lack.
    """

    kind: str
    inputs: ClassVar[Mapping[str, str]]
    outputs: ClassVar[Mapping[str, Mapping[str, tuple[str, Sequence[str]]]]]
    answer: str
    answers: str
    row: str
    example_rows: tuple[Row, ...]
    odd_values: ClassVar[Mapping[str, Mapping[str, bytes]]]
    optional_signatures: Collection[str] = frozenset()
    optional_outputs: Collection[str] = frozenset()

    @property
    def rows(self) -> str:
        """What several rows are called in messages."""
        return self.inputs[self.row]

    @property
    def example_names(self) -> set[str]:
        """The names that the examples of a description have."""
        return {*self.inputs.values(), self.answers}

    @property
    def odd_rows(self) -> dict[str, Row]:
        """Rows of which one input is odd and the others are ordinary, by names for messages."""
        ordinary = dict(zip(self.inputs, self.example_rows[0], strict=True))
        rows = {}
        for odd in self.inputs:
            where = f" as {odd}" if len(self.inputs) > 1 else ""
            for name, value in self.odd_values[odd].items():
                rows[f"{name}{where}"] = tuple({**ordinary, odd: value}.values())
        return rows

    def columns(self, rows: Sequence[Row]) -> dict[str, tuple[str | bytes, ...]]:
        """Turns the rows of a request, of which there is one at least, into its named inputs."""
        return dict(zip(self.inputs, zip(*rows, strict=True), strict=True))

    def described_examples(
        self, description: Mapping[str, Any]
    ) -> tuple[tuple[Row, ...], list[str]]:
        """Reads the examples of a description.

        Args:
            description: Of an export of this kind, as `read_description` returns it.

        Returns:
            The rows, and the answer to each; nothing of both where it holds no examples.
        """
        examples = description.get("examples", {name: [] for name in self.example_names})
        columns = [map(self.from_json, examples[name]) for name in self.inputs.values()]
        return tuple(zip(*columns, strict=True)), examples[self.answers]

    def to_json(self, value: str | bytes) -> str:
        """Turns a value of an input into what a description lists of it: here, the text itself."""
        return value

    def from_json(self, value: str) -> str | bytes:
        """Turns what a description lists back into a value of an input."""
        return value

    def served(self, signatures: Collection[str]) -> list[str]:
        """Returns the names of those signatures that are the contract's."""
        return [name for name in self.outputs if name in signatures]

    def further_checks(self) -> dict[str, Callable[[Outputs, Outputs], tuple[list[str], str]]]:
        """Returns what can be checked of the meaning of outputs.

        Returns:
            For the name of a signature, a function of the outputs of `serving_default` and of those
            of the signature, both for the same rows; it returns what is wrong and what was found.
        """
        return {}

    def signature_problems(self, signatures: Mapping[str, Signature]) -> list[str]:
        """Compares the declared signatures of a SavedModel with the contract.

        Args:
            signatures: The signatures by name. Others than the contract's may stand beside them.

        Returns:
            What is missing, too much, of another dtype or of another shape.
        """
        problems = []
        inputs = dict.fromkeys(self.inputs, _INPUT)
        for name, outputs in self.outputs.items():
            if name in signatures:
                problems += self._tensor_problems(f"{name} input", signatures[name].inputs, inputs)
                problems += self._tensor_problems(
                    f"{name} output", signatures[name].outputs, outputs
                )
            elif name not in self.optional_signatures:
                problems.append(f"no signature {name!r}")
        return problems

    def shape_problems(
        self, name: str, outputs: Mapping[str, np.ndarray], batch_size: int
    ) -> list[str]:
        """Compares the shapes that a request returned with the contract.

        Args:
            name: The signature's name.
            outputs: Its outputs by name.
            batch_size: The number of rows of the request.

        Returns:
            The outputs whose number of axes or batch size is another, or which disagree on an axis.
        """
        problems = []
        sizes = {"batch": batch_size}
        for output, (_, axes) in self._present(self.outputs[name], outputs).items():
            shape = outputs[output].shape
            fits = len(shape) == len(axes)
            if not fits or any(
                sizes.setdefault(a, n) != n for a, n in zip(axes, shape, strict=True)
            ):
                problems.append(
                    f"{name}: {output} has shape {shape} where {_written(axes)} is expected"
                )
        return problems

    def encoding_problems(self, outputs: Mapping[str, np.ndarray]) -> list[str]:
        """Looks for strings and numbers that no JSON can hold.

        Args:
            outputs: Outputs by name, the batch first.

        Returns:
            The first string of each output that is not UTF-8, the first number that is not finite.
        """
        problems = []
        for name, values in outputs.items():
            strings = values.dtype == object
            for index, value in np.ndenumerate(values):
                if not (_is_utf8(value) if strings else np.isfinite(value)):
                    what = f"UTF-8: {value!r}" if strings else f"finite: {value:g}"
                    problems.append(f"{name} of {self.row} {index[0]} is not {what}")
                    break
        return problems

    def differences(
        self, expected: Mapping[str, np.ndarray], received: Mapping[str, np.ndarray]
    ) -> list[str]:
        """Compares two sets of outputs: texts exactly, numbers to 1e-4.

        Args:
            expected: Outputs by name, the batch first.
            received: Outputs by name, the batch first.

        Returns:
            The outputs that only one of both has, and the first difference of each that differs.
        """
        problems = [
            f"only one has the output {name!r}" for name in expected.keys() ^ received.keys()
        ]
        for name in expected.keys() & received.keys():
            one, other = expected[name], received[name]
            if one.shape != other.shape:
                problems.append(f"{name}: shape {other.shape} where {one.shape} is expected")
                continue
            if one.dtype == object:
                unequal = one != other
            else:
                unequal = ~np.isclose(other, one, rtol=0, atol=SCORE_TOLERANCE)
            if unequal.any():
                index = tuple(int(place[0]) for place in np.nonzero(unequal))
                problems.append(
                    f"{name} of {self.row} {index[0]}: {_shown(other[index])} "
                    f"where {_shown(one[index])} is expected"
                )
        return sorted(problems)

    def _tensor_problems(
        self,
        where: str,
        declared: Mapping[str, TensorInfo],
        expected: Mapping[str, tuple[str, Sequence[str]]],
    ) -> list[str]:
        expected = self._present(expected, declared)
        if declared.keys() != expected.keys():
            return [f"{where}: names {sorted(declared)} where {sorted(expected)} are expected"]
        problems = []
        for name, (dtype, axes) in expected.items():
            _, found, shape = declared[name]
            if found != dtype:
                problems.append(f"{where} {name!r}: dtype {found} where {dtype} is expected")
            # An unknown rank promises nothing wrong: the requests show it.
            if shape is not None and (len(shape) != len(axes) or shape[0] != -1):
                problems.append(
                    f"{where} {name!r}: shape {shape} where {_written(axes)} with any batch is "
                    "expected"
                )
        return problems

    def _present(self, expected: Mapping[str, Any], found: Collection[str]) -> dict[str, Any]:
        """What is expected, without the optional outputs that are not there."""
        absent = {*self.optional_outputs}.difference(found)
        return {name: value for name, value in expected.items() if name not in absent}


def _written(axes: Sequence[str]) -> str:
    return f"[{', '.join(axes)}]"


def _is_utf8(value: bytes) -> bool:
    return value.decode(errors="ignore").encode() == value


def _shown(value: bytes | np.generic) -> str:
    return repr(value.decode(errors="replace")) if isinstance(value, bytes) else f"{value:.6g}"
