"""Choice of presets by task and language."""

import pytest

from kerasnmt.languages import language_code
from kerasnmt.zoo import find_presets, list_presets


def test_presets_of_a_task_and_a_language():
    assert find_presets() == list_presets()
    assert find_presets(task="captioning") == ["scenes_de", "scenes_en"]
    assert find_presets(task="pronunciation", language="nld") == ["g2p", "g2p_dutch"]
    french = [name for name in list_presets() if name.startswith("tatoeba_") and "fr" in name]
    for language in ("fr", "fra", "fre", "FRA", "fr-CA"):
        assert find_presets(task="translation", language=language) == french
    assert find_presets(task="translation", language="ady") == []
    with pytest.raises(ValueError, match="unknown task 'translate'; did you mean 'translation'"):
        find_presets(task="translate")


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("deu", "de"),
        ("ger", "de"),
        ("de_AT", "de"),
        ("ady", "ady"),
        ("arb", "ar"),
        ("zh-Hant", "zh"),
    ],
)
def test_codes(language, code):
    assert language_code(language) == code


@pytest.mark.parametrize("language", ["", "xx", "German", "und", "de-", "no such"])
def test_other_codes_are_refused(language):
    with pytest.raises(ValueError, match=r"Expected a language by its code .* Received: '"):
        language_code(language)
