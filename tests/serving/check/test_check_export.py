import json
import re
import shutil
import signal

import numpy as np
import pytest

from kerasnmt.serving.check import check_export as check_module
from kerasnmt.serving.check.check_export import check_export
from kerasnmt.serving.check.check_report import CheckReport, CheckRow
from kerasnmt.serving.check.session_process import SessionProcess
from kerasnmt.serving.contract.translation_contract import (
    ABSENT_SCORE,
    EXAMPLE_TEXTS,
    TranslationContract,
)
from kerasnmt.serving.protocol.meta_graph import Signature, TensorInfo
from kerasnmt.serving.runtimes.saved_model import checks
from kerasnmt.serving.runtimes.saved_model.warmup import WarmupRequest, encode_warmup_request
from kerasnmt.serving.runtimes.version_folder import read_description

pytestmark = pytest.mark.long("writes and checks several exports")

contract = TranslationContract()

ALL_ROWS = ["files", "ops", "load", "signatures", "requests"]
ALL_ROWS += ["n_best", "attention", "batch_of_one", "odd_inputs", "warmup", "python"]
ALL_ROWS += ["description", "expected"]
DESCRIPTION = {"inputs": ["text"], "model": "reverser", "beam_size": 2}


def reverser(fault=""):
    """Write a toy translator, which reverses the words and aligns each with its source word.

    `fault` names its fault. The second hypothesis is the original text. A text with fewer than two
    words has only one hypothesis.
    """
    import tensorflow as tf
    import tensorflow_text as tf_text

    def readable(text):
        """Replace bytes that are not UTF-8, unless they are the fault."""
        return text if fault == "utf-8" else tf.strings.unicode_transcode(text, "UTF-8", "UTF-8")

    class Reverser(tf.Module):
        def __init__(self):
            super().__init__()
            self.tokenizer = tf_text.WhitespaceTokenizer()
            entries = tf.lookup.KeyValueTensorInitializer(["dogs"], ["Hunde"])
            self.table = tf.lookup.StaticHashTable(entries, "")

        def search(self, text):
            words = self.tokenizer.tokenize(readable(text))[:, :20]
            found = self.table.lookup(words.flat_values)
            words = words.with_flat_values(tf.where(found == "", words.flat_values, found))
            lengths = tf.cast(words.row_lengths(), tf.int32)
            _, score = tf.while_loop(
                lambda step, _: step < tf.reduce_max(lengths),
                lambda step, score: (step + 1, score - tf.cast(lengths > step, tf.float32)),
                [0, -0.5 * tf.ones_like(lengths, tf.float32)],
            )
            return words, lengths, score

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="text")])
        def translate(self, text):
            words, _, score = self.search(text)
            if fault == "python":
                score = tf.ensure_shape(tf.py_function(np.copy, [score], tf.float32), [None])
            if fault == "values":
                score -= tf.cast(tf.size(text), tf.float32)
            if fault == "signatures":
                score = tf.reduce_sum(score)
            translation = tf.strings.reduce_join(words[:, ::-1], axis=-1, separator=" ")
            return {"translation": translation, "score": score}

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="text")])
        def n_best(self, text):
            words, lengths, score = self.search(text)
            best, second = (
                tf.strings.reduce_join(words[:, ::step], axis=-1, separator=" ") for step in (-1, 1)
            )
            exists = lengths > 1
            second = tf.where(exists, second, "")
            second_score = tf.where(exists, score - 1.0, ABSENT_SCORE)
            translations = tf.stack([best, second], axis=1)
            scores = tf.stack([score, second_score], axis=1)
            if fault == "requests":  # beam first, which the declared shapes hide
                hide = tf.compat.v1.placeholder_with_default
                translations = hide(tf.transpose(translations), None)
                scores = hide(tf.transpose(scores), None)
            return {"translations": translations, "scores": scores}

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="text")])
        def attention(self, text):
            words, lengths, _ = self.search(text)
            end = tf.fill([tf.size(text), 1], "</s>")
            source = tf.concat([words, end], 1).to_tensor("")
            target = tf.concat([words[:, ::-1], end], 1).to_tensor("")
            places = tf.range(tf.reduce_max(lengths) + 1)
            aligned = tf.where(
                places < lengths[:, None], lengths[:, None] - 1 - places, lengths[:, None]
            )
            real = tf.cast(target != "", tf.float32)
            weights = tf.one_hot(aligned, tf.size(places)) * real[:, :, None]
            if fault == "values":
                weights *= 1.01
            if fault == "signatures":
                weights = tf.cast(weights, tf.float64)
            return {"source_tokens": source, "target_tokens": target, "weights": weights}

    return Reverser()


def export(folder, fault="", leave_out=()):
    import tensorflow as tf

    module = reverser(fault)
    signatures = {"serving_default": module.translate, "n_best": module.n_best}
    signatures["attention"] = module.attention
    kept = {name: function for name, function in signatures.items() if name not in leave_out}
    module.description = tf.function(
        lambda: tf.constant(json.dumps(DESCRIPTION)), input_signature=[]
    )
    tf.saved_model.save(module, str(folder), signatures=kept)
    file = folder / "assets.extra" / "kerasnmt.json"
    file.parent.mkdir()
    file.write_text(json.dumps(DESCRIPTION))


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reverser")
    export(folder / "9", fault="signatures")
    export(folder / "10")
    (folder / "notes").mkdir()
    return folder


@pytest.fixture
def without_python(monkeypatch):
    """Run the check without the rows that load the export in this process."""
    monkeypatch.setattr(checks, "check_python", lambda *_: "")
    monkeypatch.setattr(checks, "check_description", lambda *_: "")


def failed(report):
    return {row.name: row.detail for row in report.rows if not row.passed}


def test_newest_version_of_a_good_export_passes(good):
    expected = [" ".join(reversed(text.replace("dogs", "Hunde").split())) for text in EXAMPLE_TEXTS]
    report = check_export(good, EXAMPLE_TEXTS, expected)
    assert failed(report) == {}
    assert report.passed
    assert [row.name for row in report.rows] == ALL_ROWS
    assert report.directory == good / "10"
    details = {row.name: row.detail for row in report.rows}
    assert details["signatures"] == "serving_default, n_best, attention"
    assert details["requests"] == f"3 signatures answered {len(EXAMPLE_TEXTS)} texts"
    assert details["n_best"] == "beam of 2, best first"
    assert details["warmup"].startswith("no warm-up requests: ")
    loaded = r"loaded without the Python package tensorflow, \d+ MB resident"
    assert re.fullmatch(loaded, details["load"])


@pytest.mark.usefixtures("served_here", "without_python")
def test_translations_that_are_not_the_expected_ones_fail_their_row(good):
    report = check_export(good / "10", ["a b", "naïve 🙂"], ["b a", "naïve 🙂"])
    detail = "translation of text 1: '🙂 naïve', expected 'naïve 🙂'"
    assert failed(report) == {"expected": detail}


@pytest.mark.thorough("writes one more export; test_kinds.py checks one without attention")
@pytest.mark.usefixtures("served_here", "without_python")
def test_attention_is_optional_and_n_best_is_not(tmp_path):
    export(tmp_path / "1", leave_out=["attention"])
    report = check_export(tmp_path)
    assert report.passed
    names = [name for name in ALL_ROWS if name != "attention"]
    assert [row.name for row in report.rows] == names
    (detail,) = (row.detail for row in report.rows if row.name == "expected")
    assert detail.startswith("not compared with the model: ")


@pytest.mark.usefixtures("served_here")
def test_wrong_signatures_fail_their_row(good, tmp_path):
    report = check_export(good / "9")
    assert failed(report) == {
        "signatures": (
            "serving_default output 'score': shape [], expected [batch] with any batch; "
            "attention output 'weights': dtype float64, expected float32"
        )
    }
    assert report.rows[-1].name == "signatures"
    export(tmp_path, leave_out=["n_best"])
    assert failed(check_export(tmp_path)) == {"signatures": "no signature 'n_best'"}


@pytest.mark.thorough("writes one more export; the tests of the contract find wrong shapes")
@pytest.mark.usefixtures("served_here")
def test_output_that_is_not_batch_first_fails_its_row(tmp_path):
    export(tmp_path, fault="requests")
    assert failed(check_export(tmp_path, ["a b", "c", "d"])) == {
        "requests": "n_best: translations has shape (2, 3), expected [batch, beam]; "
        "n_best: scores has shape (2, 3), expected [batch, beam]"
    }


@pytest.mark.thorough("writes one more export and starts a process")
def test_python_function_has_no_kernel_in_a_server(tmp_path):
    export(tmp_path, fault="python")
    wrong = failed(check_export(tmp_path))
    assert wrong.keys() == {"ops", "requests"}
    assert wrong["ops"] == "EagerPyFunc: no CPU kernel"
    assert "No OpKernel was registered" in wrong["requests"]
    assert "\n" not in wrong["requests"]


@pytest.mark.usefixtures("served_here")
def test_wrong_values_fail_their_rows(tmp_path):
    # A score that depends on the batch size, and weights that sum to more than 1.
    export(tmp_path, fault="values")
    wrong = failed(check_export(tmp_path, ["Two dogs run", "a"]))
    assert wrong == {
        "n_best": "best of n_best, score of text 0: -3.5, expected -5.5",
        "attention": "weights of a target token sum to 1.0100, expected more than 0 and at most 1",
        "batch_of_one": "score of text 0: -4.5, expected -5.5",
        "odd_inputs": wrong["odd_inputs"],
    }
    assert wrong["odd_inputs"].startswith("no text, alone: score of text 0: -1.5, expected -11.5")


@pytest.mark.thorough("writes two more exports; wrong values fail this row too")
@pytest.mark.usefixtures("without_python")
def test_odd_inputs_that_are_not_answered_as_they_should_be_fail_their_row(
    tmp_path, monkeypatch, served_here
):
    export(tmp_path / "1", fault="utf-8", leave_out=["attention"])
    problem = "of text 5 is not UTF-8: b'\\xed\\xa0\\x80 \\xc3( Hunde \\xff\\xfe'"
    detail = f"serving_default: translation {problem}; n_best: translations {problem}"
    assert failed(check_export(tmp_path / "1", ["a b"])) == {"odd_inputs": detail}

    run = served_here.run

    def refuse(self, signature, inputs):
        if inputs == {"text": (b"two\0dogs \0 run",)}:
            raise RuntimeError("no\nnull bytes")
        return run(self, signature, inputs)

    monkeypatch.setattr(served_here, "run", refuse)
    export(tmp_path / "2", leave_out=["attention"])
    wrong = failed(check_export(tmp_path / "2", ["a b"]))
    assert wrong == {"odd_inputs": "a null byte, alone: no null bytes"}


def write_warmup(version, records):
    import tensorflow as tf

    path = version / "assets.extra" / "tf_serving_warmup_requests"
    path.parent.mkdir(exist_ok=True)
    with tf.io.TFRecordWriter(str(path)) as file:
        for record in records:
            file.write(record)
    return path


@pytest.mark.thorough("checks one more export six times")
@pytest.mark.usefixtures("without_python")
def test_warmup_requests_are_replayed(tmp_path, monkeypatch, served_here):
    export(tmp_path, leave_out=["attention"])
    # The earlier rows belong to other tests.
    monkeypatch.setattr(check_module, "_check_odd_inputs", lambda *_: "")
    asked = []
    run = served_here.run

    def note(self, signature, inputs):
        asked.append((signature, inputs["text"]))
        return run(self, signature, inputs)

    monkeypatch.setattr(served_here, "run", note)

    def replay(*requests, more=(), damage=False):
        records = [
            encode_warmup_request(WarmupRequest(signature, {"text": texts}), "en")
            for signature, texts in requests
        ]
        path = write_warmup(tmp_path, [*records, *more])
        if damage:
            path.write_bytes(path.read_bytes()[:-1])
        asked.clear()
        report = check_export(tmp_path, ["a b"])
        (row,) = (row for row in report.rows if row.name == "warmup")
        return row.passed, row.detail

    requests = [("serving_default", [b"a", b"b c"]), ("n_best", [b"\xff"])]
    assert replay(*requests) == (True, "2 requests answered, for serving_default, n_best")
    assert asked[-2:] == requests
    assert replay(("best", [b"a"])) == (
        False,
        "Expected one of the signatures ['n_best', 'serving_default']. Received: signature='best'",
    )
    passed, detail = replay(*requests, damage=True)
    assert not passed
    assert detail.startswith(f"{tmp_path}/assets.extra/tf_serving_warmup_requests cannot be read: ")
    passed, detail = replay(*requests, more=[b"something"])
    assert not passed
    assert detail.startswith("Expected a PredictionLog with a request whose inputs are strings")
    assert replay(*[("n_best", [b"a"])] * 1001) == (
        False,
        "1001 warm-up requests, but a server takes at most 1000",
    )


@pytest.mark.thorough("loads the export once more; other rows fail in the same way")
def test_other_outputs_in_python_fail_their_row(good, monkeypatch, served_here):
    run = served_here.run

    def untrue(self, signature, inputs):
        outputs = run(self, signature, inputs)
        return {k: v + np.float32(0.01) if k == "score" else v for k, v in outputs.items()}

    monkeypatch.setattr(served_here, "run", untrue)
    wrong = failed(check_export(good, ["a b"]))
    assert wrong["python"] == ("serving_default score of text 0: -2.49, expected -2.5")


@pytest.mark.usefixtures("served_here")
def test_a_description_that_is_not_of_the_graph_fails_its_row(good, tmp_path, monkeypatch):
    folder = shutil.copytree(good / "10", tmp_path / "1")
    file = folder / "assets.extra" / "kerasnmt.json"
    monkeypatch.setattr(checks, "check_python", lambda *_: "")
    assert failed(check_export(folder)) == {}
    file.write_text(json.dumps({**DESCRIPTION, "beam_size": 5, "kind": "words"}))
    assert failed(check_export(folder)) == {
        "description": "beam_size is 5, but 2 in the graph; kind is 'words', but None in the graph"
    }
    file.unlink()
    assert failed(check_export(folder)) == {"description": f"{file} is missing; export again"}


@pytest.mark.thorough("starts a process, as the test of one that hangs")
def test_crash_of_the_process_is_a_failed_row(good, monkeypatch):
    run = SessionProcess.run

    def crash(self, signature, inputs):
        self._process.send_signal(signal.SIGABRT)
        self._process.wait()
        return run(self, signature, inputs)

    monkeypatch.setattr(SessionProcess, "run", crash)
    wrong = failed(check_export(good))
    assert wrong.keys() == {"requests"}
    assert "crashed with SIGABRT" in wrong["requests"]


def test_hang_of_the_process_is_a_failed_row(good):
    wrong = failed(check_export(good, timeout=0.01))
    assert "gave no answer within 0.01 s" in wrong["ops"]
    assert wrong.keys() == {"ops", "load"}


def test_folder_without_a_saved_model_is_a_failed_row(tmp_path):
    for folder in (tmp_path, tmp_path / "none"):
        report = check_export(folder)
        assert [row.name for row in report.rows] == ["files"]
        assert failed(report)["files"].startswith("Expected the folder of an export. Received: ")
    (tmp_path / "model.tflite").touch()
    assert "without tokenizers.json and kerasnmt.json" in failed(check_export(tmp_path))["files"]


def test_wrong_arguments():
    with pytest.raises(ValueError, match=r"at least one text to translate. Received: texts=\[\]"):
        check_export("somewhere", [])
    with pytest.raises(ValueError, match="Received: 1 translations for 2 texts"):
        check_export("somewhere", ["a", "b"], ["a"])
    with pytest.raises(ValueError, match="Expected the texts of the expected translations"):
        check_export("somewhere", expected=["a"])


def test_report_is_written_as_a_table():
    rows = (CheckRow("load", True, "loaded"), CheckRow("requests", False, "no"))
    report = CheckReport(None, rows)
    assert not report.passed
    assert str(report) == "ok    load      loaded\nFAIL  requests  no\nFAILED: requests"
    report = CheckReport(None, rows[:1])
    assert report.passed
    assert str(report) == "ok    load  loaded\nall 1 passed"


def signature(dtype="string", shape=(-1,), name="text"):
    scores = {"score": TensorInfo("s:0", "float32", None)}
    outputs = {"translation": TensorInfo("t:0", "string", [-1]), **scores}
    return Signature({name: TensorInfo("x:0", dtype, list(shape))}, outputs)


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"dtype": "int32"}, "input 'text': dtype int32, expected string"),
        ({"shape": (8,)}, "input 'text': shape [8], expected [batch] with any batch"),
        ({"name": "texts"}, "input: names ['texts'], expected ['text']"),
    ],
)
def test_signature_problems(changed, problem):
    expected = [f"serving_default {problem}", "no signature 'n_best'"]
    assert contract.signature_problems({"serving_default": signature(**changed)}) == expected


def attention_signature(**more):
    text = {"text": TensorInfo("x:0", "string", [-1])}
    tokens = {
        f"{side}_tokens": TensorInfo(f"{side}:0", "string", [-1, -1])
        for side in ("source", "target")
    }
    weights = TensorInfo("w:0", "float32", [-1, -1, -1])
    more = {name: TensorInfo(f"{name}:0", dtype, shape) for name, (dtype, shape) in more.items()}
    return Signature(text, {**tokens, "weights": weights, **more})


@pytest.mark.parametrize(
    ("more", "problems"),
    [
        ({}, []),
        ({"generate_probability": ("float32", [-1, -1])}, []),
        ({"generate_probability": ("float32", None)}, []),
        (
            {"generate_probability": ("float64", [-1, -1])},
            [" 'generate_probability': dtype float64, expected float32"],
        ),
        (
            {"generate_probability": ("float32", [-1])},
            [" 'generate_probability': shape [-1], expected [batch, target_length] with any batch"],
        ),
        (
            {"copy_probability": ("float32", [-1, -1])},
            [
                ": names ['copy_probability', 'source_tokens', 'target_tokens', 'weights'], "
                "expected ['source_tokens', 'target_tokens', 'weights']"
            ],
        ),
        (
            {"copy": ("float32", [-1]), "generate_probability": ("float32", [-1, -1])},
            [
                ": names ['copy', 'generate_probability', 'source_tokens', 'target_tokens', "
                "'weights'], expected ['generate_probability', 'source_tokens', 'target_tokens', "
                "'weights']"
            ],
        ),
    ],
)
def test_the_one_optional_output(more, problems):
    found = contract.signature_problems({"attention": attention_signature(**more)})
    required = ["no signature 'serving_default'", "no signature 'n_best'"]
    assert found == required + [f"attention output{problem}" for problem in problems]


def n_best():
    return {
        "translations": np.array([[b"a", b"b", b"c"], [b"", b"", b""]], object),
        "scores": np.array([[-1, -2, -2], [-3, -1e9, -1e9]], np.float32),
    }


DEFAULT = {
    "translation": np.array([b"a", b""], object),
    "score": np.array([-1.00005, -3], np.float32),
}


@pytest.mark.parametrize(
    ("name", "place", "value", "problem"),
    [
        ("scores", (0, 1), -2.5, "not in the order"),
        ("scores", (0, 1), np.nan, "not finite"),
        ("scores", (1, 2), -np.inf, "not finite"),
        ("scores", (1, 2), -2e9, "missing hypotheses"),
        ("translations", (1, 2), b"x", "missing hypotheses"),
        ("translations", (0, 0), b"x", "translation of text 0: 'x', expected 'a'"),
        ("scores", (0, 0), -1.0003, "score of text 0"),
        ("scores", (1, slice(None)), -1e9, "no hypothesis for a text"),
    ],
)
def test_n_best_problems(name, place, value, problem):
    outputs = n_best()
    assert contract.n_best_problems(DEFAULT, outputs) == []
    outputs[name][place] = value
    assert any(problem in found for found in contract.n_best_problems(DEFAULT, outputs))


def test_n_best_without_a_beam():
    outputs = {name: array[:, :0] for name, array in n_best().items()}
    assert contract.n_best_problems(DEFAULT, outputs) == ["n_best has no hypotheses"]


def attention():
    return {
        "source_tokens": np.array([[b"a", b"</s>"], [b"</s>", b""]], object),
        "target_tokens": np.array([[b"b", b"c", b"</s>"], [b"</s>", b"", b""]], object),
        "weights": np.array(
            [[[0.2, 0.8], [0.5, 0.5], [0, 1]], [[1, 0], [0, 0], [0, 0]]], np.float32
        ),
    }


@pytest.mark.parametrize(
    ("name", "place", "value", "problem"),
    [
        ("weights", (0, 0, 0), 0.2011, "sum to 1.0011, expected more than 0"),
        ("weights", (0, 0), [0.0, 0.0], "sum to 0.0000, expected more than 0"),
        ("weights", (0, 0), [-0.5, 1.5], "negative or not finite"),
        ("weights", (0, 0, 0), np.nan, "negative or not finite"),
        ("weights", (1, 2), [1.0, 0.0], "weights of padding are not 0"),
        ("weights", (1, 0), [0.5, 0.5], "weights of padding are not 0"),
        ("source_tokens", (0, 0), b"", "source_tokens has an empty string before a token"),
        ("target_tokens", (0, 1), b"", "target_tokens has an empty string before a token"),
    ],
)
def test_attention_problems(name, place, value, problem):
    outputs = attention()
    outputs["weights"][0, 0, 0] += 0.0009  # within the tolerance
    assert contract.attention_problems(outputs) == []
    outputs["weights"][0, 0, 0] -= 0.0009
    outputs[name][place] = value
    assert any(problem in found for found in contract.attention_problems(outputs))


@pytest.mark.parametrize(
    ("place", "value", "problem"),
    [
        ((0, 0), 1.0011, "generate_probability has 1.0011, expected 0 to 1"),
        ((0, 1), -0.0011, "generate_probability has -0.0011, expected 0 to 1"),
        ((0, 2), np.nan, "generate_probability has nan, expected 0 to 1"),
        ((1, 1), 0.0001, "generate_probability of padding is not 0"),
    ],
)
def test_generate_probability_problems(place, value, problem):
    outputs = attention()
    probability = np.array([[1.0009, 0, 0.4], [-0.0009, 0, 0]], np.float32)
    outputs["generate_probability"] = probability
    assert contract.attention_problems(outputs) == []
    assert contract.shape_problems("attention", outputs, 2) == []
    probability[place] = value
    assert contract.attention_problems(outputs) == [problem]


@pytest.mark.parametrize(("rows", "columns"), [(2, 2), (3, 3)])
def test_generate_probability_of_another_shape(rows, columns):
    outputs = {**attention(), "generate_probability": np.zeros((rows, columns), np.float32)}
    assert contract.shape_problems("attention", outputs, 2) == [
        f"attention: generate_probability has shape ({rows}, {columns}), "
        "expected [batch, target_length]"
    ]


@pytest.mark.thorough("checks two more exports; test_export.py translates with one")
@pytest.mark.parametrize(
    ("name", "seed", "copied", "detail"),
    [
        ("pointer_generator_gru", 178, "naïve . two", ", generate_probability is from 0 to 1"),
        ("pointer_network_lstm", 59, "🙂 🙂", ""),
    ],
)
def test_exports_of_models_that_copy(make_pointer_model, tmp_path, name, seed, copied, detail):
    model = make_pointer_model(name, seed)
    options = {"beam_size": 3, "max_length": 12}
    model.export(str(tmp_path / "1"), **options)
    # Words outside the vocabulary, in the example texts and in others.
    texts = ["naïve dogs , très naïve", *EXAMPLE_TEXTS]
    expected = model.translate(texts, **options)
    assert expected[-1] == copied
    report = check_export(tmp_path, texts, expected)
    assert failed(report) == {}
    assert [row.name for row in report.rows] == ALL_ROWS
    details = {row.name: row.detail for row in report.rows}
    assert details["attention"] == f"weights sum to at most 1 over the source{detail}, 0 on padding"
    assert read_description(tmp_path / "1")["examples"]["translation"] == expected[1:]


def test_encoding_problems():
    outputs = {
        "score": np.zeros(2, np.float32),
        "tokens": np.array([["é".encode(), b""], [b"\xc3", b"\xff"]], object),
        "more": np.array([b"\xed\xa0\x80"], object),
    }
    assert contract.encoding_problems(outputs) == [
        "tokens of text 1 is not UTF-8: b'\\xc3'",
        "more of text 0 is not UTF-8: b'\\xed\\xa0\\x80'",
    ]


def test_differences_of_names_and_shapes():
    one = {"score": np.zeros(2, np.float32), "more": np.zeros(1)}
    other = {"score": np.zeros(3, np.float32)}
    assert contract.differences(one, other) == [
        "only one has the output 'more'",
        "score: shape (3,), expected (2,)",
    ]
