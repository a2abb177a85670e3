import gzip
import random
from pathlib import Path

import pytest

from kerasnmt.training import NewRecipe, PairFiles, Recipe, texts
from kerasnmt.training.corpora import read_pairs
from kerasnmt.training.tokenizers import train_tokenizers


@pytest.fixture(scope="module")
def corpus():
    rng = random.Random(1)
    words = ["".join(rng.choices("abcdefgh", k=rng.randint(2, 7))) for _ in range(400)]
    return [(f"{' '.join(rng.choices(words, k=4))} {i}.", rng.choice(words)) for i in range(1000)]


def write_parallel(folder, pairs, source="a.en", target="a.de", end="\n"):
    files = PairFiles(source=folder / source, target=folder / target)
    for path, side in zip(files.paths.values(), zip(*pairs, strict=True), strict=True):
        data = "".join(f"{text}{end}" for text in side).encode()
        path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return files


def write_tsv(folder, pairs, name="pairs.tsv"):
    path = folder / name
    path.write_text("".join(f"{source}\t{target}\n" for source, target in pairs))
    return PairFiles(pairs=path)


def read(section):
    """Return the pairs of a section of a recipe."""
    return list(zip(*texts(read_pairs(section, "train")), strict=True))


@pytest.mark.parametrize(
    ("source", "end"),
    [("a.en", "\r\n"), pytest.param("a.en.gz", "\n", marks=pytest.mark.thorough("another file"))],
)
def test_pairs_are_held_out(tmp_path, corpus, source, end):
    names = source, "a.de"
    files = write_parallel(tmp_path, corpus, *names, end)
    before = {path: path.read_bytes() for path in files.paths.values()}
    new = NewRecipe(tmp_path / "en_de.yaml", files)
    recipe = new.write()
    assert (new.pairs, new.training_pairs, new.validation_pairs) == (1000, 900, 100)
    train, validation = read(recipe.data.train), read(recipe.data.validation)
    assert len(train) == 900 and len(validation) == 100
    assert sorted(train + validation) == sorted(corpus)
    assert train == [pair for pair in corpus if pair in set(train)]  # in order
    assert {path: path.read_bytes() for path in before} == before
    gz = ".gz" if names[0].endswith(".gz") else ""
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [
            *names,
            "en_de.yaml",
            *(f"en_de.{split}.source.txt{gz}" for split in ("train", "validation")),
            *(f"en_de.{split}.target.txt" for split in ("train", "validation")),
        ]
    )
    assert new.example() in {source for source, _ in validation}


def test_the_text_supports_the_vocabulary(tmp_path, corpus):
    pairs = [(" ".join([source] * 8), target) for source, target in corpus]
    recipe = NewRecipe(tmp_path / "recipe.yaml", write_tsv(tmp_path, pairs)).write()
    assert recipe.tokenizer.source.kind == "sentencepiece"
    tokenizers = train_tokenizers(recipe.tokenizer, read_pairs(recipe.data.train, "train"))
    assert tokenizers["source"].vocabulary_size == recipe.tokenizer.source.vocabulary_size


def test_one_file_of_both(tmp_path, corpus):
    new = NewRecipe(tmp_path / "recipe.yaml", write_tsv(tmp_path, corpus))
    recipe = new.write()
    assert recipe.data.train.pairs == tmp_path / "recipe.train.tsv"
    assert recipe.data.validation.pairs == tmp_path / "recipe.validation.tsv"
    assert sorted(read(recipe.data.train) + read(recipe.data.validation)) == sorted(corpus)
    again = NewRecipe(tmp_path / "again.yaml", new._unsplit).write()
    for split in ("train", "validation"):
        one, other = (getattr(made.data, split).pairs.read_bytes() for made in (recipe, again))
        assert one == other


def test_given_validation_data_are_used(tmp_path, corpus):
    (tmp_path / "made").mkdir()
    train = write_tsv(tmp_path, corpus[:300])
    validation = write_parallel(tmp_path, corpus[300:310])
    new = NewRecipe(tmp_path / "made" / "recipe.yaml", train, validation)
    recipe = new.write()
    assert (new.pairs, new.training_pairs, new.validation_pairs) == (300, 300, 10)
    assert recipe.data.train.pairs == tmp_path / "pairs.tsv"
    assert recipe.data.validation.source == tmp_path / "a.en"
    assert [path.name for path in (tmp_path / "made").iterdir()] == ["recipe.yaml"]
    assert new.example() in {source for source, _ in corpus[300:310]}


@pytest.mark.parametrize(
    "name",
    [
        "a b: c #d.tsv",
        *(
            pytest.param(name, marks=pytest.mark.thorough("another name"))
            for name in ('it\'s "it".tsv', "~a.tsv", "- [x].tsv", "null", "été.tsv", "a\nb")
        ),
    ],
)
def test_odd_names(tmp_path, monkeypatch, corpus, name):
    monkeypatch.chdir(tmp_path)
    write_tsv(tmp_path, corpus[:10], name)
    files = PairFiles(pairs=Path(name))
    made = NewRecipe("a: #b/recipe.yaml", files, files).write()
    assert made.data.train.pairs == made.data.validation.pairs == tmp_path / name
    # A recipe that is read from another folder has the same files.
    monkeypatch.chdir("/")
    assert Recipe.load(tmp_path / "a: #b/recipe.yaml") == made


def test_parts_beside_a_recipe_with_an_odd_name(tmp_path, corpus):
    files = write_tsv(tmp_path, corpus)
    made = NewRecipe(tmp_path / "new" / "~ a: #b.c.yaml", files).write()
    assert made.data.train.pairs == tmp_path / "new" / "~ a: #b.c.train.tsv"
    assert len(made.data.validation.pairs.read_text().splitlines()) == 100


def test_what_exists_is_not_replaced(tmp_path, corpus):
    files = write_tsv(tmp_path, corpus)
    path = tmp_path / "recipe.yaml"
    path.write_text("mine")
    with pytest.raises(ValueError, match=r"does not exist\. Received: .*recipe\.yaml, which"):
        NewRecipe(path, files)
    path.unlink()
    part = tmp_path / "recipe.validation.tsv"
    part.write_text("mine")
    with pytest.raises(ValueError, match=r"Received: .*recipe\.validation\.tsv, which exists\."):
        NewRecipe(path, files)
    assert part.read_text() == "mine"
    NewRecipe(path, files, files)  # needs no parts
    with pytest.raises(ValueError, match=r"a name that ends with \.yaml .* Received: .*/runs$"):
        NewRecipe(tmp_path / "runs", files)


def test_corpora_that_are_too_small_are_refused(tmp_path, corpus):
    small = write_tsv(tmp_path, corpus[:999])
    with pytest.raises(ValueError, match=r"at least 1,000 pairs, .* with 999\. Pass validation"):
        NewRecipe(tmp_path / "recipe.yaml", small)
    same = write_tsv(tmp_path, [("the same", target) for _, target in corpus])
    with pytest.raises(ValueError, match=r"Expected different sources, to hold 100 pairs out"):
        NewRecipe(tmp_path / "recipe.yaml", same)
    blank = write_tsv(tmp_path, [("a", " "), ("", "b")])
    with pytest.raises(ValueError, match=r"pairs with text on both sides\. Received: .*pairs\.tsv"):
        NewRecipe(tmp_path / "recipe.yaml", blank, blank).write()
    assert [path.name for path in tmp_path.iterdir()] == ["pairs.tsv"]


def test_an_error_while_writing_leaves_nothing(tmp_path, corpus, monkeypatch):
    files = write_tsv(tmp_path, corpus)
    new = NewRecipe(tmp_path / "recipe.yaml", files)

    def fail(pairs, path):
        path.write_text("a part of it")
        if "validation" in str(path):
            raise OSError("full disk")

    monkeypatch.setattr("kerasnmt.training.new_recipe.write_pairs", fail)
    with pytest.raises(OSError, match="full disk"):
        new.write()
    assert [path.name for path in tmp_path.iterdir()] == ["pairs.tsv"]


def test_models(tmp_path, corpus):
    files = write_tsv(tmp_path, corpus[:300])
    for model, kinds in {"pointer_generator_gru": ["shared"], "transformer_tiny": None}.items():
        recipe = NewRecipe(tmp_path / f"{model}.yaml", files, files, model).write()
        assert recipe.model.name == model
        assert kinds is None or list(recipe.tokenizer.chosen) == kinds
    for model, message in {
        "bahdanau": "unknown model 'bahdanau'; did you mean 'bahdanau_",
        "memory_network": "Expected the name of a Seq2Seq",
        "context_attention_gru": "a model that reads one text.*data.train.context",
    }.items():
        with pytest.raises(ValueError, match=message):
            NewRecipe(tmp_path / "recipe.yaml", files, files, model).write()


def test_an_example_can_be_pasted(tmp_path):
    sources = ["", "-n dash", "back\\slash", "bell\a", "long " * 20, "a dog runs .", "next"]
    files = write_tsv(tmp_path, [(source, "b") for source in sources])
    assert NewRecipe(tmp_path / "r.yaml", files, files).example() == "a dog runs ."
    files = write_tsv(tmp_path, [("-n", "b")])
    assert NewRecipe(tmp_path / "r.yaml", files, files).example() == "-n"


def test_columns_are_chosen_and_kept_in_the_recipe(tmp_path, corpus):
    """A part has two columns; files that stay as they are need their columns."""
    rows = [f"{n}\t{target}\t{source}\n" for n, (source, target) in enumerate(corpus)]
    path = tmp_path / "wide.tsv"
    path.write_text("".join(["id\tger man\tenglish\n", *rows]))
    files = PairFiles(columns=["english", "ger man"], pairs=path)
    recipe = NewRecipe(tmp_path / "parts.yaml", files).write()
    assert recipe.data.train.columns is None
    assert sorted(read(recipe.data.train) + read(recipe.data.validation)) == sorted(corpus)
    recipe = NewRecipe(tmp_path / "same.yaml", files, files).write()
    assert recipe.data.train.columns == recipe.data.validation.columns == ["english", "ger man"]
    assert read(recipe.data.train) == corpus
    with pytest.raises(ValueError, match=r"line 1 has 3 columns: 1 'id', 2 'ger man', 3 'english'"):
        NewRecipe(tmp_path / "no.yaml", PairFiles(pairs=path))
