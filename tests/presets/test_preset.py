import ast
import hashlib
import json
import re
import shlex
import shutil
from pathlib import Path

import h5py
import keras
import numpy as np
import pytest
import yaml

from kerasnmt.models import Ensemble
from kerasnmt.presets import Preset
from kerasnmt.presets.card import preset_card
from kerasnmt.presets.metadata import FORMAT
from kerasnmt.version import __version__
from tests.numerics import dtype_policy

pytestmark = pytest.mark.usefixtures("eagerly")

FORMAT_1 = Path(__file__).parent / "old" / "format_1"
FORMAT_1_LOGITS = [[11.44589, -9.45065, 0.38348], [3.13399, -7.00850, 9.43160]]
TEXTS = ["two dogs run .", "a cat", ""]
ABOUT = {
    "task": "spelling",
    "description": "Spells short texts.",
    "languages": ["en", "de"],
    "license": "cc-by-2.0",
    "attribution": "Sentences by Anna, CC BY 2.0.",
    "score": "BLEU 12.3",
    "evaluation": "kerasnmt evaluate tiny_en_de --pairs test.tsv",
    "search": {"beam_size": 2, "max_length": 9},
    "examples": [{"input": {"text": "two | dogs"}, "output": "ab"}],
}


@pytest.fixture(scope="module")
def text_model(make_text_model):
    """A tiny model that tests must not change."""
    return make_text_model()


@pytest.fixture(scope="module")
def saved(text_model, tmp_path_factory):
    """A preset that tests must not change."""
    folder = tmp_path_factory.mktemp("presets") / "tiny_en_de"
    assert text_model.save_to_preset(folder, about=ABOUT) == str(folder)
    return folder


@pytest.fixture
def copied(saved, tmp_path):
    return shutil.copytree(saved, tmp_path / "copy")


def is_matrix(values):
    return values.ndim == 2 and min(values.shape) > 1


def halved(values):
    return values.astype("float16").astype("float32") if is_matrix(values) else values


def in_127_steps(values):
    """Round each value to one of 255 multiples of a scale, for rows or for columns."""
    if not is_matrix(values):
        return values
    choices = []
    for axis in (0, 1):
        scale = np.abs(values).max(axis=axis, keepdims=True) / np.float32(127)
        choices.append(np.round(values / scale) * scale)
    return min(choices, key=lambda chosen: np.sum((chosen - values) ** 2))


@pytest.mark.parametrize(
    ("weights", "kept"),
    [
        ("float32", lambda values: values),
        pytest.param("float16", halved, marks=pytest.mark.thorough("fewer roundings than int8")),
        ("int8", in_127_steps),
    ],
)
def test_weights_return_in_float32(text_model, tmp_path, weights, kept):
    text_model.save_to_preset(tmp_path / "preset", weights=weights)
    preset = Preset(tmp_path / "preset")
    loaded = preset.load()
    assert preset.metadata["weights"] == weights and not loaded.compiled
    for ours, theirs in zip(loaded.weights, text_model.weights, strict=True):
        assert ours.dtype == "float32"
        np.testing.assert_allclose(ours, kept(np.asarray(theirs)), rtol=0, atol=1e-6)
    exact = weights == "float32"
    assert all(
        np.array_equal(ours, theirs) == (exact or not is_matrix(np.asarray(theirs)))
        for ours, theirs in zip(loaded.get_weights(), text_model.get_weights(), strict=True)
    )
    sizes = {"float32": 4, "float16": 2, "int8": 1}
    with h5py.File(tmp_path / "preset/model.weights.h5") as file:
        bytes_ = set()
        file.visititems(
            lambda _, item: bytes_.add(item.dtype.itemsize) if hasattr(item, "dtype") else None
        )
    assert bytes_ == {4, sizes[weights]}


def test_a_preset_translates_as_the_model(text_model, tmp_path):
    text_model.save_to_preset(tmp_path / "preset", weights="float32")
    loaded = Preset(tmp_path / "preset").load()
    search = {"beam_size": 3, "max_length": 9}
    assert loaded.translate(TEXTS, **search) == text_model.translate(TEXTS, **search)


def test_without_weights(saved, text_model):
    (first, second) = (Preset(saved).load(load_weights=False) for _ in range(2))
    assert first.source_tokenizer.tokenize(["dogs"]).to_list() == [[8]]
    assert [w.shape for w in first.weights] == [w.shape for w in text_model.weights]
    kernels = [model.decoder.embedding.embeddings for model in (first, second, text_model)]
    assert not np.array_equal(kernels[0], kernels[1])
    assert not np.allclose(kernels[0], kernels[2], atol=1e-2)


def test_a_shared_tokenizer_stays_shared(make_shared_model, tmp_path):
    make_shared_model().save_to_preset(tmp_path / "preset")
    assert json.loads((tmp_path / "preset/tokenizer.json").read_text()).keys() == {"shared"}
    loaded = Preset(tmp_path / "preset").load()
    assert loaded.source_tokenizer is loaded.target_tokenizer


def test_the_optimizer_stays_behind(make_text_model, tmp_path):
    model = make_text_model()
    model.compile("adam")
    model.optimizer.build(model.trainable_variables)
    model.save_to_preset(tmp_path / "preset", weights="float32")
    loaded = Preset(tmp_path / "preset").load()
    assert not loaded.compiled and "adam" not in (tmp_path / "preset/config.json").read_text()
    np.testing.assert_array_equal(loaded.get_weights()[0], model.get_weights()[0])


def test_a_model_of_half_precision_computes_in_float32(tmp_path):
    from kerasnmt.text import CharacterTokenizer
    from kerasnmt.zoo import luong_dot_lstm

    with dtype_policy("mixed_bfloat16"):
        model = luong_dot_lstm(CharacterTokenizer("abc"), units=4, embedding_dim=3)
    model.save_to_preset(tmp_path / "preset")
    loaded = Preset(tmp_path / "preset").load()
    assert loaded.decoder.embedding.compute_dtype == "float32"


def test_metadata(saved, text_model):
    preset = Preset(saved)
    metadata = json.loads((saved / "metadata.json").read_text())
    assert metadata == preset.metadata and preset.about == ABOUT
    assert (metadata["format"], metadata["model"]) == (FORMAT, "bahdanau_gru")
    assert metadata["parameters"] == text_model.count_params()
    assert (metadata["kerasnmt_version"], metadata["weights"]) == (__version__, "float16")
    sizes = {path.name: path.stat().st_size for path in saved.iterdir()}
    assert sizes.keys() == {*metadata["files"], "metadata.json", "README.md"}
    assert all(file["bytes"] == sizes[name] for name, file in metadata["files"].items())
    assert preset.size == sum(sizes[name] for name in metadata["files"])
    assert (preset.task, preset.search) == ("spelling", {"beam_size": 2, "max_length": 9})
    assert preset.model_name == "bahdanau_gru"


def test_a_preset_without_a_description(text_model, tmp_path):
    text_model.save_to_preset(tmp_path / "preset")
    preset = Preset(tmp_path / "preset")
    assert (preset.about, preset.search, preset.task) == ({}, {}, "translation")
    assert 'license: "unknown"' in (tmp_path / "preset/README.md").read_text()


def test_the_card(saved):
    _, front, body = (saved / "README.md").read_text().split("---\n", 2)
    assert yaml.safe_load(front) == {
        "library_name": "kerasnmt",
        "license": "cc-by-2.0",
        "language": ["de", "en"],
        "pipeline_tag": "translation",
        "tags": ["keras", "bahdanau_gru"],
    }
    for line in (
        "# tiny_en_de",
        "Spells short texts.",
        "| languages | en → de |",
        "| score | BLEU 12.3 |",
        'model = from_preset("tiny_en_de")',
        'print(model.translate(["two | dogs"]))',
        "| search | beam_size=2, max_length=9 |",
        "echo 'two | dogs' | kerasnmt translate tiny_en_de",
        "| two \\| dogs | ab |",
        "kerasnmt evaluate tiny_en_de --pairs test.tsv",
        "Sentences by Anna, CC BY 2.0.",
    ):
        assert line in body.splitlines()


@pytest.mark.parametrize(
    ("languages", "row"),
    [
        ([], None),
        (["nl"], "| languages | nl |"),
        (["fr", "en"], "| languages | fr → en |"),
        (["cs", "de", "en"], "| languages | cs, de, en |"),
    ],
)
def test_languages_of_the_card(saved, languages, row):
    """Two languages are source and target. More languages are a list."""
    metadata = json.loads((saved / "metadata.json").read_text())
    metadata["about"]["languages"] = languages
    rows = [line for line in preset_card("tiny", metadata).splitlines() if "| languages |" in line]
    assert rows == ([row] if row else [])


@pytest.mark.parametrize(
    "inputs", [["text"], ["text", "context"], ["image"], ["story", "question"]]
)
@pytest.mark.parametrize("with_example", [True, False])
def test_the_code_of_cards_is_python(saved, inputs, with_example):
    """Check each kind of request, and words that need quotes in Python and in the shell."""
    metadata = json.loads((saved / "metadata.json").read_text())
    example = {"input": {name: f'a "$b"\nit\'s {name}' for name in inputs}, "output": "x"}
    metadata["inputs"] = inputs
    metadata["about"]["examples"] = [example] if with_example else []
    card = preset_card('my "own"', metadata)
    (code,) = re.findall(r"```python\n(.*?)```", card, re.DOTALL)
    asked = ast.parse(code).body[-1].value.args[0]
    assert asked.func.value.id == "model"
    given = [ast.literal_eval(arg) for arg in asked.args if not isinstance(arg, ast.Name)]
    if inputs == ["story", "question"] and with_example:
        assert given == [[['a "$b"', "it's story"]], ['a "$b"\nit\'s question']]
    options = {keyword.arg: ast.literal_eval(keyword.value) for keyword in asked.keywords}
    assert options.keys() == ({"contexts"} if "context" in inputs else set())
    command = re.findall(r"```bash\n(.*?)```", card, re.DOTALL)[0]
    words = shlex.split(command)
    assert 'my "own"' in words
    if inputs == ["text"]:
        assert words[1] == (example["input"]["text"] if with_example else "text")


def test_keras_loads_the_folder_without_tokenizers_but_not_int8(saved, text_model, tmp_path):
    text_model.save_to_preset(tmp_path / "preset", weights="int8")
    with pytest.raises(ValueError, match="could not be loaded"):
        keras.saving.load_model(tmp_path / "preset")
    loaded = keras.saving.load_model(saved)
    assert loaded.source_tokenizer is None
    np.testing.assert_array_equal(
        loaded.decoder.embedding.embeddings, halved(text_model.decoder.embedding.embeddings.numpy())
    )


def change(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def add_one(path):
    """Change a weight in a file that stays valid."""
    with h5py.File(path, "r+") as file:
        names = []
        file.visititems(lambda name, item: names.append(name) if hasattr(item, "dtype") else None)
        file[names[0]][...] += 1


DAMAGES = {
    "weights cut": lambda f: (f / "model.weights.h5").write_bytes(
        (f / "model.weights.h5").read_bytes()[:-100]
    ),
    "weights changed": lambda f: add_one(f / "model.weights.h5"),
    "config changed": lambda f: change(f / "config.json", "bahdanau_gru", "bahdanau_xxx"),
    "tokenizer empty": lambda f: (f / "tokenizer.json").write_text(""),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_files_are_named_in_one_line(copied, damage):
    DAMAGES[damage](copied)
    with pytest.raises(ValueError, match=rf"^{copied}/[\w.]+: the file is damaged, or") as caught:
        Preset(copied).load()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.weights.h5"])
def test_missing_files(copied, name):
    (copied / name).unlink()
    with pytest.raises(ValueError, match=rf"{name}: the file is missing\. Copy"):
        Preset(copied).load()


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": "1"}', '{"format": 1, "model": "x", "about": 3}']
)
def test_damaged_metadata(copied, text):
    (copied / "metadata.json").write_text(text)
    with pytest.raises(ValueError, match=r"metadata.json: expected the metadata of a preset"):
        Preset(copied)


@pytest.mark.parametrize("newer", [FORMAT + 1, 10**400])
def test_a_newer_format(copied, newer):
    metadata = json.loads((copied / "metadata.json").read_text())
    (copied / "metadata.json").write_text(json.dumps({"format": newer, "news": metadata}))
    with pytest.raises(
        ValueError, match=rf"preset with format {FORMAT} or older\. Received: format"
    ):
        Preset(copied)


def test_no_preset(tmp_path):
    with pytest.raises(ValueError, match=r"Expected the folder of a preset, with a metadata"):
        Preset(tmp_path)


def test_unknown_keys_of_a_description_are_let_through(copied):
    metadata = json.loads((copied / "metadata.json").read_text())
    metadata["about"]["poem"] = ["roses"]
    (copied / "metadata.json").write_text(json.dumps(metadata))
    assert Preset(copied).load().name == "bahdanau_gru"


def test_no_code_of_a_file_runs(copied, monkeypatch, tmp_path):
    """A config with a class of another module and a valid checksum imports nothing."""
    (tmp_path / "evil.py").write_text("raise SystemExit('run')")
    monkeypatch.syspath_prepend(tmp_path)
    config = {"module": "evil", "class_name": "Model", "registered_name": None, "config": {}}
    (copied / "config.json").write_text(json.dumps(config))
    honest(copied, "config.json")
    with pytest.raises(
        ValueError, match=r"the preset cannot be loaded: .* It was written by kerasnmt"
    ):
        Preset(copied).load()


@pytest.mark.parametrize("number", ["-1.0", True, float("nan"), float("-inf")])
def test_a_low_score_is_a_finite_number(text_model, tmp_path, number):
    with pytest.raises(ValueError, match=r"about\.low_score to be a finite number\. Received"):
        text_model.save_to_preset(tmp_path / "p", about={"low_score": number})
    folder = text_model.save_to_preset(tmp_path / "q", about={"low_score": -2})
    assert Preset(folder).low_score == -2


def test_nothing_is_overwritten_or_half_written(text_model, tmp_path):
    (tmp_path / "there").mkdir()
    with pytest.raises(ValueError, match=rf"that does not exist\. Received: {tmp_path}/there"):
        text_model.save_to_preset(tmp_path / "there")
    with pytest.raises(
        ValueError, match=r"one of float32, float16, int8. Received: weights='int4'"
    ):
        text_model.save_to_preset(tmp_path / "new", weights="int4")
    with pytest.raises(ValueError, match=r"unknown key 'about.licence'; did you mean 'about.lice"):
        text_model.save_to_preset(tmp_path / "new", about={"licence": "MIT"})
    with pytest.raises(ValueError, match=r"about.languages to be of type list. Received: .*='en'"):
        text_model.save_to_preset(tmp_path / "new", about={"languages": "en"})
    assert [path.name for path in tmp_path.iterdir()] == ["there"]


@pytest.mark.parametrize(
    ("about", "error"),
    [
        ({"languages": [1]}, r"about.languages to contain codes such as 'en'\. Received: .*\[1\]"),
        ({"examples": [{"input": "Hi", "output": "x"}]}, "about.examples to contain dicts with"),
        ({"examples": [{"input": {"text": "Hi"}}]}, "about.examples to contain dicts with an"),
        (
            {"search": {"beam_sise": 2}},
            "about.search: unknown search option 'beam_sise'; ",
        ),
        ({"search": {"beam_size": np.int64(2)}}, "to contain only values of JSON"),
        ({"search": {"length_penalty": float("nan")}}, "about.search: .*as length_penalty"),
        ({"examples": [{"input": {"a": {1}}, "output": "x"}]}, "to contain only values of JSON"),
    ],
)
def test_descriptions_that_are_not_valid(text_model, tmp_path, about, error):
    with pytest.raises(ValueError, match=error) as caught:
        text_model.save_to_preset(tmp_path / "new", about=about)
    assert "\n" not in str(caught.value) and list(tmp_path.iterdir()) == []


def test_what_has_no_preset(text_model, make_text_model, model, tmp_path):
    with pytest.raises(ValueError, match=r"Expected a folder\. Received: hf://a/b\."):
        text_model.save_to_preset("hf://a/b")
    with pytest.raises(ValueError, match=r"Expected one model for a preset\. Received: an ensem"):
        Ensemble([text_model, text_model]).save_to_preset(tmp_path / "new")
    with pytest.raises(ValueError, match="Expected a model with tokenizers"):
        model.save_to_preset(tmp_path / "new")
    large, lost = make_text_model(), make_text_model()
    large.weights[0].assign(70_000.0 * np.ones(large.weights[0].shape))
    too_large = r"at most 65,504 for float16\. .* 70,000\. Save with weights='float32"
    with pytest.raises(ValueError, match=too_large):
        large.save_to_preset(tmp_path / "new")
    lost.weights[0].assign(np.full(lost.weights[0].shape, np.nan))
    for weights in ("float16", "int8"):
        with pytest.raises(ValueError, match=r"Expected finite weights\. Received: \S+ with NaN"):
            lost.save_to_preset(tmp_path / "new", weights=weights)
    assert list(tmp_path.iterdir()) == []


def honest(folder, name):
    """Update the checksum of a changed file."""
    metadata = json.loads((folder / "metadata.json").read_text())
    digest = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    metadata["files"][name]["sha256"] = digest
    (folder / "metadata.json").write_text(json.dumps(metadata))


def external(group, secret):
    group.create_dataset("0", (4,), "f4", external=[(str(secret), 0, 16)])


def virtual(group, secret):
    layout = h5py.VirtualLayout((4,), "f4")
    layout[:] = h5py.VirtualSource(str(secret), "x", (4,))
    group.create_virtual_dataset("0", layout)


def link(group, secret):
    group["0"] = h5py.ExternalLink(str(secret), "x")


def bomb(group, secret):
    group.create_dataset("0", (10**6, 10**7), "f4", chunks=(1000, 1000), compression="gzip")


def broad_scales(group, secret):
    part = group.create_group("0")
    part.attrs["int8"] = True
    part["values"] = np.zeros((2, 3), "int8")
    part["scales"] = np.zeros((8192, 1, 1), "float32")


thorough = pytest.mark.thorough("another form of a link")


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(external, marks=thorough),
        pytest.param(virtual, marks=thorough),
        link,
        bomb,
        broad_scales,
    ],
)
def test_weights_in_int8_come_from_their_own_file(text_model, tmp_path, change):
    """Keras reads a converted file, so it cannot check the original."""
    secret = tmp_path / "secret"
    secret.write_bytes(bytes(64))
    folder = Path(text_model.save_to_preset(tmp_path / "preset", weights="int8"))
    with h5py.File(folder / "model.weights.h5", "r+") as file:
        change(file.create_group("other"), secret)
    honest(folder, "model.weights.h5")
    with pytest.raises(ValueError, match=r"cannot be loaded: ValueError: Expected (weights|int8)"):
        Preset(folder).load()


@pytest.mark.parametrize(
    ("name", "text", "error"),
    [
        ("config.json", "no JSON", "config.json: expected a mapping in JSON"),
        ("config.json", nested := '{"a":' * 100_000, "config.json: expected a mapping in JSON"),
        ("tokenizer.json", "[]", "tokenizer.json: expected a mapping in JSON"),
        ("tokenizer.json", "{}", r"tokenizers shared or source and target\. Received: none"),
        ("tokenizer.json", '{"source": {}}', r"or source and target\. Received: source"),
        ("tokenizer.json", '{"shared": null}', r"or source and target\. Received: shared"),
        ("metadata.json", nested, "metadata.json: expected the metadata of a preset"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_other_content_with_right_checksums(copied, name, text, error):
    (copied / name).write_text(text)
    if name != "metadata.json":
        honest(copied, name)
    with pytest.raises(ValueError, match=error) as caught:
        Preset(copied).load()
    assert "\n" not in str(caught.value)


def test_the_metadata_name_the_model(copied):
    change(copied / "metadata.json", '"model": "bahdanau_gru"', '"model": "luong_dot_lstm"')
    with pytest.raises(
        ValueError, match=r"expected the model luong_dot_lstm, which metadata\.json"
    ):
        Preset(copied).load()


def test_a_tokenizer_of_ones_own(text_model, tmp_path):
    """A registered class is loaded. For other classes, the error contains a remedy."""
    document = json.loads(
        (Path(text_model.save_to_preset(tmp_path / "p")) / "tokenizer.json").read_text()
    )
    document["source"] |= {"module": "mine", "registered_name": "mine>Mine", "class_name": "Mine"}
    (tmp_path / "p/tokenizer.json").write_text(json.dumps(document))
    honest(tmp_path / "p", "tokenizer.json")
    with pytest.raises(ValueError, match=r"'Mine'.* Import your own tokenizers and layers"):
        Preset(tmp_path / "p").load()
    with keras.saving.custom_object_scope({"mine>Mine": type(text_model.source_tokenizer)}):
        loaded = Preset(tmp_path / "p").load()
    assert loaded.translate(["a dog"], max_length=4) == text_model.translate(
        ["a dog"], max_length=4
    )


def test_captions_and_answers(tmp_path):
    from kerasnmt.text import PlainWordTokenizer
    from kerasnmt.zoo import memory_network, show_attend_tell_lstm

    words = PlainWordTokenizer(["john", "went", "to", "the", "garden", "where", "is"])
    network = memory_network(words, embedding_dim=4, hops=1, max_sentences=3)
    captions = show_attend_tell_lstm(words, units=4, embedding_dim=3)
    stories, questions = [["John went to the garden."]], ["Where is John?"]
    network.save_to_preset(tmp_path / "babi", weights="float32")
    captions.save_to_preset(tmp_path / "scenes", weights="float32")
    loaded = Preset(tmp_path / "babi").load()
    assert loaded.answer(stories, questions) == network.answer(stories, questions)
    loaded = Preset(tmp_path / "scenes")
    images = np.random.default_rng(0).integers(0, 256, (2, 64, 64, 3)).astype("uint8")
    search = {"beam_size": 2, "max_length": 4}
    assert loaded.load().caption(images, **search) == captions.caption(images, **search)
    assert loaded.metadata["pipeline_tag"] == "image-to-text"
    assert "model.caption(images)" in (tmp_path / "scenes/README.md").read_text()
    assert "--story story.txt" in (tmp_path / "babi/README.md").read_text()
    with pytest.raises(
        ValueError, match=r"no about\.search, because memory_network does not search"
    ):
        network.save_to_preset(tmp_path / "other", about={"search": {"beam_size": 2}})
    with pytest.raises(ValueError, match=r"about\.search: unknown search option 'sentence_case'"):
        captions.save_to_preset(tmp_path / "other", about={"search": {"sentence_case": True}})


def test_a_preset_of_an_earlier_version():
    """kerasnmt 0.1.0 wrote the preset. Keep it, and add one when the format changes."""
    preset = Preset(FORMAT_1)
    model = preset.load()
    examples = preset.about["examples"]
    assert preset.metadata["format"] == 1 and len(examples) == 3
    answers = model.translate([one["input"]["text"] for one in examples], **preset.search)
    assert answers == [one["output"] for one in examples] and len(set(answers)) == 3
    logits = model({"source_ids": np.int32([[4, 5, 3]]), "target_ids": np.int32([[2, 4]])})
    np.testing.assert_allclose(np.asarray(logits)[0, :, :3], FORMAT_1_LOGITS, atol=1e-4)
