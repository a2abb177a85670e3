import gzip
import io
import os
import sys
from itertools import chain

import pytest

from kerasnmt.data.live_lines import is_live, read_chunks


@pytest.fixture
def standard_input(monkeypatch):
    def set_to(data, stream=io.TextIOWrapper):
        monkeypatch.setattr(sys, "stdin", stream(io.BytesIO(data)))

    return set_to


@pytest.mark.parametrize(
    ("data", "chunks"),
    [
        (b"", []),
        (b"\n", [[""]]),
        (b"a\n\nb\n", [["a", ""], ["b"]]),
        (b"a\nb", [["a", "b"]]),
        ("\ufeffa\n\ufeffb".encode(), [["a", "\ufeffb"]]),
        (b"a\r\n\r\nb c \r\n", [["a", ""], ["b c "]]),
        ("a\u2028b\x0bc\x85d\re\nf".encode(), [["a\u2028b\x0bc\x85d e", "f"]]),
    ],
)
def test_lines(tmp_path, standard_input, data, chunks):
    path = tmp_path / "text"
    path.write_bytes(data)
    assert list(read_chunks(path, 2)) == chunks
    standard_input(data)
    assert is_live(None)  # an object of Python may wait
    at_hand = list(read_chunks(None, 2))
    assert list(chain(*at_hand)) == list(chain(*chunks))
    assert all(len(chunk) <= 2 for chunk in at_hand)


def test_lines_of_a_pipe_wait_for_no_others(monkeypatch):
    reading, writing = os.pipe()
    monkeypatch.setattr(sys, "stdin", os.fdopen(reading))
    chunks = read_chunks(None, 64)
    os.write(writing, b"a\nb\nc")
    assert next(chunks) == ["a", "b"]
    os.write(writing, b"d\n")
    assert next(chunks) == ["cd"]
    os.close(writing)
    assert list(chunks) == []


def test_the_lines_before_a_bad_one_come_first(tmp_path, standard_input):
    path = tmp_path / "text"
    path.write_bytes(b"a\nb\nc\nd\xe9 e\nf\n")
    message = r"line 4: expected UTF-8\. Received: byte 0xe9 at position 2\. Convert the text"
    for chunks in (read_chunks(path, 2), read_chunks(path, 64)):
        lines = []
        with pytest.raises(ValueError, match=f"^{path}, {message}"):
            for chunk in chunks:
                lines += chunk
        assert lines == ["a", "b", "c"]
    standard_input(path.read_bytes())
    with pytest.raises(ValueError, match=f"^standard input, {message}"):
        list(read_chunks(None, 64))
    path.write_bytes("a\n".encode("utf-16-le"))  # which is UTF-8 too
    with pytest.raises(ValueError, match=r"line 1: expected UTF-8\. Received: NUL characters"):
        list(read_chunks(path, 64))


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        list(read_chunks(tmp_path / "none", 2))


def test_lines_of_a_named_pipe_wait_for_no_others(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writing = os.open(path, os.O_RDWR)
    chunks = read_chunks(path, 64)
    os.write(writing, b"a\nb\n")
    assert is_live(path) and next(chunks) == ["a", "b"]
    os.write(writing, b"c\n")
    assert next(chunks) == ["c"]
    chunks.close()
    os.close(writing)


def test_a_file_on_standard_input_is_read_in_whole_chunks(tmp_path, monkeypatch):
    path = tmp_path / "text"
    path.write_bytes(b"a line\n" * 20_000)  # several reads of 64 KB
    with path.open() as file:
        monkeypatch.setattr(sys, "stdin", file)
        assert not is_live(None) and not is_live(path)
        assert [len(chunk) for chunk in read_chunks(None, 8000)] == [8000, 8000, 4000]


def test_a_damaged_file_is_named(tmp_path):
    path = tmp_path / "damaged.gz"
    path.write_bytes(gzip.compress(b"a\n" * 1000)[:-12])
    with pytest.raises(ValueError, match=r"damaged\.gz: expected a readable file"):
        list(read_chunks(path, 2))
