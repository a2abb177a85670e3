"""Tags in front of texts, `--tags` and `--tags-column`."""

import json
import re
import warnings

import numpy as np
import pytest

from kerasnmt import zoo
from kerasnmt.models import load_model
from kerasnmt.tasks import Translator
from kerasnmt.tasks.language_tags import warn_of_languages
from kerasnmt.text import CharacterTokenizer
from tests.cli.conftest import write
from tests.serving.conftest import only_signatures

pytestmark = pytest.mark.usefixtures("eagerly")

RECIPE = """\
model: {name: bahdanau_gru, units: 8}
tokenizer: {shared: {kind: characters, tags: true}}
data: {train: {builtin: 60}, validation: {builtin: 4}}
search: {beam_size: 2, max_length: 8}
"""
LANGUAGES = ["<deu>", "<nob>", "<hbs>"]
TAGS = [f"<{tag}>" for tag in ("V", "N", "PST", "PRS", "1", "2", "3", "SG", "PL", "DAT", "ACC")]
WORDS = ["walk", "", "go", " ", "ox"]
TAGGED = ["<V><PST>walk", "", "<V><PST>go", " ", "<V><PST>ox"]


@pytest.fixture(scope="module")
def tagged_run(tmp_path_factory):
    """A run with random weights that reads characters and eleven tags."""
    letters = [*"abcdefghijklmnopqrstuvwxyz"]
    model = zoo.bahdanau_gru(
        CharacterTokenizer([*TAGS, *LANGUAGES, *letters]), CharacterTokenizer(letters), units=8
    )
    rng = np.random.default_rng(5)
    model.set_weights([0.7 * rng.normal(size=weight.shape) for weight in model.get_weights()])
    folder = tmp_path_factory.mktemp("tags") / "run"
    folder.mkdir()
    model.save(folder / "model.keras")
    (folder / "recipe.yaml").write_text(RECIPE)
    return folder


def test_the_same_tags_for_all_texts(kerasnmt, tagged_run):
    """An empty line has no tags, and stays empty."""

    def translations(words, *options):
        done = kerasnmt("translate", tagged_run, *options, stdin="\n".join(words))
        assert (done.code, done.err) == (0, "")
        return done.lines

    expected = translations(TAGGED, "--scores")
    assert expected[1] == "\t0.000000" and expected != translations(WORDS, "--scores")
    for tags in ("V;PST", "V PST", "<V>;PST"):
        assert translations(WORDS, "--scores", "--tags", tags) == expected
    assert translations(WORDS, "--scores", "--tags", "V", "--language", "PST") == expected
    assert translations(WORDS, "--tags", " ; ") == translations(WORDS)
    n_best = ("--n-best", 2)
    assert translations(WORDS, "--tags", "N", *n_best) == translations(
        [f"<N>{word}" if word.strip() else word for word in WORDS], *n_best
    )


def test_given_translations(kerasnmt, tagged_run, tmp_path):
    files = {name: write(tmp_path / name, texts) for name, texts in (("w", WORDS), ("t", TAGGED))}
    target = ["--target", write(tmp_path / "target", ["walked", "a", "went", "b", "ox en"])]
    bare = tagged_run, "--source", files["w"]
    for verb in ("score", "align"):
        expected = kerasnmt(verb, tagged_run, "--source", files["t"], *target)
        assert expected.code == 0
        done = kerasnmt(verb, *bare, *target, "--tags", "V;PST")
        assert done.out == expected.out
        assert verb == "align" or done.out != kerasnmt(verb, *bare, *target).out


def test_attention(kerasnmt, tagged_run, tmp_path):
    for name, *options in (("a.svg",), ("a.svg", "--target", "went"), ("a.html",)):
        output = ["--output", tmp_path / name, *options]
        expected = kerasnmt("attention", tagged_run, "<V><PST>go", *output)
        tagged = (tmp_path / name).read_text()
        assert kerasnmt("attention", tagged_run, "go", *output, "--tags", "V;PST") == expected
        page = (tmp_path / name).read_text()
        # The names of parts are random, and the date is that of the file.
        changes = r'(?<=[#"])[a-z]+[0-9a-f]{10}|<dc:date>.*</dc:date>'
        assert re.sub(changes, "", page) == re.sub(changes, "", tagged)
        done = kerasnmt("attention", tagged_run, "go", *output, "--tags", "X")
        assert (done.code, done.err.count("with <X>.")) == (2, 1)


def test_tags_of_a_file_of_pairs(kerasnmt, tagged_run, tmp_path):
    """The same word with other tags is another sentence."""
    rows = ["walk\ta\tV;PST", "walk\tb\tV PRS", "go\tc\t"]
    wide = write(tmp_path / "wide.tsv", rows)
    pairs = write(tmp_path / "pairs.tsv", ["<V><PST>walk\ta", "<V><PRS>walk\tb", "go\tc"])
    chosen = ("--pairs", wide, "--columns", "1,2")
    expected = kerasnmt("evaluate", tagged_run, "--pairs", pairs)
    assert kerasnmt("evaluate", tagged_run, *chosen, "--tags-column", 3).out == expected.out
    assert expected.lines[-1] == "on 3 sentences"
    assert kerasnmt("evaluate", tagged_run, *chosen).lines[-1].startswith("on 2 sentences with 3")
    write(wide, ["walk\ta\tV;XX", "go\tc\tN;YY;XX"])
    done = kerasnmt("evaluate", tagged_run, *chosen, "--tags-column", 3)
    problem = (
        f"the model has no tags <XX>, <YY>, which are in {wide}, so it reads them as other tokens"
    )
    assert done.code == 0 and f"warning: {problem}\n" in done.err
    pairs = write(pairs, ["<N>walk\ta", "<N>go\tc"])
    expected = kerasnmt("evaluate", tagged_run, "--pairs", pairs, "--json")
    bare = write(tmp_path / "bare.tsv", ["walk\ta", "go\tc"])
    done = kerasnmt("evaluate", tagged_run, "--pairs", bare, "--tags", "N", "--json")
    assert done.out == expected.out and json.loads(done.out)["sentences"] == 2
    for arguments, message in (
        (["--pairs", wide, "--tags-column", 3], "Received: the column 3 alone."),
        ([*chosen, "--tags-column", "tag"], "Received: columns=[1, 2], and 'tag' beside them."),
        (["--source", bare, "--reference", bare, "--tags-column", 3], "Expected --pairs FILE with"),
        ([*chosen, "--tags-column", 4], "Expected at least 4 columns."),
    ):
        done = kerasnmt("evaluate", tagged_run, *arguments)
        assert (done.code, done.err.count("\n")) == (2, 1) and message in done.err


def test_languages_by_any_of_their_codes(kerasnmt, tagged_run):
    for codes, tag in (
        (["de", "deu", "ger", "<de>"], "<deu>"),
        (["no", "nb"], "<nob>"),
        (["hr", "bs"], "<hbs>"),
    ):
        expected = kerasnmt("translate", tagged_run, "--scores", stdin=f"{tag}walk\n").out
        for code in codes:
            done = kerasnmt("translate", tagged_run, "--scores", "--language", code, stdin="walk\n")
            assert (done.code, done.out) == (0, expected), done.err
        other = kerasnmt(
            "translate", tagged_run, "--scores", "--language", "de", stdin=f"{tag}walk\n"
        )
        assert other.out == expected  # a text keeps its own language


def test_words_of_a_language_with_a_lexicon(kerasnmt, tagged_run, tmp_path):
    lexicon = write(tmp_path / "lexicon.tsv", ["walk\tw ɔː k", "", "go \t ɡ oʊ", "walk\tsecond"])
    arguments = ("translate", tagged_run, "--language", "de", "--search", "split_words=true")
    plain = kerasnmt("translate", tagged_run, "--language", "de", stdin="ox\nwalk\n").lines
    done = kerasnmt(*arguments, "--lexicon", lexicon, stdin="“Walk”, ox!\n\ngo\nox go go\n")
    expected = [f"w ɔː k {plain[0]}", "", "ɡ oʊ", f"{plain[0]} ɡ oʊ ɡ oʊ"]
    assert (done.code, done.lines) == (0, [line.strip() for line in expected])
    assert kerasnmt(*arguments, stdin="walk.\n").lines == plain[1:]
    several = (*arguments, "--n-best", 2)
    assert kerasnmt(*several, stdin="“walk”.\n").out == kerasnmt(*several, stdin="walk\n").out
    done = kerasnmt(*several, stdin="ox\nox, go\n")
    assert done.code == 2 and "Expected one word in each text that is read as a" in done.err
    assert "2 words in text 2, '<deu>ox, go'. Pass one word each, or" in done.err
    write(lexicon, ["walk\tw ɔː k", "go"])
    done = kerasnmt(*arguments, "--lexicon", lexicon, stdin="ox\n")
    assert done.code == 2 and "a tab and its translation in each line" in done.err
    assert f"{lexicon}, line 2: 'go'" in done.err


def test_texts_without_a_language_are_named():
    texts = [" ", " <deu>a", "b", "c"]
    with pytest.warns(
        UserWarning, match="text 3, and perhaps others, has no language tag, such as <deu>,"
    ):
        warn_of_languages(texts, {"source_tags": LANGUAGES})
    for default in ("", "<deu>"):
        description = {"source_tags": LANGUAGES, "default_tags": default}
        with pytest.warns(UserWarning, match="text 2 begins with <de>, which .* mean <deu>\\?$"):
            warn_of_languages(["<deu>a", " <deu> <de>b"], description)
        with pytest.warns(
            UserWarning, match="text 1 begins with <V>, .* knows <deu>, <hbs>, <nob>$"
        ):
            warn_of_languages(["<V>a"], description)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_languages(texts[:2], {"source_tags": LANGUAGES})
        warn_of_languages([*texts, "<s>"], {"source_tags": LANGUAGES, "default_tags": "<deu>"})
        warn_of_languages(texts, {"source_tags": [*LANGUAGES, "<V>"]})
        warn_of_languages(texts, {"source_tags": []})
        warn_of_languages(texts, {})


def test_a_model_of_one_language(tagged_run, tmp_path):
    model = load_model(tagged_run / "model.keras")
    plain, german = (model.score([one], ["ox"]) for one in ("walk", "<deu>walk"))
    model.set_language("de")
    assert model.score(["walk"], ["ox"]) == german != plain
    assert model.score(["<V>walk"], ["ox"]) not in (german, plain)
    model.save_to_preset(tmp_path / "preset", weights="float32")
    assert zoo.from_preset(tmp_path / "preset").score("walk", "ox") == pytest.approx(german[0])
    norwegian = zoo.bahdanau_gru.from_preset(tmp_path / "preset", language="no")
    expected = model.score(["<nob>walk"], ["ox"])
    assert norwegian.score(["walk"], ["ox"]) == pytest.approx(expected)
    with pytest.raises(ValueError, match=r"a language that .*: <1>, .*, <nob>. Received: 'fr'"):
        model.set_language("fr")
    with pytest.raises(ValueError, match=r"by its code of ISO .* Received: 'German'"):
        model.set_language("German")


def test_a_shared_tokenizer_stays_shared(tmp_path):
    tokenizer = CharacterTokenizer([*"abc", *LANGUAGES])
    model = zoo.pointer_generator_gru(tokenizer, units=4, embedding_dim=3)
    model.set_language("de")
    model.save(tmp_path / "model.keras")
    again = load_model(tmp_path / "model.keras")
    assert again.target_tokenizer is again.source_tokenizer
    assert again.source_tokenizer.default_tags == "<deu>"


@pytest.mark.parametrize(
    ("tags", "message"),
    [
        (
            "V;XX;PST;YY",
            "Expected tags that the model knows: <1>, <2>, <3>, <ACC>, <DAT>, <N>, <PL>, <PRS>, "
            "<PST>, <SG>, <V>, <deu>, <hbs>, <nob>. Received: V;XX;PST;YY, with <XX>, <YY>.",
        ),
        (
            "<V<PST>",
            "Expected tags without spaces and angle brackets inside, such as V;PST or <V>, and no "
            "special token, such as <s>. Received: '<V<PST>' in '<V<PST>'.",
        ),
        ("s", "Received: '<s>' in 's'."),
    ],
)
def test_tags_that_the_model_does_not_have(kerasnmt, tagged_run, tags, message):
    done = kerasnmt("translate", tagged_run, "--tags", tags, stdin="walk\n")
    assert (done.code, done.out) == (2, "")
    assert done.err.endswith(f"{message}\n") and done.err.count("\n") == 1


WITHOUT_TAGS = "Expected no tags and no language, because the vocabulary has no tags. "


def test_a_model_without_tags(kerasnmt, run_folder, tmp_path):
    done = kerasnmt("translate", run_folder, "--language", "de", stdin="no\n")
    remedy = "Leave them out, or train a model with tags.\n"
    assert done == (2, "", f"error: {WITHOUT_TAGS}Received: de, with <de>. {remedy}")
    done = kerasnmt("export", run_folder, tmp_path / "export", "--language", "de")
    assert done == (2, "", f"error: {WITHOUT_TAGS}Received: 'de'. {remedy}")
    with pytest.raises(ValueError, match=WITHOUT_TAGS):
        load_model(run_folder / "model.keras").set_language("de")
    with pytest.raises(
        ValueError, match=r"translates texts.* Received: scenes_en, a CaptionModel\. Leave"
    ):
        zoo.from_preset("scenes_en", language="de")


def test_requests_without_texts(kerasnmt, tagged_run, monkeypatch, tmp_path):
    class Captions(Translator):
        def __init__(self):
            self.fields, self.description = ("image",), {}

    monkeypatch.setattr("kerasnmt.cli.translate.load_translator", lambda *_, **__: Captions())
    image = write(tmp_path / "a.png", ["a"])
    done = kerasnmt("translate", tagged_run, "--image", image, "--tags", "de")
    assert done == (2, "", "error: Expected texts with --tags. Received: image.\n")


@pytest.mark.parametrize(
    "runtime", ["tensorflow", pytest.param("onnx", marks=pytest.mark.thorough("another runtime"))]
)
def test_an_export_knows_its_tags(kerasnmt, load_once, tagged_run, tmp_path, runtime):
    options = ("--runtime", runtime, "--language", "de")
    with only_signatures("serving_default"):
        done = kerasnmt("export", tagged_run, tmp_path / "export", *options)
    assert done.code == 0
    exported, model = load_once(tmp_path / "export"), load_once(tagged_run)
    assert exported.description["source_tags"] == [*TAGS, *LANGUAGES]
    given = [f"<deu>{word}" if word.strip() else word for word in WORDS]
    assert exported.translate(WORDS) == model.translate(given)
    assert exported.translate(TAGGED) == model.translate(TAGGED)
    given = {"stdin": "walk\n\ngo\n"}
    expected = kerasnmt("translate", tagged_run, "--tags", "V;PST", **given)
    assert kerasnmt("translate", tmp_path / "export", "--tags", "V;PST", **given) == expected
    done = kerasnmt("translate", tmp_path / "export", "--tags", "V;XX", **given)
    assert (done.code, done.err.count("with <XX>.")) == (2, 1)


def test_each_model_of_a_comparison_gets_its_own_tags(kerasnmt, tagged_run, tmp_path):
    letters = CharacterTokenizer([*"abcdefghijklmnopqrstuvwxyz"])
    sources = CharacterTokenizer(["<de>", "<nl>", *"acegklow"])
    zoo.bahdanau_gru(sources, letters, units=8).save_to_preset(
        tmp_path / "twin", about={"search": {"beam_size": 1, "max_length": 6}}
    )
    pairs = write(tmp_path / "pairs.tsv", ["walk\ta", "go\tc"])
    arguments = ("--pairs", pairs, "--tags", "de", "--json")
    one, other = tagged_run, tmp_path / "twin"
    alone = [json.loads(kerasnmt("evaluate", it, *arguments).out)["chrf"] for it in (one, other)]
    for first, second, expected in ((one, other, alone), (other, one, alone[::-1])):
        done = json.loads(kerasnmt("evaluate", first, *arguments, "--baseline", second).out)
        assert [done["chrf"], done["baseline_chrf"]] == expected
    done = kerasnmt("translate", other, "--language", "de", "--tags", "nl", stdin="walk\n")
    message = "error: Expected one language for all texts. Received: de;nl. Omit one.\n"
    assert (done.code, done.err) == (2, message)
    assert kerasnmt("translate", other, "--tags", "de;<de>", stdin="walk\n").code == 0
