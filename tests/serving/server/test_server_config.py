import os
import re

import pytest
from google.protobuf import text_format
from tensorflow_serving.config.model_server_config_pb2 import ModelServerConfig

from kerasnmt.serving import write_server_config

NAMES = ["de_en", "en_de", 'é"\\x']


@pytest.fixture
def saved_models(tmp_path):
    folder = tmp_path / "saved_models"
    for name in NAMES:
        (folder / name / "1").mkdir(parents=True)
        (folder / name / "1" / "saved_model.pb").touch()
    for none in ("notes/drafts", "empty/1", "killed/.kerasnmt-unfinished-x"):
        (folder / none).mkdir(parents=True)
    (folder / "killed/.kerasnmt-unfinished-x/saved_model.pb").touch()
    return folder


@pytest.mark.parametrize("base_path", ["/models", "/srv/nmt/", "/"])
def test_every_model_is_configured(saved_models, base_path):
    config, _ = write_server_config(saved_models, base_path)
    assert config == saved_models / "models.config"
    read = text_format.Parse(config.read_text(), ModelServerConfig())
    models = read.model_config_list.config
    root = base_path.rstrip("/")
    assert [(model.name, model.base_path, model.model_platform) for model in models] == [
        (name, f"{root}/{name}", "tensorflow") for name in NAMES
    ]


def test_batching_parameters(saved_models):
    _, path = write_server_config(saved_models)
    assert path == saved_models / "batching_parameters.txt"
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    assert lines == [
        "max_batch_size { value: 64 }",  # as the client sends
        "batch_timeout_micros { value: 2000 }",
        "max_enqueued_batches { value: 100 }",
    ]


def test_files_are_replaced_and_nothing_else_is_left(saved_models):
    before = {*os.listdir(saved_models)}
    config, _ = write_server_config(saved_models)
    written = config.read_text()
    config.write_text("old")
    write_server_config(saved_models)
    assert config.read_text() == written
    assert {*os.listdir(saved_models)} - before == {"models.config", "batching_parameters.txt"}


def test_tuned_batching_parameters_stay(saved_models):
    _, path = write_server_config(saved_models)
    path.write_text("max_batch_size { value: 128 }")
    write_server_config(saved_models)
    assert path.read_text() == "max_batch_size { value: 128 }"


def test_wrong_arguments(saved_models, tmp_path):
    for folder in (tmp_path / "none", saved_models / "notes", saved_models / "en_de"):
        with pytest.raises(
            ValueError, match=rf"<name>/<version>\. Received: {re.escape(str(folder))}"
        ):
            write_server_config(folder)
    with pytest.raises(ValueError, match="Received: base_path='models'"):
        write_server_config(saved_models, "models")
    assert not (saved_models / "models.config").exists()
