"""Tags of sources, from a column of the pairs of a recipe."""

import re

import numpy as np
import pytest

from kerasnmt.data import Shards, read_tsv
from kerasnmt.ids import UNKNOWN_ID
from kerasnmt.text import CharacterTokenizer
from kerasnmt.training import NewRecipe, PairFiles, Recipe, texts
from kerasnmt.training.batches import RecipeBatches
from kerasnmt.training.corpora import Corpora
from kerasnmt.training.tokenizers import train_tokenizers
from kerasnmt.zoo import bahdanau_gru

# Two languages, a pair without tags, and tags with spaces between them.
ROWS = "lemma\tform\ttags\nwalk\twalked\teng;V;PST\ngehen\tging\tdeu V PST\nox\tox\t\n"
TAGGED = ["<eng><V><PST>walk", "<deu><V><PST>gehen", "ox"]
FORMS = ["walked", "ging", "ox"]
CHARACTERS = {"source": {"kind": "characters", "tags": True}, "target": {"kind": "characters"}}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "rows.tsv").write_text(ROWS)
    (tmp_path / "conll").write_text(ROWS.split("\n", 1)[1])
    return tmp_path


def recipe(train, validation=None, tokenizer=CHARACTERS, **sections):
    return Recipe.from_dict(
        {
            "model": {"name": "bahdanau_gru"},
            "tokenizer": tokenizer,
            "data": {"train": train, "validation": validation or train},
            "training": {"batch_size": 3},
            **sections,
        }
    )


def test_tags_of_a_column_are_in_front_of_the_sources(folder):
    for part in (
        {"pairs": str(folder / "rows.tsv"), "columns": ["lemma", "form"], "tags": "tags"},
        {"pairs": str(folder / "conll"), "columns": [1, 2], "tags": 3},
    ):
        one = recipe(part)
        corpora = Corpora(one.data)
        for split in ("train", "validation"):
            assert texts(corpora.pairs[split]) == (TAGGED, FORMS)
        assert Recipe.from_dict(one.model_dump(mode="json", exclude_none=True)) == one
        files = PairFiles(part["columns"], part["tags"], pairs=folder / part["pairs"])
        assert files.keys(folder) == part
    tokenizers = train_tokenizers(one.tokenizer, corpora.own)
    assert tokenizers["source"].tags == ["<PST>", "<V>", "<deu>", "<eng>"]
    model = bahdanau_gru(*tokenizers.values(), units=4)
    rows = [
        row
        for inputs, *_ in RecipeBatches(one, corpora, model).training()
        for row in inputs["source_ids"]
    ]
    # Three tags, the characters and the end.
    assert sorted(map(np.count_nonzero, rows)) == [2 + 1, 3 + 4 + 1, 3 + 5 + 1]
    one = recipe(part, training={"batch_size": 3, "word_dropout": 0.9})
    dropping = RecipeBatches(one, corpora, model)
    dropped = [
        id_
        for inputs, *_ in dropping._with_dropout(dropping.training(), 0)
        for id_ in inputs["source_ids"].numpy().reshape(-1)
    ]
    assert np.isin(dropped, tokenizers["source"].tag_ids).sum() == 6
    assert dropped.count(UNKNOWN_ID) > 4


def test_tags_that_the_training_data_lack(folder):
    (folder / "more").write_text("ox\toxen\tPL;eng;<DU>\ngo\twent\tV\n")
    train = {"pairs": str(folder / "conll"), "columns": [1, 2], "tags": 3}
    corpora = Corpora(recipe(train, {**train, "pairs": str(folder / "more")}).data)
    tokenizer = CharacterTokenizer.train(corpora.own, tags=True)
    assert corpora.unknown_tags(tokenizer.tags) == {"validation": ["<DU>", "<PL>"]}


def test_pairs_that_are_also_training_pairs(folder):
    (folder / "more").write_text("ox\toxen\nwalk\twalked\nox\toxen\nox\toxe\n")
    (folder / "train").write_text("go\twent\nox\toxen\nox\tox\n")
    train, more = ({"pairs": str(folder / name), "columns": [1, 2]} for name in ("train", "more"))
    assert Corpora(recipe(train, more).data).in_training() == {"validation": (2, 4)}
    assert Corpora(recipe(more, train).data).in_training() == {"validation": (1, 3)}
    assert Corpora(recipe({**train, "pairs": str(folder / "tra*")}, more).data).in_training() == {}


def test_tags_of_files_that_are_read_during_training(folder):
    for number in range(3):
        (folder / f"part-{number}").write_text(f"form{number}\tlemma{number}\tV;{number}\n")
    part = {"pairs": str(folder / "part-*"), "columns": [2, 1], "tags": 3}
    shards = Corpora(recipe(part).data).own
    expected = [(f"<V><{number}>lemma{number}", f"form{number}") for number in range(3)]
    assert isinstance(shards, Shards) and [*shards] == expected
    assert [*shards.part(3, 1)] == expected[1:2]
    read = shards.dataset().as_numpy_iterator()
    assert [tuple(text.decode() for text in pair) for pair in read] == expected


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("walk\twalked", "Expected at least 3 columns. Received: path='{}', whose line 2 has 2 "),
        ("walk\twalked\tV;s", "Received: '<s>' in 'V;s'. They are the tags of pair 2 in {}."),
        ("walk\twalked\tV;<P", "Received: '<<P>' in 'V;<P'. They are the tags of pair 2 in {}."),
        ("walk\twalked\tA<B>C", "Received: '<A<B>C>' in 'A<B>C'. They are the tags of pair 2 in"),
    ],
)
def test_a_row_without_fine_tags(tmp_path, line, message):
    path = tmp_path / "rows"
    path.write_text(f"go\twent\tV;PST\n{line}\n")
    with pytest.raises(ValueError, match=re.escape(message.format(path))):
        read_tsv(path, [1, 2], tags=3)


def test_tags_that_a_recipe_cannot_use(folder):
    pairs = {"pairs": str(folder / "rows.tsv"), "columns": ["lemma", "form"]}
    train = {**pairs, "tags": "tags"}
    for part, options, message in (
        ({**pairs, "tags": 3}, {}, r"should have tags, a column of pairs, by number or by name"),
        ({"pairs": pairs["pairs"], "tags": 3}, {}, r"should have tags, a column of pairs"),
        ({"builtin": 3, "tags": 3}, {}, r"should have tags, a column of pairs"),
        (train, {"validation": pairs}, "tags, a column, in each part of data, not only in train"),
        (pairs, {"validation": train}, "in each part of data, not only in validation"),
        (
            train,
            {"tokenizer": {"source": {"kind": "words"}, "target": {"kind": "words"}}},
            r"tokenizer\.source\.tags: true, with kind: .* with data\.train\.tags",
        ),
        (
            train,
            {"tokenizer": {"shared": {"kind": "characters"}}},
            r"tokenizer\.shared\.tags: true",
        ),
    ):
        with pytest.raises(ValueError, match=message) as caught:
            recipe(part, **options)
        assert "\n" not in str(caught.value)
    assert recipe(train, tokenizer={"shared": CHARACTERS["source"]}).data.train.tags == "tags"
    for arguments in ((None, 3), (["lemma", "form"], 3)):
        with pytest.raises(ValueError, match=r"and 3 beside|the column 3 alone"):
            Shards(folder / "rows.tsv", columns=arguments[0], tags=arguments[1])
        with pytest.raises(ValueError, match=r"and 3 beside|the column 3 alone"):
            PairFiles(*arguments, pairs=folder / "rows.tsv")


class TestInit:
    def lines(self, folder):
        """Write 300 words with 1 to 3 tags."""
        path = folder / "words.tsv"
        words = [f"{a}{b}{c}" for a in "bdfgk" for b in "aeiou" for c in "lmnprstwxyzv"]
        rows = (
            f"{word}\t{word}{'s' * (n % 3)}\t{';'.join('NXY'[: 1 + n % 3])}\n"
            for n, word in enumerate(words)
        )
        path.write_text("".join(rows))
        return path

    def test_a_column_stays_in_the_recipe(self, tmp_path):
        files = PairFiles([1, 2], 3, pairs=self.lines(tmp_path))
        new = NewRecipe(tmp_path / "recipe.yaml", files, files).write()
        assert new.data.train.tags == new.data.validation.tags == 3
        assert new.tokenizer.model_dump(exclude_defaults=True) == CHARACTERS
        assert new.training.monitor == "exact"

    def test_parts_that_are_held_out_have_the_tags_in_their_sources(self, tmp_path):
        files = PairFiles([1, 2], 3, pairs=self.lines(tmp_path))
        files.paths["pairs"].write_text(4 * files.paths["pairs"].read_text())
        new = NewRecipe(tmp_path / "recipe.yaml", files).write()
        assert new.data.train.tags is None and new.tokenizer.source.tags
        sources, _ = texts(Corpora(new.data).pairs["validation"])
        assert all(re.fullmatch("(<[NXY]>){1,3}[a-z]{3}", source) for source in sources)

    def test_a_model_that_copies_reads_characters(self, tmp_path):
        files = PairFiles([1, 2], 3, pairs=self.lines(tmp_path))
        options = (tmp_path / "recipe.yaml", files, files, "pointer_generator_gru")
        new = NewRecipe(*options).write()
        shared = new.tokenizer.shared
        assert (shared.kind, shared.tags) == ("characters", True)
