import gzip

import pytest

from kerasnmt.data import read_parallel, read_tsv
from kerasnmt.data.lines import checked_lines


def write(path, content):
    data = content if isinstance(content, bytes) else content.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def pairs_of(dataset):
    return [(source.decode(), target.decode()) for source, target in dataset.as_numpy_iterator()]


@pytest.mark.parametrize(("source_name", "target_name"), [("a.en", "a.de"), ("a.en.gz", "a.de")])
def test_lines_are_paired(tmp_path, source_name, target_name):
    source = write(tmp_path / source_name, "one\ntwo\n\nfour")
    target = write(tmp_path / target_name, "eins\n\ndrei\nvier\n")
    dataset = read_parallel(source, str(target))
    assert dataset.cardinality() == 4
    assert pairs_of(dataset) == [("one", "eins"), ("two", ""), ("", "drei"), ("four", "vier")]


def test_lines_end_at_line_feeds_alone(tmp_path):
    separators = "a\u2028b\u2029c\u0085d\x0be\x0cf\x1cg"
    source = write(tmp_path / "a.en", f"{separators}\r\nnext\r\n")
    target = write(tmp_path / "a.de", "eins\nzwei\n")
    assert pairs_of(read_parallel(source, target)) == [(separators, "eins"), ("next", "zwei")]
    tsv = write(tmp_path / "a.tsv", f"{separators}\teins\r\nnext\tzwei\r\n")
    assert pairs_of(read_tsv(tsv)) == [(separators, "eins"), ("next", "zwei")]


@pytest.mark.parametrize("name", ["a.en", "a.en.gz"])
def test_a_byte_order_mark_is_no_part_of_the_first_word(tmp_path, name):
    source = write(tmp_path / name, "\ufeffone\n\ufefftwo\n")
    target = write(tmp_path / "a.de", "\ufeffeins\nzwei\n")
    assert pairs_of(read_parallel(source, target)) == [("one", "eins"), ("\ufefftwo", "zwei")]
    tsv = write(tmp_path / "a.tsv", "\ufeffone\teins\ntwo\tzwei\n")
    assert pairs_of(read_tsv(tsv)) == [("one", "eins"), ("two", "zwei")]


@pytest.mark.parametrize("name", ["a.en", "a.en.gz"])
def test_lines_come_without_a_byte_order_mark(tmp_path, name):
    lines = checked_lines(write(tmp_path / name, "\ufeffone\n\ufefftwo\n"))
    assert [line.decode() for line in lines] == ["one\n", "\ufefftwo\n"]


def test_a_gzip_file_that_is_padded_with_zeros_is_refused(tmp_path):
    """Python skips the zeros, but TensorFlow would fail during training."""
    path = write(tmp_path / "a.en.gz", "one\n")
    whole = path.read_bytes()
    path.write_bytes(whole + bytes(512))
    with pytest.raises(ValueError, match=rf"'{path}', which is padded with zeros\. Compress"):
        read_parallel(path, path)
    path.write_bytes(whole + gzip.compress(b""))  # whose end is zeros
    assert pairs_of(read_parallel(path, path)) == [("one", "one")]


def test_a_file_without_lines_is_refused_before_it_fills_the_memory():
    with pytest.raises(ValueError, match=r"at most 10,000,000 bytes.*/dev/zero', whose line 1"):
        read_parallel("/dev/zero", "/dev/zero")


def test_gzip_files_put_together_are_read_to_the_end(tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"one\ntwo") + gzip.compress(b"fold\nthree\n"))
    assert [source for source, _ in pairs_of(read_parallel(path, path))] == [
        "one",
        "twofold",
        "three",
    ]


@pytest.mark.parametrize("name", ["a.tsv", "a.tsv.gz"])
def test_of_a_tsv_the_first_two_columns_are_read(tmp_path, name):
    path = write(tmp_path / name, "one\teins\ntwo\tzwei\tmore\tand more\n\tdrei\nfour\t\n a \t b ")
    dataset = read_tsv(path)
    assert dataset.cardinality() == 5
    assert pairs_of(dataset) == [
        ("one", "eins"),
        ("two", "zwei"),
        ("", "drei"),
        ("four", ""),
        (" a ", " b "),
    ]


def test_different_numbers_of_lines_are_refused_with_both(tmp_path):
    source = write(tmp_path / "a.en", "1\n2\n3\n")
    target = write(tmp_path / "a.de", "1\n2")
    with pytest.raises(ValueError, match=r"a\.en' with 3 lines, target_path='.*a\.de' with 2\."):
        read_parallel(source, target)


def test_a_tsv_line_without_a_tab_is_named(tmp_path):
    path = write(tmp_path / "a.tsv", "one\teins\ntwo zwei\nthree\tdrei\n")
    with pytest.raises(
        ValueError, match=r"source TAB target\. Received: path='.*', whose line 2 has no tab\."
    ):
        read_tsv(path)


@pytest.mark.parametrize("name", ["bad.txt", "bad.txt.gz"])
def test_a_line_that_is_not_utf8_is_named(tmp_path, name):
    good = write(tmp_path / "good.txt", "a\tb\nc\td\ne\tf\n")
    bad = write(tmp_path / name, b"a\tb\nc\td\nM\xfcller\te\n")  # Latin-1
    message = rf"Expected UTF-8 text. Received: path='.*{name}', whose line 3 is not"
    for read in (
        lambda: read_parallel(bad, good),
        lambda: read_parallel(good, bad),
        lambda: read_tsv(bad),
    ):
        with pytest.raises(ValueError, match=message):
            read()


def test_files_that_cannot_be_read_are_refused(tmp_path):
    good = write(tmp_path / "good.txt", "a\n")
    whole = gzip.compress(b"a\tb\n" * 1000)
    no_gzip, cut, broken = tmp_path / "plain.gz", tmp_path / "cut.gz", tmp_path / "broken.gz"
    no_gzip.write_bytes(b"a\tb\n")
    cut.write_bytes(whole[:-10])
    broken.write_bytes(whole[:20] + b"\xff" * 10 + whole[30:])
    for path, message in (
        (
            tmp_path / "absent.txt",
            r"a readable text file.*absent\.txt' \(No such file or directory\)",
        ),
        (tmp_path, r"a readable text file. Received: .* \(Is a directory\)"),
        (no_gzip, r"a readable gzip file. Received: .*plain\.gz' \(Not a gzipped file"),
        (cut, r"a readable gzip file. Received: .*cut\.gz' \(Compressed file ended"),
        (broken, r"a readable gzip file. Received: .*broken\.gz' \("),
    ):
        with pytest.raises(ValueError, match=message):
            read_parallel(good, path)
        with pytest.raises(ValueError, match=message):
            read_tsv(path)


@pytest.mark.parametrize("name", ["empty.txt", "empty.txt.gz"])
def test_an_empty_file_is_refused(tmp_path, name):
    path = write(tmp_path / name, "")
    good = write(tmp_path / "good.txt", "a\n")
    message = rf"at least one line. Received: path='.*{name}', which is empty"
    with pytest.raises(ValueError, match=message):
        read_parallel(good, path)
    with pytest.raises(ValueError, match=message):
        read_tsv(path)
