import re

import pytest

from tests.cli.conftest import write

pytestmark = pytest.mark.usefixtures("eagerly")

SOURCES = ["Anna sees two dogs .", "", "the house"]
TARGETS = ["Anna sieht zwei Hunde .", "", "das Haus hier"]
PAIRS = re.compile(r"(\d+-\d+( \d+-\d+)*)?")


@pytest.fixture
def files(tmp_path):
    source, target = write(tmp_path / "source", SOURCES), write(tmp_path / "target", TARGETS)
    return ["--source", source, "--target", target]


def test_a_line_for_each_pair(kerasnmt, run_folder, files, loaded_model, tmp_path):
    done = kerasnmt("align", run_folder, *files)
    assert (done.code, done.err) == (0, "")
    assert len(done.lines) == 3 and all(map(PAIRS.fullmatch, done.lines))
    links = [[tuple(map(int, pair.split("-"))) for pair in line.split()] for line in done.lines]
    # All target words have links, except those with the largest weight on the end token or a space.
    assert links == [sorted(found) for found in loaded_model.align(SOURCES, TARGETS)]
    assert links[1] == []
    assert {source for source, _ in links[0]} <= set(range(5))
    assert [target for _, target in sorted(links[2], key=lambda link: link[1])] == [0, 1, 2]

    (tmp_path / "gold").write_text(done.out)
    with_gold = kerasnmt("align", run_folder, *files, "--gold", tmp_path / "gold")
    assert with_gold == (0, done.out, "alignment error rate 0.0000 on 3 sentence pairs\n")


@pytest.mark.parametrize(
    ("gold", "message"),
    [
        ("0-0\n\n", "Expected one line of --gold for each text."),
        ("0-0\n\n1:2\n", "line 3: "),
    ],
)
def test_gold_that_does_not_fit(kerasnmt, run_folder, files, tmp_path, gold, message):
    (tmp_path / "gold").write_text(gold)
    done = kerasnmt("align", run_folder, *files, "--gold", tmp_path / "gold")
    assert (done.code, done.out) == (2, "")
    assert message in done.err and done.err.count("\n") == 1


def test_export_cannot_be_given_translations(kerasnmt, export_folder, files, tmp_path):
    done = kerasnmt("align", export_folder, *files)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: Expected a model with attention to align given")
    picture = tmp_path / "picture.png"
    done = kerasnmt("attention", export_folder, "a", "--target", "b", "--output", picture)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: Expected a model with attention to align given")
