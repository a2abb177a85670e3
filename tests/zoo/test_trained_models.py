"""The folders of trained models have valid recipes, and their scripts work."""

import gzip
import importlib.util
import json
import random
import re
import sys
from itertools import chain
from pathlib import Path
from types import SimpleNamespace

import keras
import numpy as np
import pytest

from kerasnmt.text import WordTokenizer
from kerasnmt.training import Recipe
from kerasnmt.training.checks import check_model

ZOO = Path(__file__).parents[2] / "zoo"
FOLDERS = sorted(path.parent for path in ZOO.glob("*/recipe.yaml"))
INFLECTION = "hard_monotonic_lstm_conll2017"
SIGMORPHON = "pointer_generator_gru_sigmorphon2018"
CONTEXT_BABI = "context_attention_gru_babi"
NUMBERS = "luong_general_lstm_numbers"
TATOEBA = "bahdanau_gru_tatoeba"
WIKIPRON = "bahdanau_gru_wikipron"


def script(name, folder=SIGMORPHON):
    specification = importlib.util.spec_from_file_location(name, ZOO / folder / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_there_are_trained_models():
    assert len(FOLDERS) == 16


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_recipe_is_valid_and_the_card_is_there(folder):
    recipe = Recipe.load(folder / "recipe.yaml")
    check_model(recipe.model.name, recipe.model.keywords)
    assert folder.name.startswith(recipe.model.name)
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert card.startswith(f"# {recipe.model.name} on ")
    assert (folder / "results.json").exists()


def test_the_card_of_attention_over_context_says_what_was_found():
    folder = ZOO / CONTEXT_BABI
    card = (folder / "README.md").read_text(encoding="utf-8")
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    assert card.startswith(f"# {results['model']} on ")
    reproduce = script("reproduce", CONTEXT_BABI)
    for task, found in results["tasks"].items():
        starts = {one["start"]: one for one in found["starts"]}
        assert found["chosen_start"] == min(starts.values(), key=reproduce.rank)["start"]
        (row,) = [line for line in card.splitlines() if line.startswith(f"| {task}: ")]
        assert f"**{found['test_error']:.1f}**" in row
        for one in starts.values():
            assert one["history"][one["best_epoch"] - 1].items() <= one.items()
            assert reproduce.rank(one) == min(map(reproduce.rank, one["history"]))


def test_prepare(tmp_path, monkeypatch, capsys):
    published = tmp_path / "published"
    published.mkdir()
    rows = ["aufgehen\tging auf\tV;IND;PST", "Hahn\tHahnes\tN;GEN;SG"]
    for split in ("train-medium", "dev", "test"):
        text = "".join(f"{row}\n" for row in rows)
        (published / f"german-{split}").write_text(text, encoding="utf-8")
    arguments = [str(published), str(tmp_path / "data"), "--languages", "german"]
    monkeypatch.setattr(sys, "argv", ["prepare.py", *arguments])
    script("prepare").main()
    for split in ("train", "validation", "test"):
        assert (tmp_path / f"data/german/{split}.tsv").read_text(encoding="utf-8") == (
            "[V] [IND] [PST] a u f g e h e n\tg i n g ▁ a u f\n"
            "[N] [GEN] [SG] H a h n\tH a h n e s\n"
        )
    assert "german: train.tsv, validation.tsv, test.tsv" in capsys.readouterr().out


def test_pronunciations():
    prepare = script("prepare", "bahdanau_gru_cmudict")
    text = "'bout B AW1 T\na AH0\na(2) EY1 # letter\na(3) EY2\nx-ray EH1 K S R EY2\n' A\n"
    found = prepare.pronunciations(text)
    assert found == {"'bout": ["B AW T"], "a": ["AH", "EY"]}  # the third differs in stress alone
    words = [f"w{number}" for number in range(12_005)]
    parts = prepare.split(words)
    assert {name: len(part) for name, part in parts.items()} == {
        "train": 5,
        "validation": 2_000,
        "test": 10_000,
    }
    assert sorted(chain(*parts.values())) == sorted(words)
    assert parts == prepare.split(words[::-1])


def test_words_of_many_languages(tmp_path, monkeypatch):
    """All pronunciations of a word stay together, also where a limit counts words."""
    for language, sound in (("deu", "o"), ("eng", "u")):
        rows = [f"a\t{sound} {number}" for number in range(3)] + ["b\tb", "c\tc"]
        for part in ("train", "dev", "test"):
            with gzip.open(tmp_path / f"{language}_{part}.tsv.gz", "wt", encoding="utf-8") as file:
                file.write("\n".join(rows) + "\n")
    options = ["--words=2", "--validation-words=1"]
    monkeypatch.setattr(sys, "argv", ["prepare.py", str(tmp_path), str(tmp_path), *options])
    monkeypatch.syspath_prepend(str(ZOO / WIKIPRON))
    prepare = script("prepare", WIKIPRON)
    prepare.main()

    def lines(name):
        return (tmp_path / name).read_text(encoding="utf-8").splitlines()

    assert lines("train.tsv") == [
        *("a\to 0\tdeu", "a\to 1\tdeu", "b\tb\tdeu"),
        *("a\tu 0\teng", "a\tu 1\teng", "b\tb\teng"),
    ]
    assert (
        lines("test.tsv")
        == lines("validation.tsv")
        == [
            f"a\t{sound} {n}\t{language}"
            for language, sound in (("deu", "o"), ("eng", "u"))
            for n in range(3)
        ]
    )
    assert lines("deu_test.tsv")[2:] == ["a\to 2\tdeu", "b\tb\tdeu", "c\tc\tdeu"]
    train = lines("train.tsv")
    monkeypatch.setattr(sys, "argv", [*sys.argv, "--spellings=1"])
    prepare.main()
    more = lines("train.tsv")
    assert more[:3] == train[:3] and len(more) == 2 * (3 + 2 * 3)
    assert {"A\to 0\tdeu", "B\tb\teng"} < {*more}


def test_other_spellings_of_words():
    spellings = script("spellings", WIKIPRON)
    capitals = {
        "tur": {"İyi": "İYİ", "ılık": "ILIK"},
        "ell": {
            "καλημέρα": "ΚΑΛΗΜΕΡΑ",
            "ρολόι": "ΡΟΛΟΪ",
            "άυπνος": "ΑΫΠΝΟΣ",
            "αλληλούια": "ΑΛΛΗΛΟΥΙΑ",
        },
        "deu": {"Maß": "MASS"},
        "hye": {"և": "ԵՎ"},
        "gle": {"nGaeilge": "nGAEILGE", "bhFuil": "bhFUIL", "gnó": "GNÓ"},
        "kat": {"გამარჯობა": None},
        "hin": {"नमस्ते": None},
        "eng": {"USA": None},
    }
    initials = {
        "tur": {"istanbul": "İstanbul", "Irmak": "ırmak"},
        "deu": {"Hund": "hund", "ßa": None, "": None},
        "nld": {"ijs": "IJs", "ik": "Ik"},
        "gle": {"bhFuil": None},
        "kat": {"გამარჯობა": None},
        "eng": {"USA": None, "I": "i"},
    }
    for spell, words in ((spellings.in_capitals, capitals), (spellings.with_capital, initials)):
        for language, expected in words.items():
            assert {word: spell(word, language) for word in expected} == expected
    assert spellings.other_apostrophe("l'ami’s", "fra") == "l’ami's"
    assert spellings.other_apostrophe("ami", "fra") is None
    assert spellings.in_katakana("ひらがなー", "jpn") == "ヒラガナー"
    rows = [(f"a{number}", f"ɑ {number}", "deu") for number in range(12)]
    found = spellings.other_spellings(rows, 1, random.Random(0))
    hyphens = [row for row in found if "-" in row[0]]
    assert len(hyphens) == 2 and len(found) == 2 + 2 * len(rows)
    for word, phones, _ in hyphens:
        one, other = (row for part in word.split("-") for row in rows if row[0] == part)
        assert phones == f"{one[1]} {other[1]}"
    assert not spellings.other_spellings(rows[:1], 6, random.Random(0))[2:]
    assert spellings.other_spellings([], 1, random.Random(0)) == []


def test_errors_of_words_and_phones(monkeypatch):
    """The nearest pronunciation counts."""
    monkeypatch.syspath_prepend(str(ZOO / WIKIPRON))
    languages = script("languages", WIKIPRON)
    answers = ["h aʊ s", "ɦ œ y s", "", "a b c"]
    references = [["h aʊ s"], ["ɦ œ s", "ɦ u s s"], ["a b"], ["x", "a b c d", "b c"]]
    # 0 of 3 phones, 1 of 3, 2 of 2, 1 of 4 or 1 of 2
    assert languages.errors(answers, references) == {
        "wer": 75.0,
        "per": pytest.approx(100 * 4 / 12),
    }
    assert languages.distance("kitten", "sitting") == 3
    assert languages.distance([], ["a", "b"]) == 2 == languages.distance(["a", "b"], [])


def test_numbers(tmp_path, monkeypatch):
    """The two directions have the same pairs, and no large number is in two files."""
    speller = SimpleNamespace(num2words=lambda number, lang: f"{number:,} in {lang}")
    monkeypatch.setitem(sys.modules, "num2words", speller)
    prepare = script("prepare", NUMBERS)
    monkeypatch.setattr(prepare, "SIZES", {"validation": 50, "test": 300, "train": 400})
    monkeypatch.setattr(sys, "argv", ["prepare.py", str(tmp_path)])
    prepare.main()
    numbers = {}
    for split, size in prepare.SIZES.items():
        sides = [
            (tmp_path / direction / f"{split}.tsv").read_text(encoding="utf-8").splitlines()
            for direction in ("words_to_numbers", "numbers_to_words")
        ]
        for words_first, digits_first in zip(*sides, strict=True):
            words, digits = words_first.split("\t")
            language = words[-2:]
            assert words == f"{int(digits):,} in {language}"
            assert digits_first == f"{language} {digits}\t{words}"
        numbers[split] = [int(row.split("\t")[1]) for row in sides[0]]
        assert len(numbers[split]) == size + 1000 * (split == "train")
    small, large = numbers["train"][:1000], numbers["train"][1000:]
    assert small == [number for number in range(100) for _ in range(10)]
    assert not set(large) & {*numbers["test"], *numbers["validation"]}
    assert not set(numbers["test"]) & set(numbers["validation"])
    digits = [len(str(number)) for number in large]
    assert min(large) >= 100 and all(80 < digits.count(count) < 120 for count in (3, 4, 5, 6))


def test_invented_pairs():
    prepare = script("prepare")
    lines = ["aufgehen\tging auf\tV;PST", "lachen\tlachte\tV;PST", "gut\tbesser\tADJ;CMPR"]
    found = prepare.invented(lines, 40)
    assert found == prepare.invented(lines, 40) and len(found) == 40
    assert len(set(found)) > 20
    for line in found:
        lemma, form, tags = line.split("\t")
        assert tags == "V;PST"  # the adjective has no stem
        if form.startswith("ging "):  # the stem is "auf"
            assert (lemma[0], lemma[2:]) == ("a", "fgehen") and form == f"ging {lemma[:3]}"
        else:  # the stem is "lach"
            assert (lemma[0], lemma[3:], form[3:]) == ("l", "hen", "hte")
            assert form[:3] == lemma[:3] and set(lemma[1:3]) <= set("aufgehlcnt")
    with pytest.raises(SystemExit, match="share a stem"):
        prepare.invented(lines[2:], 1)
    assert prepare.invented([], 0) == []


def test_noise_of_translators():
    noise = script("noise", TATOEBA)
    rng = random.Random(1)
    pair = ('Tom said: "It\'s 7:30."', 'Tom sagte: "Es ist 7:30."')
    assert noise.upper(pair)[0] == 'TOM SAID: "IT\'S 7:30."'
    assert noise.upper(pair)[1] == 'TOM SAGTE: "ES IST 7:30."'
    assert noise.lower(pair) == ('tom said: "it\'s 7:30."', pair[1])
    assert noise.without_mark(("Who?", "Qui ?")) == ("Who", "Qui")
    assert noise.without_mark(("Wait...", "Attends…")) == ("Wait", "Attends")
    assert noise.without_mark(("Who?", "Qui")) is None
    quoted, same = noise.other_quotes(pair, rng)
    assert re.fullmatch("Tom said: [“„«‘]It’s 7:30.[”“»’]", quoted) and same == pair[1]
    assert noise.joined([("A.", "B."), ("C!", "D?")]) == ("A. C!", "B. D?")
    assert noise.joined([("A.", "B."), ("C", "D?")]) is None
    copies = noise.Copies([pair] * 2, ("en", "de"))
    for _ in range(20):
        one, other = copies.renamed(pair, rng)
        name = one.removesuffix(pair[0][3:])
        assert other == name + pair[1][3:] and name != one
        one, other = copies.renumbered(pair, rng)
        assert (
            re.search("[1-9]:[1-9]{2}", one).group() == re.search("[1-9]:[1-9]{2}", other).group()
        )
        one, other = copies.renumbered(("I ate six eggs.", "Ich aß sechs Eier."), rng)
        number = one.split()[2]
        assert number.isdigit() and other == f"Ich aß {number} Eier."
    assert copies.renumbered(("I ate six eggs.", "Ich aß sieben Eier."), rng) is None
    assert copies.renamed(("Tom's mother", "Die Mutter von Tom"), rng) is None
    with pytest.raises(ValueError, match="Expected pairs with names"):
        noise.Copies([("a dog", "un chien")], ("en", "fr")).name(rng)


def test_noisy_training_pairs(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ZOO / TATOEBA))
    rows = {
        "train": ["I’m Tom.\tJe suis Tom\u202f!", "Go.\tPars."] * 50,
        "val": ["Hi.\tSalut."],
        "test": ["Leave.\tPars.", "Run.\tCours\u00a0!"],
    }
    for part, lines in rows.items():
        with gzip.open(tmp_path / f"{part}.tsv.gz", "wt", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    monkeypatch.setattr(sys, "argv", ["prepare.py", str(tmp_path), str(tmp_path), "--noise=1"])
    script("prepare", TATOEBA).main()
    train = (tmp_path / "en_fr/train.tsv").read_text(encoding="utf-8").splitlines()
    assert train[:2] == ["I'm Tom.\tJe suis Tom !", "Go.\tPars."] and len(train) == 200
    kinds = {"go.\tPars.", "Go\tPars", "Go. Go.\tPars. Pars."}
    assert kinds <= {*train[100:]}
    assert not any(one.count("\t") - 1 for one in train)
    # A French sentence of the training data is no test.
    assert (tmp_path / "fr_en/test.tsv").read_text(encoding="utf-8") == "Cours !\tRun.\n"


def test_phrases_dates_and_prices(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ZOO / TATOEBA))
    phrases = script("phrases", TATOEBA)
    short = phrases.short_phrases(("en", "fr"))
    assert short[:4] == [("Yes.", "Oui."), ("Yes", "Oui"), ("yes", "Oui"), ("Yes!", "Oui !")]
    assert ("Why?", "Pourquoi ?") in short and ("Why", "Pourquoi") in short
    assert not any(source.startswith("Bye") for source, _ in short)
    written = {
        language: (
            phrases.date(language, 1, 7, None),
            phrases.date(language, 24, 11, 2021),
            phrases.clock(language, 9, 5),
            phrases.amount(language, 1299, 5),
        )
        for language in ("en", "de", "fr")
    }
    assert written == {
        "en": ("August 1", "December 24, 2021", "9:05", "1,299.05"),
        "de": ("1. August", "24. Dezember 2021", "9:05 Uhr", "1.299,05"),
        "fr": ("1er août", "24 décembre 2021", "9 h 05", "1 299,05"),
    }
    pairs = phrases.phrases(("de", "en"), times=2, seed=1)
    assert len(pairs) == 3 * 2 * len(phrases.short_phrases(("de", "en")))
    assert pairs == phrases.phrases(("de", "en"), times=2, seed=1)
    for german, english in pairs[len(pairs) // 3 :]:
        digits = [sorted(re.sub(r"\D", "", text)) for text in (german, english)]
        assert digits[0] == digits[1] and "{" not in german + english
    row = ("I am.\tIch bin.\n" * 3).encode()
    for part in ("train", "val", "test"):
        (tmp_path / f"{part}.tsv.gz").write_bytes(gzip.compress(row))
    options = ["--language=de", "--phrases=1"]
    monkeypatch.setattr(sys, "argv", ["prepare.py", str(tmp_path), str(tmp_path), *options])
    script("prepare", TATOEBA).main()
    train = (tmp_path / "de_en/train.tsv").read_text(encoding="utf-8").splitlines()
    assert train[:4] == ["Ich bin.\tI am."] * 3 + ["Ja.\tYes."]
    assert len(train) == 3 + len(pairs) // 2


def test_vocabulary_of_what_is_seen_more_than_once(tmp_path):
    path = tmp_path / "train.tsv"
    path.write_text("[V] a b b\ta c\n[V] d\te\n", encoding="utf-8")
    assert script("reproduce").vocabulary_size(path) == 4 + 3  # [V], a, b


def test_distance_by_hand():
    distance = script("reproduce").distance
    assert distance("", "") == 0 and distance("abc", "abc") == 0
    assert distance("", "abc") == 3 and distance("abc", "") == 3
    assert distance("kitten", "sitting") == 3
    assert distance("ab", "ba") == 2 and distance("flaw", "lawn") == 2


@pytest.mark.thorough("trains; other tests try the parts of the scripts")
def test_a_memory_network_on_tasks(tmp_path, monkeypatch, capsys):
    """Run the script with two small tasks, from the files to the results."""
    (tmp_path / "data").mkdir()
    lines = []
    for place in ("kitchen", "garden", "office", "hallway", "kitchen"):
        lines += [f"1 Mary went to the {place}.", f"2 Where is Mary? \t{place}\t1"]
    for task in (1, 12):
        for split, count in (("train", 4), ("test", 1)):
            text = "\n".join(lines * count) + "\n"
            path = tmp_path / f"data/qa{task}_task_{split}.txt"
            path.write_text(text, encoding="utf-8")
    reproduce = script("reproduce", "memory_network_babi")
    monkeypatch.setattr(reproduce, "LINEAR_EPOCHS", 2)
    train, validation = reproduce.split_tasks(reproduce.read_tasks(tmp_path / "data", "train"))
    assert (len(train), len(validation)) == (36, 4)
    output = tmp_path / "output"
    arguments = [str(tmp_path / "data"), str(output), "--starts", "1", "--epochs", "20"]
    monkeypatch.setattr(sys, "argv", ["reproduce.py", *arguments])
    reproduce.main()
    results = json.loads((output / "results.json").read_text(encoding="utf-8"))
    assert results["test_error"].keys() == {"1", "12"}
    assert results["mean_test_error"] == sum(results["test_error"].values()) / 2 == 0.0
    (start,) = results["starts"]
    assert start["linear_epochs"] == 2 and len(start["history"]) == 22
    # Existing starts are not trained again.
    monkeypatch.setattr(reproduce, "train_start", None)
    reproduce.main()
    again = json.loads((output / "results.json").read_text(encoding="utf-8"))
    assert again == results
    assert '"mean_test_error": 0.0' in capsys.readouterr().out


def test_questions_with_contexts(tmp_path):
    reproduce = script("reproduce", CONTEXT_BABI)
    text = (
        "1 Mary went to the Hall.\n2 Where is Mary? \tHall\t1\n3 She left.\n4 Is she in? \tno\t3\n"
    )
    (tmp_path / "qa6_any_test.txt").write_text(text, encoding="utf-8")
    questions = reproduce.read_task(tmp_path, 6, "test")
    asked, stories, answers = reproduce.columns(questions)
    assert asked == ["where is mary ?", "is she in ?"]
    assert stories == ["mary went to the hall .", "mary went to the hall . she left ."]
    assert answers == ["hall", "no"]
    given = {}

    def translate(texts, contexts, **options):
        given.update(zip(texts, contexts, strict=True))
        return ["hall", "yes"]

    assert reproduce.error_of(SimpleNamespace(translate=translate), questions) == 50.0
    assert given == dict(zip(asked, stories, strict=True))
    with pytest.raises(SystemExit, match="Expected a file qa2_"):
        reproduce.read_task(tmp_path, 2, "test")


@pytest.mark.thorough("tests/data shows batches of a context")
def test_batches_of_any_questions():
    reproduce = script("reproduce", CONTEXT_BABI)
    questions = [
        reproduce.StoryQuestion(("Ann left.",) * (number % 30 + 1), "Who left?", "ann", ())
        for number in range(70)
    ]
    tokenizer = WordTokenizer(["ann", "left", "who", ".", "?"])

    def epoch(dataset):
        """Return the lengths of the stories of each batch, in words."""
        lengths = []
        for inputs, targets, weights in dataset:
            rows = len(targets)
            np.testing.assert_array_equal(targets, [[4, 3]] * rows)
            np.testing.assert_array_equal(inputs["target_ids"], [[2, 4]] * rows)
            np.testing.assert_array_equal(weights, [[1, 1]] * rows)
            np.testing.assert_array_equal(inputs["source_ids"], [[6, 5, 8, 3]] * rows)
            np.testing.assert_array_equal(inputs["context_ids"], inputs["extended_context_ids"])
            lengths.append(np.count_nonzero(inputs["context_ids"], axis=1).tolist())
            width = -(-max(lengths[-1]) // 16) * 16
            stories = [[4, 5, 7] * (length // 3) + [3] for length in lengths[-1]]
            stories = [story + [0] * (width - len(story)) for story in stories]
            np.testing.assert_array_equal(inputs["context_ids"], stories)
        return lengths

    in_order = epoch(reproduce.question_batches(questions, tokenizer))
    assert [len(batch) for batch in in_order] == [32, 32, 6]
    assert list(chain.from_iterable(in_order)) == [3 * len(one.story) + 1 for one in questions]
    shuffled = reproduce.question_batches(questions, tokenizer, seed=1)
    first, second = epoch(shuffled), epoch(shuffled)
    assert [len(batch) for batch in first] == [32, 32, 6]
    lengths = [3 * len(one.story) + 1 for one in questions]
    for batched in (in_order, first, second):
        assert sorted(chain.from_iterable(batched)) == sorted(lengths)
    assert first != second and first != in_order
    assert first == epoch(reproduce.question_batches(questions, tokenizer, seed=1))


class OneWord(keras.Model):
    """Model that returns the previous word, instead of a model that takes long to trace."""

    def __init__(self, tokenizer=None, **sizes):
        super().__init__()
        self.logits = keras.layers.Embedding(16, 16)
        self.logits.build()
        self.built = True

    def get_config(self):
        return {}

    def compile(self, optimizer, label_smoothing):
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        super().compile(optimizer, loss=loss, jit_compile=False)

    def call(self, inputs):
        return self.logits(inputs["target_ids"])


@pytest.mark.thorough("trains; the next test chooses among starts")
def test_the_epoch_with_the_fewest_errors_is_kept(tmp_path, monkeypatch):
    reproduce = script("reproduce", CONTEXT_BABI)
    monkeypatch.setattr(reproduce, "context_attention_gru", OneWord)
    questions = [
        reproduce.StoryQuestion((f"Ann went to the {place}.",), "Where is Ann?", place, ())
        for place in ("hall", "garden") * 5
    ]
    errors, weights = iter([100.0, 50.0, 100.0, 50.0, 100.0, 0.0]), []

    def error_of(model, asked):
        assert asked == questions[9:]
        weights.append(model.get_weights())
        return next(errors)

    monkeypatch.setattr(reproduce, "error_of", error_of)
    path = tmp_path / "output/start.keras"
    how = reproduce.train_start(1, questions, epochs=9, patience=3, path=path)
    assert [epoch["validation_error"] for epoch in how["history"]] == [100, 50, 100, 50, 100]
    losses = [epoch["validation_loss"] for epoch in how["history"]]
    best = 1 if losses[1] < losses[3] else 3
    assert (how["start"], how["epochs"], how["best_epoch"]) == (1, 5, best + 1)
    assert (how["validation_error"], how["validation_loss"]) == (50.0, losses[best])
    kept = keras.saving.load_model(path, {"OneWord": OneWord}, compile=False).get_weights()
    np.testing.assert_array_equal(kept[0], weights[best][0])
    assert not np.array_equal(kept[0], weights[4 - best][0])


def test_starts_are_trained_until_one_is_good(tmp_path, monkeypatch, capsys):
    line = "1 Ann left.\n2 Who left? \tAnn\t1\n"
    for split, count in (("train", 10), ("test", 3)):
        (tmp_path / f"qa1_task_{split}.txt").write_text(line * count, encoding="utf-8")
    reproduce = script("reproduce", CONTEXT_BABI)
    found = {1: (4.0, 0.1), 2: (2.0, 0.3), 3: (2.0, 0.2)}
    trained = []

    def train_start(number, questions, epochs, patience, path):
        assert len(questions) == 10
        trained.append(number)
        error, loss = found[number]
        return {"start": number, "validation_error": error, "validation_loss": loss}

    def load_model(path, compile):
        assert path.name == "task-1-start-3.keras"
        return SimpleNamespace(name="model", count_params=lambda: 7)

    def error_of(model, questions):
        assert len(questions) == 3
        return 2.5

    monkeypatch.setattr(reproduce, "train_start", train_start)
    monkeypatch.setattr(reproduce, "error_of", error_of)
    monkeypatch.setattr(keras.saving, "load_model", load_model)
    output = tmp_path / "output"
    # The results of other tasks stay.
    reproduce.write_json(output / "results.json", {"tasks": {"6": {"test_error": 4.5}}})
    monkeypatch.setattr(sys, "argv", ["_", str(tmp_path), str(output), "--tasks", "1"])
    reproduce.main()
    results = json.loads((output / "results.json").read_text(encoding="utf-8"))
    assert results["tasks"].pop("6") == {"test_error": 4.5}
    starts = results["tasks"]["1"].pop("starts")
    assert [one["validation_error"] for one in starts] == [4.0, 2.0, 2.0]
    assert results == {
        "model": "model",
        "tasks": {"1": {"test_error": 2.5, "parameters": 7, "chosen_start": 3}},
    }
    # Existing starts are not trained again, and no start follows a good one.
    found |= {1: (1.0, 0.1)}
    reproduce.main()
    assert trained == [1, 2, 3]
    (output / "task-1-start-1.json").unlink()
    monkeypatch.setattr(
        keras.saving,
        "load_model",
        lambda path, **_: SimpleNamespace(name=path.name, count_params=lambda: 7),
    )
    reproduce.main()
    assert trained == [1, 2, 3, 1]
    assert json.loads((output / "results.json").read_text(encoding="utf-8"))["model"] == (
        "task-1-start-1.keras"
    )
    assert '"test_error": 2.5' in capsys.readouterr().out


def test_the_rate_of_a_memory_network_is_annealed():
    reproduce = script("reproduce", "memory_network_babi")
    start = SimpleNamespace(ended=None)
    annealing = reproduce.Annealing(start, 60)
    rates = []
    learning_rate = SimpleNamespace(assign=rates.append)
    model = SimpleNamespace(
        optimizer=SimpleNamespace(learning_rate=learning_rate), stop_training=False
    )
    annealing.set_model(model)
    annealing.on_epoch_begin(7)
    start.ended = 8
    for epoch in (8, 22, 23, 67):
        annealing.on_epoch_begin(epoch)
    assert rates == pytest.approx([0.05, 0.16, 0.16, 0.08, 0.02])
    annealing.on_epoch_end(66, {})
    assert not model.stop_training
    annealing.on_epoch_end(67, {})
    assert model.stop_training


def test_captions_and_looks_are_measured():
    reproduce = script("reproduce", "show_attend_tell_scenes")
    scenes = reproduce.builtin_scenes(6, "test")
    captions = [scene.captions["de"] for scene in scenes]
    words = sorted({word for caption in captions for word in caption.text.split()})

    def caption(images, **options):
        assert all(np.array_equal(a, b.image) for a, b in zip(images, scenes, strict=True))
        return [caption.text for caption in captions[:4]] + ["ein", captions[0].text]

    def attend(inputs):
        """Return weights where colors look at their objects, but shapes look beside them."""
        weights = np.zeros((6, inputs["target_ids"].shape[1], 16))
        for row, (scene, caption) in enumerate(zip(scenes, captions, strict=True)):
            regions, before = scene.regions().argmax(axis=1), None
            for word, named in enumerate(caption.named):
                if named is not None:
                    weights[row, word, (regions[named] + (before is not None)) % 16] = 1
                before = named
        return {"weights": SimpleNamespace(numpy=lambda: weights)}

    model = SimpleNamespace(
        caption=caption,
        attend=attend,
        encoder=SimpleNamespace(grid=(4, 4)),
        target_tokenizer=WordTokenizer(words),
    )
    assert reproduce.exact_captions(model, scenes, "de") == 4 / 6
    assert reproduce.looked_at_named(model, scenes, "de") == 0.5


def test_table_of_languages_and_seeds():
    train_all = script("train_all", ".")
    results = {
        "ady": {"runs": {"1": {"exact": 70.0}, "2": {"exact": 74.0}}, "ensemble": {"exact": 75.0}},
        "dut": {"runs": {"1": {"exact": 80.0}, "2": {"exact": 80.0}}, "ensemble": {"exact": 82.0}},
    }
    assert train_all.table(results, "exact").splitlines()[2:] == [
        "| ady | 72.00 | 2.83 | 75.00 |",
        "| dut | 80.00 | 0.00 | 82.00 |",
        "| mean | 76.00 | 1.41 | 78.50 |",
    ]
    results["dut"].pop("ensemble")
    assert train_all.table(results, "exact").splitlines()[3:] == [
        "| dut | 80.00 | 0.00 | – |",
        "| mean | 76.00 | 1.41 | – |",
    ]


@pytest.mark.thorough("trains in two processes")
def test_train_all(tmp_path, monkeypatch, capsys):
    """Each seed of a language is trained once. Their ensemble is scored."""
    (tmp_path / "x.tsv").write_text("a\ta\nb\tb\nc\tc\n" * 20)
    recipe, runs = tmp_path / "recipe.yaml", tmp_path / "runs"
    recipe.write_text(
        "model: {name: bahdanau_gru, units: 4, embedding_dim: 4}\n"
        "tokenizer: {shared: {kind: characters}}\n"
        "data: {train: {pairs: '{language}.tsv'}, validation: {pairs: x.tsv}}\n"
        "training: {epochs: 1, monitor: exact}\n"
    )
    train_all = script("train_all", ".")
    changes = [f"data.{part}.pairs={tmp_path}/{{language}}.tsv" for part in ("train", "test")]
    arguments = [str(recipe), str(runs), "--languages", "x", "--seeds", "1", "2", "--set", *changes]
    monkeypatch.setattr(sys, "argv", ["train_all.py", *arguments])
    train_all.main()
    (results,) = json.loads((runs / "results.json").read_text()).values()
    for seed in "12":
        found = json.loads((runs / f"x_{seed}" / "results.json").read_text())
        assert found["seed"] == int(seed) and results["runs"][seed].items() <= found.items()
        train_all.train(recipe, runs / f"x_{seed}", ["model.name=none"])  # is finished
    assert results["ensemble"].keys() == {"bleu", "chrf", "exact"}
    monkeypatch.setattr(sys, "argv", ["train_all.py", *arguments, "model.units=5"])
    with pytest.raises(SystemExit, match="Expected the recipe and --set of the earlier runs"):
        train_all.main()
    done = capsys.readouterr()
    assert done.err.count("training ") == 2 and "| mean | " in done.out
    with pytest.raises(SystemExit, match=r"x_3: error: data.train.pairs: the file"):
        train_all.train(recipe, runs / "x_3", [])


def test_invented_words_of_inflection(tmp_path, monkeypatch):
    prepare = script("prepare", INFLECTION)
    # Shared: "stumble", in which "tum" may change, and "arbeite", in which "rbe" may. "walk" ends
    # with its last three letters.
    assert prepare.inner_letters("stumble", "stumbled") == [(1, 1), (2, 2), (3, 3)]
    assert prepare.inner_letters("arbeiten", "gearbeitet") == [(1, 3), (2, 4), (3, 5)]
    assert prepare.inner_letters("walk", "walked") == []
    rows = [
        ("stumble", "stumbled", "V;PST"),
        ("arbeiten", "gearbeitet", "V"),
        ("go", "went", "V;PST"),
    ]
    words = prepare.invented(rows, 200)
    assert words == prepare.invented(rows, 200) != prepare.invented(rows, 200, seed=2)
    assert len(words) == 200 and not {*words} & {*rows}
    for lemma, form, tags in words:
        if form.startswith("ge"):
            assert tags == "V" and form == f"ge{lemma[:7]}t" and lemma[0] + lemma[4:] == "aiten"
        else:
            assert tags == "V;PST" and form == f"{lemma}d" and lemma[0] + lemma[4:] == "sble"
    with pytest.raises(ValueError, match="Expected a lemma and a form that share 5 letters"):
        prepare.invented(rows[2:], 1)

    for part in ("train-medium", "dev", "test"):
        text = "".join("\t".join(row) + "\n" for row in rows)
        (tmp_path / f"german-{part}").write_text(text, encoding="utf-8")
    arguments = [str(tmp_path), str(tmp_path / "data"), "--invented", "5"]
    monkeypatch.setattr(sys, "argv", ["prepare.py", *arguments])
    prepare.main()
    made = (tmp_path / "data/german_train.tsv").read_text(encoding="utf-8").splitlines()
    assert made == ["\t".join(row) for row in [*rows, *rows, *words[:5]]]
    assert (tmp_path / "data/german_test.tsv").read_text(encoding="utf-8") == text
