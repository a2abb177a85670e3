"""Confidence through exports and servers."""

import numpy as np
import pytest
from werkzeug.test import Client

from kerasnmt.calibration import Calibration
from kerasnmt.runtime import load
from kerasnmt.serving import check_export, export_onnx, load_export
from kerasnmt.serving.contract.translation_contract import TranslationContract
from kerasnmt.serving.server.current_version import CurrentVersion
from kerasnmt.serving.server.page_models import ExportPageModel
from kerasnmt.serving.server.rest_app import RestApp
from kerasnmt.serving.server.task_session import TaskSession
from kerasnmt.tasks import Confidence, Translator, task_of
from tests.serving.conftest import only_signatures
from tests.tasks.test_confidence import equal

OPTIONS = {"beam_size": 2, "max_length": 6}
TEXTS = ["two dogs", "Zoë reads zeb .", "", "犬が"]
CALIBRATION = Calibration(0.8, 0.3, 40)


@pytest.fixture(scope="module")
def model(make_pointer_model):
    """A calibrated model that copies."""
    model = make_pointer_model(seed=178)
    model.calibration = CALIBRATION
    return model


@pytest.fixture(scope="module")
def local(model):
    return Translator(task_of(model, **OPTIONS))


@pytest.fixture(scope="module")
def app(local):
    """The REST API of the model."""
    with TaskSession(local._model) as session:
        yield RestApp(session, "tiny", 1, description=local.description)


def same(found, expected):
    for one, other in zip(found, expected, strict=True):
        equal(one, other)
        assert one.calibrated_probability == pytest.approx(other.calibrated_probability, abs=1e-4)


@pytest.mark.graph
def test_a_server_of_a_calibrated_model_gives_confidence(local, app):
    assert "confidence" in app.session.signatures
    request = {"signature_name": "confidence", "inputs": TEXTS}
    answer = Client(app).post("/v1/models/tiny:predict", json=request).get_json()["outputs"]
    expected = local.confidence(TEXTS)
    assert answer["translation"] == [one.text for one in expected]
    arrays = {name: np.array(values) for name, values in answer.items()}
    for name in ("translation", "target_tokens"):
        arrays[name] = np.vectorize(str.encode, otypes=[object])(arrays[name])
    same(Confidence.of_batch(arrays), expected)


@pytest.mark.graph
def test_the_page_of_an_export_shows_probabilities(local, app):
    page = ExportPageModel(CurrentVersion(app))
    found = page.search({"text": TEXTS[0]}, [])["sentence"]["target"]
    (expected,) = local.confidence(TEXTS[:1])
    assert found["calibration"] == CALIBRATION.document()
    assert len(found["log_probability"]) == len(found["tokens"]) == expected.tokens
    assert sum(found["log_probability"]) == pytest.approx(expected.log_probability, abs=1e-2)


@pytest.mark.graph
def test_exports_of_a_calibrated_model(local, model, tmp_path):
    with only_signatures("serving_default", "confidence"):
        model.export(str(tmp_path / "saved" / "1"), **OPTIONS)
    written = (tmp_path / "saved" / "1" / "saved_model.pb").read_bytes()
    assert b"internal_grad_fn" not in written
    loaded = load_export(tmp_path / "saved")
    assert loaded.description["calibration"] == CALIBRATION.document()
    same(Translator(loaded).confidence(TEXTS), local.confidence(TEXTS))
    export_onnx(model, tmp_path / "onnx", **OPTIONS)
    same(load(tmp_path / "onnx").confidence(TEXTS), local.confidence(TEXTS))
    every = load(tmp_path / "onnx").n_best_confidence(TEXTS)
    for found, expected in zip(every, local.n_best_confidence(TEXTS), strict=True):
        same(found, expected)
    report = check_export(tmp_path / "onnx")
    (row,) = (row for row in report.rows if row.name == "confidence")
    assert report.passed and "0 on padding" in row.detail


def test_an_export_without_a_calibration(word_module):
    assert "confidence" not in word_module.signatures


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("entropy", -0.5, "entropy has -0.5000, expected 0 to inf"),
        ("margin", 1.5, "margin has 1.5000, expected -1 to 1"),
        ("log_probability", 0.5, "log_probability has 0.5000, expected -inf to 0"),
        ("margin", None, "margin of padding is not 0"),
    ],
)
def test_problems_of_an_export(name, value, problem):
    contract = TranslationContract()
    outputs = {
        "target_tokens": np.array([[b"a", b"</s>"], [b"</s>", b""]], object),
        "log_probability": np.array([[-1.0, -0.1], [-0.2, 0.0]], "float32"),
        "entropy": np.array([[0.5, 0.1], [0.2, 0.0]], "float32"),
        "margin": np.array([[-0.5, 0.1], [0.2, 0.0]], "float32"),
    }
    assert contract.confidence_problems(outputs) == []
    wrong = outputs[name].copy()
    wrong[(1, 1) if value is None else (0, 0)] = 0.1 if value is None else value
    assert contract.confidence_problems({**outputs, name: wrong}) == [problem]
