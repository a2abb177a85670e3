"""Check that a server can serve an export, and that the export gives the expected answers."""

import functools
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kerasnmt.serving.check.check_report import CheckReport, CheckRow
from kerasnmt.serving.check.session_process import SessionProcess
from kerasnmt.serving.contract.export_contract import SCORE_TOLERANCE, ExportContract, Outputs, Row
from kerasnmt.serving.contract.kinds import contract_of, declared_contract
from kerasnmt.serving.contract.translation_contract import TranslationContract
from kerasnmt.serving.export.ctranslate2_model import is_ctranslate2, need_export_files
from kerasnmt.serving.export.version_folder import (
    DESCRIPTION,
    chosen_version,
    model_folders,
    read_description,
)
from kerasnmt.serving.export.warmup import (
    MOST_WARMUP_REQUESTS,
    WARMUP_REQUESTS,
    decode_warmup_request,
)
from kerasnmt.serving.protocol.meta_graph import MetaGraph, Signature

_SINGLES = 16
_WITHOUT_PYTHON = "without the Python package of TensorFlow"
# With int8 products, a batch rounds other numbers than a single text.
_INT8_TOLERANCE = 1e-2


def check_export(
    directory: str | Path,
    texts: Sequence[str] | None = None,
    expected: Sequence[str] | None = None,
    *,
    timeout: float = 300.0,
) -> CheckReport:
    """Check an export in a process that loads it like TF Serving.

    A child process without the Python package of TensorFlow loads the SavedModel with the
    TensorFlow C API, and runs requests on the CPU. The answers must fulfil the contract of the
    export's kind, such as `TranslationContract`, `StoryContract` or `CaptionContract`. The
    description of the export or, without a description, its inputs determine the kind.

    The report has these rows:

    - `saved_model`: The folder contains a SavedModel.
    - `ops`: All ops have a definition and a CPU kernel in TensorFlow or tf-text, so none needs
      Python, a GPU or cuDNN.
    - `load`: The child loads the model.
    - `signatures`: Names, dtypes and batch-first shapes are those of the contract.
    - `requests`: Each signature answers a batch, in the shapes of the contract.
    - `n_best` (translations): The output is a ranking with finite scores, and starts with the
      answer of `serving_default`.
    - `attention` (translations and captions): Tokens are padded, the weights sum to at most 1 over
      the source, and the generation probabilities of a pointer-generator are between 0 and 1.
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

    An export for CTranslate2 has the row `ctranslate2` instead of `saved_model`, and no `ops`,
    `warmup`, `python` and `description`. The child loads it with CTranslate2, which verifies the
    checksums. The expected answers are those that the export gave when it was written. If it
    computes with int8, scores are compared to 1e-2.

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
    elif not texts:
        raise ValueError(f"Expected at least one text to translate. Received: {texts=}")
    elif expected is not None and len(expected) != len(texts):
        raise ValueError(
            "Expected one translation for each text. "
            f"Received: {len(expected)} translations for {len(texts)} texts"
        )
    version = chosen_version(Path(directory))
    return CheckReport(version, tuple(_rows(version, texts, expected, timeout)))


def _rows(
    version: Path, texts: Sequence[str] | None, expected: Sequence[str] | None, timeout: float
) -> Iterator[CheckRow]:
    saved = not is_ctranslate2(version)
    if saved:
        row = _row("saved_model", _check_saved_model, version)
    else:
        row = _row("ctranslate2", _check_ctranslate2, version)
    yield row
    if not row.passed:
        return
    contract: ExportContract = TranslationContract()
    if texts is not None:
        rows: tuple[Row, ...] = tuple((text,) for text in texts)
    else:
        try:
            contract, rows, expected = _own_examples(version)
        except ValueError as error:
            yield CheckRow("expected", False, str(error))
            return
    with SessionProcess(version, timeout) as process:
        served = _Served(version, contract, rows, process)
        if saved:
            yield _row("ops", _check_ops, served)
        for name, check in (
            ("load", _check_load),
            ("signatures", _check_signatures),
            ("requests", _check_requests),
        ):
            row = _row(name, check, served)
            yield row
            if not row.passed:
                return
        for name, further in contract.further_checks().items():
            if name in served.signatures:
                yield _row(name, _check_further, served, name, further)
        yield _row("batch_of_one", _check_batch_of_one, served)
        yield _row("odd_inputs", _check_odd_inputs, served)
        if saved:
            yield _row("warmup", _check_warmup, served)
            yield _row("python", _check_python, served)
            yield _row("description", _check_description, served)
        if expected:
            yield _row("expected", _check_expected, served, expected)
        elif texts is None:
            detail = "not compared with the model: the export contains no examples"
            yield CheckRow("expected", True, detail)


def _own_examples(version: Path) -> tuple[ExportContract, tuple[Row, ...], list[str]]:
    """Return the contract of an export, its example rows and the expected answers.

    If the description has no examples, the rows are those of the contract, without answers.
    """
    description = read_description(version)
    contract = contract_of(description.get("inputs", ()))
    if contract is None:  # without a description
        contract = declared_contract(MetaGraph.from_saved_model(version).signatures)
    rows, answers = contract.described_examples(description)
    return contract, rows or contract.example_rows, answers


class _Served:
    """Export and the process that serves it, with a cache of requests.

    Args:
        version: Path of the export.
        contract: Contract of the export's kind.
        rows: Example rows.
        process: Process that serves the export.
    """

    def __init__(
        self,
        version: Path,
        contract: ExportContract,
        rows: tuple[Row, ...],
        process: SessionProcess,
    ) -> None:
        self.version, self.contract, self.rows, self.process = version, contract, rows, process
        self._answers: dict[tuple[str, tuple[Row, ...]], Outputs] = {}

    @functools.cached_property
    def signatures(self) -> dict[str, Signature]:
        """All signatures, by name."""
        return self.process.signatures()

    @property
    def names(self) -> list[str]:
        """Names of the signatures that belong to the contract."""
        return self.contract.served(self.signatures)

    @functools.cached_property
    def tolerance(self) -> float:
        """Largest difference of the scores of a text, alone and in a batch."""
        computes_in_int8 = (
            is_ctranslate2(self.version) and read_description(self.version)["weights"] == "int8"
        )
        return _INT8_TOLERANCE if computes_in_int8 else SCORE_TOLERANCE

    @functools.cached_property
    def loaded(self) -> Any:
        """Export that TensorFlow has loaded in this process.

        Raises:
            RuntimeError: If TensorFlow cannot load it.
            ValueError: If TensorFlow would confuse its tokenizers; see `load_saved_model`.
        """

        def load(_: Any) -> Any:
            from kerasnmt.serving.export.saved_model import load_saved_model  # needs TensorFlow

            return load_saved_model(self.version)

        return _in_tensorflow(load, "TensorFlow in Python cannot load it")

    def settings(self) -> dict[str, Any]:
        """Return the settings of the export, which the graph contains.

        Raises:
            RuntimeError: If TensorFlow cannot load the export, or its graph has no description.
        """
        loaded = self.loaded
        try:
            description = loaded.description  # an export of kerasnmt has this function
        except AttributeError as error:
            message = "the graph does not contain its settings; export again"
            raise RuntimeError(message) from error
        return json.loads(description().numpy())

    def ask(self, signature: str, rows: tuple[Row, ...]) -> Outputs:
        """Return the outputs of a signature."""
        request = signature, rows
        if request not in self._answers:
            self._answers[request] = self.process.run(signature, self.contract.columns(rows))
        return self._answers[request]


def _in_tensorflow(run: Callable[[Any], Any], problem: str) -> Any:
    """Call a function of TensorFlow in this process.

    Args:
        run: Function that takes the module `tensorflow`.
        problem: Beginning of the error message.

    Returns:
        The result of the function.

    Raises:
        RuntimeError: If TensorFlow raises an error.
    """
    import tensorflow as tf
    import tensorflow_text  # noqa: F401  (registers its ops)

    try:
        with tf.device("/CPU:0"):  # like the child, because a GPU can round differently
            return run(tf)
    except (tf.errors.OpError, OSError, TypeError) as error:
        raise RuntimeError(f"{problem}: {error}") from error


def _row(name: str, check: Callable[..., str], *arguments: Any) -> CheckRow:
    """Run a check, which returns its findings or raises an error about a problem."""
    try:
        return CheckRow(name, True, check(*arguments))
    except (RuntimeError, ValueError) as error:
        return CheckRow(name, False, " ".join(str(error).split()))


def _refuse(problems: list[str]) -> None:
    if problems:
        raise RuntimeError("; ".join(problems))


def _check_saved_model(version: Path) -> str:
    if (version / "model.tflite").exists():
        raise ValueError(
            "Expected an export for TF Serving, with a saved_model.pb. "
            f"Received: {version}, a LiteRT model; `kerasnmt translate {version}` runs it."
        )
    if not (version / "saved_model.pb").exists() and (models := model_folders(version)):
        raise ValueError(
            "Expected the folder of an export, <name>/<version> or <name>. "
            f"Received: {version}; did you mean {' or '.join(map(str, models))}?"
        )
    MetaGraph.from_saved_model(version)
    return str(version)


def _check_ctranslate2(directory: Path) -> str:
    need_export_files(directory)
    return str(directory)


def _check_ops(served: _Served) -> str:
    support = served.process.op_support()
    _refuse([f"{op}: {reason}" for op, reason in support.items() if reason])
    return f"{len(support)} ops, each with a definition and a CPU kernel"


def _check_load(served: _Served) -> str:
    served.process.signatures()
    how = "with CTranslate2" if is_ctranslate2(served.version) else _WITHOUT_PYTHON
    return f"loaded {how}, {served.process.resident_memory() / 1e6:.0f} MB resident"


def _check_signatures(served: _Served) -> str:
    _refuse(served.contract.signature_problems(served.signatures))
    return ", ".join(served.names)


def _check_requests(served: _Served) -> str:
    problems = []
    for name in served.names:
        outputs = served.ask(name, served.rows)
        problems += served.contract.shape_problems(name, outputs, len(served.rows))
    _refuse(problems)
    signatures = "1 signature" if len(served.names) == 1 else f"{len(served.names)} signatures"
    return f"{signatures} answered {len(served.rows)} {served.contract.rows}"


def _check_further(
    served: _Served, name: str, check: Callable[[Outputs, Outputs], tuple[list[str], str]]
) -> str:
    default, outputs = (served.ask(asked, served.rows) for asked in ("serving_default", name))
    problems, found = check(default, outputs)
    _refuse(problems)
    return found


def _check_batch_of_one(served: _Served) -> str:
    together = served.ask("serving_default", served.rows)
    singles = [served.ask("serving_default", (row,)) for row in served.rows[:_SINGLES]]
    first = {name: values[:_SINGLES] for name, values in together.items()}
    alone = {name: np.concatenate([single[name] for single in singles]) for name in together}
    _refuse(served.contract.differences(first, alone, served.tolerance))
    return f"{len(singles)} {served.contract.rows}: same answers alone and in the batch"


def _check_odd_inputs(served: _Served) -> str:
    contract = served.contract
    odd_rows = contract.odd_rows
    rows = tuple(odd_rows.values())
    problems = []
    for signature in served.names:
        together = served.ask(signature, rows)
        found = contract.shape_problems(signature, together, len(rows))
        found = found or contract.encoding_problems(together)
        problems += [f"{signature}: {problem}" for problem in found]
    _refuse(problems)
    together = served.ask("serving_default", rows)
    for index, (name, row) in enumerate(odd_rows.items()):
        try:
            alone = served.ask("serving_default", (row,))
        except RuntimeError as error:
            raise RuntimeError(f"{name}, alone: {error}") from error
        among = {output: values[index : index + 1] for output, values in together.items()}
        found = contract.differences(among, alone, served.tolerance)
        problems += [f"{name}, alone: {problem}" for problem in found]
    _refuse(problems)
    first, *_, last = odd_rows
    return (
        f"{len(rows)} odd {contract.rows}, from {first} to {last}: answered in UTF-8, alone and in "
        "a batch"
    )


def _check_warmup(served: _Served) -> str:
    path = served.version / WARMUP_REQUESTS
    if not path.exists():
        return "no warm-up requests: the first clients of a server will wait longer"
    records = _in_tensorflow(
        lambda tf: [*tf.data.TFRecordDataset(str(path)).as_numpy_iterator()],
        f"{path} cannot be read",
    )
    requests = [*map(decode_warmup_request, records)]
    if len(requests) > MOST_WARMUP_REQUESTS:
        raise RuntimeError(
            f"{len(requests)} warm-up requests, but a server takes at most {MOST_WARMUP_REQUESTS}"
        )
    for signature, inputs in requests:
        outputs = served.process.run(signature, inputs)
        if signature in served.names:
            size = len(next(iter(inputs.values())))
            _refuse(served.contract.shape_problems(signature, outputs, size))
    names = ", ".join(dict.fromkeys(request.signature for request in requests))
    return f"{len(requests)} requests answered, for {names}"


def _check_python(served: _Served) -> str:
    loaded, columns = served.loaded, served.contract.columns(served.rows)

    def answers(tf: Any) -> dict[str, Any]:
        inputs = {name: tf.constant(values) for name, values in columns.items()}
        return {name: loaded.signatures[name](**inputs) for name in served.names}

    problems = []
    for name, answer in _in_tensorflow(answers, "TensorFlow in Python cannot run it").items():
        outputs = {key: value.numpy() for key, value in answer.items()}
        found = served.contract.differences(outputs, served.ask(name, served.rows))
        problems += [f"{name} {problem}" for problem in found]
    _refuse(problems)
    return "same outputs from TensorFlow in Python"


def _check_description(served: _Served) -> str:
    written = read_description(served.version)
    if not written:
        raise RuntimeError(f"{served.version / DESCRIPTION} is missing; export again")
    made_with = served.settings()
    differing = sorted(
        name
        for name in made_with.keys() | written.keys() - {"examples"}
        if made_with.get(name) != written.get(name)
    )
    _refuse(
        [
            f"{name} is {written.get(name)!r}, but {made_with.get(name)!r} in the graph"
            for name in differing
        ]
    )
    return f"{len(made_with)} settings agree with the graph"


def _check_expected(served: _Served, expected: Sequence[str]) -> str:
    contract = served.contract
    wanted = np.array([answer.encode() for answer in expected], object)
    received = served.ask("serving_default", served.rows)[contract.answer]
    _refuse(contract.differences({contract.answer: wanted}, {contract.answer: received}))
    return f"{len(expected)} {contract.answer}s as expected"
