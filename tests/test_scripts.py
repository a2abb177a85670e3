"""Scripts of texts, and spaces between their words."""

import pytest

from kerasnmt.scripts import has_spaces, is_unspaced_script, script_of

CHINESE = ["我们昨天在公园里看到了一只很大的狗。", "请问，附近有没有地铁站？"]
JAPANESE = ["私は昨日、公園で大きな犬を見ました。", "この近くに駅はありますか？"]
THAI = ["เมื่อวานฉันเห็นสุนัขตัวใหญ่ในสวนสาธารณะ", "แถวนี้มีสถานีรถไฟไหม"]
ENGLISH = ["Yesterday we saw a large dog in the park.", "Is there a station nearby?"]


@pytest.mark.parametrize(
    ("texts", "script"),
    [
        (CHINESE, "han"),
        (JAPANESE, "japanese"),
        (["ﾊﾟｰﾃｨｰ"], "japanese"),
        (["コーヒー"], "japanese"),
        (["他很喜欢优の良品，每天都去买东西吃。"], "han"),
        (["使用 TensorFlow 训练模型"], "han"),
        (THAI, "thai"),
        (["ສະບາຍດີ"], "lao"),
        (["សួស្តី​ពិភពលោក"], "khmer"),
        (["မင်္ဂလာပါ"], "myanmar"),
        (["བཀྲ་ཤིས་བདེ་ལེགས།"], "tibetan"),
        (["나는 어제 공원에서 큰 개를 보았다."], "hangul"),
        ([*ENGLISH, "東京 is the capital of 日本."], "latin"),
        (["Большая собака спит."], "cyrillic"),
        (["ＡＢＣ"], "latin"),
        (["1 + 1 = 2 ☃", ""], None),
        ([], None),
    ],
)
def test_script(texts, script):
    assert script_of(texts) == script
    unspaced = {"han", "japanese", "thai", "lao", "khmer", "myanmar", "tibetan"}
    assert is_unspaced_script(script) is (script in unspaced)


@pytest.mark.parametrize("texts", [CHINESE, JAPANESE, THAI, ["".join(ENGLISH).replace(" ", "")]])
def test_texts_without_spaces(texts):
    assert not has_spaces(texts)


@pytest.mark.parametrize(
    "texts",
    [
        ENGLISH,
        ["나는 어제 공원에서 큰 개를 보았다."],
        ["我们 昨天 在 公园 里 看到 了 一 只 很 大 的 狗 。"],
        ["เมื่อวาน ฉัน เห็น สุนัข ตัว ใหญ่ ใน สวน สาธารณะ"],
        ["Donaudampfschifffahrt", "Hund", "Katze"],
        [],
    ],
)
def test_texts_with_spaces(texts):
    assert has_spaces(texts)
