import pytest

from kerasnmt.data import PairFilter

PAIRS = [
    ("I see a dog.", "Je vois un chien."),
    ("", "Je vois."),
    ("I see.", " \t"),
    ("I SEE  a dog.", "i see a dog."),
    ("I see a  dog.", "Je vois un chien."),
    ("Go away now, please, if you can.", "Va."),
    ("I see a dog.", "Я вижу собаку."),
    ("I see a dog.", "Voilà un chien."),
    ("12", "12,0 %"),
]
REASONS = [None, "empty", "empty", "equal", "duplicate", "ratio", "script", None, None]


def test_the_first_reason_of_each_pair():
    rules = PairFilter(scripts=("latin", "latin"))
    assert [rules.reason(*pair) for pair in PAIRS] == REASONS
    again = PairFilter(scripts=("latin", "latin"))
    assert [again.reason(*pair) for pair in PAIRS] == REASONS  # no memory of others
    everything = PairFilter(without=PairFilter.reasons)
    assert [everything.reason(*pair) for pair in PAIRS] == [None] * 9


@pytest.mark.parametrize(
    ("max_ratio", "ratio", "reason"),
    [
        (42 / 13, 1.0, None),  # 32 and 3 characters, and 10 more
        (42 / 13 - 0.01, 1.0, "ratio"),
        (2.01, 0.5, None),  # (16 + 10) / (3 + 10)
        (1.99, 0.5, "ratio"),
    ],
)
def test_the_ratio_of_lengths(max_ratio, ratio, reason):
    rules = PairFilter(max_ratio=max_ratio, ratio=ratio)
    assert rules.reason("Go away now, please, if you can.", "Va.") == reason


def test_what_is_usual_comes_from_the_first_pairs():
    pairs = [("How are you today?", "今日はお元気ですか。"), ("Tokyo", "東京")]
    rules = PairFilter.fitted((pair for pair in pairs), max_ratio=1.5)
    assert rules.scripts == ("latin", "japanese")
    assert rules.ratio == pytest.approx(12 / 23)
    assert [rules.reason(*pair) for pair in pairs] == [None, None]  # kanji alone are Japanese
    assert rules.reason("How are you?", "你们今天早上好吗朋友") is None
    assert rules.reason("How are you?", "Bonjour") == "script"
    assert rules.reason("Сегодня", "今日は") == "script"
    chinese = PairFilter(scripts=("latin", "han"))
    assert chinese.reason("How are you?", "お元気ですか") == "script"
    assert PairFilter(scripts=("any", None)).reason("Сегодня", "مرحبا") is None
    arabic = PairFilter.fitted([("Hello", "مرحبا بالعالم")])
    assert arabic.scripts == ("latin", "arabic")
    assert PairFilter.fitted([]).ratio == 1.0


def test_wrong_rules():
    with pytest.raises(
        ValueError, match=r"Expected max_ratio of at least 1\. Received: max_ratio="
    ):
        PairFilter(max_ratio=0.5)
    with pytest.raises(ValueError, match=r"Expected rules among empty, equal, .* Received: length"):
        PairFilter(without=["length"])
    with pytest.raises(ValueError, match="Expected a positive ratio"):
        PairFilter(ratio=float("nan"))
    for scripts in (("latn", "latin"), ("latin",), "latin", ("latin", "latin", None)):
        with pytest.raises(ValueError, match="Expected two scripts in the words of Unicode"):
            PairFilter(scripts=scripts)
    assert PairFilter(scripts=("Latin", "HAN")).scripts == ("latin", "han")
