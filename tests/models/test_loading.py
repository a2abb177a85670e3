import json
import zipfile

import keras
import numpy as np
import pytest

import kerasnmt


def test_a_model_returns_from_its_file(model, batch, tmp_path):
    model.save(tmp_path / "model.keras")
    loaded = kerasnmt.load_model(tmp_path / "model.keras", compile=False)
    np.testing.assert_array_equal(loaded(batch[0]), model(batch[0]))


def nested(depth):
    return "[" * depth + "]" * depth


def with_config(path, config):
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, config if name == "config.json" else content)


def without_config(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("metadata.json", "{}")


DAMAGES = {
    "cut": lambda path: path.write_bytes(path.read_bytes()[:1000]),
    "empty": lambda path: path.write_bytes(b""),
    "no config.json": without_config,
    "a list": lambda path: with_config(path, "[]"),
    "no JSON": lambda path: with_config(path, "{"),
    "an unknown class": lambda path: with_config(
        path, json.dumps({"module": "x", "class_name": "X", "config": {}})
    ),
    "too deep": lambda path: with_config(path, nested(100_000)),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_named_in_one_line(model, tmp_path, damage):
    path = tmp_path / "model.keras"
    model.save(path)
    DAMAGES[damage](path)
    with pytest.raises(ValueError, match=f"{path}: the model cannot be loaded: ") as caught:
        kerasnmt.load_model(path)
    assert "\n" not in str(caught.value)


@pytest.mark.thorough("waits ten seconds for memory; damaged files show the message")
def test_huge_sizes(model, tmp_path):
    path = tmp_path / "model.keras"
    model.save(path)
    with zipfile.ZipFile(path) as archive:
        config = archive.read("config.json").decode()
    with_config(path, config.replace('"units": 5', '"units": 1000000000000'))
    with pytest.raises(ValueError, match="the model cannot be loaded: "):
        kerasnmt.load_model(path)


def test_no_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no such file"):
        kerasnmt.load_model(tmp_path / "model.keras")


def test_models_of_keras_are_loaded_too(tmp_path):
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.save(tmp_path / "model.keras")
    assert isinstance(kerasnmt.load_model(tmp_path / "model.keras"), keras.Sequential)


def test_folders_and_damaged_weights(model, tmp_path):
    with pytest.raises(ValueError, match=rf"Received: {tmp_path}, a folder\. Load the model"):
        kerasnmt.load_model(tmp_path)
    path = tmp_path / "model.keras"
    model.save(path)
    whole = path.read_bytes()
    for share in (0.3, 0.5, 0.7):
        damaged = bytearray(whole)
        damaged[int(share * len(whole))] ^= 255
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"model\.keras: the model cannot be loaded: "):
            kerasnmt.load_model(path)
