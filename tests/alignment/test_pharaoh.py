import pytest

from kerasnmt.alignment import format_pharaoh, parse_pharaoh


def test_format_sorts_by_position():
    assert format_pharaoh([(10, 0), (2, 3), (2, 1), (0, 0)]) == "0-0 2-1 2-3 10-0"
    assert format_pharaoh([]) == ""


def test_parse_tells_sure_from_possible():
    assert parse_pharaoh("1-2 0p3 0-0 10p11\n") == ([(1, 2), (0, 0)], [(0, 3), (10, 11)])
    assert parse_pharaoh(" \n") == ([], [])


def test_parse_reads_what_format_writes():
    links = [(0, 1), (3, 2), (3, 14)]
    assert parse_pharaoh(format_pharaoh(links)) == (links, [])


@pytest.mark.parametrize("item", ["1", "1-", "-1-2", "1-2-3", "1:2", "a-b", "1P2", "1-²", "1.0-2"])
def test_bad_items_are_named(item):
    with pytest.raises(ValueError) as caught:
        parse_pharaoh(f"0-0 {item} 1-1")
    assert str(caught.value) == (
        "Expected items such as '0-0' (sure) or '0p0' (possible), source before "
        f"target. Received: item={item!r}"
    )
