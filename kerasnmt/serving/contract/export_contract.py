"""Base class of contracts, which checks the signatures of an export, and compares outputs."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import cycle, islice
from typing import Any, ClassVar

import numpy as np

from kerasnmt.kinds import kind_of, kinds
from kerasnmt.serving.protocol.meta_graph import Signature, TensorInfo

# Texts that a public server can receive. A model must answer each of them, alone and in a batch.
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
    "line breaks": b"TWO DOGS\nRUN .\r\n",
}

WARMUP_BATCH_SIZES = (1, 8, 64)

SCORE_TOLERANCE = 1e-4
WEIGHT_TOLERANCE = 1e-3

# A row of a request: one string for each input of the signatures, in the order of the contract.
Row = tuple[str | bytes, ...]
# Outputs of a request, by name. Strings are `bytes` in an array of dtype `object`.
Outputs = Mapping[str, np.ndarray]

# A check of the outputs of `serving_default` and of another signature, with the description of the
# export. It returns a list of problems, and a phrase for the report.
FurtherCheck = Callable[[Outputs, Outputs, Mapping[str, Any]], tuple[list[str], str]]

# Dtype and axes of all inputs.
_INPUT = ("string", ("batch",))


class ExportContract:
    """Base class of contracts, which all exports of a kind fulfil.

    There is a subclass for each kind. All signatures take the same inputs, string `[batch]` each
    with any bytes, and process each row separately. A signature may take further inputs. The
    methods use only names and NumPy arrays. The methods named `…_problems` return a list of
    problems, which is empty if there are none.

    Attributes:
        inputs: Names of the inputs of all signatures, in order.
        further_inputs: Further inputs of a signature, each with values for requests of the check
            and the warm-up, which the rows take in turn.
        outputs: Outputs of each signature, with their dtypes and axes, batch first.
        answer: Name of the output of `serving_default` that is compared with the model's answer.
        row: Name of the input that stands for a row in messages.
        example_rows: Rows for the check if the description contains no examples. The first row is
            ordinary, and is also used for the other inputs of odd rows.
        odd_values: Odd values that each input must accept, with names used in messages.
        optional_signatures: Signatures of `outputs` that an export may not have.
        optional_outputs: Outputs that a signature may not have.
    """

    inputs: tuple[str, ...]
    further_inputs: ClassVar[Mapping[str, Mapping[str, Sequence[bytes]]]] = {}
    outputs: ClassVar[Mapping[str, Mapping[str, tuple[str, Sequence[str]]]]]
    answer: str
    row: str
    example_rows: tuple[Row, ...]
    odd_values: ClassVar[Mapping[str, Mapping[str, bytes]]]
    optional_signatures: Collection[str] = frozenset()
    optional_outputs: Collection[str] = frozenset()

    def fitting(self, description: Mapping[str, Any]) -> "ExportContract":
        """Return the contract with examples that fit an export with this description."""
        return self

    @property
    def rows(self) -> str:
        """Word for several rows in messages."""
        return f"{self.row}s"

    @property
    def odd_rows(self) -> dict[str, Row]:
        """Rows with one odd input and ordinary other inputs, with names used in messages."""
        ordinary = dict(zip(self.inputs, self.example_rows[0], strict=True))
        rows = {}
        for odd in self.inputs:
            where = f" as {odd}" if len(self.inputs) > 1 else ""
            for name, value in self.odd_values[odd].items():
                rows[f"{name}{where}"] = tuple({**ordinary, odd: value}.values())
        return rows

    def inputs_of(self, signature: str) -> tuple[str, ...]:
        """Return the names of all inputs of a signature."""
        return (*self.further_inputs.get(signature, ()), *self.inputs)

    def further_columns(self, signature: str, count: int) -> dict[str, list[bytes]]:
        """Return values for the further inputs of a signature, for a number of rows."""
        further = self.further_inputs.get(signature, {})
        return {name: [*islice(cycle(values), count)] for name, values in further.items()}

    def columns(
        self, rows: Sequence[Row], signature: str = "serving_default"
    ) -> dict[str, Sequence[str | bytes]]:
        """Turn the rows of a request, at least one, into a dict of the inputs of a signature."""
        columns = dict(zip(self.inputs, zip(*rows, strict=True), strict=True))
        return {**self.further_columns(signature, len(rows)), **columns}

    def described_examples(
        self, description: Mapping[str, Any]
    ) -> tuple[tuple[Row, ...], list[str]]:
        """Read the examples of a description.

        Args:
            description: Description of an export of this kind, from `read_description`.

        Returns:
            The rows, and the answer to each row. Both are empty if the description has no examples.
        """
        if "examples" not in description:
            return (), []
        examples = description["examples"]
        columns = [map(self.from_json, examples[name]) for name in self.inputs]
        return tuple(zip(*columns, strict=True)), examples[self.answer]

    def examples(self, ask: Callable[..., Mapping[str, Any]]) -> dict[str, list[str]]:
        """Return example rows with the answers to them, for a description.

        Args:
            ask: Function that takes the inputs of `serving_default`, and returns its outputs.

        Returns:
            A dict with a list for each input, and the list of the answers.
        """
        columns = self.columns([*self.example_rows, *self.further_examples()])
        answers = np.asarray(ask(**columns)[self.answer])
        examples = {name: [*map(self.to_json, values)] for name, values in columns.items()}
        return {**examples, self.answer: [answer.decode() for answer in answers]}

    def to_json(self, value: Any) -> str:
        """Return a value of an input for a description. A text does not change."""
        return value

    def from_json(self, value: str) -> str | bytes:
        """Return the value of an input from a description."""
        return value

    def further_examples(self) -> list[Row]:
        """Return the rows of an export's description in addition to `example_rows`."""
        return []

    def warmup_batches(self) -> Iterator[dict[str, list[bytes]]]:
        """Yield batches of several sizes, dicts of inputs, to warm up a server."""
        raise NotImplementedError

    def known_signatures(self, signatures: Collection[str]) -> list[str]:
        """Return the names of the given signatures that belong to the contract."""
        return [name for name in self.outputs if name in signatures]

    def whole_rows(self, rows: tuple[Row, ...], description: Mapping[str, Any]) -> tuple[Row, ...]:
        """Return the rows that all signatures of a described export read as they are."""
        return rows

    def further_checks(self) -> dict[str, FurtherCheck]:
        """Return checks of the meaning of outputs, for `whole_rows`, by signature."""
        return {}

    def signature_problems(
        self, signatures: Mapping[str, Signature], absent: Collection[str] = ()
    ) -> list[str]:
        """Compare the declared signatures of a SavedModel with the contract.

        Args:
            signatures: Dict of the signatures. Signatures that are not in the contract are ignored.
            absent: Names of signatures that the runtime of the export does not have.

        Returns:
            A list of missing and extra names, wrong dtypes and wrong shapes.
        """
        problems = []
        for name, outputs in self.outputs.items():
            if name in signatures:
                inputs = dict.fromkeys(self.inputs_of(name), _INPUT)
                problems += self._tensor_problems(f"{name} input", signatures[name].inputs, inputs)
                problems += self._tensor_problems(
                    f"{name} output", signatures[name].outputs, outputs
                )
            elif name not in {*self.optional_signatures, *absent}:
                problems.append(f"no signature {name!r}")
        return problems

    def shape_problems(
        self, name: str, outputs: Mapping[str, np.ndarray], batch_size: int
    ) -> list[str]:
        """Compare the shapes of outputs with the contract.

        Args:
            name: Name of the signature.
            outputs: Dict of the outputs of the signature.
            batch_size: Number of rows in the request.

        Returns:
            A list of outputs with a wrong number of axes or a wrong batch size, and of outputs that
            disagree on the size of an axis.
        """
        problems = []
        sizes = {"batch": batch_size}
        for output, (_, axes) in self._present(self.outputs[name], outputs).items():
            shape = outputs[output].shape
            fits = len(shape) == len(axes)
            if not fits or any(
                sizes.setdefault(a, n) != n for a, n in zip(axes, shape, strict=True)
            ):
                problems.append(f"{name}: {output} has shape {shape}, expected {_written(axes)}")
        return problems

    def encoding_problems(self, outputs: Mapping[str, np.ndarray]) -> list[str]:
        """Find strings and numbers that are not possible in JSON.

        Args:
            outputs: Dict of outputs, batch first.

        Returns:
            A list with the first string of each output that is not UTF-8, or its first number that
            is not finite.
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
        self,
        expected: Mapping[str, np.ndarray],
        received: Mapping[str, np.ndarray],
        tolerance: float = SCORE_TOLERANCE,
    ) -> list[str]:
        """Compare two sets of outputs, texts exactly and numbers to a tolerance.

        Args:
            expected: Dict of outputs, batch first.
            received: Dict of outputs, batch first.
            tolerance: Largest absolute difference of numbers.

        Returns:
            A list of outputs that only one side has, and of the first difference in each of the
            others.
        """
        problems = [
            f"only one has the output {name!r}" for name in expected.keys() ^ received.keys()
        ]
        for name in expected.keys() & received.keys():
            one, other = expected[name], received[name]
            if one.shape != other.shape:
                problems.append(f"{name}: shape {other.shape}, expected {one.shape}")
                continue
            if one.dtype == object:
                unequal = one != other
            else:
                unequal = ~np.isclose(other, one, rtol=0, atol=tolerance)
            if unequal.any():
                index = tuple(int(indices[0]) for indices in np.nonzero(unequal))
                problems.append(
                    f"{name} of {self.row} {index[0]}: {_shown(other[index])}, "
                    f"expected {_shown(one[index])}"
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
            return [f"{where}: names {sorted(declared)}, expected {sorted(expected)}"]
        problems = []
        for name, (dtype, axes) in expected.items():
            _, received, shape = declared[name]
            if received != dtype:
                problems.append(f"{where} {name!r}: dtype {received}, expected {dtype}")
            # An unknown rank is not a problem, because `shape_problems` checks the real shapes.
            if shape is not None and (len(shape) != len(axes) or shape[0] != -1):
                problems.append(
                    f"{where} {name!r}: shape {shape}, expected {_written(axes)} with any batch"
                )
        return problems

    def _present(self, expected: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
        """Return the expected entries without the optional outputs that are absent."""
        absent = {*self.optional_outputs}.difference(names)
        return {name: value for name, value in expected.items() if name not in absent}


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
    try:
        return kind_of(default.inputs if default else ()).contract
    except ValueError:
        return kinds()[0].contract


def weight_problems(weights: np.ndarray, target: np.ndarray, source: np.ndarray) -> list[str]:
    """Check the attention weights of each target token.

    Args:
        weights: Weights of the signature `attention`, float
            `[batch, target_length, source_length]`.
        target: Padding mask of the target tokens, boolean `[batch, target_length]`, True = real
            token.
        source: Padding mask of the source tokens, boolean `[batch, source_length]`, True = real
            token.

    Returns:
        A list of these problems: weights that are negative or not finite, weights of padding that
        are not 0, and target tokens whose weights sum to more than 1. Sums below 1 are valid: a
        window around a predicted position has such sums (Luong's local-p), and monotonic attention
        that does not stop has the sum 0.
    """
    problems = []
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        problems.append("weights are negative or not finite")
    if (weights[~(target[:, :, None] & source[:, None, :])] != 0).any():
        problems.append("weights of padding are not 0")
    sums = weights.sum(axis=-1)[target]
    wrong = sums[sums > 1 + WEIGHT_TOLERANCE]
    if wrong.size:
        problems.append(f"weights of a target token sum to {wrong[0]:.4f}, expected at most 1")
    return problems


def _written(axes: Sequence[str]) -> str:
    return f"[{', '.join(axes)}]"


def _is_utf8(value: bytes) -> bool:
    return value.decode(errors="ignore").encode() == value


def _shown(value: bytes | np.generic) -> str:
    return repr(value.decode(errors="replace")) if isinstance(value, bytes) else f"{value:.6g}"
