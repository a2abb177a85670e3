import gzip
import io

import pytest

pytest.importorskip("apache_beam", reason="Apache Beam is not installed")

import pyarrow as pa
import pyarrow.parquet as pq

from kerasnmt.serving.bulk import formats
from kerasnmt.serving.bulk.formats import file_format


@pytest.fixture
def opened(tmp_path):
    """Write a file, and return it as a format."""

    def opened(name, content, fields=("text",), columns=None, scores=False, max_bytes=20):
        path = tmp_path / name
        if isinstance(content, pa.Table):
            pq.write_table(content, path, row_group_size=2)
        else:
            path.write_bytes(content)
        return file_format(str(path), fields, columns, scores, max_bytes)

    return opened


def read(file):
    """Return the texts of each field, and the broken lines, of all blocks."""
    blocks = [*file.blocks()]
    texts = {
        field: [text for block in blocks for text in block.texts[field]] for field in file.fields
    }
    return texts, [line for block in blocks for line in block.broken]


def written(file):
    """Return the output for the translations T1, T2, … and the scores -1, -2, …"""
    out, number = io.BytesIO(), 0
    with file.writer(out) as write:
        for block in file.blocks():
            translations, scores = [], []
            for text in block.texts["text"]:
                number += 1
                translations.append(None if text is None else f"T{number}")
                scores.append(None if text is None else -number)
            write(block, translations, scores)
    return out.getvalue()


LINES = (
    b"\xef\xbb\xbfone\r\n\n\xff\xfe\n" + b"x" * 21 + b"\n" + b"y" * 20 + b"\r\n\xef\xbb\xbf\nlast"
)
BROKEN = [(3, "not UTF-8: byte 0xff at position 1"), (4, "longer than 20 bytes")]


def test_lines(opened):
    file = opened("a.txt", LINES)
    texts = ["one", "", None, None, "y" * 20, "\ufeff", "last"]
    assert read(file) == ({"text": texts}, BROKEN)
    assert written(file) == b"T1\nT2\n\n\nT5\nT6\nT7\n"


def test_lines_with_scores(opened):
    file = opened("a.txt", b"one\n\xff\n", scores=True)
    assert written(file) == b"T1\t-1.000000\n\t\n"


def test_gzip(opened):
    file = opened("a.txt.gz", gzip.compress(LINES))
    assert read(file) == read(opened("a.txt", LINES))
    assert gzip.decompress(written(file)) == b"T1\nT2\n\n\nT5\nT6\nT7\n"
    assert written(file) == written(file)  # without the time


def test_damaged_gzip(opened):
    whole = gzip.compress("".join(f"{number}\n" for number in range(1000)).encode())
    texts, broken = read(opened("a.gz", whole[:-20]))
    assert texts["text"][:2] == ["0", "1"]
    ((line, reason),) = broken
    assert line == len(texts["text"])
    assert texts["text"][-1] is None
    assert reason.startswith("damaged gzip data, nothing more can be read: ")
    assert read(opened("b.gz", b"text\n"))[0] == {"text": [None]}


def test_very_long_lines(opened):
    """They are not in memory, and end at their line feed."""
    file = opened("a.txt", b"z" * (3 << 20) + b"\nshort\n" + b"z" * (2 << 20))
    long = "longer than 20 bytes"
    assert read(file) == ({"text": [None, "short", None]}, [(1, long), (3, long)])


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_carriage_returns(opened, name):
    """Those before a line feed end the line; any other is a space, as in files of data."""
    content = b"one\rtwo\r\n\rthree\r\r\n\r\n" + b"y" * 20 + b"\r\r\r\nlast\r"
    file = opened(name, gzip.compress(content) if name.endswith(".gz") else content)
    assert read(file) == ({"text": ["one two", " three", "", "y" * 20, "last"]}, [])


def test_carriage_returns_in_tsv(opened):
    file = opened("a.tsv", b"7\rb\tone\rtwo\r\n", columns=("id", "text"))
    assert read(file) == ({"text": ["one two"]}, [])
    assert written(file) == b"7 b\tone two\tT1\n"


@pytest.mark.parametrize(
    "start",
    [b"\xef\xbb\xbf" + b"x" * 21, b"x" * 10 + b"\r" * 100 + b"x"],
    ids=["byte order mark", "carriage returns"],
)
def test_long_lines_are_not_cut(opened, start):
    """They are broken, although the part that is read may have a short text."""
    file = opened("a.txt", start + b"\nshort\n")
    assert read(file) == ({"text": [None, "short"]}, [(1, "longer than 20 bytes")])


def test_empty_file(opened):
    file = opened("a.txt", b"")
    assert [*file.blocks()] == []
    assert written(file) == b""


def test_blocks_follow_each_other(opened, monkeypatch):
    monkeypatch.setattr(formats, "_BLOCK_WEIGHT", 200)
    file = opened("a.txt", b"a\nb\nc\nd\n\xff\n")
    assert [len(block.rows) for block in file.blocks()] == [4, 1]
    assert read(file)[1] == [(5, "not UTF-8: byte 0xff at position 1")]


@pytest.mark.parametrize("name", ["a.tsv", "a.tsv.gz"])
def test_tsv_keeps_its_columns(opened, name):
    content = b"7\tone\n8\n9\ttwo\tthree\n10\t\n"
    packed = gzip.compress(content) if name.endswith(".gz") else content
    file = opened(name, packed, columns=("id", "text"), scores=True)
    broken = [(2, "1 columns instead of 2"), (3, "3 columns instead of 2")]
    assert read(file) == ({"text": ["one", None, None, ""]}, broken)
    out = b"7\tone\tT1\t-1.000000\n\t\t\t\n\t\t\t\n10\t\tT4\t-4.000000\n"
    assert (gzip.decompress(written(file)) if packed != content else written(file)) == out


def test_tsv_with_a_context(opened):
    file = opened("a.tsv", b"one\ttwo\nthree\n", fields=("text", "context"))
    assert read(file) == (
        {"text": ["one", None], "context": ["two", None]},
        [(2, "1 columns instead of 2")],
    )


def test_parquet(opened, monkeypatch):
    monkeypatch.setattr(formats, "_BLOCK_ROWS", 3)
    texts = ["one", None, "", "x" * 21, "two"]
    table = pa.table({"id": [5, 6, 7, 8, 9], "text": texts})
    file = opened("a.parquet", table, scores=True)
    broken = [(2, "null"), (4, "longer than 20 bytes")]
    assert read(file) == ({"text": ["one", None, "", None, "two"]}, broken)
    out = pq.read_table(io.BytesIO(written(file)))
    assert out.to_pydict() == {
        **table.to_pydict(),
        "translation": ["T1", None, "T3", None, "T5"],
        "score": [-1.0, None, -3.0, None, -5.0],
    }
    assert out.schema.types[:2] == table.schema.types


def test_parquet_text_that_is_not_utf8(opened):
    binary = pa.array([b"one", b"t\xff"], pa.large_binary())
    bad = pa.Array.from_buffers(pa.large_string(), 2, binary.buffers())
    file = opened("a.parquet", pa.table({"sentence": bad}), columns=("text",))
    assert read(file) == ({"text": ["one", None]}, [(2, "not UTF-8: byte 0xff at position 2")])


@pytest.mark.parametrize(
    ("content", "columns", "message"),
    [
        (b"one\n", None, "expected a Parquet file"),
        (pa.table({"id": [1]}), None, r"expected a column text of strings\. .*id \(int64\)\."),
        (pa.table({"text": [1]}), None, r"expected a column text of strings\. .*text \(int64\)\."),
        (
            pa.table({"text": [""]}),
            ("id", "text"),
            r"expected 2 columns, id, text\. Received: text",
        ),
        (pa.table({"text": [""], "score": [1]}), None, "expected no column score"),
    ],
)
def test_parquet_with_other_columns(opened, content, columns, message):
    with pytest.raises(ValueError, match=rf"a\.parquet: {message}"):
        opened("a.parquet", content, columns=columns)


def test_plain_text_has_no_context(opened):
    with pytest.raises(ValueError, match=r"^Expected \.tsv or \.parquet, with text and context"):
        opened("a.txt", b"", fields=("text", "context"))
