import base64
import io
import tempfile
import unicodedata

import numpy as np
import pytest
import sentencepiece
import tensorflow as tf

from kerasnmt.data import builtin_corpus
from kerasnmt.ids import END_ID
from kerasnmt.text import SentencePieceTokenizer
from kerasnmt.text.translation_codec import TranslationCodec
from tests.text.everywhere import assert_alike

ANIMALS = ["cat", "dog", "goat", "horse"]
VERBS = ["sees", "hears", "follows"]
CORPUS = [f"the {one} {verb} a {other}" for one in ANIMALS for verb in VERBS for other in ANIMALS]


def test_frequent_words_become_one_piece():
    tokenizer = SentencePieceTokenizer.train(CORPUS, 25)
    ids = tokenizer.tokenize(["horse cats"])
    tokens = [token.decode() for token in tokenizer.tokens(ids[0]).numpy()]
    assert tokens == ["▁horse", "▁cat", "s"]


def test_tags_are_single_pieces():
    corpus = [f"<{'de' if number % 2 else 'x;1'}>{text}" for number, text in enumerate(CORPUS)]
    tokenizer = SentencePieceTokenizer.train(corpus, 27, tags=True)
    ids = tokenizer.tokenize(["<x;1><de>the horse"])
    tokens = [token.decode() for token in tokenizer.tokens(ids[0]).numpy()]
    assert [token for token in tokens if token != "▁"][:2] == ["<x;1>", "<de>"]
    assert tokenizer.detokenize(ids).numpy().tolist() == [b"<x;1><de>the horse"]
    assert tokenizer.normalize_source(["<de>"]).numpy().tolist() == [b"<de>"]


@pytest.mark.parametrize("normalization", ["nfc", "identity", "nmt_nfkc"])
def test_a_corpus_gives_one_model_with_any_temporary_folder(normalization, tmp_path, monkeypatch):
    """The path of the rule is not in the model, whose other fields stay as they are."""
    here = SentencePieceTokenizer.train(CORPUS, 25, normalization=normalization).get_config()
    for length in (1, 200):
        folder = tmp_path / ("x" * length)
        folder.mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(folder))
        there = SentencePieceTokenizer.train(CORPUS, 25, normalization=normalization)
        assert there.get_config() == here
        model = base64.b64decode(here["model"])
        assert b"rule.tsv" not in model
        processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        assert processor.serialized_model_proto() == model


def test_text_is_normalised_by_the_rules_of_sentencepiece():
    corpus = [*CORPUS, "the ½ … № ™ ſ می‌روم , １"]
    for normalization, expected in (
        ("nmt_nfkc", "the cat 1⁄2 ... No TM s می روم"),
        ("nfkc", "the cat 1⁄2 ... No TM s می‌روم"),
    ):
        tokenizer = SentencePieceTokenizer.train(corpus, 36, normalization=normalization)
        text = ["  the\u00a0 ｃａｔ ½ … № ™ ſ می‌روم "]
        assert written(tokenizer, text) == [expected]
        assert tokenizer.normalize_source(text).numpy()[0].decode() == text[0]
        config = tokenizer.get_config()
        assert config.pop("normalization") is None  # configs of older versions have no such key
        assert written(SentencePieceTokenizer.from_config(config), text) == [expected]


AS_WRITTEN = [
    "犬，猫。 ½ … № ™ ſ",
    "او می‌روم و می روم.",
    "« oui\u00a0» 10\u202f000\u00a0€",
    "ﬁn\u3000Ｅ カ゛ ｶﾞ 각",
]


@pytest.fixture(scope="module")
def as_written():
    return SentencePieceTokenizer.train([*AS_WRITTEN, "café 1/2 TM No"] * 3, 51)


def written(tokenizer, texts):
    return [one.decode() for one in tokenizer.detokenize(tokenizer.tokenize(texts)).numpy()]


def test_text_stays_as_it_is_written(as_written):
    assert as_written.get_config()["normalization"] == "nfc"
    assert written(as_written, AS_WRITTEN) == AS_WRITTEN
    drawn = as_written.detokenize(as_written.sample(AS_WRITTEN, 0.1)).numpy()
    assert [one.decode() for one in drawn] == AS_WRITTEN
    decomposed = [unicodedata.normalize("NFD", one) for one in [*AS_WRITTEN, "café"]]
    assert decomposed[-1] == "cafe\u0301"
    assert written(as_written, decomposed) == [*AS_WRITTEN, "café"]
    # White space becomes single spaces. A no-break space is a character.
    assert written(as_written, ["  no\t \r\nſ ▁ é ", "é \u00a0 é"]) == ["no ſ é", "é \u00a0 é"]
    assert 1 not in as_written.tokenize([*AS_WRITTEN, *decomposed]).flat_values
    # All that is known stays in sources too.
    assert [x.decode() for x in as_written.normalize_source(AS_WRITTEN).numpy()] == AS_WRITTEN
    again = SentencePieceTokenizer.from_config(as_written.get_config())
    assert written(again, AS_WRITTEN) == AS_WRITTEN


def test_counts_are_of_composed_text():
    corpus = ["cafe\u0301 é"] * 3
    tokenizer = SentencePieceTokenizer.train(corpus, 9)
    expected = np.bincount(tokenizer.tokenize(corpus).flat_values, minlength=9)
    expected[END_ID] = 3
    assert tokenizer.counts == expected.tolist() and tokenizer.counts[1] == 0


PLAIN = ["the dog, 1⁄2 TM No a ... café ガパ می روم", "the dog, the café"] * 3
# A source that is tokenized, and what a vocabulary of `PLAIN` makes of it.
READ = {
    "the\u00a0dog， ½ ™ № …": "the dog, 1⁄2 TM No ...",
    "ｔｈｅ　ｃａｆｅ\u0301": "the café",
    "ｶﾞﾊﾟ": "ガパ",
    "می‌روم": "می روم",
    "the\u200bdog\x01, 🙂，": "the dog, ⁇,",
}


def test_a_source_is_read_in_forms_that_are_known():
    shared = SentencePieceTokenizer.train(PLAIN, 30)
    codec = TranslationCodec(shared, shared)
    texts = tf.constant([*READ])
    source = codec.encode_source(texts)
    assert [x.decode() for x in codec.decode(source.ids["source_ids"], source).numpy()] == [
        *READ.values()
    ]
    lengths = source.ids["source_ids"].row_lengths() + 1
    np.testing.assert_array_equal(codec.source_lengths(texts), lengths)
    np.testing.assert_array_equal(source.inputs()["source_ids"].shape[1], max(lengths))
    drawn = codec.encode_source(texts, alpha=0.5).ids["source_ids"]
    assert shared.detokenize(drawn).numpy().tolist() == [x.encode() for x in READ.values()]
    copying = TranslationCodec(shared, shared, copies=True).encode_source(texts, texts)
    for ids in copying.ids.values():
        assert ids.to_list() == source.ids["source_ids"].to_list()
    replacing = TranslationCodec(shared, shared, replace_unknown=True).encode_source(texts)
    np.testing.assert_array_equal(replacing.unknown_words.row_lengths() + 1, lengths)
    # Targets are never changed.
    targets = codec.encode_target(texts, source)
    assert all(1 in row for row in targets.to_list())
    assert targets.to_list() == shared.tokenize([*READ]).to_list()


def test_normalization_is_one_of_four(as_written):
    spaces = SentencePieceTokenizer.train(["e\u0301  ½\ta"] * 9, 9, normalization="identity")
    assert written(spaces, [" e\u0301\t ½"]) == ["e\u0301 ½"]
    message = r"Expected normalization to be one of \('nfc', .* Received: normalization='nfd'\."
    with pytest.raises(ValueError, match=message):
        SentencePieceTokenizer.train(CORPUS, 25, normalization="nfd")
    config = as_written.get_config() | {"normalization": "nfkc"}
    with pytest.raises(ValueError, match=r"'nfc', or None for the model's own rule.*'nfkc'"):
        SentencePieceTokenizer.from_config(config)


@pytest.mark.graph
def test_sources_are_read_alike_in_a_graph_a_dataset_and_an_export(tmp_path):
    tokenizer = SentencePieceTokenizer.train(PLAIN, 30)

    def read(text):
        return tokenizer.tokenize(tokenizer.normalize_source(text)).to_tensor()

    assert_alike(read, [*READ, ""], tokenizer=tokenizer, folder=tmp_path)


def test_an_unknown_character_stays_in_its_word():
    tokenizer = SentencePieceTokenizer.train(CORPUS, 25)
    ids = tokenizer.tokenize(["the c€t €"])
    assert tokenizer.detokenize(ids).numpy()[0].decode() == "the c⁇t ⁇"
    tokens = [token.decode() for token in tokenizer.tokens(ids[0]).numpy()]
    assert max(tokenizer.word_indices(tokens)) == 2


def test_from_a_large_corpus_sentences_are_drawn_from_all_of_it():
    letters = [chr(0x4E00 + i) for i in range(300)]
    tokenizer = SentencePieceTokenizer.train(letters, 35, sample=30)  # with "▁", 35 ids exactly
    drawn = [i for i, row in enumerate(tokenizer.tokenize(letters).to_list()) if 1 not in row]
    assert len(drawn) == 30
    assert 5 <= sum(i < 100 for i in drawn) <= 16
    assert 5 <= sum(i >= 200 for i in drawn) <= 16
    again = SentencePieceTokenizer.train(letters, 35, sample=30)
    assert again.get_config() == tokenizer.get_config()


def test_a_text_of_any_length_counts():
    tokenizer = SentencePieceTokenizer.train([*CORPUS, "zebra " * 2_000], 27)
    assert 1 not in tokenizer.tokenize(["zebra"]).to_list()[0]


def test_coverage_leaves_out_the_rarest_characters():
    corpus = ["aaaa bbbb"] * 100 + ["z"]
    sizes = {"vocabulary_size": 9}
    assert 1 not in SentencePieceTokenizer.train(corpus, **sizes).tokenize(["z"]).to_list()[0]
    covering_less = SentencePieceTokenizer.train(corpus, **sizes, character_coverage=0.99)
    assert 1 in covering_less.tokenize(["z"]).to_list()[0]


def test_a_vocabulary_beyond_the_corpus_is_refused_with_the_largest_that_is_possible():
    with pytest.raises(ValueError, match=r"of at most (\d+), .* vocabulary_size=8000\.") as caught:
        SentencePieceTokenizer.train(CORPUS, 8000)
    largest = int(str(caught.value).split("at most ")[1].split(",")[0])
    assert SentencePieceTokenizer.train(CORPUS, largest).vocabulary_size == largest
    with pytest.raises(ValueError, match=f"at most {largest}, .* vocabulary_size={largest + 1}"):
        SentencePieceTokenizer.train(CORPUS, largest + 1)
    with pytest.raises(ValueError, match=r"an integer as vocabulary_size\. Received: .*=10000\.0"):
        SentencePieceTokenizer.train(CORPUS, 1e4)


def test_a_vocabulary_too_small_for_the_characters_is_refused_with_the_smallest():
    with pytest.raises(ValueError, match=r"of at least 18 .* Received: vocabulary_size=10\."):
        SentencePieceTokenizer.train(CORPUS, 10)  # 13 letters and the space, and the four ids
    assert SentencePieceTokenizer.train(CORPUS, 20).vocabulary_size == 20


def test_what_is_no_model_is_refused():
    for model in (b"no model", b"", "a path", None):
        with pytest.raises(ValueError, match="Expected the bytes of a SentencePiece model"):
            SentencePieceTokenizer(model)


def test_a_model_with_other_ids_is_refused():
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS), model_writer=model, vocab_size=24, minloglevel=2
    )
    with pytest.raises(ValueError, match=r"pad_id=0, .* Received: a model with \(-1, 0, 1, 2\)"):
        SentencePieceTokenizer(model.getvalue())


def test_training_prints_nothing(capfd):
    SentencePieceTokenizer.train(CORPUS, 25)
    assert capfd.readouterr() == ("", "")


@pytest.mark.graph
def test_seeding_after_training_changes_nothing():
    tokenizer = SentencePieceTokenizer.train(["two dogs run", "a man runs", "two men"] * 5, 19)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def traced(text):
        return tokenizer.tokenize(text).to_tensor()

    text = tf.constant(["two men run"])
    before = traced(text).numpy()
    tf.random.set_seed(7)
    np.testing.assert_array_equal(traced(text), before)
    np.testing.assert_array_equal(tokenizer.tokenize(text).to_tensor(), before)
    (mapped,) = tf.data.Dataset.from_tensors(text).map(lambda x: tokenizer.tokenize(x).to_tensor())
    np.testing.assert_array_equal(mapped, before)


def test_frequencies_match_the_text():
    corpus = [pair.target for pair in builtin_corpus(500)]
    tokenizer = SentencePieceTokenizer.train(corpus, vocabulary_size=400)
    counts = np.bincount(tokenizer.tokenize(corpus).flat_values, minlength=400)
    counts[END_ID] = 500
    assert tokenizer.counts == counts.tolist()
    shares = np.maximum(counts, 0.5) / np.maximum(counts, 0.5).sum()
    np.testing.assert_allclose(tokenizer.log_frequencies, np.log(shares), rtol=1e-5)
    again = SentencePieceTokenizer.from_config(tokenizer.get_config())
    np.testing.assert_array_equal(again.log_frequencies, tokenizer.log_frequencies)


@pytest.fixture(scope="module")
def captions():
    corpus = [pair.target for pair in builtin_corpus(300)]
    return SentencePieceTokenizer.train(corpus, vocabulary_size=400), corpus


def test_samples_are_other_cuts_of_the_same_text(captions):
    tokenizer, corpus = captions
    text = [*corpus, "", "  two  spaces ", "un€€known ☃", "a" * 300]
    expected = tokenizer.detokenize(tokenizer.tokenize(text)).numpy().tolist()
    for alpha in (0.0, 0.1, 0.5):
        ids = tokenizer.sample(text, alpha)
        assert ids.dtype == tf.int32
        assert tokenizer.detokenize(ids).numpy().tolist() == expected
        assert ids.to_list() != tokenizer.tokenize(text).to_list()
        assert ids[300].shape == 0
    # An unknown character is not part of a piece.
    assert 1 in ids[302]
    assert tokenizer.sample([b"\xff two"]).nrows() == 1


def test_alpha_makes_the_best_cut_more_likely(captions):
    tokenizer, corpus = captions
    best = tokenizer.tokenize(corpus)

    def same(alpha):
        drawn = tokenizer.sample(corpus, alpha).to_list()
        return sum(one == other for one, other in zip(drawn, best.to_list(), strict=True))

    # Uniform segmentations are close to single characters. A large alpha selects the best one.
    assert same(0.0) < 30 < same(1.0) < 290 < same(100.0)
    lengths = [len(tokenizer.sample(corpus, alpha).flat_values) for alpha in (0.0, 0.5)]
    assert lengths[0] > lengths[1] > len(best.flat_values)
    # Sampling does not change the tokenizer.
    assert tokenizer.tokenize(corpus).to_list() == best.to_list()


def test_samples_by_their_probability():
    # "ab" is "▁ab" or "▁a" "b" or "▁" "a" "b" …: as the model has them, by exp of their scores.
    tokenizer = SentencePieceTokenizer.train(["ab a b"] * 9 + ["abab"], 10)
    processor = sentencepiece.SentencePieceProcessor(
        model_proto=base64.b64decode(tokenizer.get_config()["model"])
    )
    cuts = {tuple(cut): 0 for cut in processor.nbest_encode("ab", nbest_size=50)}
    score = {cut: sum(processor.get_score(i) for i in cut) for cut in cuts}
    for cut in tokenizer.sample(["ab"] * 4000, 0.5).to_list():
        cuts[tuple(cut)] += 1
    weights = np.exp(0.5 * np.array(list(score.values())))
    assert len(cuts) > 2
    # Four deviations of a share of 4,000 are 0.032 at most.
    np.testing.assert_allclose(
        np.array(list(cuts.values())) / 4000, weights / weights.sum(), atol=0.032
    )


@pytest.mark.graph
def test_samples_in_graph_and_after_seeding(captions):
    tokenizer, corpus = captions
    text = tf.constant(corpus[:40])

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def twice(text):
        return tokenizer.sample(text).to_tensor(), tokenizer.sample(text).to_tensor()

    one, other = twice(text)
    assert one.shape != other.shape or np.any(one != other)  # not made one, nor a constant
    tf.random.set_seed(7)
    again, _ = twice(text)
    assert again.shape != one.shape or np.any(again != one)
    dataset = tf.data.Dataset.from_tensors(text).repeat(2)
    first, second = dataset.map(lambda text: tokenizer.sample(text).flat_values)
    assert first.shape != second.shape or np.any(first != second)


def test_alpha_out_of_range(captions):
    with pytest.raises(ValueError, match=r"Expected alpha >= 0; .* Received: alpha=-0\.5"):
        captions[0].sample(["a"], -0.5)
