import json
import os
from pathlib import Path

import keras
import pytest
import tensorflow as tf
from tensorflow.core.protobuf.saved_model_pb2 import SavedModel
from tensorflow_serving.apis.prediction_log_pb2 import PredictionLog

from kerasnmt.serving import Translator, export_next_version, load_export
from kerasnmt.serving.contract.translation_contract import EXAMPLE_TEXTS
from kerasnmt.serving.protocol.meta_graph import MetaGraph
from tests.conftest import SERVED_OPTIONS as OPTIONS
from tests.serving.conftest import TERMS, description_of, only_signatures


@pytest.fixture(scope="module")
def exported(served_folder):
    """The version that several tests use."""
    return served_folder / "3"


def test_each_search_is_written_once(exported):
    written = SavedModel.FromString((exported / "saved_model.pb").read_bytes())
    functions = [f.signature.name for f in written.meta_graphs[0].graph_def.library.function]
    names = ("serving_default", "n_best", "with_terms", "attention", "source_lengths")
    counts = [sum(f"inference_{name}_" in function for function in functions) for name in names]
    assert counts == [1] * 5
    not_served = "forced_prefix", "internal_grad_fn"
    assert not [function for function in functions for name in not_served if name in function]


@pytest.mark.usefixtures("eagerly")
def test_export_translates_as_the_model_does(expected, word_model, sentences):
    assert expected.description["beam_size"] == 3
    assert expected.translate(sentences) == word_model.translate(sentences, **OPTIONS)
    assert len(set(expected.translate(sentences))) > 3
    found = expected.translate(sentences, **TERMS)
    assert found == word_model.translate(sentences, **TERMS, **OPTIONS)
    assert "ab" in found[0].split() and not {"a", "d"} & {*found[2].split()}
    with pytest.warns(UserWarning, match="text 1 has 21 tokens and was truncated to 12"):
        expected.translate(["dog " * 20])


@pytest.mark.usefixtures("eagerly")
def test_an_export_copies(make_pointer_model, tmp_path):
    model = make_pointer_model(seed=178)
    options = {"beam_size": 1, "max_length": 6}
    with only_signatures("serving_default"):
        model.export(str(tmp_path / "1"), **options)
    texts = ["naïve dogs , très naïve", "Zoë reads"]
    translations = Translator(load_export(tmp_path)).translate(texts)
    assert translations == model.translate(texts, **options)
    assert {"naïve", "Zoë"} & set(" ".join(translations).split())


def test_export_holds_weights_and_no_optimizer(exported, word_model):
    variables = tf.train.list_variables(str(exported / "variables" / "variables"))
    arrays = [shape for name, shape in variables if not name.startswith("_CHECKPOINTABLE")]
    assert sorted(arrays) == sorted(list(weight.shape) for weight in word_model.weights)
    assert len(word_model.optimizer.variables) > len(
        word_model.weights
    )  # there was something to hold


def test_export_holds_what_a_cpu_server_can_run(exported):
    ops = MetaGraph.from_saved_model(exported).ops
    assert "While" in ops or "StatelessWhile" in ops
    assert not {op for op in ops if "PyFunc" in op or "Cudnn" in op}


@pytest.mark.usefixtures("eagerly")
def test_folder_holds_no_more_than_it_should(exported, word_model):
    assert os.listdir(exported.parent) == ["3"]
    assert {*os.listdir(exported)} == {
        *("saved_model.pb", "variables", "assets", "assets.extra", "fingerprint.pb")
    }
    description = json.loads((exported / "assets.extra" / "kerasnmt.json").read_text())
    examples = description.pop("examples")
    assert examples == {
        "text": list(EXAMPLE_TEXTS),
        "translation": word_model.translate(EXAMPLE_TEXTS, **OPTIONS),
    }
    assert description == description_of("bahdanau_gru", "words", "characters", **OPTIONS)
    assert any(examples["translation"])
    extra = {"kerasnmt.json", "tf_serving_warmup_requests"}
    assert {*os.listdir(exported / "assets.extra")} == extra
    # A server of another user can read it.
    assert exported.stat().st_mode & 0o777 == 0o755


def test_warmup_requests_are_read_by_the_classes_of_the_server(exported):
    path = exported / "assets.extra" / "tf_serving_warmup_requests"
    records = tf.data.TFRecordDataset(str(path)).as_numpy_iterator()
    found = []
    for record in records:
        request = PredictionLog.FromString(record).predict_log.request
        assert request.model_spec.name == "tiny"
        further = {"terms"} if request.model_spec.signature_name == "with_terms" else set()
        assert {*request.inputs} == {"text", *further}
        texts = tf.make_ndarray(request.inputs["text"]).tolist()
        found.append((request.model_spec.signature_name, len(texts), len(texts[0].split())))
    sizes = [(size, words) for size in (1, 8, 64) for words in (1, 8, 32)]
    names = ("serving_default", "n_best", "with_terms", "attention")
    assert found == [(name, *size) for name in names for size in sizes]


def test_bad_directories(word_model, tmp_path):
    (tmp_path / "1").mkdir()
    with pytest.raises(ValueError, match=r"does not exist\. Received: directory='.*/1'"):
        word_model.export(tmp_path / "1")
    (tmp_path / "2").write_text("a file")
    with pytest.raises(ValueError, match="Export to the next version"):
        word_model.export(tmp_path / "2")
    with pytest.raises(
        ValueError, match=r"version number.*/best/1'\. Received: directory='.*best'"
    ):
        word_model.export(tmp_path / "best")
    for name in ("01", "٣"):  # the server knows them as 1 and as no number
        with pytest.raises(ValueError, match="whose name is a version number"):
            word_model.export(tmp_path / name)
    with pytest.raises(ValueError, match=r"the folder of a model.*Received: directory='.*/1'"):
        export_next_version(word_model, tmp_path / "1")
    with pytest.raises(ValueError, match=r"without \[, which TensorFlow reads"):
        export_next_version(word_model, tmp_path / "model [v2]")
    assert sorted(os.listdir(tmp_path)) == ["1", "2"]
    assert os.listdir(tmp_path / "1") == []
    with pytest.raises(ValueError, match=r"Expected an export of kerasnmt.*Received: directory="):
        load_export(tmp_path)
    with pytest.raises(ValueError, match=r"Expected an export of kerasnmt.*Received: directory="):
        load_export(tmp_path / "absent")


def test_bad_options_make_no_folder(word_model, tmp_path):
    with pytest.raises(ValueError, match="beam_size=0"):
        word_model.export(tmp_path / "name" / "1", beam_size=0)
    assert os.listdir(tmp_path) == []


@pytest.mark.usefixtures("untraced")
def test_no_message_names_the_unfinished_folder(word_model, tmp_path, caplog):
    caplog.set_level("INFO", "tensorflow")  # its level in a notebook
    word_model.export(tmp_path / "1", **OPTIONS)
    assert not caplog.messages


@pytest.mark.usefixtures("untraced")
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_failure_midway_leaves_nothing(word_model, tmp_path, monkeypatch, error):
    def save(module, folder, **options):
        Path(folder, "saved_model.pb").write_bytes(b"half")
        raise error

    monkeypatch.setattr(tf.saved_model, "save", save)
    with pytest.raises(type(error)):
        word_model.export(tmp_path / "name" / "1", **OPTIONS)
    assert os.listdir(tmp_path) == []


def fake_save(module, folder, **options):
    Path(folder, "saved_model.pb").write_bytes(b"whole")


@pytest.mark.usefixtures("untraced")
def test_versions(word_model, tmp_path, monkeypatch):
    monkeypatch.setattr(tf.saved_model, "save", fake_save)
    options = {**OPTIONS, "beam_size": 1}
    assert export_next_version(word_model, tmp_path, **options) == str(tmp_path / "1")
    (tmp_path / "9").mkdir()
    (tmp_path / "notes").mkdir()
    # Sorted by number, not by name: 10 follows 9, and 11 follows 10.
    assert export_next_version(word_model, tmp_path, **options) == str(tmp_path / "10")
    assert export_next_version(word_model, tmp_path, **options) == str(tmp_path / "11")
    assert sorted(os.listdir(tmp_path)) == ["1", "10", "11", "9", "notes"]


@pytest.mark.usefixtures("untraced")
def test_folder_made_meanwhile_is_not_overwritten(word_model, tmp_path, monkeypatch):
    def save(module, folder, **options):
        fake_save(module, folder)
        (tmp_path / "1").mkdir()
        (tmp_path / "1" / "theirs").write_text("")

    monkeypatch.setattr(tf.saved_model, "save", save)
    with pytest.raises(ValueError, match="Expected a directory that does not exist"):
        word_model.export(tmp_path / "1", **OPTIONS)
    assert os.listdir(tmp_path) == ["1"]
    assert os.listdir(tmp_path / "1") == ["theirs"]


@pytest.mark.usefixtures("eagerly")
def test_a_file_translates_as_the_model_does(word_model, sentences, tmp_path):
    word_model.save(tmp_path / "model.keras")
    copy = keras.saving.load_model(tmp_path / "model.keras")
    options = {**OPTIONS, "max_length": 6}
    expected = word_model.translate(sentences[:3], **options)
    assert copy.translate(sentences[:3], **options) == expected
    assert type(copy.source_tokenizer) is type(word_model.source_tokenizer)
    assert copy.target_tokenizer.get_config() == word_model.target_tokenizer.get_config()
