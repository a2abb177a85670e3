"""Check that a server can serve an export, and that the export gives the expected answers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kerasnmt.columns import as_texts, check_same_length
from kerasnmt.kinds import kind_of, kinds
from kerasnmt.serving.check.check_report import CheckReport, CheckRow
from kerasnmt.serving.check.session_process import SessionProcess
from kerasnmt.serving.contract.export_contract import (
    ExportContract,
    FurtherCheck,
    Outputs,
    Row,
    declared_contract,
)
from kerasnmt.serving.protocol.meta_graph import Signature
from kerasnmt.serving.runtimes.registry import export_folders, find_runtime
from kerasnmt.serving.runtimes.runtime import Runtime, refuse
from kerasnmt.serving.runtimes.version_folder import read_description

_SINGLES = 16


def check_export(
    directory: str | Path,
    texts: Sequence[str] | None = None,
    expected: Sequence[str] | None = None,
    *,
    timeout: float = 300.0,
) -> CheckReport:
    """Check an export in a process that loads it like a server.

    A child process loads the export, and runs requests on the CPU. It loads a SavedModel like TF
    Serving, with the TensorFlow C API and without the Python package of TensorFlow. The answers
    must fulfil the contract of the export's kind, such as `TranslationContract`, `StoryContract` or
    `CaptionContract`. The description of the export or, without a description, its inputs determine
    the kind.

    The report has these rows:

    - `files`: The folder has the files of an export.
    - `ops`: All ops have a definition and a CPU kernel in TensorFlow or tf-text, so none needs
      Python, a GPU or cuDNN.
    - `load`: The child loads the model.
    - `signatures`: Names, dtypes and batch-first shapes follow the contract.
    - `requests`: Each signature answers a batch, in the shapes of the contract.
    - `n_best` (translations): The output is a ranking with finite scores, and starts with the
      answer of `serving_default`, except for texts that the export splits or has in its lexicon.
    - `attention` (translations and captions): Tokens are padded, the weights sum to at most 1 over
      the source, and the generation probabilities of a pointer-generator are between 0 and 1.
    - `with_terms` (translations): Texts without terms have the answers of `serving_default`, unless
      the export splits them.
    - `batch_of_one`: Each of the first 16 rows has the same answer and score alone and in the
      batch.
    - `odd_inputs`: The same is true for odd inputs, and all signatures answer them in UTF-8 and
      finite numbers. Odd inputs are empty texts, 10,000 characters, emoji, bytes that are not
      UTF-8, null bytes and line breaks; stories without sentences and with 1,000 sentences; and
      files that are broken, are not images or claim to be huge. The other inputs of the row are
      ordinary.
    - `warmup`: The warm-up file, which a server replays before it reports ready, can be read, has
      at most 1,000 requests, and all of them are answered.
    - `python`: TensorFlow in this process gives the same outputs.
    - `description`: `assets.extra/kerasnmt.json`, which clients read, agrees with the graph, for
      example on the beam size.
    - `expected`: The translations, answers or captions are the expected ones. Without `texts`,
      these are the model's answers that were written with the export.

    With a shortlist, answers depend on the other rows of the batch. So they are not compared in
    `with_terms` and `odd_inputs`, and there is no `batch_of_one`.

    An export for another runtime has no `ops`, `warmup`, `python` and `description`, and the child
    loads it with this runtime. With int8 weights, CTranslate2 computes with int8, so its scores are
    compared to 1e-2.

    Texts are compared exactly, and scores and weights to 1e-4. The check ends if `load`,
    `signatures` or `requests` fails. If the child crashes or hangs, the row fails.

    Args:
        directory: Path of a version, `<name>/<version>`, or `<name>` for its newest version, which
            a server would choose.
        texts: Sentences to translate in one batch, for an export that translates, or None for the
            examples in the description of the export.
        expected: Translations of the given texts by `model.translate`, or None for no comparison.
        timeout: Number of seconds to wait for each answer of the child.

    Returns:
        The report.

    Raises:
        ValueError: If `texts` is empty, or the number of expected translations differs.
    """
    if texts is None:
        if expected is not None:
            raise ValueError(
                "Expected the texts of the expected translations. Received: texts=None"
            )
    else:
        texts = as_texts("texts", texts)
        if not texts:
            raise ValueError(f"Expected at least one text to translate. Received: {texts=}")
        if expected is not None:
            expected = as_texts("expected", expected)
            check_same_length("expected translations", expected, "texts", len(texts))
    directory = Path(directory)
    match = find_runtime(directory)
    rows = _rows(*match, texts, expected, timeout) if match else [_no_export(directory)]
    return CheckReport(match[1] if match else directory, tuple(rows))


def _no_export(directory: Path) -> CheckRow:
    models = " or ".join(map(str, export_folders(directory)))
    hint = f"; did you mean {models}?" if models else ""
    return CheckRow(
        "files", False, f"Expected the folder of an export. Received: {directory}{hint}"
    )


def _rows(
    runtime: Runtime,
    path: Path,
    texts: Sequence[str] | None,
    expected: Sequence[str] | None,
    timeout: float,
) -> Iterator[CheckRow]:
    row = _row("files", _check_files, runtime, path)
    yield row
    if not row.passed:
        return
    contract: ExportContract = kinds()[0].contract
    try:
        description = read_description(path)
        if texts is not None:
            rows: tuple[Row, ...] = tuple((text,) for text in texts)
        else:
            contract, rows, expected = _own_examples(runtime, path, description)
    except ValueError as error:
        yield CheckRow("expected", False, str(error))
        return
    with SessionProcess(path, timeout) as process:
        export = _ServedExport(runtime, path, description, contract, rows, process)
        for name, check in runtime.checks_before_loading().items():
            yield _row(name, check, export)
        for name, check in (
            ("load", _check_load),
            ("signatures", _check_signatures),
            ("requests", _check_requests),
        ):
            row = _row(name, check, export)
            yield row
            if not row.passed:
                return
        for name, further in contract.further_checks().items():
            if name in export.signatures:
                yield _row(name, _check_further, export, name, further)
        if not description.get("shortlist"):
            yield _row("batch_of_one", _check_batch_of_one, export)
        yield _row("odd_inputs", _check_odd_inputs, export)
        for name, check in runtime.checks().items():
            yield _row(name, check, export)
        if expected:
            yield _row("expected", _check_expected, export, expected)
        elif texts is None:
            detail = "not compared with the model: the export contains no examples"
            yield CheckRow("expected", True, detail)


def _own_examples(
    runtime: Runtime, export: Path, description: Mapping[str, Any]
) -> tuple[ExportContract, tuple[Row, ...], list[str]]:
    """Return the contract of an export, its example rows and the expected answers.

    If the description has no examples, the rows come from the contract, without answers.
    """
    if description:
        contract = kind_of(description["inputs"]).contract
    else:
        contract = declared_contract(runtime.declared_signatures(export))
    rows, answers = contract.described_examples(description)
    return contract, rows or contract.example_rows, answers


class _ServedExport:
    """Export and the process that serves it, with a cache of requests.

    Args:
        runtime: Runtime of the export.
        path: Path of the export.
        description: Its description, or an empty dict.
        contract: Contract of the export's kind.
        rows: Example rows.
        process: Process that serves the export.
    """

    def __init__(
        self,
        runtime: Runtime,
        path: Path,
        description: Mapping[str, Any],
        contract: ExportContract,
        rows: tuple[Row, ...],
        process: SessionProcess,
    ) -> None:
        self.runtime, self.path, self.description = runtime, path, description
        self.contract, self.rows, self.process = contract, rows, process
        self._answers: dict[tuple[str, tuple[Row, ...]], Outputs] = {}

    @property
    def signatures(self) -> dict[str, Signature]:
        """All signatures, by name."""
        return self.process.signatures

    @property
    def names(self) -> list[str]:
        """Names of the signatures that belong to the contract."""
        return self.contract.known_signatures(self.signatures)

    def differences(self, together: Outputs, alone: Outputs) -> list[str]:
        """Compare the outputs of rows in a batch and alone."""
        tolerance = self.runtime.tolerance(self.description)
        return self.contract.differences(together, alone, tolerance)

    def ask(self, signature: str, rows: tuple[Row, ...]) -> Outputs:
        """Return the outputs of a signature."""
        request = signature, rows
        if request not in self._answers:
            self._answers[request] = self.process.run(
                signature, self.contract.columns(rows, signature)
            )
        return self._answers[request]


def _row(name: str, check: Callable[..., str], *arguments: Any) -> CheckRow:
    """Run a check, which returns its findings or raises an error about a problem."""
    try:
        return CheckRow(name, True, check(*arguments))
    except (RuntimeError, ValueError) as error:
        return CheckRow(name, False, " ".join(str(error).split()))


def _check_files(runtime: Runtime, export: Path) -> str:
    runtime.check_files(export)
    return str(export)


def _check_load(export: _ServedExport) -> str:
    _ = export.signatures
    package = export.runtime.session_without
    how = f"without the Python package {package}" if package else f"with {export.runtime.title}"
    return f"loaded {how}, {export.process.resident_memory() / 1e6:.0f} MB resident"


def _check_signatures(export: _ServedExport) -> str:
    refuse(export.contract.signature_problems(export.signatures, export.runtime.lacks))
    return ", ".join(export.names)


def _check_requests(export: _ServedExport) -> str:
    problems = []
    for name in export.names:
        outputs = export.ask(name, export.rows)
        problems += export.contract.shape_problems(name, outputs, len(export.rows))
    refuse(problems)
    signatures = "1 signature" if len(export.names) == 1 else f"{len(export.names)} signatures"
    return f"{signatures} answered {len(export.rows)} {export.contract.rows}"


def _check_further(export: _ServedExport, name: str, check: FurtherCheck) -> str:
    rows = export.contract.whole_rows(export.rows, export.description)
    default, outputs = (export.ask(one, rows) for one in ("serving_default", name))
    problems, detail = check(default, outputs, export.description)
    refuse(problems)
    return detail


def _check_batch_of_one(export: _ServedExport) -> str:
    together = export.ask("serving_default", export.rows)
    singles = [export.ask("serving_default", (row,)) for row in export.rows[:_SINGLES]]
    first = {name: values[:_SINGLES] for name, values in together.items()}
    alone = {name: np.concatenate([single[name] for single in singles]) for name in together}
    refuse(export.differences(first, alone))
    return f"{len(singles)} {export.contract.rows}: same answers alone and in the batch"


def _check_odd_inputs(export: _ServedExport) -> str:
    contract = export.contract
    odd_rows = contract.odd_rows
    rows = tuple(odd_rows.values())
    problems = []
    for signature in export.names:
        together = export.ask(signature, rows)
        new = contract.shape_problems(signature, together, len(rows))
        new = new or contract.encoding_problems(together)
        problems += [f"{signature}: {problem}" for problem in new]
    refuse(problems)
    together = export.ask("serving_default", rows)
    for index, (name, row) in enumerate(odd_rows.items()):
        try:
            alone = export.ask("serving_default", (row,))
        except RuntimeError as error:
            raise RuntimeError(f"{name}, alone: {error}") from error
        among = {output: values[index : index + 1] for output, values in together.items()}
        if not export.description.get("shortlist"):
            differences = export.differences(among, alone)
            problems += [f"{name}, alone: {problem}" for problem in differences]
    refuse(problems)
    first, *_, last = odd_rows
    return (
        f"{len(rows)} odd {contract.rows}, from {first} to {last}: answered in UTF-8, alone and in "
        "a batch"
    )


def _check_expected(export: _ServedExport, expected: Sequence[str]) -> str:
    contract = export.contract
    wanted = np.array([answer.encode() for answer in expected], object)
    received = export.ask("serving_default", export.rows)[contract.answer]
    refuse(contract.differences({contract.answer: wanted}, {contract.answer: received}))
    return f"{len(expected)} {contract.answer}s as expected"
