"""The presets of the library, and how presets are found."""

import importlib.util
import re
import shutil
import sys
import tomllib
import types
from pathlib import Path

import keras
import numpy as np
import pytest
import yaml

import kerasnmt
from kerasnmt import zoo
from kerasnmt.presets import Preset, find_presets, finding, folders
from kerasnmt.presets.card import preset_card
from kerasnmt.text import CharacterTokenizer
from kerasnmt.training.checks import comparable_config

ROOT = Path(kerasnmt.__file__).parents[1]


@pytest.fixture(scope="module")
def tiny():
    """A model that tests must not change."""
    return zoo.bahdanau_gru(CharacterTokenizer("abc"), units=4, embedding_dim=3)


@pytest.fixture(scope="module")
def folder(tiny, tmp_path_factory):
    """Its preset, which tests must not change."""
    return tiny.save_to_preset(tmp_path_factory.mktemp("presets") / "tiny_abc", weights="float32")


@pytest.fixture
def shipped(folder, monkeypatch):
    """The preset, as if it were a preset of the library."""
    monkeypatch.setattr(folders, "shipped_presets", lambda: {"tiny_abc": folder})
    monkeypatch.setattr(finding, "shipped_presets", lambda: {"tiny_abc": folder})


def same(one, other):
    pairs = zip(one.get_weights(), other.get_weights(), strict=True)
    return all(np.array_equal(*pair) for pair in pairs)


def test_by_name_and_by_folder(shipped, folder, tiny):
    assert zoo.list_presets() == ["tiny_abc"]
    for place in ("tiny_abc", folder):
        assert same(zoo.from_preset(place), tiny)
        assert same(zoo.bahdanau_gru.from_preset(place), tiny)
        assert not same(zoo.from_preset(place, load_weights=False), tiny)
        assert zoo.get_preset(place).model_name == "bahdanau_gru"


def test_the_folder_of_a_preset_comes_before_a_name(shipped, folder, tmp_path, monkeypatch):
    """A folder that is not a preset does not hide a name."""
    (tmp_path / "tiny_abc").mkdir()
    monkeypatch.chdir(tmp_path)
    assert zoo.get_preset("tiny_abc").folder == Path(folder)
    shutil.copytree(folder, "tiny_abc", dirs_exist_ok=True)
    assert zoo.get_preset("tiny_abc").folder == Path("tiny_abc")


def test_folders_of_the_environment(folder, tmp_path, monkeypatch):
    own = zoo.list_presets()
    for place, name in (("one", "mine"), ("two", own[0]), ("two", "mine")):
        shutil.copytree(folder, tmp_path / place / name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("KERASNMT_PRESETS", f"~/one::{tmp_path / 'two'}:")
    assert zoo.list_presets() == sorted([*own, "mine"])
    assert zoo.get_preset("mine").folder == tmp_path / "two" / "mine"
    assert zoo.get_preset(own[0]).folder == tmp_path / "two" / own[0]
    assert zoo.from_preset("mine").name == "bahdanau_gru"
    monkeypatch.delenv("KERASNMT_PRESETS")
    assert zoo.list_presets() == own


def test_places_without_presets_are_named(tmp_path, monkeypatch):
    monkeypatch.setenv("KERASNMT_PRESETS", str(tmp_path / "missing"))
    with pytest.warns(UserWarning, match=rf"of KERASNMT_PRESETS\. .* {tmp_path}/missing"):
        zoo.list_presets()


@pytest.mark.parametrize("content", ["{", "[1]", "\udce9", '{"format": 1}', '{"format": 99}'])
def test_a_damaged_preset_does_not_hide_the_others(folder, tmp_path, monkeypatch, content):
    shutil.copytree(folder, tmp_path / "own" / "mine")
    metadata = tmp_path / "own" / "mine" / "metadata.json"
    metadata.write_bytes(content.encode("utf-8", "surrogateescape"))
    monkeypatch.setenv("KERASNMT_PRESETS", str(tmp_path / "own"))
    with pytest.warns(UserWarning, match=r"the preset mine is left out\. .*own/mine"):
        found = find_presets()
    assert found == [name for name in zoo.list_presets() if name != "mine"]


def test_unknown_places(shipped, tmp_path):
    with pytest.raises(ValueError, match=r"no preset tiny_abd\. Did you mean the preset tiny_abc"):
        zoo.from_preset("tiny_abd")
    with pytest.raises(
        ValueError, match=rf"metadata\.json\. Received: {tmp_path}/x, which is not a preset"
    ):
        zoo.from_preset(tmp_path / "x")


def test_a_model_loads_its_own_presets_alone(folder):
    with pytest.raises(
        ValueError, match=r"Expected a preset of luong_dot_lstm\. Received: .*_abc, a"
    ):
        zoo.luong_dot_lstm.from_preset(folder)
    assert "bahdanau_gru" in zoo.bahdanau_gru.from_preset.__doc__


@pytest.fixture
def hub(monkeypatch):
    """Mock of the package `huggingface_hub`; a function sets its download."""

    def install(download):
        module = types.ModuleType("huggingface_hub")
        module.snapshot_download = download
        monkeypatch.setitem(sys.modules, "huggingface_hub", module)

    return install


def test_from_the_hub(hub, folder, tiny):
    asked = []
    hub(lambda **options: asked.append(options["repo_id"]) or folder)
    assert same(zoo.from_preset("hf://anna/tiny_abc"), tiny)
    assert asked == ["anna/tiny_abc"]


def test_a_hub_that_fails(hub, monkeypatch, tmp_path):
    def download(**_):
        raise RuntimeError("404:\nno such repository")

    hub(download)
    with pytest.raises(ValueError, match=r"^hf://a/b: the preset cannot be downloaded: RuntimeErr"):
        zoo.from_preset("hf://a/b")
    hub(lambda **_: tmp_path)
    with pytest.raises(
        ValueError, match=rf"^hf://a/b/: Expected the folder of a preset.*{tmp_path}"
    ):
        zoo.from_preset("hf://a/b/")
    for uri in ("hf://a", "hf://a/b/c", "https://a/b"):
        with pytest.raises(ValueError, match=rf"of the form hf://user/model\. Received: {uri}"):
            zoo.from_preset(uri)
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(ValueError, match="Expected the package huggingface_hub to load hf://a/b"):
        zoo.from_preset("hf://a/b")


@pytest.fixture(scope="module")
def outputs():
    """The function of `zoo/make_preset.py` that computes the outputs of a card's examples."""
    path = Path(kerasnmt.__file__).parents[1] / "zoo" / "make_preset.py"
    specification = importlib.util.spec_from_file_location("make_preset", path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module.outputs


ALWAYS = ("babi_context", "babi_memory", "scenes_en", "words_to_numbers")
thorough = pytest.mark.thorough("one preset more")


@pytest.mark.usefixtures("eagerly")
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name in ALWAYS else thorough) for name in zoo.list_presets()],
)
def test_shipped_presets_answer_as_their_cards_say(name, outputs):
    preset = zoo.get_preset(name)
    model = preset.load()
    assert model.count_params() == preset.metadata["parameters"]
    examples = preset.about["examples"]
    answers = outputs(model, [one["input"] for one in examples])
    assert answers == [one["output"] for one in examples]
    assert {
        *("good_for", "not_for"),
        "description",
        "license",
        "attribution",
        "score",
        "evaluation",
        "task",
    } <= preset.about.keys()
    assert len(examples) >= 3
    assert ("bias" in preset.about) == (name.split("_")[0] in ("g2p", "tatoeba"))


def test_cards_of_shipped_presets_say_what_their_metadata_says():
    for name in zoo.list_presets():
        preset = zoo.get_preset(name)
        assert (preset.folder / "README.md").read_text() == preset_card(name, preset.metadata)


def test_low_scores_of_shipped_presets_are_not_rounded_to_zero():
    scores = {name: zoo.get_preset(name).low_score for name in zoo.list_presets()}
    assert [name for name, score in scores.items() if score is not None and score >= 0] == []


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in ("g2p_dutch", "dates_iso") else thorough)
        for name in zoo.list_presets()
    ],
)
def test_the_keywords_of_shipped_presets_make_their_models(name):
    preset = zoo.get_preset(name)
    reads = preset.metadata["inputs"]
    assert ("model" in preset.about) == (reads == ["text"])
    if reads == ["text"]:
        model = preset.load(load_weights=False)
        source, target = model.source_tokenizer, model.target_tokenizer
        tokenizers = [source] if source is target else [source, target]
        made = zoo.get_model(preset.model_name)(*tokenizers, **preset.about["model"])
        assert comparable_config(made) == comparable_config(model)
        configs = (str(keras.saving.serialize_keras_object(one)) for one in (made, model))
        rates, expected = (re.findall(r"dropout': [^,}]+", config) for config in configs)
        assert rates == expected
        made.set_weights(model.get_weights())


@pytest.mark.usefixtures("eagerly")
def test_pronunciation_of_words_with_capitals():
    model = zoo.from_preset("g2p_english")
    small, first, all_ = model.translate(["hello", "Hello", "HELLO"])
    assert small == first == all_ == "HH EH L OW"


@pytest.mark.usefixtures("eagerly")
def test_several_sentences_in_a_line():
    model = zoo.from_preset("tatoeba_en_fr_gru")
    sentences = ["I love you.", "Where is the train station?", "Mr. Smith is here."]
    assert model.translate([" ".join(sentences)]) == [" ".join(model.translate(sentences))]


def test_every_described_preset_is_shipped():
    described = set()
    for path in (ROOT / "zoo").glob("*/presets.yaml"):
        described |= yaml.safe_load(path.read_text()).keys() - {"all"}
    assert described == set(zoo.list_presets())


PACKAGES = {
    folders.SHIPPED: ROOT / "pyproject.toml",
    folders.SECOND: folders.SECOND / "pyproject.toml",
}


@pytest.mark.parametrize(("place", "limit"), [(folders.SHIPPED, 40e6), (folders.SECOND, 80e6)])
def test_the_presets_of_a_package_are_small(place, limit):
    sizes = [Preset(one.parent).size for one in place.glob("*/metadata.json")]
    assert max(sizes) < 20e6 and sum(sizes) < limit


@pytest.mark.parametrize("place", PACKAGES)
def test_a_package_names_every_license_of_its_presets(place):
    named = tomllib.loads(PACKAGES[place].read_text())["project"]["license"].split(" AND ")
    rows = [row for row in (place / "NOTICE.md").read_text().splitlines() if row.startswith("| `")]
    for name in [one.parent.name for one in place.glob("*/metadata.json")]:
        license_ = zoo.get_preset(name).about["license"]
        assert license_.upper() in [one.upper() for one in named]
        own = [row for row in rows if f"`{name}`" in row]
        (row,) = own or [row for row in rows if f"`{name.split('_')[0]}_*`" in row]
        assert license_.upper() in row.upper()


def test_shipped_files_name_no_path_of_a_machine():
    for folder in folders.shipped_presets().values():
        for path in (*folder.glob("*.json"), folder / "README.md"):
            text = path.read_text()
            assert str(Path.home()) not in text and str(ROOT) not in text, path


def test_the_second_package_has_its_presets_and_the_version_of_the_library():
    assert [one.parent.name for one in sorted(folders.SECOND.glob("*/metadata.json"))] == [
        *folders.SECOND_NAMES
    ]
    project = tomllib.loads(PACKAGES[folders.SECOND].read_text())["project"]
    assert project["version"] == kerasnmt.__version__
    assert project["dependencies"] == [f"kerasnmt>={kerasnmt.__version__}"]


@pytest.fixture
def without_second(tmp_path, monkeypatch):
    """The library without its second package."""
    monkeypatch.setattr(folders, "SECOND", tmp_path)
    monkeypatch.setattr(folders, "_installed", list)


def test_a_name_of_the_second_package_says_how_to_install_it(without_second):
    for name, message in (
        (
            "g2p_dutch",
            "There is no preset g2p_dutch. Install g2p_dutch with: pip install --upgrade",
        ),
        (
            "g2p_dutsch",
            "There is no preset g2p_dutsch. Did you mean the preset g2p_dutch? The preset g2p",
        ),
        ("g2p_french", "There is no preset g2p_french. The preset g2p reads words of 48 languages"),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            zoo.from_preset(name)


def test_a_package_names_presets_by_an_entry_point(folder, tmp_path, monkeypatch):
    shutil.copytree(folder, tmp_path / "my_presets" / "tiny_abc")
    information = tmp_path / "my_presets-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Name: my-presets\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(
        "[kerasnmt.presets]\nmine = my_presets\ngone = no_such_package\nparent = no_such.presets\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    folders._installed.cache_clear()
    try:
        with pytest.warns(UserWarning, match="Received: no_such") as warned:
            assert {"tiny_abc", "g2p", "g2p_dutch"} < {*zoo.list_presets()}
        assert len(warned) == 2
        assert zoo.get_preset("tiny_abc").folder == tmp_path / "my_presets" / "tiny_abc"
    finally:
        folders._installed.cache_clear()
