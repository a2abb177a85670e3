import json

import pytest

pytest.importorskip("apache_beam", reason="Apache Beam is not installed")

import apache_beam as beam
from apache_beam.testing.util import assert_that, equal_to

from kerasnmt.serving.bulk import ExportHandler, Translate

BATCHES = []


@pytest.fixture
def batches(monkeypatch):
    """The lengths of the texts of each batch."""
    BATCHES.clear()
    infer = ExportHandler.run_inference

    def run_inference(handler, batch, *arguments):
        BATCHES.append([handler.length(row) for row in batch])
        return infer(handler, batch, *arguments)

    monkeypatch.setattr(ExportHandler, "run_inference", run_inference)
    return BATCHES


def rounded(row):
    scores = row["score"] if isinstance(row["score"], list) else [row["score"]]
    return {**row, "score": [score and round(score, 5) for score in scores]}


def translated(expected, rows):
    """The rows as `Translate` returns them, with rounded scores in a list."""
    made = []
    for row in rows:
        texts = row["text"] if isinstance(row["text"], list) else [row["text"]]
        best = [(None, None) if text is None else expected.best([text])[0] for text in texts]
        answers = [answer for answer, _ in best]
        scores = [score and round(score, 5) for _, score in best]
        is_list = isinstance(row["text"], list)
        made.append({**row, "translation": answers if is_list else answers[0], "score": scores})
    return made


def test_rows_keep_their_keys(run, loads, expected, served_folder, sentences):
    rows = [{"id": number, "text": text} for number, text in enumerate([*sentences, None])]

    def build(pipeline):
        found = pipeline | beam.Create(rows) | Translate(served_folder) | beam.Map(rounded)
        assert_that(found, equal_to(translated(expected, rows)))

    run(build)
    assert loads == [str(served_folder / "3")]


def test_blocks_of_texts(run, expected, served_folder, sentences):
    rows = [{"text": [*sentences, None, "dog"], "at": 1}, {"text": [], "at": 2}]

    def build(pipeline):
        found = pipeline | beam.Create(rows) | Translate(served_folder) | beam.Map(rounded)
        assert_that(found, equal_to(translated(expected, rows)))

    run(build)


def test_batches_have_a_largest_weight(run, batches, served_folder, monkeypatch):
    monkeypatch.setattr("kerasnmt.serving.bulk.export_handler.LARGEST_WEIGHT", 4 * (64 + 3))
    rows = [{"text": "dog"}] * 10

    def build(pipeline):
        _ = pipeline | beam.Create(rows) | Translate(served_folder)

    run(build)
    assert batches == [[3] * 4, [3] * 4, [3] * 2]


def test_rows_of_a_stream_wait_for_rows_of_similar_length(run, batches, expected, served_folder):
    rows = [{"text": text} for text in ["dog", "a dog runs . a man runs ."] * 4]

    def build(pipeline):
        found = (
            pipeline
            | beam.Create(rows)
            | Translate(served_folder, batch_size=3, max_wait=0.2)
            | beam.Map(rounded)
        )
        assert_that(found, equal_to(translated(expected, rows)))

    run(build)
    assert sorted(batches) == [[3], [3] * 3, [25], [25] * 3]


def test_truncated_texts_are_counted(run, expected, served_folder):
    limit = expected.description["max_length"]
    rows = [{"text": "dog " * 2 * limit}, {"text": "dog"}, {"text": "man " * 2 * limit}]

    def build(pipeline):
        _ = pipeline | beam.Create(rows) | Translate(served_folder)

    assert run(build)["truncated"] == 2


def test_refuses_what_is_no_export_that_translates(tmp_path):
    with pytest.raises(ValueError, match=r"^Expected an export of kerasnmt.*Received: directory="):
        Translate(tmp_path)
    description = tmp_path / "assets.extra" / "kerasnmt.json"
    description.parent.mkdir()
    description.write_text(json.dumps({"inputs": ["image"]}))
    with pytest.raises(ValueError, match=r"^Expected an export that translates.*reads image\.$"):
        Translate(tmp_path)
    with pytest.raises(ValueError, match=r"^Expected batch_size to be at least 1"):
        Translate(tmp_path, batch_size=0)
