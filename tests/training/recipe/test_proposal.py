import itertools
import random
import string

import pytest
import tensorflow as tf
import yaml

from kerasnmt.text import PunctuationTokenizer
from kerasnmt.training import Recipe
from kerasnmt.training.recipe.proposal import ChosenTokenizer, Proposal, Side

DEFAULTS = {"embedding_dim": 256, "units": 256, "dropout": 0.2}
TRANSFORMER = {"units": 128, "num_heads": 4, "dropout": 0.3}


def word(rng, letters=string.ascii_lowercase):
    return "".join(rng.choices(letters, k=rng.randint(3, 9)))


def sentences(count, words=3000, length=10, seed=1):
    """Return sentences of a language with this number of words."""
    rng = random.Random(seed)
    vocabulary = [word(rng) for _ in range(words)]
    return [" ".join(rng.choices(vocabulary, k=length)) for _ in range(count)]


def propose(sources, targets, pairs, copies=False, defaults=DEFAULTS, most_pieces=8000):
    def supports(texts, size, coverage):
        return size <= most_pieces

    sides = (Side(sources, pairs), Side(targets, pairs))
    return Proposal("some_model", defaults, copies, sides, supports)


TEXT = sentences(1000)
WORDS = [word(random.Random(i)) for i in range(1000)]
PHONES = [" ".join(text) for text in WORDS]


@pytest.mark.parametrize(
    ("sources", "targets", "pairs", "expected"),
    [
        (TEXT, TEXT, 100_000, "sentencepiece 8000"),
        # 2,400,000 characters support 8,000 pieces; fewer support half of them.
        (TEXT, TEXT, 10_000, "sentencepiece 4000"),
        (TEXT, TEXT, 3_000, "sentencepiece 1000"),
        # Repeated words are single pieces. All other words are spelled.
        (sentences(300, 200), sentences(300, 3000), 300, "words, characters"),
        (WORDS, PHONES, 1000, "characters, words"),
        (WORDS, WORDS, 100_000, "characters, characters"),
        (TEXT, ["good", "bad"] * 500, 5_000, "sentencepiece 1000, words"),
    ],
)
def test_tokenizers(sources, targets, pairs, expected):
    tokenizers = propose(sources, targets, pairs).tokenizers
    assert list(tokenizers) == (["source", "target"] if "," in expected else ["shared"])
    written = (f"{kind} {size}" if size else kind for kind, size, _ in tokenizers.values())
    assert ", ".join(written) == expected


def test_pieces_that_the_text_does_not_support_are_fewer():
    proposal = propose(TEXT, TEXT, 100_000, most_pieces=2500)
    assert proposal.tokenizers == {"shared": ChosenTokenizer("sentencepiece", 2000)}
    none = propose(TEXT, TEXT, 100_000, most_pieces=100).tokenizers
    assert none == {side: ChosenTokenizer("characters") for side in ("source", "target")}


def test_thousands_of_characters_need_as_many_pieces():
    many = ["".join(map(chr, range(0x4E00 + i, 0x4E00 + i + 60))) for i in range(0, 5000, 5)]
    tokenizers = propose(TEXT, many, 100_000).tokenizers
    assert tokenizers["target"] == ChosenTokenizer("characters", 8000)
    assert tokenizers["source"] == ChosenTokenizer("sentencepiece", 8000)


HAN = "".join(map(chr, range(0x4E00, 0x4E00 + 1200)))
KANA = "".join(map(chr, range(0x3042, 0x3090)))


def joined(letters, count, length, end=""):
    rng = random.Random(1)
    lengths = (rng.randint(length - 2, length + 2) for _ in range(count))
    return ["".join(rng.choices(letters, k=n)) + end for n in lengths]


THAI = "".join(map(chr, range(0x0E01, 0x0E2F)))


@pytest.mark.parametrize(
    ("targets", "is_text"),
    [
        (joined(HAN, 400, 14), True),
        (joined(HAN, 400, 4, "。"), True),
        (joined(HAN[:300] + KANA, 400, 12), True),
        (joined(THAI, 400, 20), True),
        (joined(string.ascii_lowercase, 400, 30), True),
        (joined(HAN, 400, 3), False),
        (joined(KANA, 400, 5), False),
        (joined(THAI, 400, 6), False),
        (joined(string.ascii_lowercase, 400, 12), False),
        (joined(HAN, 400, 3, " 。")[:1] * 400, False),
    ],
)
def test_sentences_without_spaces_are_not_single_words(targets, is_text):
    proposal = propose([f"{word(random.Random(i))} a b c d" for i in range(400)], targets, 50_000)
    assert proposal.target.is_text is is_text
    text = proposal.to_yaml({"pairs": "a.tsv"}, {"pairs": "b.tsv"})
    assert yaml.safe_load(text)["training"]["monitor"] == ("bleu" if is_text else "exact")
    chosen = list(proposal.tokenizers.values())[-1]
    assert (chosen.kind == "sentencepiece") is is_text


def test_pieces_of_scripts_with_thousands_of_characters(tmp_path):
    """Rare characters stay unknown: 1,000 that occur 40 times cover all but 200 that occur once."""
    rng = random.Random(1)
    frequent, rare = list(HAN[:1000] * 40), HAN[1000:]
    rng.shuffle(frequent)
    texts = ["".join(frequent[i : i + 20]) for i in range(0, len(frequent), 20)]
    # 60,000 pairs of 20 characters are enough for 8,000 pieces; European text needs three times as
    # many characters. The alphabet of 1,000 needs 2,000 pieces, and 1,200 would need 4,000.
    proposal = propose(texts, texts, 60_000)
    assert proposal.tokenizers == {"shared": ChosenTokenizer("sentencepiece", 8000)}
    proposal = propose(texts, texts, 6_000)
    assert proposal.tokenizers == {"shared": ChosenTokenizer("sentencepiece", 2000)}
    texts[0] += rare[:10]
    proposal = propose(texts, texts, 6_000)
    assert proposal.tokenizers == {"shared": ChosenTokenizer("sentencepiece", 2000, 0.9995)}
    path = tmp_path / "recipe.yaml"
    path.write_text(proposal.to_yaml({"pairs": "a.tsv"}, {"pairs": "b.tsv"}), encoding="utf-8")
    assert Recipe.load(path).tokenizer.shared.options == {
        "vocabulary_size": 2000,
        "character_coverage": 0.9995,
    }
    copying = propose(texts, texts, 6_000, copies=True)
    assert copying.tokenizers == {"shared": ChosenTokenizer("characters")}


def test_a_model_that_copies_shares_words_that_recur():
    proposal = propose(["a b b rare"], ["a b c"], 2_000, copies=True)
    assert proposal.tokenizers == {"shared": ChosenTokenizer("words", 6)}
    assert propose(["rare"] * 2, ["b c", "d e"], 1, copies=True).tokenizers["shared"][1] == 5
    # 40 names are copied, and 10 words are translated: only the words belong to the vocabulary.
    sources = [f"w{i % 10} n{i % 40}" for i in range(400)]
    targets = [f"v{i % 10} n{i % 40}" for i in range(400)]
    chosen = propose(sources, targets, 2_000, copies=True).tokenizers["shared"]
    assert chosen == ChosenTokenizer("words", 14)
    plain = [f"({text})." for text in targets]
    chosen = propose(sources, plain, 2_000, copies=True).tokenizers["shared"]
    assert chosen == ChosenTokenizer("words_and_punctuation", 17)  # three marks more
    assert Side(plain, 1).length("words_and_punctuation") == 6
    hindi = Side(["नमस्ते दुनिया"], 1)  # vowels are no punctuation
    assert not hindi.has_punctuation
    spelled = propose(WORDS, WORDS, 2_000, copies=True)
    assert spelled.tokenizers == {"shared": ChosenTokenizer("characters")}


def test_a_model_that_copies_knows_the_words_and_marks_of_every_form():
    """A word that 1 of 100 targets needs and has not in its source would spoil all of these."""
    rng = random.Random(1)
    names = [[word(rng).title() for _ in range(3)] for _ in range(500)]
    sources = [f"{a} | capital | {b} | {c} F.C." for a, b, c in names]
    often, rarely = "The capital of {}, that is {}, is {}'s.", "“{}” ({}) lies in {}!"
    targets = [(often if i % 10 else rarely).format(*one) for i, one in enumerate(names)]
    kind, size, _ = propose(sources, targets, 2_000, copies=True).tokenizers["shared"]
    assert kind == "words_and_punctuation"
    # The ids of all tokens are sorted by their frequency, so the recipe's are those below its size.
    tokenizer = PunctuationTokenizer.train([*sources, *targets])
    sides = (tokenizer.tokenize(tf.constant(side)).to_list() for side in (sources, targets))
    pairs = [({*source}, {*target}) for source, target in zip(*sides, strict=True)]
    lost = [id_ for source, target in pairs for id_ in target - source if id_ >= size]
    assert lost == []
    known = {text.decode() for text in tokenizer.tokens(tf.range(4, size)[None])[0].numpy()}
    words = {"|", "The", "of", "that", "is", "lies", "in", "capital", "F.C"}
    assert known <= words | {"“￭", "￭”", "(￭", "￭)", "￭!", "￭.", "￭,", "￭'s"}  # no names


def test_words_and_punctuation_are_counted_as_the_tokenizer_splits_them():
    texts = ['"Yes", said Jean-Luc\'s friend (3.14).', "O’Brien’s … && 's http://a.b/c_d", "12% "]
    tokens = PunctuationTokenizer.train(texts).tokenize(tf.constant(texts)).row_lengths().numpy()
    lengths = [Side([text], 1).length("words_and_punctuation") for text in texts]
    assert lengths == [*(tokens + 1)] == [13, 8, 3]


@pytest.mark.parametrize(
    ("pairs", "batch_size", "epochs"),
    [(10, 16, 60), (1_000, 16, 60), (3_600, 32, 40), (29_000, 64, 10), (10**6, 128, 3)],
)
def test_a_few_thousand_updates(pairs, batch_size, epochs):
    proposal = propose(TEXT, TEXT, pairs)
    assert (proposal.batch_size, proposal.epochs) == (batch_size, epochs)
    assert proposal.updates_per_epoch == -(-pairs // batch_size)
    assert f"about {epochs * proposal.updates_per_epoch:,} updates" in proposal.to_yaml({}, {})
    assert propose(TEXT, TEXT, pairs, defaults=TRANSFORMER).epochs >= epochs
    # The warm-up ends in the first epoch.
    assert proposal.warmup_steps < proposal.updates_per_epoch


def test_nearly_all_pairs_are_short_enough():
    assert propose(TEXT, TEXT, 100_000).max_length == 100
    assert propose(WORDS, PHONES, 1000).max_length == 100
    long = [" ".join(TEXT[i : i + 10]) for i in range(0, 1000, 10)]
    assert propose(TEXT, long, 100_000).max_length == 300
    assert propose([" ".join(long)], long, 100_000).max_length == 400


@pytest.mark.parametrize("defaults", [DEFAULTS, TRANSFORMER], ids=["recurrent", "transformer"])
@pytest.mark.parametrize("pairs", [2, 1_000, 100_000])
@pytest.mark.parametrize(("sources", "targets"), [(TEXT, TEXT), (WORDS, PHONES), (TEXT, WORDS)])
@pytest.mark.parametrize("copies", [False, True])
def test_the_recipe_is_valid_and_every_value_has_a_comment(
    tmp_path, defaults, pairs, sources, targets, copies
):
    proposal = propose(sources, targets, pairs, copies, defaults)
    text = proposal.to_yaml({"source": "a.en", "target": "a b.de"}, {"pairs": "c: #.tsv"})
    path = tmp_path / "recipe.yaml"
    path.write_text(text, encoding="utf-8")
    recipe = Recipe.load(path)
    assert recipe.data.train.target == tmp_path / "a b.de"
    assert recipe.data.validation.pairs == tmp_path / "c: #.tsv"
    assert recipe.training.warmup_steps < pairs * recipe.training.epochs
    assert recipe.training.monitor == ("exact" if targets is not TEXT else "bleu")
    assert recipe.model.keywords.keys() == defaults.keys() - {"num_heads"}
    assert set(yaml.safe_load(text)) == {"model", "tokenizer", "data", "training", "search"}
    lines = text.splitlines()
    assert max(map(len, lines)) <= 100
    for before, line in itertools.pairwise(lines):
        if before.endswith(":") and not before.startswith(" "):
            assert line.startswith("  # ")
    assert text.count("# ") > 12
