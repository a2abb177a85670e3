import pytest

from kerasnmt.training import translation_scores

REFERENCES = ["Zwei Hunde laufen im Gras.", "Ein Mann liest."]


def test_perfect_translations():
    scores = translation_scores(REFERENCES, REFERENCES)
    assert scores["bleu"] == pytest.approx(100)
    assert scores["chrf"] == pytest.approx(100)
    assert scores["bleu_signature"].startswith("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp")
    assert scores["chrf_signature"].startswith("nrefs:1|case:mixed|eff:yes|nc:6|nw:0")


def test_bleu_by_hand():
    # Tokens "a b c d e ." against "a b c d f .": precisions 5/6, 3/5, 2/4, 1/3, equal lengths.
    scores = translation_scores(["a b c d e."], ["a b c d f."])
    assert scores["bleu"] == pytest.approx(100 * (5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25)


@pytest.mark.parametrize(("translations", "references"), [(["a"], ["a", "b"]), ([], [])])
def test_numbers_that_differ(translations, references):
    message = f"Received: {len(translations)} translations and {len(references)} references"
    with pytest.raises(ValueError, match=message):
        translation_scores(translations, references)
