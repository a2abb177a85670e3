import json
import re
from dataclasses import asdict, fields
from pathlib import Path

import numpy as np
import pytest

from kerasnmt.decoding import SearchOptions, TranslationOptions


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"beam_size": 0}, r"Expected beam_size from 1 to 1000\. Received: beam_size=0"),
        ({"length_penalty": -0.1}, r"Expected length_penalty >= 0"),
        ({"length_normalization": "gnmt"}, r"'wu' or 'length' as .*='gnmt'"),
        ({"coverage_penalty": -1.0}, r"Expected coverage_penalty >= 0"),
        ({"max_length": 0}, r"Expected max_length from 1 to 100000"),
        ({"min_length": 9, "max_length": 8}, r"min_length from 1 to max_length, 8.*min_length=9"),
        ({"max_length_ratio": 0.0}, r"Expected max_length_ratio > 0"),
        ({"max_length_margin": -1}, r"Expected max_length_margin from 0 to 100000"),
        ({"no_repeat_ngram": -1}, r"Expected no_repeat_ngram from 0 to 100000"),
        ({"allow_unknown": "no"}, r"Expected True, False or None as allow_unknown\. .*='no'"),
        ({"samples": -1}, r"Expected samples from 0 to 1000"),
        ({"beam_size": 10**18}, r"Expected beam_size from 1 to 1000"),
        ({"max_length": 10**18}, r"Expected max_length from 1 to 100000"),
        ({"samples": 10**18}, r"Expected samples from 0 to 1000"),
        ({"samples": 1, "temperature": 0.0}, r"Expected temperature > 0"),
        ({"samples": 1, "top_k": -1}, r"Expected top_k from 0 to 2147483647"),
        ({"samples": 1, "top_p": 1.1}, r"Expected top_p above 0 and at most 1"),
        ({"samples": 1, "seed": -1}, r"Expected seed from 0"),
        ({"samples": 1, "coverage_penalty": 0.1}, r"Expected coverage_penalty=0 with samples"),
        ({"beam_size": 2.0}, r"Expected an integer as beam_size\. Received: beam_size=2\.0$"),
        ({"beam_size": "5"}, r"Expected an integer as beam_size\. Received: beam_size='5'$"),
        ({"beam_size": True}, r"Expected an integer as beam_size\. Received: beam_size=True$"),
        ({"max_length": 20.5}, r"Expected an integer as max_length\. Received: max_length=20\.5$"),
        ({"samples": 1, "seed": None}, r"Expected an integer as seed\. Received: seed=None$"),
        ({"length_penalty": "1"}, r"Expected a finite number as length_penalty\. .*='1'$"),
        ({"length_penalty": False}, r"Expected a finite number as length_penalty\. .*=False$"),
        (
            {"max_length_ratio": "2"},
            r"Expected a finite number or None as max_.*='2'$",
        ),
        ({"length_penalty": float("inf")}, r"Expected a finite number as length_penalty\. .*=inf$"),
        ({"max_length_ratio": float("nan")}, r"Expected a finite number or None .*=nan$"),
        ({"allow_unknown": 1}, r"Expected True, False or None as allow_unknown\. .*=1$"),
        ({"temperature": 0.7}, r"Expected samples=1 or more with temperature"),
        ({"top_p": 0.9}, r"Expected samples=1 or more with top_p"),
    ],
    ids=str,
)
def test_wrong_options(options, message):
    with pytest.raises(ValueError, match=message):
        SearchOptions(**options)


def test_numbers_of_numpy_and_integers_as_floats_are_options():
    options = SearchOptions(
        beam_size=np.int64(3),
        max_length_ratio=2,
        length_penalty=np.float32(0.5),
        coverage_penalty=1,
    )
    assert options == SearchOptions(
        beam_size=3, max_length_ratio=2.0, length_penalty=0.5, coverage_penalty=1.0
    )


def test_options_are_values_for_json():
    options = SearchOptions.from_keywords(
        {"beam_size": np.int64(3), "length_penalty": np.float32(0.5)}
    )
    assert json.loads(json.dumps(asdict(options)))["beam_size"] == 3


def test_hypotheses():
    assert SearchOptions(beam_size=4).hypotheses == 4
    assert SearchOptions(beam_size=4, samples=7).hypotheses == 7


def test_max_lengths():
    lengths = np.array([1, 3, 10, 50], "int32")
    fixed = SearchOptions(max_length=20).max_lengths(lengths)
    np.testing.assert_array_equal(fixed, [20] * 4)
    options = SearchOptions(max_length=20, max_length_ratio=1.5, max_length_margin=2)
    np.testing.assert_array_equal(options.max_lengths(lengths), [4, 7, 17, 20])
    options = SearchOptions(max_length_ratio=0.5, max_length_margin=0, min_length=3)
    np.testing.assert_array_equal(options.max_lengths(lengths), [3, 3, 5, 25])
    options = SearchOptions(max_length=20, max_length_ratio=1e9)
    np.testing.assert_array_equal(options.max_lengths(lengths), [20] * 4)


def test_an_unknown_option_names_the_nearest():
    with pytest.raises(
        ValueError, match=r"^unknown search option 'beam'; did you mean 'beam_size'"
    ):
        SearchOptions.from_keywords({"beam": 3})
    assert SearchOptions.from_keywords({"beam_size": 3}) == SearchOptions(beam_size=3)


@pytest.mark.parametrize(
    ("change", "value"),
    [
        ("beam_size=8", 8),
        ("length_penalty=1", 1),
        ("length_penalty=.5", 0.5),
        ("length_normalization=length", "length"),
        ("max_length_ratio=null", None),
        ("max_length_ratio=2e0", 2.0),
        ("allow_unknown=True", True),
        ("allow_unknown=false", False),
        ("allow_unknown=None", None),
        ("split_sentences=true", True),
        ('dictionary={"the": "das", "a": "="}', {"the": "das", "a": "="}),
    ],
)
def test_changes_are_read_as_the_type_of_their_option(change, value):
    options = {"replace_unknown": True, "beam_size": 3}
    changed = TranslationOptions.with_changes(options, ["beam_size=2", change])
    assert changed == {**options, "beam_size": 2, change.partition("=")[0]: value}
    assert options == {"replace_unknown": True, "beam_size": 3}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("beam_size=two", r"^Expected an integer as beam_size\. Received: beam_size='two'$"),
        ("beam_size=2.0", r"^Expected an integer as beam_size\. Received: beam_size='2\.0'$"),
        ("beam_size=true", r"^Expected an integer as beam_size\. Received: beam_size='true'$"),
        ("beam_size=0", r"^Expected beam_size from 1 to 1000\. Received: beam_size=0$"),
        ("length_penalty=nan", r"^Expected a finite number as length_penalty\. .*='nan'$"),
        ("split_sentences=1", r"^Expected True or False as split_sentences\. .*='1'$"),
        ("dictionary={the: das}", r"^Expected a dict or None as dictionary\. .*='{the: das}'$"),
        ("dictionary=" + "[" * 5000, r"^Expected a dict or None as dictionary\."),
        ('dictionary={"a": "b"}', r"^Expected replace_unknown=True with a dictionary\. Received"),
        ("beam_sise=2", r"^unknown search option 'beam_sise'; did you mean 'beam_size'\?$"),
        ("beam_size", r"^Expected a search option and its value, .* Received: 'beam_size'$"),
    ],
)
def test_wrong_changes(change, message):
    with pytest.raises(ValueError, match=message):
        TranslationOptions.with_changes({}, [change])


@pytest.mark.parametrize("dictionary", [{"a": ""}, {"": "a"}, {"a": 1}])
def test_wrong_dictionaries(dictionary):
    with pytest.raises(ValueError, match=r"Expected a dictionary from source words to target"):
        TranslationOptions(replace_unknown=True, dictionary=dictionary)


def test_every_option_is_described_where_it_is_declared():
    for options in (SearchOptions, TranslationOptions):
        for option in fields(options):
            assert f"    {option.name}: {option.metadata['description']}" in options.__doc__


def test_the_guide_lists_every_option():
    guide = Path(__file__).parents[2] / "tutorials" / "guides" / "search.md"
    rows = re.findall(r"^\| `(\w+)=(.+?)` \| (.+) \|$", guide.read_text(encoding="utf-8"), re.M)
    assert rows == [
        (option.name, repr(option.default), option.metadata["description"])
        for option in fields(TranslationOptions)
    ]
