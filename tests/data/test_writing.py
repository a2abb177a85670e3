import gzip

import pytest

from kerasnmt.data.lines import parallel_lines
from kerasnmt.data.tables import table_rows
from kerasnmt.data.writing import write_pairs

PAIRS = [(b"one", b"eins"), (b"", "zwei  für".encode()), (b"three # four", b"")]


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_what_is_written_is_read(tmp_path, ending):
    source, target, pairs = (tmp_path / f"{name}{ending}" for name in ("a.en", "a.de", "a.tsv"))
    write_pairs(iter(PAIRS), source, target)
    write_pairs(iter(PAIRS), pairs)
    assert list(parallel_lines(source, target)) == PAIRS
    assert list(table_rows(pairs)) == PAIRS
    if not ending:
        assert source.read_bytes() == b"one\n\nthree # four\n"


def test_equal_pairs_make_equal_files(tmp_path):
    write_pairs(PAIRS, tmp_path / "a.tsv.gz")
    write_pairs(PAIRS, tmp_path / "b.tsv.gz")
    assert (tmp_path / "a.tsv.gz").read_bytes() == (tmp_path / "b.tsv.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.tsv.gz").read_bytes()).startswith(b"one\teins\n")
