import json
import re
import shutil
from types import SimpleNamespace

import keras
import numpy as np
import pytest

from kerasnmt import zoo
from kerasnmt.cli.loading import SearchChanges, load_run, load_translator


@pytest.fixture
def loads_nothing(monkeypatch):
    """Read the descriptions of exports, but not their graphs."""
    export = "kerasnmt.serving.runtimes.saved_model.export"
    nothing = SimpleNamespace(signatures={})
    monkeypatch.setattr(f"{export}.load_saved_model", lambda directory: nothing)


def test_a_run_has_the_options_of_its_model_or_else_of_its_recipe(run_folder, tmp_path):
    model, options = load_run(run_folder)
    assert model.name == "bahdanau_gru"
    assert options == {"beam_size": 3, "max_length": 20}

    other = shutil.copytree(run_folder, tmp_path / "run")
    recipe = other / "recipe.yaml"
    recipe.write_text(recipe.read_text().replace(", max_length: 20", ""))
    assert load_run(other)[1] == {"beam_size": 3}
    model.search_options = {"beam_size": 2, "min_length": 3}
    model.save(other / "model.keras")
    with pytest.warns(
        UserWarning,
        match=r"'min_length': 3}\. .* has others, which are not used: {'beam_size': 3}",
    ):
        assert load_run(other, SearchChanges(4))[1] == {"beam_size": 4, "min_length": 3}
    recipe.unlink()
    changes = SearchChanges(search=["max_length=9"])
    assert load_run(other, changes)[1] == {"beam_size": 2, "min_length": 3, "max_length": 9}


def test_a_run_in_half_precision_is_loaded_in_float32(run_folder, loaded_model, tmp_path):
    other = shutil.copytree(run_folder, tmp_path / "run")
    keras.config.set_dtype_policy("mixed_bfloat16")
    try:
        half = zoo.bahdanau_gru(loaded_model.source_tokenizer, embedding_dim=6, units=8)
    finally:
        keras.config.set_dtype_policy("float32")
    half.set_weights(loaded_model.get_weights())
    half.save(other / "model.keras")
    model, _ = load_run(other)
    assert model.compute_dtype == "float32"
    inputs = {"source_ids": np.array([[5, 6, 3]]), "target_ids": np.array([[2, 7, 8]])}
    np.testing.assert_array_equal(model(inputs), loaded_model(inputs))


def test_the_newest_version_is_taken(export_folder, tmp_path, loads_nothing):
    shutil.copytree(export_folder, tmp_path / "9")
    newest = shutil.copytree(export_folder, tmp_path / "10")
    description = newest / "assets.extra" / "kerasnmt.json"
    description.write_text(description.read_text().replace('"beam_size": 3', '"beam_size": 7'))
    assert load_translator(tmp_path).description["beam_size"] == 7


def test_beam_size(run_folder, export_folder, loads_nothing, load_once):
    assert load_once(run_folder, SearchChanges(2)).description["beam_size"] == 2
    assert load_translator(export_folder, SearchChanges(3)).description["beam_size"] == 3
    with pytest.raises(ValueError, match=r"Received: --beam-size 2 and --search beam_size=4\."):
        load_translator(run_folder, SearchChanges(2, ["top_k=0", "beam_size=4"]))
    with pytest.raises(ValueError, match=r"fixed in the export, 3\. Received: --beam-size 2\."):
        load_translator(export_folder, SearchChanges(2))


def test_a_folder_with_neither(tmp_path):
    for folder in (tmp_path, tmp_path / "none"):
        received = re.escape(f"Received: {folder}")
        with pytest.raises(
            ValueError,
            match=r"^Expected the folder of a run, with a model\.keras, or .* a saved_model\.pb, "
            r"a model\.bin, a model\.tflite, a \*\.onnx or a kerasnmt\.js, or a preset\. "
            rf"{received}$",
        ):
            load_translator(folder)
        with pytest.raises(
            ValueError, match=rf"the model\.keras of `kerasnmt train`, or a preset\. {received}"
        ):
            load_run(folder)


def test_damaged_runs(run_folder, tmp_path):
    damaged = shutil.copytree(run_folder, tmp_path / "run")
    whole = (run_folder / "model.keras").read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 255
    for data in (b"", whole[: len(whole) // 2], flipped):
        (damaged / "model.keras").write_bytes(data)
        with pytest.raises(ValueError, match=r"run/model\.keras: the model cannot be loaded: "):
            load_run(damaged)


def test_a_model_that_does_not_translate(tmp_path, loads_nothing):
    from kerasnmt.text import PlainWordTokenizer

    model = zoo.memory_network(PlainWordTokenizer(["mary", "home"]), embedding_dim=2)
    model.save(tmp_path / "model.keras")
    message = (
        "model.keras: expected a model that translates. Received: memory_network, a MemoryNetwork."
    )
    for load in (load_run, load_translator):
        with pytest.raises(ValueError, match=re.escape(str(tmp_path / message))):
            load(tmp_path)
    with pytest.raises(ValueError, match=r"because memory_network does not search\."):
        load_translator(tmp_path, SearchChanges(2), translates=False)
    version = tmp_path / "qa" / "1"
    (version / "assets.extra").mkdir(parents=True)
    (version / "saved_model.pb").touch()
    description = {"inputs": ["story", "question"]}
    (version / "assets.extra" / "kerasnmt.json").write_text(json.dumps(description))
    message = (
        "expected an export that translates. Received: an export that reads story and question."
    )
    with pytest.raises(ValueError, match=message):
        load_translator(tmp_path / "qa")
    for folder in (tmp_path, tmp_path / "qa"):
        assert load_translator(folder, translates=False).fields == ("story", "question")


@pytest.mark.thorough("another kind of model; a run that answers is refused too")
def test_a_run_that_captions_images(run_folder, tmp_path):
    from kerasnmt.text import WordTokenizer

    sizes = {"image_size": 4, "filters": (2,), "embedding_dim": 2, "units": 2}
    model = zoo.show_attend_tell_lstm(WordTokenizer(["a"]), **sizes)
    model.save(tmp_path / "model.keras")
    received = r"Received: show_attend_tell_lstm, a CaptionModel\."
    message = rf"model\.keras: expected a model that translates\. {received}"
    for load in (load_run, load_translator):
        with pytest.raises(ValueError, match=message):
            load(tmp_path)
    with pytest.raises(ValueError, match=message):
        load_run(run_folder, SearchChanges(others=[tmp_path]), translates=False)
    # `kerasnmt export` writes it for TF Serving.
    assert load_run(tmp_path, translates=False)[0].name == "show_attend_tell_lstm"


@pytest.mark.thorough("loads three exports more; test_check.py has broken ones")
def test_damaged_exports(export_folder, tmp_path):
    (variables,) = (path.name for path in (export_folder / "variables").glob("*.data*"))
    for number, (name, size) in enumerate(
        [
            ("saved_model.pb", 5000),
            (f"variables/{variables}", 100),
            ("variables/variables.index", 10),
        ]
    ):
        damaged = shutil.copytree(export_folder, tmp_path / str(number))
        (damaged / name).write_bytes((export_folder / name).read_bytes()[:size])
        path = re.escape(str(damaged))
        unread = f"^(Expected a SavedModel in {path}/saved_model.pb|{path}: the export cannot be)"
        with pytest.raises(ValueError, match=unread):
            load_translator(damaged)
