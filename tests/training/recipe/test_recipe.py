from dataclasses import asdict
from pathlib import Path
from typing import ClassVar

import pytest
import yaml

from kerasnmt.decoding import SearchOptions
from kerasnmt.training.recipe import Recipe

RECIPE = """\
model: {name: bahdanau_gru, units: 256}
tokenizer:
  shared: {kind: sentencepiece, vocabulary_size: 8000}
data:
  train: {source: train.en.gz, target: ../train.de.gz}
  validation: {pairs: /data/val.tsv}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder `recipes` with a recipe, and another working folder."""
    (tmp_path / "recipes").mkdir()
    (tmp_path / "work").mkdir()
    (tmp_path / "recipes/recipe.yaml").write_text(RECIPE)
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path


def load(*overrides):
    return Recipe.load("../recipes/recipe.yaml", overrides)


def problem(*overrides):
    """Return the message about overrides, without the name of the file."""
    with pytest.raises(ValueError) as caught:
        load(*overrides)
    message = str(caught.value)
    assert "\n" not in message
    return message.removeprefix("../recipes/recipe.yaml with overrides: ")


def problem_of_file(folder, text):
    """Return the message about a recipe with this text."""
    (folder / "work/recipe.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError) as caught:
        Recipe.load("recipe.yaml")
    message = str(caught.value)
    assert "\n" not in message
    return message


class TestLoad:
    def test_values_and_defaults(self, folder):
        recipe = load()
        assert recipe.model.name == "bahdanau_gru"
        assert recipe.model.keywords == {"units": 256}
        assert recipe.tokenizer.shared.kind == "sentencepiece"
        assert recipe.tokenizer.shared.vocabulary_size == 8000
        assert recipe.tokenizer.source is None
        assert recipe.data.test is None
        assert recipe.data.max_length == 100
        assert recipe.training.model_dump() == {
            "tokens_per_batch": 4096,
            "batch_size": None,
            "few_shapes": True,
            "epochs": 10,
            "learning_rate": 0.001,
            "learning_rate_schedule": "constant",
            "warmup_steps": 0,
            "plateau_factor": 0.5,
            "plateau_patience": 2,
            "loss": None,
            "label_smoothing": 0.1,
            "guided_attention": None,
            "word_dropout": 0.0,
            "subword_sampling": None,
            "scheduled_sampling": 0.0,
            "r_drop": 0.0,
            "clip_norm": 1.0,
            "accumulate_batches": 1,
            "precision": "float32",
            "monitor": "bleu",
            "bleu_tokenizer": None,
            "early_stopping": None,
            "moving_average": None,
            "average_epochs": None,
            "checkpoint_every": 500,
            "log_every": 100,
            "devices": 1,
            "cache": True,
            "seed": 1,
        }
        # The options of any search and of text, with their defaults.
        of_search = asdict(SearchOptions())
        assert recipe.search.model_dump() == {
            **of_search,
            "replace_unknown": False,
            "dictionary": None,
            "split_sentences": False,
            "split_words": False,
            "sentence_case": False,
            "lexicon": None,
            "shortlist": False,
        }
        assert recipe.search.options == {}
        changed = load("search.beam_size=2", "search.max_length=30", "search.seed=0")
        assert changed.search.options == {"beam_size": 2, "max_length": 30}
        assert load("search.max_length=null").search.options == {}

    @pytest.mark.parametrize("kind", ["words", "characters"])
    def test_a_vocabulary_of_all_that_the_text_has(self, folder, kind):
        recipe = load(f"tokenizer.shared={{kind: {kind}}}")
        assert recipe.tokenizer.shared.vocabulary_size is None
        assert "vocabulary_size" not in recipe.to_yaml()
        assert Recipe.from_dict(yaml.safe_load(recipe.to_yaml())) == recipe

    def test_character_coverage_is_for_pieces(self, folder):
        section = "tokenizer.shared={kind: %s, vocabulary_size: 50, character_coverage: 0.99}"
        options = load(section % "sentencepiece").tokenizer.shared.options
        assert options == {"vocabulary_size": 50, "character_coverage": 0.99}
        message = "'tokenizer.shared' should have kind: sentencepiece with character_coverage"
        assert message in problem(section % "words")

    def test_tags_are_for_pieces_and_characters(self, folder):
        section = "tokenizer.shared={kind: %s, vocabulary_size: 50, tags: true}"
        for kind in ("sentencepiece", "characters"):
            options = load(section % kind).tokenizer.shared.options
            assert options == {"vocabulary_size": 50, "tags": True}
        message = "'tokenizer.shared' should have kind: sentencepiece or characters with tags"
        assert message in problem(section % "words_and_punctuation")

    def test_normalization_of_pieces_and_characters(self, folder):
        section = "tokenizer.shared={kind: %s, vocabulary_size: 50, normalization: %s}"
        options = load(section % ("sentencepiece", "nmt_nfkc")).tokenizer.shared.options
        assert options == {"vocabulary_size": 50, "normalization": "nmt_nfkc"}
        for kind, form in (("sentencepiece", "nfc"), ("characters", "nfc"), ("characters", "nfd")):
            options = load(section % (kind, form)).tokenizer.shared.options
            assert options == {"vocabulary_size": 50, "normalization": form}
        message = "'tokenizer.shared' should have kind: %s with normalization: %s"
        for kind, form, fitting in (
            ("characters", "identity", "sentencepiece"),
            ("sentencepiece", "nfd", "characters"),
            ("words", "nfc", "sentencepiece or characters"),
        ):
            assert message % (fitting, form) in problem(section % (kind, form))

    def test_pieces_need_a_size(self, folder):
        message = "'tokenizer.shared' should have vocabulary_size, such as 8000, with kind"
        with pytest.raises(ValueError, match=message):
            load("tokenizer.shared={kind: sentencepiece}")

    @pytest.mark.parametrize(
        "key",
        [
            *("training.batch_size", "training.tokens_per_batch", "training.epochs"),
            *("training.seed", "data.max_length", "search.beam_size", "data.train.builtin"),
            *("tokenizer.shared.vocabulary_size", "training.warmup_steps"),
        ],
    )
    def test_numbers_that_exhaust_the_memory(self, folder, key):
        message = rf"'{key}' should be less than .*Received: {key}=1000000000000000000"
        rest = ["training.tokens_per_batch=null"] if key == "training.batch_size" else []
        with pytest.raises(ValueError, match=message):
            load(f"{key}={10**18}", *rest)

    def test_a_file_of_another_kind_is_read_no_further(self):
        with pytest.raises(
            ValueError, match="/dev/zero: expected a recipe of at most 1,000,000 bytes"
        ):
            Recipe.load("/dev/zero")

    def test_paths_are_relative_to_the_recipe(self, folder):
        data = load().data
        assert data.train.source == folder / "recipes/train.en.gz"
        assert data.train.target == folder / "train.de.gz"
        assert data.validation.pairs == Path("/data/val.tsv")

    @pytest.mark.parametrize(
        "override", ["data.test.pairs=test.tsv", "data={test: {pairs: test.tsv}}"]
    )
    def test_paths_of_overrides_are_relative_to_the_working_folder(self, folder, override):
        rest = ["data.train={builtin: 9}", "data.validation={builtin: 9}"]
        assert load(override, *rest).data.test.pairs == folder / "work/test.tsv"

    def test_home_folder(self, folder, monkeypatch):
        monkeypatch.setenv("HOME", "/home/ada")
        pairs = load("data.validation.pairs=~/val.tsv").data.validation.pairs
        assert pairs == Path("/home/ada/val.tsv")

    def test_file_names_outside_data_are_left_alone(self, folder):
        recipe = load("model.source=a.txt")
        assert recipe.model.keywords["source"] == "a.txt"

    def test_overrides_are_yaml_and_later_ones_win(self, folder):
        recipe = load(
            "model.units=128",
            "model.units=512",
            "model.bidirectional=false",
            "model.attention=null",
            "model.sizes=[1, 2]",
            "model.note=a=b",
            "data.train={builtin: 200}",
            "search={beam_size: 1}",
        )
        assert recipe.model.keywords == {
            "units": 512,
            "bidirectional": False,
            "attention": None,
            "sizes": [1, 2],
            "note": "a=b",
        }
        assert recipe.data.train.builtin == 200
        assert recipe.data.train.source is None
        assert recipe.search.beam_size == 1

    @pytest.mark.parametrize(
        ("text", "value"), [("1e-3", 0.001), ("2E+1", 20.0), (".5e1", 5.0), ("+.5", 0.5)]
    )
    def test_scientific_numbers_are_numbers(self, folder, text, value):
        recipe = load(f"training.learning_rate={text}", f"model.dropout={text}")
        assert recipe.training.learning_rate == value
        assert recipe.model.keywords["dropout"] == value

    @pytest.mark.parametrize(
        "value", ["e5", "1e", "1e3x", ".", "1.2.3", "a.5", "010", "1:30", "0x10", 7, -7]
    )
    def test_other_words_and_integers_stay_what_they_are(self, folder, value):
        keyword = load(f"model.size={value}").model.keywords["size"]
        assert keyword == value
        assert type(keyword) is type(value)

    def test_batch_size_in_place_of_tokens(self, folder):
        training = load("training.batch_size=64").training
        assert (training.tokens_per_batch, training.batch_size) == (None, 64)

    def test_two_tokenizers(self, folder):
        recipe = load(
            "tokenizer.shared=null",
            "tokenizer.source={kind: words, vocabulary_size: 5}",
            "tokenizer.target={kind: characters, vocabulary_size: 100}",
        )
        assert recipe.tokenizer.shared is None
        assert recipe.tokenizer.source.kind == "words"
        assert recipe.tokenizer.target.vocabulary_size == 100


class TestSave:
    @pytest.mark.parametrize(
        "overrides",
        [
            [],
            ["training.batch_size=64", "training.clip_norm=null", "search.max_length=30"],
            ["model.attention=null", "model.name=größer", "data.test={builtin: 10}"],
            [
                "tokenizer={source: {kind: words, vocabulary_size: 9}, "
                "target: {kind: words, vocabulary_size: 8}}"
            ],
        ],
    )
    def test_round_trip_from_another_folder(self, folder, overrides):
        recipe = load(*overrides)
        recipe.save(folder / "saved.yaml")
        assert Recipe.load(folder / "saved.yaml") == recipe

    def test_only_chosen_forms_are_written(self, folder):
        text = load("data.train={builtin: 7}").to_yaml()
        assert "  train:\n    builtin: 7\n  validation:\n    pairs: /data/val.tsv\n" in text
        assert "shared" in text
        assert "source" not in text
        assert "test" not in text


class TestUnknownKeys:
    @pytest.mark.parametrize(
        ("override", "expected"),
        [
            (
                "training.epoch=3",
                "unknown key 'training.epoch'; did you mean 'training.epochs'?",
            ),
            ("serch.beam_size=3", "unknown key 'serch'; did you mean 'search'?"),
            (
                "data.train.builtim=3",
                "unknown key 'data.train.builtim'; did you mean 'data.train.builtin'?",
            ),
            (
                "tokenizer.shared.vocabularysize=3",
                "unknown key 'tokenizer.shared.vocabularysize'; "
                "did you mean 'tokenizer.shared.vocabulary_size'?",
            ),
            (
                "epochs=3",
                "unknown key 'epochs'; did you mean 'training.epochs'?",
            ),
            (
                "train_steps=100000",
                "unknown key 'train_steps'; known: model, tokenizer, data, training, search",
            ),
            (
                "tokenizer.max_length=50",
                "unknown key 'tokenizer.max_length'; known: tokenizer.shared, tokenizer.source, "
                "tokenizer.target",
            ),
            (
                "search.zzz=3",
                "unknown key 'search.zzz'; "
                "known: search.beam_size, search.length_penalty, search.length_normalization, "
                "search.coverage_penalty, search.min_length, search.max_length, "
                "search.max_length_ratio, search.max_length_margin, search.no_repeat_ngram, "
                "search.allow_unknown, search.samples, search.temperature, search.top_k, "
                "search.top_p, search.seed, search.replace_unknown, search.dictionary, "
                "search.split_sentences, search.split_words, search.sentence_case, "
                "search.lexicon, search.shortlist",
            ),
        ],
    )
    def test_message(self, folder, override, expected):
        assert problem(override) == expected

    def test_named_before_what_is_missing(self, folder):
        assert problem("model={nam: a}") == (
            "missing key 'model.name': A name of the zoo, such as bahdanau_gru."
        )
        assert problem("data={trian: {builtin: 3}, validation: {builtin: 3}}") == (
            "unknown key 'data.trian'; did you mean 'data.train'?"
        )

    def test_alignments_are_of_the_training_data_only(self, folder):
        assert problem("data.validation.alignments=/a").startswith(
            "unknown key 'data.validation.alignments'"
        )

    def test_in_a_file(self, folder):
        assert problem_of_file(folder, RECIPE + "training: {epoch: 3}") == (
            "recipe.yaml: unknown key 'training.epoch'; did you mean 'training.epochs'?"
        )


TOKENIZERS = "'tokenizer' should be one of {shared} and {source, target}. Received: tokenizer="
TRAIN = (
    "'data.train' should be one of {source, target}, {pairs} and {builtin}. Received: data.train="
)
TEST = TRAIN.replace("train", "test")


class TestValues:
    @pytest.mark.parametrize(
        ("key", "value", "expected"),
        [
            ("model.name", "3", "a valid string. Received: model.name=3"),
            (
                "tokenizer.shared.kind",
                "bpe",
                "'sentencepiece', 'words', 'words_and_punctuation' or 'characters'. Received: "
                "tokenizer.shared.kind='bpe'",
            ),
            (
                "tokenizer.shared.vocabulary_size",
                "4",
                "greater than 4. Received: tokenizer.shared.vocabulary_size=4",
            ),
            ("data.train.source", "5", "a path. Received: data.train.source=5"),
            ("data.test.builtin", "0", "greater than 0. Received: data.test.builtin=0"),
            (
                "data.max_length",
                "1",
                "greater than or equal to 2. Received: data.max_length=1",
            ),
            (
                "data.validation",
                "",
                "a mapping with the keys source, target, pairs, columns, tags, builtin, "
                "context. Received: data.validation=None",
            ),
            ("training.epochs", "ten", "a valid integer. Received: training.epochs='ten'"),
            ("training.epochs", "true", "a valid integer. Received: training.epochs=True"),
            ("training.epochs", "2.0", "a valid integer. Received: training.epochs=2.0"),
            ("training.epochs", "0", "greater than 0. Received: training.epochs=0"),
            ("training.tokens_per_batch", "0", "greater than 0."),
            ("training.batch_size", "0", "greater than 0."),
            ("training.learning_rate", "0", "greater than 0."),
            ("training.learning_rate", ".inf", "a finite number."),
            ("training.learning_rate", "'1'", "a valid number."),
            (
                "training.learning_rate_schedule",
                "linear",
                "'constant', 'cosine', 'inverse_sqrt' or 'plateau'. "
                "Received: training.learning_rate_schedule='linear'",
            ),
            ("training.warmup_steps", "-1", "greater than or equal to 0."),
            ("training.loss", "entmax", "'cross_entropy', 'entmax15' or 'sparsemax'"),
            ("training.label_smoothing", "1", "less than 1."),
            ("training.label_smoothing", "-.1", "greater than or equal to 0."),
            ("training.clip_norm", "0", "greater than 0."),
            ("training.cache", "1", "a valid boolean."),
            ("training.seed", "-1", "greater than or equal to 0."),
            ("search.beam_size", "0", "greater than or equal to 1."),
            ("search.length_penalty", "-1", "greater than or equal to 0."),
            ("search.max_length", "0", "greater than or equal to 1."),
        ],
    )
    def test_message(self, folder, key, value, expected):
        assert problem(f"{key}={value}").startswith(f"'{key}' should be {expected}")

    def test_message_about_another_key_than_the_override(self, folder):
        assert problem("training.epochs.x=0") == (
            "'training.epochs' should be a valid integer. Received: training.epochs={'x': 0}"
        )
        assert problem("training={1: 2}") == "'training.1' should be a name. Received: training.1=1"

    def test_missing(self, folder):
        assert problem("data={train: {builtin: 3}}") == (
            "missing key 'data.validation': Pairs to score after each epoch."
        )

    @pytest.mark.parametrize(
        ("override", "expected"),
        [
            ("tokenizer={}", TOKENIZERS + "{}"),
            (
                "tokenizer={source: {kind: words, vocabulary_size: 9}}",
                TOKENIZERS + "{'source': {'kind': 'words', 'vocabulary_size': 9}}",
            ),
            ("tokenizer.target={kind: words, vocabulary_size: 9}", TOKENIZERS),
            ("data.train={}", TRAIN + "{}"),
            ("data.train={source: /a}", TRAIN + "{'source': '/a'}"),
            ("data.train={pairs: /a, builtin: 3}", TRAIN + "{'pairs': '/a', 'builtin': 3}"),
            ("data.train.pairs=a", TRAIN),
            (
                "data.train={builtin: 3, alignments: /a}",
                "'data.train' should have no alignments, because the built-in corpus has its own. "
                "Received: data.train={'builtin': 3, 'alignments': '/a'}",
            ),
            ("data.test={target: /a}", TEST + "{'target': '/a'}"),
            (
                "training={tokens_per_batch: 3, batch_size: 4}",
                "'training' should have either tokens_per_batch or batch_size "
                "(null switches one off). "
                "Received: training={'tokens_per_batch': 3, 'batch_size': 4}",
            ),
            (
                "training={learning_rate_schedule: plateau, warmup_steps: 3}",
                "'training' should have warmup_steps: 0 with plateau. "
                "Received: training={'learning_rate_schedule': 'plateau', 'warmup_steps': 3}",
            ),
            (
                "training={learning_rate_schedule: inverse_sqrt}",
                "'training' should have warmup_steps, such as 1000, with inverse_sqrt. "
                "Received: training={'learning_rate_schedule': 'inverse_sqrt'}",
            ),
            (
                "training={moving_average: 0.9, average_epochs: 2}",
                "'training' should have either moving_average or average_epochs. "
                "Received: training={'moving_average': 0.9, 'average_epochs': 2}",
            ),
            (
                "search={dictionary: {a: b}}",
                "search: Expected replace_unknown=True with a dictionary. "
                "Received: replace_unknown=False",
            ),
            (
                "search={min_length: 9, max_length: 8}",
                "search: Expected min_length from 1 to max_length, 8. Received: min_length=9",
            ),
        ],
    )
    def test_exactly_one_form(self, folder, override, expected):
        message = problem(override)
        assert message == expected or (expected.endswith("=") and message.startswith(expected))

    def test_words_that_yaml_1_1_takes_for_booleans(self, folder):
        words = "{no: nein, yes: ja, an: on, off: aus, y: n}"
        recipe = load(f"search={{replace_unknown: true, dictionary: {words}}}")
        expected = {"no": "nein", "yes": "ja", "an": "on", "off": "aus", "y": "n"}
        assert recipe.search.dictionary == expected
        recipe.save(folder / "again.yaml")
        assert Recipe.load(folder / "again.yaml") == recipe
        assert load("training.cache=false").training.cache is False
        assert problem("training.cache=no").startswith("'training.cache' should be a valid boolean")
        assert "without empty words" in problem(
            "search={replace_unknown: true, dictionary: {a: ''}}"
        )

    def test_null_switches_a_batch_size_off(self, folder):
        recipe = load("training.tokens_per_batch=3", "training.tokens_per_batch=null")
        assert recipe.training.tokens_per_batch == 4096
        recipe = load("training={tokens_per_batch: 3, batch_size: 4}", "training.batch_size=null")
        assert recipe.training.tokens_per_batch == 3


class TestSyntax:
    @pytest.mark.parametrize("override", ["training.epochs", "=3", "training..epochs=3", ".=3"])
    def test_override(self, folder, override):
        assert problem(override) == (
            "expected an override with a dotted key and a value, such as training.epochs=5. "
            f"Received: {override!r}"
        )

    def test_override_that_is_not_yaml(self, folder):
        assert problem("model.units=[").startswith("override model.units, line 1: not YAML: ")

    def test_missing_file(self, folder):
        with pytest.raises(ValueError, match=r"^none\.yaml: the recipe cannot be read: No such"):
            Recipe.load("none.yaml")

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("model: {}\ndata: [\n", "line 3: not YAML: "),
            ("größe: 1\nmodel: *a\n", "line 2: not YAML: found undefined alias 'a'"),
            ("größe: 1\ndata: \x00\n", "line 2: not YAML: special characters are not allowed"),
            ("a: !!python/name:os.x\n", "line 1: not YAML: could not determine a constructor"),
            (
                "training: {seed: 1}\nmodel: {}\ntraining: {}\n",
                "line 3: not YAML: the key 'training' is already in line 1",
            ),
            (
                "training:\n  seed: 1\n  seed: 2\n",
                "line 3: not YAML: the key 'seed' is already in line 2",
            ),
            ("a: &a [1]\nb: *a\n", "line 2: not YAML: the alias *a, but a recipe has no aliases"),
            ("[" * 100_000, "line 1: not YAML: more than 20 levels deep"),
            ("a: " + "{b: " * 100_000, "line 1: not YAML: more than 20 levels deep"),
            (b"model: {}\ndata:\n  train: \xff\n", "line 3: not UTF-8"),
        ],
    )
    def test_bad_file(self, folder, text, expected):
        assert problem_of_file(folder, text).startswith(f"recipe.yaml, {expected}")

    @pytest.mark.parametrize(("text", "kind"), [("", "NoneType"), ("- a", "list"), ("a", "str")])
    def test_no_mapping(self, folder, text, kind):
        assert problem_of_file(folder, text) == (
            "recipe.yaml: expected a recipe that is a mapping with the keys "
            f"model, tokenizer, data, training, search. Received: {kind}"
        )


def test_every_key_has_a_description():
    def check(schema):
        for part in [schema, *schema.get("$defs", {}).values()]:
            assert part["description"]
            for name, field in part["properties"].items():
                assert field.get("description"), name

    check(Recipe.model_json_schema())


class TestFromDict:
    DOCUMENT: ClassVar = {
        "model": {"name": "bahdanau_gru"},
        "tokenizer": {"shared": {"kind": "words", "vocabulary_size": 100}},
        "data": {"train": {"pairs": "train.tsv"}, "validation": {"builtin": 20}},
    }

    def test_values_and_paths(self, folder):
        recipe = Recipe.from_dict(self.DOCUMENT)
        assert recipe.data.train.pairs == folder / "work/train.tsv"
        assert recipe.data.validation.builtin == 20
        assert self.DOCUMENT["data"]["train"] == {"pairs": "train.tsv"}
        data = self.DOCUMENT["data"] | {"train": {"pairs": Path("train.tsv")}}
        assert Recipe.from_dict(self.DOCUMENT | {"data": data}) == recipe

    def test_problem(self):
        with pytest.raises(ValueError, match="recipe: unknown key 'modle'; did you mean 'model'"):
            Recipe.from_dict({**self.DOCUMENT, "modle": {}})


@pytest.mark.parametrize(
    "value",
    [
        *("train.en", "../data/train.en", "données.fr", "a b: c #d.en", 'it\'s "it"', "a\\b", ""),
        *("true", "null", "1e3", "012", "2026-01-01", "~", "-", "- a", "...", "---", " x ", "="),
        *("a\nb", "a\x7fb\x01\u2028", "😀.en", "=" * 300 + " x"),
    ],
)
def test_strings_are_written_as_yaml(tmp_path, value):
    from kerasnmt.training.recipe.reading import as_yaml, read_document

    path = tmp_path / "recipe.yaml"
    path.write_text(f"key: {as_yaml(value)}\n", encoding="utf-8")
    assert read_document(path, []) == {"key": value}
    assert as_yaml("../data/données.fr") == "../data/données.fr"
