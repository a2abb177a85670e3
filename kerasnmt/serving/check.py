"""The proof that TF Serving can serve an export, and serves what the model says."""

import functools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kerasnmt.serving.check_report import CheckReport, CheckRow
from kerasnmt.serving.export_contract import (
    EXAMPLE_TEXTS,
    ODD_TEXTS,
    OUTPUTS,
    attention_problems,
    differences,
    encoding_problems,
    n_best_problems,
    shape_problems,
    signature_problems,
)
from kerasnmt.serving.meta_graph import MetaGraph
from kerasnmt.serving.session_process import SessionProcess
from kerasnmt.serving.version_folder import chosen_version, model_folders, read_description
from kerasnmt.serving.warmup import (
    MOST_WARMUP_REQUESTS,
    WARMUP_REQUESTS,
    decode_warmup_request,
)

_SINGLES = 16
# How many requests of how many texts are timed, and after how many seconds no more are.
_LATENCY_REQUESTS = {1: 50, 32: 20}
_LATENCY_LIMIT = 10.0
_MOST_GROWTH = 64_000_000  # bytes

_Outputs = dict[str, np.ndarray]
_Ask = Callable[..., _Outputs]


def check_export(
    directory: str | Path,
    texts: Sequence[str] | None = None,
    expected: Sequence[str] | None = None,
    *,
    timeout: float = 300.0,
) -> CheckReport:
    """Checks an export in a process that loads it as TF Serving would.

    A child process without Python's TensorFlow loads the SavedModel through the TensorFlow C API
    and runs requests on the CPU. The rows of the report are:

    - `saved_model`: the folder holds a SavedModel;
    - `ops`: every op has a definition and a CPU kernel in TensorFlow or tf-text, so none needs
      Python, a GPU or cuDNN;
    - `load`: the child loads it;
    - `signatures`: names, dtypes and batch-first shapes are those of the contract;
    - `requests`: each signature answers a batch, in the shapes of the contract;
    - `n_best`: a ranking with finite scores, whose best is the answer of `serving_default`;
    - `attention`: padded tokens, weights that sum to at most 1 over the source (where there is
      attention), and the probabilities of generating, from 0 to 1 (of a pointer-generator);
    - `batch_of_one`: the first 16 texts, each alone, get the translations and scores of the batch;
    - `odd_inputs`: so do texts such as nothing, 10,000 characters, emoji, bytes that are not UTF-8,
      null bytes and line breaks; every signature answers them, in UTF-8;
    - `warmup`: the requests of the warm-up file, which a server sends before it is ready, can be
      read, are at most 1,000 and are answered;
    - `python`: TensorFlow in this process gives the same outputs;
    - `expected`: the translations are the expected ones: where no texts are given, what
      `model.translate` made of the export's own examples when it was written;
    - `latency`: median (p50) and 95th percentile (p95) of the time of a request of one text and of
      32, measured in the child, after all the requests above;
    - `memory`: what the child holds after those requests, and by how much it grew; more than 64 MB
      is a leak.

    Texts are compared exactly, scores and weights to 1e-4. `load`, `signatures` and `requests` each
    end the check where they fail. A child that crashes or hangs is a failed row.

    Args:
        directory: The folder of a version, `<name>/<version>`, or `<name>`, whose newest version is
            then checked, as a server would choose it.
        texts: Sentences to translate, in one batch; if `None`, the examples that were written with
            the export, and their translations.
        expected: The translations of given texts, as `model.translate` gives them; without them
            they are not compared.
        timeout: Seconds to wait for each answer of the child.

    Returns:
        The report.

    Raises:
        ValueError: If there are no texts, or not one expected translation for each.
    """
    if texts is not None and not texts:
        raise ValueError(f"Expected at least one text to translate. Received: {texts=}")
    if texts is None and expected is not None:
        raise ValueError("Expected the texts of the given translations. Received: texts=None")
    if expected is not None and len(expected) != len(texts):
        raise ValueError(
            "Expected one translation for each text. "
            f"Received: {len(expected)} translations of {len(texts)} texts"
        )
    version = chosen_version(Path(directory))
    return CheckReport(version, tuple(_rows(version, texts, expected, timeout)))


def _rows(
    version: Path, texts: Sequence[str] | None, expected: Sequence[str] | None, timeout: float
) -> Iterator[CheckRow]:
    row = _row("saved_model", _check_saved_model, version)
    yield row
    if not row.passed:
        return
    if own_examples := texts is None:
        try:
            examples = read_description(version).get("examples", {"texts": []})
        except ValueError as error:
            yield CheckRow("expected", False, str(error))
            return
        if examples["texts"]:
            texts, expected = examples["texts"], examples["translations"]
    texts = tuple(EXAMPLE_TEXTS if texts is None else texts)
    with SessionProcess(version, timeout) as process:
        signatures = functools.cache(process.signatures)
        ask = functools.cache(lambda name, *batch: process.run(name, batch))
        yield _row("ops", _check_ops, process)
        for name, check, *arguments in (
            ("load", _check_load, process, signatures),
            ("signatures", _check_signatures, signatures),
            ("requests", _check_requests, signatures, ask, texts),
        ):
            row = _row(name, check, *arguments)
            yield row
            if not row.passed:
                return
        yield _row("n_best", _check_n_best, ask, texts)
        if "attention" in signatures():
            yield _row("attention", _check_attention, ask, texts)
        yield _row("batch_of_one", _check_batch_of_one, ask, texts)
        yield _row("odd_inputs", _check_odd_inputs, signatures, ask)
        yield _row("warmup", _check_warmup, version, process)
        yield _row("python", _check_python, version, signatures, ask, texts)
        if expected is not None:
            yield _row("expected", _check_expected, ask, texts, expected)
        elif own_examples:
            detail = "not compared with the model: the export holds no examples"
            yield CheckRow("expected", True, detail)
        load = functools.cache(lambda: _load(process, texts))
        yield _row("latency", _check_latency, load)
        yield _row("memory", _check_memory, load)


def _row(name: str, check: Callable[..., str], *arguments: Any) -> CheckRow:
    """Runs a check, which returns what it found or raises what is wrong."""
    try:
        return CheckRow(name, True, check(*arguments))
    except (RuntimeError, ValueError) as error:
        return CheckRow(name, False, " ".join(str(error).split()))


def _refuse(problems: list[str]) -> None:
    if problems:
        raise RuntimeError("; ".join(problems))


def _check_saved_model(version: Path) -> str:
    if not (version / "saved_model.pb").exists() and (models := model_folders(version)):
        raise ValueError(
            "Expected the folder of an export, <name>/<version> or <name>. "
            f"Received: {version}; did you mean {' or '.join(map(str, models))}?"
        )
    MetaGraph.from_saved_model(version)
    return str(version)


def _check_ops(process: SessionProcess) -> str:
    support = process.op_support()
    _refuse([f"{op}: {reason}" for op, reason in support.items() if reason])
    return f"{len(support)} ops, each with a definition and a CPU kernel"


def _check_load(process: SessionProcess, signatures: Callable[[], Any]) -> str:
    signatures()
    return f"loaded without Python's TensorFlow, {_megabytes(process.resident_memory())} resident"


def _check_signatures(signatures: Callable[[], Any]) -> str:
    _refuse(signature_problems(signatures()))
    return ", ".join(_served(signatures()))


def _check_requests(signatures: Callable[[], Any], ask: _Ask, texts: tuple[str, ...]) -> str:
    served = _served(signatures())
    _refuse([p for name in served for p in shape_problems(name, ask(name, *texts), len(texts))])
    return f"{len(served)} signatures answered {len(texts)} texts"


def _check_n_best(ask: _Ask, texts: tuple[str, ...]) -> str:
    n_best = ask("n_best", *texts)
    _refuse(n_best_problems(ask("serving_default", *texts), n_best))
    return f"beam of {n_best['scores'].shape[1]}, best first"


def _check_attention(ask: _Ask, texts: tuple[str, ...]) -> str:
    attention = ask("attention", *texts)
    _refuse(attention_problems(attention))
    names = "weights sum to at most 1 over the source"
    if "generate_probability" in attention:
        names += ", generate_probability is from 0 to 1"
    return f"{names}, 0 on padding"


def _check_batch_of_one(ask: _Ask, texts: tuple[str, ...]) -> str:
    together = ask("serving_default", *texts)
    singles = [ask("serving_default", text) for text in texts[:_SINGLES]]
    first = {name: values[:_SINGLES] for name, values in together.items()}
    alone = {name: np.concatenate([single[name] for single in singles]) for name in together}
    _refuse(differences(first, alone))
    return f"{len(singles)} texts alone as in the batch"


def _check_odd_inputs(signatures: Callable[[], Any], ask: _Ask) -> str:
    texts = tuple(ODD_TEXTS.values())
    problems = []
    for signature in _served(signatures()):
        together = ask(signature, *texts)
        found = shape_problems(signature, together, len(texts)) or encoding_problems(together)
        problems += [f"{signature}: {problem}" for problem in found]
    _refuse(problems)
    together = ask("serving_default", *texts)
    for index, (name, text) in enumerate(ODD_TEXTS.items()):
        try:
            alone = ask("serving_default", text)
        except RuntimeError as error:
            raise RuntimeError(f"{name}, alone: {error}") from error
        row = {output: values[index : index + 1] for output, values in together.items()}
        problems += [f"{name}, alone: {problem}" for problem in differences(row, alone)]
    _refuse(problems)
    return (
        f"{len(texts)} texts such as none, 10,000 characters, emoji, not UTF-8, null bytes, line "
        "breaks: answered in UTF-8, alone as in a batch"
    )


def _check_warmup(version: Path, process: SessionProcess) -> str:
    if not (version / WARMUP_REQUESTS).exists():
        return "no warm-up requests: the first clients of a server will wait longer"
    requests = [decode_warmup_request(record) for record in _warmup_records(version)]
    if len(requests) > MOST_WARMUP_REQUESTS:
        raise RuntimeError(
            f"{len(requests)} warm-up requests where a server takes at most {MOST_WARMUP_REQUESTS}"
        )
    for signature, inputs in requests:
        if inputs.keys() != {"text"}:
            raise RuntimeError(f"a request with the inputs {sorted(inputs)} where text is expected")
        texts = inputs["text"]
        answer = process.run(signature, texts)
        _refuse(shape_problems(signature, answer, len(texts)) if signature in OUTPUTS else [])
    names = ", ".join(dict.fromkeys(request.signature for request in requests))
    return f"{len(requests)} requests answered, of {names}"


def _warmup_records(version: Path) -> list[bytes]:
    import tensorflow as tf

    try:
        with tf.device("/CPU:0"):
            records = tf.data.TFRecordDataset(str(version / WARMUP_REQUESTS))
            return list(records.as_numpy_iterator())
    except tf.errors.OpError as error:
        raise RuntimeError(f"{version / WARMUP_REQUESTS} cannot be read: {error}") from error


def _check_python(
    version: Path, signatures: Callable[[], Any], ask: _Ask, texts: tuple[str, ...]
) -> str:
    problems = []
    for name, outputs in _python_outputs(version, _served(signatures()), texts).items():
        problems += [f"{name} {problem}" for problem in differences(outputs, ask(name, *texts))]
    _refuse(problems)
    return "same outputs from TensorFlow in Python"


def _python_outputs(version: Path, names: list[str], texts: Sequence[str]) -> dict[str, _Outputs]:
    import tensorflow as tf
    import tensorflow_text  # noqa: F401  (registers its ops)

    try:
        # On the CPU, as the child: a GPU may round otherwise.
        with tf.device("/CPU:0"):
            loaded = tf.saved_model.load(str(version))
            answers = {n: loaded.signatures[n](text=tf.constant(texts)) for n in names}
    except (tf.errors.OpError, OSError, TypeError) as error:
        raise RuntimeError(f"TensorFlow in Python cannot run it: {error}") from error
    return {name: {k: v.numpy() for k, v in answer.items()} for name, answer in answers.items()}


def _check_expected(ask: _Ask, texts: tuple[str, ...], expected: Sequence[str]) -> str:
    wanted = np.array([text.encode() for text in expected], object)
    received = ask("serving_default", *texts)["translation"]
    _refuse(differences({"translation": wanted}, {"translation": received}))
    return f"{len(expected)} translations as expected"


class _Load(NamedTuple):
    """What many requests cost: seconds of each by the size of its batch, and bytes of memory."""

    seconds: dict[int, list[float]]
    before: int
    after: int


def _load(process: SessionProcess, texts: tuple[str, ...]) -> _Load:
    """Measures requests of one text and of many, each with other texts than the one before."""
    texts = [text for text in texts if text.strip()] or ["a"]
    before = process.resident_memory()
    seconds = {}
    for size, count in _LATENCY_REQUESTS.items():
        batches = [
            [texts[(start + place) % len(texts)] for place in range(size)] for start in range(count)
        ]
        seconds[size] = process.time("serving_default", batches, _LATENCY_LIMIT)
    return _Load(seconds, before, process.resident_memory())


def _check_latency(load: Callable[[], _Load]) -> str:
    found = []
    for size, seconds in load().seconds.items():
        p50, p95 = np.percentile(seconds, [50, 95]) * 1e3
        what = "1 text" if size == 1 else f"{size} texts"
        found.append(f"{what}: p50 {p50:.1f} ms, p95 {p95:.1f} ms ({len(seconds)} requests)")
    return "; ".join(found)


def _check_memory(load: Callable[[], _Load]) -> str:
    seconds, before, after = load()
    count = sum(map(len, seconds.values()))
    found = f"{_megabytes(before)} resident, {_megabytes(after - before, '+')} by {count} requests"
    if after - before > _MOST_GROWTH:
        raise RuntimeError(f"{found}, where at most {_megabytes(_MOST_GROWTH, '+')} is expected")
    return found


def _megabytes(count: int, sign: str = "") -> str:
    return f"{count / 1e6:{sign}.0f} MB"


def _served(signatures: Any) -> list[str]:
    return [name for name in OUTPUTS if name in signatures]
