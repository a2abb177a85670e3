import json
import re
import shutil

import numpy as np
import pytest

from kerasnmt.serving import load_export
from kerasnmt.serving.check import check_export as check_module
from kerasnmt.serving.check.check_export import check_export
from kerasnmt.serving.check.check_report import CheckReport, CheckRow
from kerasnmt.serving.contract.translation_contract import EXAMPLE_TEXTS, TranslationContract
from kerasnmt.serving.protocol.meta_graph import Signature, TensorInfo
from kerasnmt.serving.runtimes.saved_model import checks
from kerasnmt.serving.runtimes.saved_model.warmup import WarmupRequest, encode_warmup_request
from kerasnmt.serving.runtimes.version_folder import read_description
from tests.serving.conftest import details, failed, write_warmup

pytestmark = pytest.mark.long("writes and checks several exports")

contract = TranslationContract()

ALL_ROWS = ["files", "ops", "load", "signatures", "requests"]
ALL_ROWS += ["n_best", "attention", "with_terms", "batch_of_one", "odd_inputs", "warmup", "python"]
ALL_ROWS += ["description", "expected"]


@pytest.fixture
def here(served_here, served_session):
    """Check the served export in this process, or another one as if it gave the same answers."""
    served_here.session = served_session
    return served_here


@pytest.fixture
def without_python(monkeypatch):
    """Run the check without the rows that load the export in this process."""
    monkeypatch.setattr(checks, "check_python", lambda *_: "")
    monkeypatch.setattr(checks, "check_description", lambda *_: "")


@pytest.fixture
def row(here, without_python, monkeypatch):
    """Return the verdict and the detail of a row, without the slowest of the other rows."""
    for name in ("batch_of_one", "odd_inputs"):
        monkeypatch.setattr(check_module, f"_check_{name}", lambda *_: "")

    def row(name, *arguments):
        (row,) = (row for row in check_export(*arguments).rows if row.name == name)
        return row.passed, row.detail

    return row


@pytest.fixture
def copy(served_folder, tmp_path):
    """A copy of the export without warm-up requests, and the path of its description."""
    folder = shutil.copytree(served_folder / "3", tmp_path / "10")
    (folder / "assets.extra" / "tf_serving_warmup_requests").unlink()
    return folder, folder / "assets.extra" / "kerasnmt.json"


@pytest.mark.usefixtures("here", "without_python")  # test_story_contract.py loads one in Python
def test_a_good_export_passes(served_folder, expected, sentences):
    report = check_export(served_folder, sentences, expected.translate(sentences))
    assert failed(report) == {}
    assert report.passed
    assert [row.name for row in report.rows] == ALL_ROWS
    found = details(report)
    assert found["signatures"] == "serving_default, n_best, attention, with_terms"
    assert found["requests"] == "4 signatures answered 7 texts"
    assert found["n_best"] == "beam of 3, best first"
    assert found["attention"] == "weights sum to at most 1 over the source, 0 on padding"
    assert found["with_terms"] == "2 without terms, as in serving_default"
    names = "serving_default, n_best, with_terms, attention"
    assert found["warmup"] == f"36 requests answered, for {names}"
    assert found["expected"] == "7 translations as expected"
    loaded = r"loaded without the Python package tensorflow, \d+ MB resident"
    assert re.fullmatch(loaded, found["load"])


def test_the_newest_version_is_checked(row, copy):
    folder, _ = copy
    (folder.parent / "9").mkdir()
    (folder.parent / "9" / "saved_model.pb").write_bytes(b"damaged")
    (folder.parent / "notes").mkdir()
    assert row("files", folder.parent) == (True, str(folder))
    passed, detail = row("warmup", folder.parent)
    assert passed and detail.startswith("no warm-up requests: ")


def test_answers_are_compared_with_the_expected_ones(row, copy, expected):
    folder, path = copy
    texts = ["dog", "two dogs run ."]
    assert row("files", folder, np.array(texts)) == (True, str(folder))
    wrong = [*expected.translate(texts[:1]), "another"]
    found = expected.translate(texts)[1]
    detail = f"translation of text 1: {found!r}, expected 'another'"
    assert row("expected", folder, texts, wrong) == (False, detail)
    # Without texts, they are compared with those that were written with the export.
    assert row("expected", folder) == (True, "5 translations as expected")
    description = json.loads(path.read_text())
    description["examples"] = {"text": texts, "translation": wrong}
    path.write_text(json.dumps(description))
    assert row("expected", folder) == (False, detail)
    path.unlink()
    assert row("expected", folder) == (
        True,
        "not compared with the model: the export contains no examples",
    )


@pytest.mark.parametrize(
    "text",
    [
        b"{bro",
        b"[1]",
        b'{"model": "x"}',
        b'{"inputs": ["words"]}',
        b'{"inputs": ["text"], "examples": null}',
        b'{"inputs": ["text"], "examples": {"text": ["a"]}}',
        b'{"inputs": ["text"], "examples": {"text": ["a"], "translation": []}}',
        b'{"inputs": ["text"], "examples": {"text": ["a"], "translation": [1]}}',
        b'{"inputs": ["text"], "examples": {"text": ["a"], "answer": ["a"]}}',
        b"\xff",
    ],
)
def test_broken_description(copy, text, row):
    folder, path = copy
    path.write_bytes(text)
    passed, detail = row("expected", folder)
    assert not passed
    assert detail.startswith(f"{path}: expected the description of an export in JSON")
    with pytest.raises(ValueError, match=r"kerasnmt\.json: expected the description"):
        load_export(folder)


@pytest.mark.usefixtures("without_python")
def test_attention_is_optional_and_n_best_is_not(copy, here, served_session):
    signatures = here.signatures = dict(served_session.signatures)
    del signatures["attention"]
    report = check_export(copy[0])
    assert report.passed
    assert [row.name for row in report.rows] == [name for name in ALL_ROWS if name != "attention"]
    del signatures["n_best"]
    assert failed(check_export(copy[0])) == {"signatures": "no signature 'n_best'"}


def test_wrong_signatures_fail_their_row(copy, here, served_session):
    signatures = here.signatures = dict(served_session.signatures)
    for name, output, info in (
        ("serving_default", "score", TensorInfo("s:0", "float32", [])),
        ("attention", "weights", TensorInfo("w:0", "float64", [-1, -1, -1])),
    ):
        inputs, outputs = signatures[name]
        signatures[name] = Signature(inputs, {**outputs, output: info})
    report = check_export(copy[0])
    assert failed(report) == {
        "signatures": (
            "serving_default output 'score': shape [], expected [batch] with any batch; "
            "attention output 'weights': dtype float64, expected float32"
        )
    }
    assert report.rows[-1].name == "signatures"


def test_output_that_is_not_batch_first_fails_its_row(copy, here):
    def beam_first(signature, inputs, outputs):
        return {k: v.T if signature == "n_best" else v for k, v in outputs.items()}

    here.change = staticmethod(beam_first)
    assert failed(check_export(copy[0], ["a", "dog"])) == {
        "requests": "n_best: translations has shape (3, 2), expected [batch, beam]; "
        "n_best: scores has shape (3, 2), expected [batch, beam]"
    }


@pytest.mark.usefixtures("without_python")
def test_wrong_values_fail_their_rows(copy, here):
    """A score that depends on the batch size, and weights that sum to more than 1."""

    def wrong_values(signature, inputs, outputs):
        size = len(inputs["text"])
        if signature == "serving_default":
            return {**outputs, "score": np.full(size, -3.5 - size, np.float32)}
        if signature == "n_best":
            return {**outputs, "scores": np.tile(np.float32([-3.5, -4, -5]), (size, 1))}
        if signature == "attention":
            return {**outputs, "weights": outputs["weights"] * np.float32(1.01)}
        return outputs

    here.change = staticmethod(wrong_values)
    wrong = failed(check_export(copy[0], ["two dogs run", "a"]))
    assert wrong == {
        "n_best": "best of n_best, score of text 0: -3.5, expected -5.5",
        "attention": "weights of a target token sum to 1.0100, expected at most 1",
        "batch_of_one": "score of text 0: -4.5, expected -5.5",
        "odd_inputs": wrong["odd_inputs"],
        "with_terms": wrong["with_terms"],
    }
    assert re.fullmatch(r"score of text 0: -.*, expected -5\.5", wrong["with_terms"])
    assert wrong["odd_inputs"].startswith("no text, alone: score of text 0: -4.5, expected -14.5")


@pytest.mark.usefixtures("without_python")
def test_odd_inputs_that_are_not_answered_as_they_should_be_fail_their_row(copy, here):
    def not_utf8(signature, inputs, outputs):
        if len(inputs["text"]) > 5:
            for name in {"translation", "translations"} & outputs.keys():
                outputs[name][5] = b"\xc3("
        return outputs

    here.change = staticmethod(not_utf8)
    problem = "of text 5 is not UTF-8: b'\\xc3('"
    detail = (
        f"serving_default: translation {problem}; n_best: translations {problem}; with_terms: "
        f"translation {problem}"
    )
    assert failed(check_export(copy[0], ["a b"])) == {"odd_inputs": detail}

    def refuse(signature, inputs, outputs):
        if inputs == {"text": (b"two\0dogs \0 run",)}:
            raise RuntimeError("no\nnull bytes")
        return outputs

    here.change = staticmethod(refuse)
    wrong = failed(check_export(copy[0], ["a b"]))
    assert wrong == {"odd_inputs": "a null byte, alone: no null bytes"}


@pytest.mark.usefixtures("without_python")
def test_an_op_without_a_kernel_fails_its_row(copy, here):
    here.op_support = lambda self: {"Add": "", "EagerPyFunc": "no CPU kernel"}
    assert failed(check_export(copy[0])) == {"ops": "EagerPyFunc: no CPU kernel"}


def test_warmup_requests_are_replayed(copy, row, here):
    folder, asked = copy[0], []

    def note(signature, inputs, outputs):
        asked.append((signature, inputs["text"]))
        return outputs

    here.change = staticmethod(note)

    def replay(*requests, more=(), damage=False):
        records = [
            encode_warmup_request(WarmupRequest(signature, {"text": texts}), "en")
            for signature, texts in requests
        ]
        path = write_warmup(folder, *records, *more)
        if damage:
            path.write_bytes(path.read_bytes()[:-1])
        return row("warmup", folder, ["a b"])

    requests = [("serving_default", [b"a", b"b c"]), ("n_best", [b"\xff"])]
    assert replay(*requests) == (True, "2 requests answered, for serving_default, n_best")
    assert asked[-2:] == requests
    assert replay(("best", [b"a"])) == (
        False,
        "Expected one of the signatures ['attention', 'n_best', 'serving_default', "
        "'with_terms']. Received: signature='best'",
    )
    passed, detail = replay(*requests, damage=True)
    assert not passed
    assert detail.startswith(f"{folder}/assets.extra/tf_serving_warmup_requests cannot be read: ")
    passed, detail = replay(*requests, more=[b"something"])
    assert not passed
    assert detail.startswith("Expected a PredictionLog with a request whose inputs are strings")
    assert replay(*[("n_best", [b"a"])] * 1001) == (
        False,
        "1001 warm-up requests, but a server takes at most 1000",
    )


def test_a_description_that_is_not_of_the_graph_fails_its_row(copy, here, monkeypatch):
    folder, file = copy
    monkeypatch.setattr(checks, "check_python", lambda *_: "")
    description = json.loads(file.read_text())
    file.write_text(json.dumps({**description, "beam_size": 5, "kind": "words"}))
    assert failed(check_export(folder)) == {
        "description": "beam_size is 5, but 3 in the graph; kind is 'words', but None in the graph"
    }
    file.unlink()
    assert failed(check_export(folder)) == {"description": f"{file} is missing; export again"}


def test_hang_of_the_process_is_a_failed_row(served_folder):
    wrong = failed(check_export(served_folder, timeout=0.01))
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
    with pytest.raises(ValueError, match="Received: 2 texts, 1 expected translations"):
        check_export("somewhere", ["a", "b"], ["a"])
    with pytest.raises(ValueError, match=r"list of texts\. Received: texts='two dogs'"):
        check_export("somewhere", "two dogs")
    with pytest.raises(ValueError, match=r"list of texts\. Received: expected='a'"):
        check_export("somewhere", ["a"], "a")
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


@pytest.mark.parametrize(
    ("inputs", "problem"),
    [
        ({"text": TensorInfo("x:0", "int32", [-1])}, " 'text': dtype int32, expected string"),
        (
            {"text": TensorInfo("x:0", "string", [8])},
            " 'text': shape [8], expected [batch] with any batch",
        ),
        ({"texts": TensorInfo("x:0", "string", [-1])}, ": names ['texts'], expected ['text']"),
    ],
)
def test_signature_problems(served_session, inputs, problem):
    signatures = dict(served_session.signatures)
    signatures["serving_default"] = signatures["serving_default"]._replace(inputs=inputs)
    assert contract.signature_problems(signatures) == [f"serving_default input{problem}"]


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
def test_the_one_optional_output(served_session, more, problems):
    inputs, outputs = served_session.signatures["attention"]
    more = {name: TensorInfo(f"{name}:0", dtype, shape) for name, (dtype, shape) in more.items()}
    signatures = {**served_session.signatures, "attention": Signature(inputs, {**outputs, **more})}
    found = contract.signature_problems(signatures)
    assert found == [f"attention output{problem}" for problem in problems]


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


def test_terms_of_other_rows_change_the_answers_of_a_shortlist():
    default = {"translation": np.array([b"a", b"b"], object), "score": np.zeros(2, np.float32)}
    found = {**default, "written": np.array([[b""], [b"a"]], object)}
    found["translation"] = np.array([b"c", b"d"], object)
    check = contract.further_checks()["with_terms"]
    problem = "translation of text 0: 'c', expected 'a'"
    assert check(default, found, {}) == ([problem], "1 without terms, as in serving_default")
    assert check(default, found, {"shortlist": True}) == ([], "1 without terms")
    found["written"][0] = b"a"
    assert check(default, found, {"shortlist": True})[0] == [
        "written of a text without terms is not empty"
    ]


def test_whole_rows():
    rows = (("Two dogs run. A man reads.",), ("Two dogs run.",), ("two dogs",), ("",))
    assert contract.whole_rows(rows, {}) == rows
    assert contract.whole_rows(rows, {"split_sentences": True}) == rows[1:]
    assert contract.whole_rows(rows[:1], {"split_sentences": True}) == contract.example_rows
    assert contract.whole_rows(rows, {"split_words": True}) == rows[3:]
    assert ("dogs",) in contract.whole_rows(rows[:3], {"split_words": True})


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
        ("weights", (0, 0, 0), 0.2011, "sum to 1.0011, expected at most 1"),
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
    outputs["weights"][0, 1] = 0.0  # monotonic attention without a stop
    assert contract.attention_problems(outputs) == []
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
    detail = "weights sum to at most 1 over the source, generate_probability is from 0 to 1, 0 on "
    check = contract.further_checks()["attention"]
    assert check(DEFAULT, outputs, {}) == ([], f"{detail}padding")
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
    assert (
        details(report)["attention"]
        == f"weights sum to at most 1 over the source{detail}, 0 on padding"
    )
    assert read_description(tmp_path / "1")["examples"]["translation"] == expected[1:]
