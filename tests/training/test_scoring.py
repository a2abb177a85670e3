import pytest
import sacrebleu

from kerasnmt.training import compared_scores, translation_scores

REFERENCES = ["Zwei Hunde laufen im Gras.", "Ein Mann liest."]


def test_perfect_translations():
    scores = translation_scores(REFERENCES, REFERENCES)
    assert scores["bleu"] == pytest.approx(100)
    assert scores["chrf"] == pytest.approx(100)
    assert scores["bleu_signature"].startswith("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp")
    assert scores["chrf_signature"].startswith("nrefs:1|case:mixed|eff:yes|nc:6|nw:0")


def test_exact_matches():
    """A match has the same characters, at the same place in the list."""
    found = ["a b", "a b ", "A b", "c", "a b"]
    assert translation_scores(found, ["a b", "a b", "a b", "c", "d"])["exact"] == 40.0


def test_several_references():
    """The scores equal sacreBLEU's with several references. One equal reference is a match."""
    translations = ["a b c d e f", "g h i j k", "l m n o"]
    references = [["a b c d e x", "a b c d e f"], "g h i x k", ["l m n x", "x m n o", "l m"]]
    columns = [
        ["a b c d e x", "g h i x k", "l m n x"],
        ["a b c d e f", None, "x m n o"],
        [None, None, "l m"],
    ]
    scores = translation_scores(translations, references)
    bleu = sacrebleu.BLEU(force=True).corpus_score(translations, columns).score
    assert scores["bleu"] == pytest.approx(bleu) and scores["exact"] == pytest.approx(100 / 3)
    assert scores["bleu"] > translation_scores(translations, columns[0])["bleu"]
    assert scores["bleu_signature"].startswith("nrefs:var|")


def test_bleu_by_hand():
    # Tokens "a b c d e ." against "a b c d f .": precisions 5/6, 3/5, 2/4, 1/3, equal lengths.
    scores = translation_scores(["a b c d e."], ["a b c d f."])
    assert scores["bleu"] == pytest.approx(100 * (5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25)


def test_a_comparison_with_several_references(monkeypatch):
    references = [[sentence, sentence[::-1]] for sentence in SENTENCES]
    backwards = [sentence[::-1] for sentence in SENTENCES]
    scores = compared_scores(backwards, BROKEN, references)
    assert (scores["exact"], scores["baseline_exact"]) == (100.0, 0.0)
    assert scores["bleu"] == pytest.approx(100) and scores["bleu_p_value"] < 0.05
    assert scores["bleu_signature"].startswith("nrefs:2|")


@pytest.mark.parametrize(("translations", "references"), [(["a"], ["a", "b"]), ([], [])])
def test_numbers_that_differ(translations, references):
    message = f"Received: {len(translations)} translations and {len(references)} references"
    with pytest.raises(ValueError, match=message):
        translation_scores(translations, references)


SENTENCES = [f"Der {noun} sieht {count} alte {other} im Garten." for noun, count, other in zip(
    ["Hund", "Mann", "Vogel", "Baum", "Koch"] * 6,
    ["zwei", "drei", "vier", "fünf", "sechs", "sieben"] * 5,
    ["Hunde", "Katzen", "Frauen"] * 10,
    strict=True,
)]  # fmt: skip
BROKEN = [" ".join(sentence.split()[::-1]) for sentence in SENTENCES]


def test_a_system_against_itself_and_against_a_broken_one(monkeypatch):
    # Every fifth sentence has a missing word, so that the scores are below 100.
    system = [one[4:] if place % 5 == 0 else one for place, one in enumerate(SENTENCES)]
    same = compared_scores(system, system, SENTENCES)
    assert same["bleu_p_value"] == same["chrf_p_value"] == 1.0
    better = compared_scores(system, BROKEN, SENTENCES)
    worse = compared_scores(BROKEN, system, SENTENCES)
    alone, broken = (translation_scores(some, SENTENCES) for some in (system, BROKEN))
    for name in ("bleu", "chrf"):
        assert same[name] == same[f"baseline_{name}"] == better[name] == alone[name] < 100
        assert better[f"baseline_{name}"] == worse[name] == broken[name] < alone[name]
        # No sample of 1,000 differs as much from the mean: p = (0 + 1) / (1000 + 1).
        assert better[f"{name}_p_value"] == pytest.approx(1 / 1001)
        assert worse[f"{name}_p_value"] == pytest.approx(1 / 1001)
    assert better["bleu_signature"].startswith("nrefs:1|bs:1000|seed:12345|case:mixed|eff:no")
    assert better["chrf_signature"].startswith("nrefs:1|bs:1000|seed:12345|case:mixed|eff:yes")
    assert compared_scores(system, BROKEN, SENTENCES) == better
    monkeypatch.setenv("SACREBLEU_SEED", "7")
    assert "|seed:7|" in compared_scores(system, BROKEN, SENTENCES)["bleu_signature"]


def test_one_sentence_of_many_is_chance():
    system = [SENTENCES[0][4:], *SENTENCES[1:]]
    found = compared_scores(SENTENCES, system, SENTENCES)
    assert found["bleu"] > found["baseline_bleu"]
    assert found["bleu_p_value"] > 0.05 and found["chrf_p_value"] > 0.05


def test_a_baseline_of_another_length():
    with pytest.raises(ValueError, match="Received: 1 translations and 30 references"):
        compared_scores(SENTENCES, ["a"], SENTENCES)
