"""Sites with a model, in Node and in Python."""

import base64
import hashlib
import json
import re
import shutil
from dataclasses import fields

import keras
import numpy as np
import pytest

from kerasnmt.cli.loading import load_translator
from kerasnmt.decoding import SearchOptions
from kerasnmt.runtime import load
from kerasnmt.serving import check_export, export_web
from kerasnmt.serving.runtimes.registry import find_runtime
from kerasnmt.serving.runtimes.web.export import write_scripts
from kerasnmt.text import WordTokenizer
from kerasnmt.text.word_indices import word_indices
from kerasnmt.zoo import encoder_decoder_gru
from tests.serving.runtimes.onnx_models import SIZES, TEXTS

pytestmark = pytest.mark.usefixtures("eagerly")

LOAD = 'import { load } from "./kerasnmt.js";'


@pytest.fixture
def copied(site, tmp_path):
    """A copy of the site, to change its files."""
    (tmp_path / "node_modules").symlink_to(site.parent / "node_modules")
    return shutil.copytree(site, tmp_path / "site")


def test_node_answers_as_python(site, in_node):
    program = f"""{LOAD}
    const model = await load("./model");
    answer = [await model.best(data), await model.nBest(data), await model.score(data, data)]"""
    best, ranked, scores = in_node(site, program, TEXTS)
    python = load(site)
    for found, expected in zip(
        [best, *ranked], [python.best(TEXTS), *python.n_best(TEXTS)], strict=True
    ):
        assert [one["text"] for one in found] == [text for text, _ in expected]
        numbers = [one["score"] for one in found]
        np.testing.assert_allclose(numbers, [score for _, score in expected], atol=1e-4)
    assert any("zeb" in one["text"] for one in best)
    np.testing.assert_allclose(scores, python.score(TEXTS, TEXTS), rtol=1e-4)


def test_wrong_lists_and_modules(site, in_node):
    program = f"""{LOAD}
    const model = await load("./model");
    const message = (error) => error.message;
    answer = [
      await model.translate([, "a"]).catch(message),
      await load("./model", {{ ort: null }}).catch(message),
      await load("./model", {{ allow_unknown: 1 }}).catch(message),
    ]"""
    assert in_node(site, program) == [
        'Expected a list of strings as texts. Received: [null,"a"].',
        "Expected the module onnxruntime-web or -node as ort. Received: null",
        "Expected one of true, false, null as allow_unknown. Received: allow_unknown=1",
    ]


def test_the_page_shows_the_words_of_the_last_search(copied, in_node):
    path = copied / "model/kerasnmt.json"
    greedy = {"beam_size": 1, "min_length": 6}
    path.write_text(json.dumps({**json.loads(path.read_text()), **greedy}))
    program = """
    globalThis.window = { kerasnmt: {} };
    globalThis.location = { protocol: "http:" };
    globalThis.navigator ??= {};
    await import("./page/backend.js");
    const { backend } = window.kerasnmt;
    const shown = [];
    await backend.stream("", {}, (...words) => shown.push(words));
    const asked = data.map((text) => backend.ask("search", { text, prefix_ids: [] }));
    answer = [(await Promise.all(asked)).map(({ hypotheses: [{ text }] }) => text), shown];"""
    (other, best), shown = in_node(copied, program, [TEXTS[5], TEXTS[1]])
    assert [other, best] == load(copied / "model").translate([TEXTS[5], TEXTS[1]])
    assert other.split()[0] != best.split()[0]
    texts = [text for text, _ in shown]
    assert texts == sorted(texts, key=len)
    assert all(best.startswith(text) for text in texts)
    assert len({*texts}) > 3


def test_spaces_and_tags_are_those_of_python(site, in_node):
    rows = [
        (["\x1c\x1f", "a\x1db", "c\ufeffd", "\x85", "\ufeff", "e\u3000f", "\u200b", "g"], "words"),
        (["<ja>", *"いぬ", "<unk>", "犬", "<0x41>", "犬", "<V>", "<ja>", "犬"], "characters"),
    ]
    program = """import { wordIndices } from "./words.js";
    answer = data.map((row) => wordIndices(...row));"""
    assert in_node(site, program, rows) == [word_indices(*row) for row in rows]


def test_calls_at_the_same_time(site, in_node):
    program = f"""{LOAD}
    const models = await Promise.all([load("./model"), load("./model", {{ beam_size: 1 }})]);
    let [now, most] = [0, 0];
    for (const {{ encoder, stepper }} of models.map(({{ graphs }}) => graphs))
      for (const session of [encoder, stepper]) {{
        const run = session.run.bind(session);
        session.run = async (feeds) => {{
          most = Math.max(most, ++now);
          return run(feeds).finally(() => now--);
        }};
      }}
    const calls = models.flatMap((model) => [
      () => model.translate(data), () => model.nBest(data[0]), () => model.score(data, data),
    ]);
    const alone = [];
    for (const call of calls) alone.push(await call());
    answer = [most, alone, await Promise.all(calls.map((call) => call())), most];"""
    before, alone, together, most = in_node(site, program, TEXTS)
    assert (before, most) == (1, 1)  # runs that overlap share a stack
    assert together == alone


def test_the_module_of_onnx_runtime_can_be_given(site, in_node, tmp_path):
    folder = shutil.copytree(site, tmp_path / "site")  # with no package beside it
    package = site.parent / "node_modules/onnxruntime-web/dist/ort.node.min.mjs"
    program = f"""{LOAD}
    const load_ = (options) => load(new URL("./model", data.here), options);
    const messages = await load_().catch((error) => error.message);
    const model = await load_({{ ort: await import(data.package), beam_size: 1 }});
    answer = [messages, await model.translate("two dogs run .")]"""
    data = {"here": f"{folder.as_uri()}/", "package": package.as_uri()}
    message, translation = in_node(folder, program, data)
    assert message.startswith("Expected the package onnxruntime-web, which is not installed.")
    assert message.endswith("npm install onnxruntime-web@" + pinned(folder)["version"])
    assert [translation] == load(folder / "model", beam_size=1).translate(TEXTS[:1])


REFUSED = [
    ({"beam": 3}, "Expected the search options beam_size, .* Received: beam$"),
    ({"beam_size": 0}, "Expected an integer from 1 to 1000 as beam_size. Received: beam_size=0"),
    ({"min_length": 20}, "Received: min_length=20, max_length=10"),
    ({"samples": 2, "coverage_penalty": 0.1}, "coverage_penalty=0 with samples"),
    ({"seed": 3}, "Expected samples=1 or more with seed. Received: seed=3, samples=0"),
    ({"ort": "dist"}, "Expected the module onnxruntime-web or -node as ort. Received: dist"),
    ({"max_length": 1}, "from 2 to 100000 as max_length"),
]
PLACES = [("./nowhere", "nowhere: the model cannot be loaded: .*no such file.*kerasnmt.json")]


def test_what_load_refuses(site, in_node):
    program = f"""{LOAD}
    const refused = ([place, options]) =>
      load(place, options).then(() => "", (error) => error.message);
    answer = await Promise.all(data.map(refused))"""
    asked = [["./model", options] for options, _ in REFUSED] + [[one, {}] for one, _ in PLACES]
    messages = in_node(site, program, asked)
    for found, (_, expected) in zip(messages, REFUSED + PLACES, strict=True):
        assert re.search(expected, found), found


@pytest.mark.parametrize("name", ["encoder.onnx", "step.onnx", "tokenizers.json"])
def test_damaged_files_are_refused(name, copied, in_node):
    with (copied / "model" / name).open("ab") as file:
        file.write(b" ")
    program = f'{LOAD} answer = await load("./model").catch((error) => error.message)'
    expected = f"./model: the model cannot be loaded: ./model/{name} is damaged. "
    assert in_node(copied, program) == f"{expected}Copy or export it again"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 9}, "its format 9 is newer than 1. Update kerasnmt.js"),
        ({"format": None}, "kerasnmt.json is damaged. Copy or export it again"),
        ({"files": {}}, "kerasnmt.json is damaged. Copy or export it again"),
    ],
)
def test_other_descriptions_are_refused(copied, in_node, change, message):
    path = copied / "model/kerasnmt.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    program = f'{LOAD} answer = await load("./model").catch((error) => error.message)'
    assert in_node(copied, program).endswith(message)


def test_the_options_are_those_of_python(in_node, tmp_path):
    """Each value of an option is accepted by both or by none."""
    values = [-1, 0, 0.5, 1, 2, 1e3, 1001, 1e5, 1e5 + 1, 2**31 - 1, 2**31]
    values = [int(one) if one == int(one) else one for one in values]
    values += [None, True, False, "wu", "length", "x", [], {}]
    samples = ("temperature", "top_k", "top_p", "seed")
    asked = [
        {one.name: value, **({"samples": 1} if one.name in samples else {})}
        for one in fields(SearchOptions)
        for value in values
        if (one.name, value) != ("max_length", 1)  # the runtime in Python refuses it too
    ]
    write_scripts(tmp_path)
    program = """
    import { searchOptions } from "./search_options.js";
    const fits = (options) => { try { searchOptions(data[0], options); } catch { return false; }
      return true; };
    answer = data[1].map(fits)"""
    usual = {one.name: one.default for one in fields(SearchOptions)}
    description = {**usual, "graphs": {"records": ["weights"]}}
    found = in_node(tmp_path, program, [description, asked])
    for options, fits in zip(asked, found, strict=True):
        try:
            SearchOptions.from_keywords(options)
        except ValueError:
            assert not fits, options
        else:
            assert fits, options
    assert True in found and False in found
    lengths = [{"max_length": 8}, {"max_length": 9}]
    assert in_node(tmp_path, program, [{**description, "positions": 8}, lengths]) == [True, False]


def test_the_page_refuses_a_text_without_a_language_of_the_model(in_node, tmp_path):
    write_scripts(tmp_path)
    program = """
    import { TranslationModel } from "./translation.js";
    const model = Object.create(TranslationModel.prototype, { read: { value: (text) => text } });
    const asked = (text) => {
      try { return model.readRequest({ text }); } catch (error) { return error.message; } };
    answer = data[0].map((description) => Object.assign(model, { description }) &&
      data[1].map(asked));"""
    tags = {"source_tags": ["<eng>", "<deu>"], "needs_language": True}
    others = [{**tags, "needs_language": False}, {}]
    texts = ["<deu>Haus", " <eng> house", "", "<en>house"]
    found, *free = in_node(tmp_path, program, [[tags, *others], texts])
    expected = 'the text: <deu>, <eng>. Received: "<en>house".'
    assert found[:3] == texts[:3] and found[3].endswith(expected)
    assert free == [texts] * 2


def pinned(folder):
    return json.loads((folder / "ort.js").read_text().partition("export default ")[2].strip(";\n"))


def test_the_hashes_are_those_of_the_package(onnxruntime_web, tmp_path):
    write_scripts(tmp_path)
    runtime = pinned(tmp_path)
    package = json.loads((onnxruntime_web / "onnxruntime-web/package.json").read_text())
    assert runtime["version"] == package["version"]
    assert runtime["address"].endswith(f"/onnxruntime-web@{package['version']}/dist/")
    for name, expected in runtime["files"].items():
        content = (onnxruntime_web / "onnxruntime-web/dist" / name).read_bytes()
        digest = base64.b64encode(hashlib.sha384(content).digest()).decode()
        assert expected == f"sha384-{digest}"


def test_a_site_of_its_own_has_the_files_of_onnx_runtime(site):
    runtime = pinned(site)
    assert runtime["address"] == "./ort/"
    assert {path.name for path in (site / "ort").iterdir()} == {*runtime["files"]}
    assert "./ort/" in (site / "README.md").read_text()


def test_other_files_of_onnx_runtime_are_refused(make_pointer_model, tmp_path):
    for content, received in ((None, "without"), (b"x", "with another")):
        if content:
            (tmp_path / "ort.wasm.bundle.min.mjs").write_bytes(content)
        with pytest.raises(ValueError, match=rf"{received} ort\.wasm\.bundle\.min\.mjs\. Install"):
            export_web(make_pointer_model(), tmp_path / "site", ort=tmp_path)
        assert not (tmp_path / "site").exists()


def test_other_facts_about_the_model_are_refused(make_pointer_model, tmp_path):
    with pytest.raises(ValueError, match=r"examples in about\. Received: example$"):
        export_web(make_pointer_model(), tmp_path / "site", about={"example": ["dog"]})


@keras.saving.register_keras_serializable("tests")
class OtherTokenizer(WordTokenizer):
    """Tokenizer from outside the library."""


@pytest.mark.thorough("converts another model")
def test_other_tokenizers_are_refused(tmp_path):
    model = encoder_decoder_gru(OtherTokenizer(["a", "b"]), num_layers=1, **SIZES)
    with pytest.raises(ValueError, match=r"Received: tests>OtherTokenizer\. Export"):
        export_web(model, tmp_path / "site")
    assert not (tmp_path / "site").exists()


def test_python_takes_a_site(site):
    runtime, export = find_runtime(site)
    assert (runtime.name, export, runtime.version(export)) == ("web", site, ("site", 1))
    expected = load(site / "model").translate(TEXTS)
    assert load_translator(site).translate(TEXTS) == expected
    report = check_export(site)
    assert report.passed, str(report)
    assert "expected" in {row.name for row in report.rows}


def test_the_types_fit_the_methods(site, in_node):
    """`kerasnmt.d.ts` is TypeScript, and names methods that the model has."""
    types = (site / "kerasnmt.d.ts").read_text()
    interfaces = re.findall(r"export interface (\w+) extends Model \{(.*?)\n\}", types, re.DOTALL)
    listed = [(name, re.findall(r"^  (\w+)[<(]", body, re.MULTILINE)) for name, body in interfaces]
    program = """
    const classes = {
      ...(await import("./translation.js")),
      ...(await import("./captioning.js")),
      ...(await import("./answering.js")),
    };
    answer = data.map(([name, methods]) =>
      methods.map((one) => typeof classes[name].prototype[one]))"""
    assert [len(methods) for _, methods in listed] == [10, 4, 3]
    assert in_node(site, program, listed) == [["function"] * len(methods) for _, methods in listed]
    options = types.partition("interface SearchOptions {")[2].partition("}")[0]
    names = [line.strip().split("?")[0] for line in options.strip().splitlines()]
    assert names == [one.name for one in fields(SearchOptions)]


def test_what_the_page_says(site):
    about = json.loads((site / "page/model.json").read_text())
    assert about == {"name": "site", "description": "", "examples": []}
    assert "connect-src 'self';" in (site / "index.html").read_text()


def test_the_page_keeps_all_files(site):
    written = {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}
    kept = json.loads((site / "files.json").read_text())
    assert {*kept} == written - {"README.md", "model/README.md", "files.json"} | {"./"}
    assert len(kept) == len({*kept})


def test_the_package_names_the_version(site):
    package = json.loads((site / "package.json").read_text())
    assert package["dependencies"] == {"onnxruntime-web": pinned(site)["version"]}
    for path in package["exports"].values():
        assert (site / path).is_file()
