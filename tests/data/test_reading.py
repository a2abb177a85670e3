import bz2
import gzip
import io
import json
import lzma
import random
import sys

import pytest

from kerasnmt.data import Shards, read_parallel, read_tsv
from kerasnmt.data.lines import checked_lines
from kerasnmt.data.live_lines import read_chunks


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
    assert [line.decode() for line in lines] == ["one", "\ufefftwo"]


def test_a_gzip_file_may_be_padded_with_zeros(tmp_path):
    path = write(tmp_path / "a.en.gz", "one\n")
    path.write_bytes(path.read_bytes() + bytes(512))
    assert pairs_of(read_parallel(path, path)) == [("one", "one")]


# Lines as they are written, and as they are read.
CARRIAGE_RETURNS = {
    "the\rdogs\r\n": "the dogs",
    "\rthe dogs\r\r\n": " the dogs",
    "\r\n": "",
    "\r\r\n": "",
    "狗\r们\n": "狗 们",
    "last\r": "last",
}


@pytest.mark.parametrize("packed", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_one_rule_for_carriage_returns_everywhere(tmp_path, monkeypatch, packed):
    written, expected = "".join(CARRIAGE_RETURNS), [*CARRIAGE_RETURNS.values()]
    path, tsv = tmp_path / "a", tmp_path / "a.tsv"
    path.write_bytes(packed(written.encode()))
    tsv.write_bytes(
        packed("".join(f"{n}\t{line}" for n, line in enumerate(CARRIAGE_RETURNS)).encode())
    )
    assert [line.decode() for line in checked_lines(path)] == expected
    assert [target for _, target in pairs_of(read_parallel(path, path))] == expected
    assert [target for _, target in pairs_of(read_tsv(tsv))] == expected
    shards = Shards([tsv])
    assert [target for _, target in shards] == expected
    assert [target for _, target in pairs_of(shards.dataset())] == expected
    assert [line for chunk in read_chunks(path, 4) for line in chunk] == expected
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(written.encode())))
    assert [line for chunk in read_chunks(None, 4) for line in chunk] == expected


def test_datasets_and_iteration_read_equal_lines(tmp_path):
    """Random bytes that mean something in a table or a line."""
    rng = random.Random(3)
    for n in range(3):
        path = tmp_path / f"{n}.tsv"
        path.write_text("".join(rng.choices("ab \r\n\t\v\u2028\ufeff漢", k=60)), newline="")
        shards = Shards(path, columns=[1, 1])
        assert pairs_of(shards.dataset()) == [*shards]


def test_utf_16_is_refused(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("ab\n".encode("utf-16-le"))
    with pytest.raises(ValueError, match=r"line 1 is not \(it has NUL characters, as UTF-16 has"):
        read_parallel(path, path)


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
def test_a_tsv_has_two_columns(tmp_path, name):
    path = write(tmp_path / name, "one\teins\ntwo\tzwei\n\tdrei\nfour\t\n a \t b ")
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
    cut, broken, damaged_xz = (tmp_path / name for name in ("cut.gz", "broken.gz", "broken.xz"))
    damaged_xz.write_bytes(lzma.compress(b"a\tb\n" * 1000)[:-20])
    cut.write_bytes(whole[:-10])
    broken.write_bytes(whole[:20] + b"\xff" * 10 + whole[30:])
    for path, message in (
        (
            tmp_path / "absent.txt",
            r"a readable text file, .*absent\.txt' \(No such file or directory\)",
        ),
        (tmp_path, r"a readable text file, .*Received: .* \(Is a directory\)"),
        (cut, r"a readable text file, .*Received: .*cut\.gz' \(Compressed file ended"),
        (broken, r"a readable text file, .*Received: .*broken\.gz' \("),
        (damaged_xz, r"a readable text file, .*Received: .*broken\.xz' \("),
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


WIDE = "id\tcategory\tenglish\tgerman\n7\tpets\tthe dog\tder Hund\n8\tfood\tthe pie\tder Kuchen\n"
WIDE_PAIRS = [("the dog", "der Hund"), ("the pie", "der Kuchen")]


def test_more_columns_than_two_are_refused_with_the_first_row(tmp_path):
    path = write(tmp_path / "a.tsv", WIDE)
    message = (
        r"two columns, with a tab between them\. Received: path='.*a\.tsv', whose line 1 has 4 "
        r"columns: 1 'id', 2 'category', 3 'english', 4 'german'\. Choose two columns by the names "
        r"in the first row if it is a heading, .* or by number, .*; .*--columns a,b\.$"
    )
    for read in (lambda: read_tsv(path), lambda: len(Shards(path)), lambda: [*Shards(path)]):
        with pytest.raises(ValueError, match=message):
            read()
    write(path, f"one\teins\ntwo\tzwei\t{'x' * 100}\n")  # a later line
    with pytest.raises(ValueError, match=rf"line 2 has 3 columns: .*3 '{'x' * 39}…'\. Choose"):
        read_tsv(path)


OBJECTS = [
    {"id": 7, "english": "the dog", "translation": {"de": "der Hund", "en": "the dog"}},
    {"id": 8, "english": "the\r\npie", "translation": {"de": "der\tKuchen", "en": "the\npie"}},
]
QUOTED = 'id,english,"ger man"\r\n7,the dog,der Hund\r\n8,"the\r\npie","der\tKuchen"\r\n'


@pytest.mark.parametrize(
    ("name", "text", "columns"),
    [
        ("a.tsv", WIDE, ["english", "german"]),
        ("a.tsv.gz", WIDE.split("\n", 1)[1], [3, 4]),
        ("a.txt.xz", f"\ufeff{WIDE}".replace("\n", "\r\n"), ["english", "german"]),
        ("a.csv.bz2", QUOTED, ["english", "ger man"]),
        ("a.CSV", QUOTED.split("\n", 1)[1], (2, 3)),
        ("a.csv", "the dog,der Hund\n\nthe pie,der Kuchen\n\n", None),
        ("a.jsonl.gz", "\n".join(map(json.dumps, OBJECTS)), ["english", "translation.de"]),
        ("a.ndjson", "\n".join(map(json.dumps, OBJECTS)), ["translation.en", "translation.de"]),
        ("a.jsonl", "\n \n".join([*map(json.dumps, OBJECTS), ""]), ["english", "translation.de"]),
    ],
)
def test_columns_are_chosen_by_number_or_name(tmp_path, name, text, columns):
    packed = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
    path = tmp_path / name
    path.write_bytes(packed.get(path.suffix, bytes)(text.encode()))
    dataset = read_tsv(path, columns)
    assert dataset.cardinality() == 2 and pairs_of(dataset) == WIDE_PAIRS
    assert [*Shards(path, columns=columns)] == WIDE_PAIRS
    if columns:
        swapped = [*Shards(path, columns=columns[::-1])]
        assert swapped == [(target, source) for source, target in WIDE_PAIRS]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_content_shows_the_compression(tmp_path, pack):
    path = tmp_path / "a.tsv"
    path.write_bytes(pack(b"one\teins\n"))
    assert pairs_of(read_tsv(path)) == [("one", "eins")]
    assert list(read_chunks(path, 2)) == [["one\teins"]]
    plain = write(tmp_path / "a.txt", "one\teins\n").rename(tmp_path / "plain.gz")
    assert pairs_of(read_tsv(plain)) == [("one", "eins")]


def test_other_compressions_are_named(tmp_path, monkeypatch):
    for start, name in ((b"\x28\xb5\x2f\xfd", "zstd"), (b"PK\3\4", "zip")):
        (tmp_path / "a.tsv").write_bytes(start + b"\xff\n")
        with pytest.raises(ValueError, match=rf"gzip, bzip2 or xz\. .* which is {name}\. Unpack"):
            read_tsv(tmp_path / "a.tsv")
    data = gzip.compress(b"one\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    with pytest.raises(ValueError, match=r"^standard input: expected text\. Received: gzip\."):
        list(read_chunks(None, 2))


@pytest.mark.parametrize(
    ("name", "text", "columns", "message"),
    [
        ("a.tsv", WIDE, ["english", "french"], r"'french' in the heading.*'id', 'category', 'eng"),
        ("a.tsv", "a\ta\nb\tb\n", ["a", "a"], r"one column 'a' in the heading"),
        ("a.tsv", WIDE, [1, 5], r"at least 5 columns\. .*line 1 has 4 columns: 1 'id'"),
        ("a.jsonl", "\n\n", ["a", "b"], r"at least one row\. Received: path='.*', which has none"),
        *(
            ("a.csv", "\n\n", columns, r"at least one row\.")
            for columns in (None, [1, 2], ["a", "b"])
        ),
        ("a.tsv", "a\tb\n", ["a", "b"], "at least one row after the heading"),
        ("a.tsv", WIDE, [0, 1], r"numbers, counted from 1, or all names\. .*columns=\[0, 1\]"),
        ("a.tsv", WIDE, [1, "german"], r"all numbers, .*columns=\[1, 'german'\]"),
        ("a.tsv", WIDE, [1, 2, 3], r"two columns of a file with both sides"),
        ("a.tsv", WIDE, "english,german", "all numbers"),
        ("a.csv", "one,eins\ntwo\n", None, r"source,target\. .*line 2 has no comma"),
        ("a.csv", 'one,eins\n"two,zwei\n', None, r"Expected CSV\. .*line 2 is not \("),
        ("a.csv", "one,eins,1\n", None, r"with a comma between them.*3 '1'\. Choose"),
        ("a.jsonl", '{"a": "b"}\n', None, r"names of their keys as columns.*is \{\"a\": \"b\"\}"),
        ("a.jsonl", '{"a": "b"}\n', None, r"recipe `columns: \[a, b\]`, .*line --columns a,b\. "),
        ("a.jsonl", '["a", "b"]\n', ["a", "b"], r"JSON objects.*whose line 1 is \["),
        ("a.jsonl", '{"a": "b", "c": null}\n', ["a", "c"], r"text in 'a' and 'c'.*line 1"),
        ("a.jsonl", '{"a": "b"}\n', ["a", "c.d"], r"text in 'a' and 'c\.d'.*line 1 is"),
        ("a.jsonl", '{"a": "b"}\n{"a"\n', ["a", "a"], r"JSON object per line\. .*line 2 is not"),
        ("a.jsonl", '{"a": "b"}\n\n\n{"a"\n', ["a", "a"], r"per line\. .*line 4 is not"),
    ],
)
def test_columns_that_are_not_there(tmp_path, name, text, columns, message):
    path = write(tmp_path / name, text)
    with pytest.raises(ValueError, match=message) as error:
        read_tsv(path, columns)
    assert "\n" not in str(error.value)


def test_half_of_a_surrogate_pair_in_json(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"a": "x\\ud800", "b": "\\ud83d\\ude00"}\n')
    assert [*Shards(tmp_path / "a.jsonl", columns=["a", "b"])] == [("x�", "😀")]
