"""The base of all contracts: the signatures of an export, and how outputs are compared."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from kerasnmt.serving.protocol.meta_graph import Signature, TensorInfo

# Texts that a public server may receive. A model has to answer each, alone and in a batch.
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

WARMUP_BATCH_SIZES = (1, 8, 64)

SCORE_TOLERANCE = 1e-4
WEIGHT_TOLERANCE = 1e-3

# A row of a request: one string per input of the signatures, in the order of the contract.
Row = tuple[str | bytes, ...]
# The outputs of a request by name. Strings are `bytes` in an array of dtype `object`.
Outputs = Mapping[str, np.ndarray]

# The dtype and the axes of every input.
_INPUT = ("string", ("batch",))


class ExportContract:
    """The promises that all exports of one kind make.

    There is a subclass for each kind. All signatures take the same inputs, each string `[batch]`
    with any bytes, and process every row on its own. The methods work on names and NumPy arrays
    only. Methods called `…_problems` return a list of sentences about what is wrong. The list is
    empty if nothing is.

    Attributes:
        inputs: The names of the inputs of all signatures, in order.
        outputs: The outputs of each signature with their dtypes and axes, batch first.
        answer: The output of `serving_default` that is compared with the model's own answer.
        row: The input whose name stands for a row in messages.
        example_rows: The rows that the check uses if the description holds no examples. The first
            is an ordinary row, which is also used to fill the other inputs of odd rows.
        odd_values: Unusual values that each input has to accept, by names for messages.
        optional_signatures: The signatures of `outputs` that an export may lack.
        optional_outputs: The outputs that a signature may lack.
    """

    inputs: tuple[str, ...]
    outputs: ClassVar[Mapping[str, Mapping[str, tuple[str, Sequence[str]]]]]
    answer: str
    row: str
    example_rows: tuple[Row, ...]
    odd_values: ClassVar[Mapping[str, Mapping[str, bytes]]]
    optional_signatures: Collection[str] = frozenset()
    optional_outputs: Collection[str] = frozenset()

    @property
    def rows(self) -> str:
        """The word for several rows in messages."""
        return f"{self.row}s"

    @property
    def odd_rows(self) -> dict[str, Row]:
        """Rows with one odd input and ordinary other inputs, by names for messages."""
        ordinary = dict(zip(self.inputs, self.example_rows[0], strict=True))
        rows = {}
        for odd in self.inputs:
            where = f" as {odd}" if len(self.inputs) > 1 else ""
            for name, value in self.odd_values[odd].items():
                rows[f"{name}{where}"] = tuple({**ordinary, odd: value}.values())
        return rows

    def columns(self, rows: Sequence[Row]) -> dict[str, tuple[str | bytes, ...]]:
        """Turn the rows of a request, at least one, into its named inputs."""
        return dict(zip(self.inputs, zip(*rows, strict=True), strict=True))

    def described_examples(
        self, description: Mapping[str, Any]
    ) -> tuple[tuple[Row, ...], list[str]]:
        """Read the examples of a description.

        Args:
            description: The description of an export of this kind, as `read_description` returns
                it.

        Returns:
            The rows, and the answer to each. Both are empty if the description has no examples.
        """
        if "examples" not in description:
            return (), []
        examples = description["examples"]
        columns = [map(self.from_json, examples[name]) for name in self.inputs]
        return tuple(zip(*columns, strict=True)), examples[self.answer]

    def to_json(self, value: Any) -> str:
        """Return a value of an input as a description lists it. A text stays as it is."""
        return value

    def from_json(self, value: str) -> str | bytes:
        """Return the value of an input that a description lists."""
        return value

    def further_examples(self) -> list[Row]:
        """Return rows that an export's description holds besides `example_rows`."""
        return []

    def warmup_batches(self) -> Iterator[dict[str, list[bytes]]]:
        """Yield batches of several sizes, each with its inputs by name, that warm up a server."""
        raise NotImplementedError

    def served(self, signatures: Collection[str]) -> list[str]:
        """Return the names of the given signatures that belong to the contract."""
        return [name for name in self.outputs if name in signatures]

    def further_checks(self) -> dict[str, Callable[[Outputs, Outputs], tuple[list[str], str]]]:
        """Return the checks of what outputs mean.

        Returns:
            A dict from the name of a signature to a function. The function takes the outputs of
            `serving_default` and of the signature for the same rows. It returns a list of problems
            and a phrase for the report.
        """
        return {}

    def signature_problems(self, signatures: Mapping[str, Signature]) -> list[str]:
        """Compare the declared signatures of a SavedModel with the contract.

        Args:
            signatures: The signatures by name. Signatures outside the contract are ignored.

        Returns:
            Missing and surplus names, wrong dtypes and wrong shapes.
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
        """Compare the shapes that a request returned with the contract.

        Args:
            name: The signature's name.
            outputs: The signature's outputs by name.
            batch_size: The number of rows in the request.

        Returns:
            The outputs with a wrong number of axes or batch size, and those that disagree on the
            size of an axis.
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
        """Find strings and numbers that JSON cannot hold.

        Args:
            outputs: Outputs by name, batch first.

        Returns:
            For each output, the first string that is not UTF-8 or the first number that is not
            finite.
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
        """Compare two sets of outputs: texts exactly, numbers to 1e-4.

        Args:
            expected: Outputs by name, batch first.
            received: Outputs by name, batch first.

        Returns:
            The outputs that only one side has, and the first difference in each of the others.
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
            # An unknown rank is not wrong by itself: `shape_problems` sees the real shapes.
            if shape is not None and (len(shape) != len(axes) or shape[0] != -1):
                problems.append(
                    f"{where} {name!r}: shape {shape} where {_written(axes)} with any batch is "
                    "expected"
                )
        return problems

    def _present(self, expected: Mapping[str, Any], found: Collection[str]) -> dict[str, Any]:
        """Return the expected entries without the optional outputs that are absent."""
        absent = {*self.optional_outputs}.difference(found)
        return {name: value for name, value in expected.items() if name not in absent}


def weight_problems(weights: np.ndarray, target: np.ndarray, source: np.ndarray) -> list[str]:
    """Check that the weights of each target token are shares of the source.

    Args:
        weights: The weights of the signature `attention`, float
            `[batch, target_length, source_length]`.
        target: The padding mask of the target tokens, boolean `[batch, target_length]`, True = real
            token.
        source: The padding mask of the source tokens, boolean `[batch, source_length]`.

    Returns:
        Weights that are negative or not finite, weights of padding that are not 0, and target
        tokens whose weights sum to 0 or to more than 1. Sums below 1 are valid: the window around
        a predicted position, as in Luong's local-p, has such sums.
    """
    problems = []
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        problems.append("weights are negative or not finite")
    if (weights[~(target[:, :, None] & source[:, None, :])] != 0).any():
        problems.append("weights of padding are not 0")
    sums = weights.sum(axis=-1)[target]
    wrong = sums[~((sums > 0) & (sums <= 1 + WEIGHT_TOLERANCE))]
    if wrong.size:
        problems.append(
            f"weights of a target token sum to {wrong[0]:.4f} where more than 0 and at most 1 is "
            "expected"
        )
    return problems


def _written(axes: Sequence[str]) -> str:
    return f"[{', '.join(axes)}]"


def _is_utf8(value: bytes) -> bool:
    return value.decode(errors="ignore").encode() == value


def _shown(value: bytes | np.generic) -> str:
    return repr(value.decode(errors="replace")) if isinstance(value, bytes) else f"{value:.6g}"
