import gzip
import re
import tracemalloc
from collections import Counter

import pytest

from kerasnmt.columns import holds_texts
from kerasnmt.data import Shards, batches, describe_batches, read_parallel, read_tsv
from kerasnmt.data.patterns import is_pattern, matching_files
from kerasnmt.text import WordTokenizer
from kerasnmt.text.sentences import sample_of_sentences

FILES, LINES = 20, 160


def write(path, lines):
    data = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(data, 1) if path.suffix == ".gz" else data)
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Shards of pairs such as `file3 line7`, `zeile7 datei3`."""
    folder = tmp_path_factory.mktemp("shards")
    for file in range(FILES):
        sources = [f"file{file} line{line}" for line in range(LINES)]
        targets = [f"zeile{line} datei{file}" for line in range(LINES)]
        pairs = map("\t".join, zip(sources, targets, strict=True))
        write(folder / f"part-{file:02}.tsv.gz", pairs)
        write(folder / f"part-{file:02}.en", sources)
        write(folder / f"part-{file:02}.de", targets)
    return folder


@pytest.fixture(scope="module")
def shards(folder):
    return Shards(folder / "part-*.tsv.gz")


@pytest.fixture(scope="module")
def tokenizer():
    words = [f"{word}{n}" for word in ("file", "datei") for n in range(FILES)]
    return WordTokenizer.train(
        words + [f"{w}{n}" for w in ("line", "zeile") for n in range(LINES)], None
    )


def sources(dataset, tokenizer):
    """Return the sources of batches, in order."""
    rows = [row for inputs, _, _ in dataset for row in inputs["source_ids"].numpy()]
    words = tokenizer.tokens([row[:2] for row in rows]).numpy()
    return [b" ".join(row).decode() for row in words]


def files_of(texts):
    return Counter(text.split()[0] for text in texts)


def test_python_reads_all_pairs_in_order(shards):
    assert len(shards) == FILES * LINES
    pairs = list(shards)
    assert pairs[0] == ("file0 line0", "zeile0 datei0")
    assert pairs[LINES + 5] == ("file1 line5", "zeile5 datei1")
    assert len(set(pairs)) == FILES * LINES


def test_patterns_and_lists_are_read_file_by_file(folder, shards):
    expected = list(shards)[: 3 * LINES]
    parts = {end: sorted(folder.glob(f"part-0[0-2].{end}")) for end in ("tsv.gz", "en", "de")}
    for dataset in (
        read_tsv(folder / "part-0[0-2].tsv.gz"),
        read_tsv(parts["tsv.gz"]),
        read_parallel(f"{folder}/part-0[0-2].en", f"{folder}/part-0[!3-9].de"),
        read_parallel(parts["en"], parts["de"]),
    ):
        assert dataset.cardinality() == 3 * LINES
        read = [
            (source.decode(), target.decode()) for source, target in dataset.as_numpy_iterator()
        ]
        assert read == expected


def test_plain_and_compressed_shards_with_marks(tmp_path):
    """A file may be shorter than a chunk, and begin with a byte order mark."""
    write(tmp_path / "b.tsv.gz", ["\ufefftwo\tzwei", "\tdrei"])
    write(tmp_path / "a.tsv", ["\ufeffone\teins\r"])
    shards = Shards(tmp_path / "*.tsv*")
    pairs = [("one", "eins"), ("two", "zwei"), ("", "drei")]
    assert list(shards) == pairs
    read = [(one.decode(), two.decode()) for one, two in shards.dataset().as_numpy_iterator()]
    assert read == pairs


@pytest.mark.parametrize(
    "kind",
    ["tsv", pytest.param("parallel", marks=pytest.mark.thorough("reads the pairs from two files"))],
)
def test_each_epoch_has_every_pair_once_and_its_own_order(kind, folder, tokenizer):
    shards = Shards(folder / "part-0[0-7].tsv.gz")  # 1280 pairs
    if kind == "parallel":
        shards = Shards(folder / "part-0[0-7].en", folder / "part-0[0-7].de")
    options = {"seed": 1, "batch_size": 64, "shuffle_buffer": 300}
    count = describe_batches(batches(shards, tokenizer, **options)).batches
    assert count == 20

    def epochs(first, number):
        data = batches(shards, tokenizer, first_epoch=first, **options)
        texts = sources(data.take(number * count), tokenizer)
        return [texts[i * 64 * count : (i + 1) * 64 * count] for i in range(number)]

    first, second = epochs(0, 2)
    everything = {source for source, _ in shards}
    for texts in (first, second):
        assert len(texts) == 1280 and set(texts) == everything
    assert first != second
    # The order depends on nothing but the seed and the number of the epoch.
    assert epochs(1, 1) == [second]
    rest = batches(shards, tokenizer, first_epoch=1, **options).skip(count - 5).take(5)
    assert sources(rest, tokenizer) == second[(count - 5) * 64 :]
    other = batches(shards, tokenizer, first_epoch=1, **options | {"seed": 2}).take(1)
    assert sources(other, tokenizer) != second[:64]
    # Without numbers of epochs, each pass has another order too.
    passes = batches(shards, tokenizer, **options)
    one, two = (sources(passes, tokenizer) for _ in range(2))
    assert one != two and set(one) == set(two) == everything


def test_shards_are_mixed(shards, tokenizer, monkeypatch):
    monkeypatch.setattr("kerasnmt.data.shards._CHUNK", 20)  # so that each shard has 8 chunks
    options = {"batch_size": 4, "shuffle_buffer": 16 * 20}
    data = batches(shards, tokenizer, seed=1, first_epoch=0, **options)
    first, second = (
        files_of(sources(data.skip(start).take(80), tokenizer)) for start in (0, FILES * LINES // 4)
    )
    for found in (first, second):
        # Each of the 16 shards that are read together has its share of 320 pairs, 20.
        assert len(found) == 16
        assert all(8 < number < 36 for number in found.values())
    assert set(first) != set(second)


def test_without_shuffling_files_follow_each_other(shards, tokenizer):
    data = batches(shards, tokenizer, shuffle=False, batch_size=64)
    expected = [f"file{file} line{line}" for file in range(2) for line in range(LINES)]
    assert sources(data.take(5), tokenizer) == expected[: 5 * 64]


def test_python_keeps_one_line_in_memory(tmp_path):
    for number in range(2):
        write(tmp_path / f"{number}.tsv.gz", [f"{n} {'word ' * 20}\t{n}" for n in range(8_000)])
    shards = Shards(tmp_path / "*.tsv.gz")  # 1.8 MB
    tracemalloc.start()
    assert len(shards) == 16_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 300_000


def test_a_sample_for_a_vocabulary_is_bounded_and_of_all_shards(shards):
    sample = sample_of_sentences(shards, 2000)
    assert len(sample) == 2000
    sides = Counter(re.search(r"(?:file|datei)(\d+)", text)[1] for text in sample)
    assert sum(text[0] == "f" for text in sample) == pytest.approx(1000, abs=100)
    assert set(sides) == {str(file) for file in range(FILES)}
    assert all(60 < number < 140 for number in sides.values())  # 100 of each shard
    assert sample_of_sentences(shards, 2000) == sample


def test_nothing_that_needs_all_pairs_in_memory(shards, tokenizer):
    for options, message in (
        ({"cache": True}, r"Expected no cache with Shards, .*Received: cache=True\. Omit it, or"),
        ({"contexts": ["a"]}, r"Expected no contexts with Shards, .*contexts=\['a'\]\. Omit it"),
        ({"alignments": []}, r"Expected no alignments with Shards, .*alignments=\[\]\. Omit it"),
    ):
        with pytest.raises(ValueError, match=message):
            batches(shards, tokenizer, **options)


def test_shards_are_texts_for_fit(shards):
    assert holds_texts(shards)


def test_a_bad_shard_is_named_with_its_line(tmp_path):
    paths = [write(tmp_path / f"{n:02}.tsv.gz", ["a\tb"] * 5) for n in range(20)]
    pattern = tmp_path / "*.tsv.gz"
    assert len(Shards(pattern)) == 100
    whole = paths[17].read_bytes()
    for content, message in (
        (gzip.compress(b"a\tb\na b\n"), r"TAB target.*17\.tsv\.gz', whose line 2 has no tab"),
        (gzip.compress(b"a\tb\n\xff\tb\n"), r"UTF-8 text.*17\.tsv\.gz', whose line 2 is not"),
        (whole[:-9], r"readable text file.*17\.tsv\.gz' \(Compressed file ended"),
        (gzip.compress(b""), r"at least one line.*17\.tsv\.gz', which is empty"),
    ):
        paths[17].write_bytes(content)
        for read in (
            lambda: len(Shards(pattern)),
            lambda: read_tsv(pattern),
            lambda: WordTokenizer.train(Shards(pattern), None),
        ):
            with pytest.raises(ValueError, match=message):
                read()


def test_shards_that_do_not_fit_together(tmp_path):
    write(tmp_path / "a.en", ["one", "two"])
    write(tmp_path / "a.de", ["eins"])
    with pytest.raises(ValueError, match=r"a\.en' with 2 lines, target_path='.*a\.de' with 1"):
        len(Shards(tmp_path / "*.en", tmp_path / "*.de"))
    write(tmp_path / "b.en", ["three"])
    message = (
        r"as many files of targets as of sources\. Received: 2 files of source='.*\*\.en', 1 f"
    )
    with pytest.raises(ValueError, match=message):
        Shards(tmp_path / "*.en", tmp_path / "*.de")


def test_patterns(tmp_path):
    for name in ("b.tsv", "a.tsv", "c[1].tsv"):
        write(tmp_path / name, ["a\tb"])
    names = [str(tmp_path / name) for name in ("a.tsv", "b.tsv", "c[1].tsv")]
    assert matching_files(tmp_path / "*.tsv") == names
    assert matching_files(tmp_path / "[ab].tsv") == names[:2]
    assert matching_files(tmp_path / "?.tsv") == names[:2]
    assert matching_files([names[1], tmp_path / "a.tsv"]) == [names[1], names[0]]
    # A file with such a name is a file, and a missing file is no pattern.
    assert not is_pattern(names[2]) and matching_files(names[2]) == [names[2]]
    assert not is_pattern("missing.tsv") and matching_files("missing.tsv") == ["missing.tsv"]
    for files in (tmp_path / "*.txt", []):
        with pytest.raises(ValueError, match=r"at least one file\. Received: source='.*', which"):
            Shards(files)


@pytest.mark.parametrize("names", [("part-*.tsv.gz",), ("part-*.en", "part-*.de")])
def test_processes_share_the_shards(folder, names):
    shards = Shards(*(folder / name for name in names))
    parts = [shards.part(3, part) for part in range(3)]
    assert [len(part.files) for part in parts] == [7, 7, 6]
    assert sorted(file for part in parts for file in part.files) == shards.files
    assert sum(map(len, parts)) == len(shards)
    assert next(iter(parts[1])) == ("file1 line0", "zeile0 datei1")


def test_more_processes_than_shards(shards):
    with pytest.raises(ValueError, match=r"at least 21 shards, .* Received: 20\. Divide"):
        shards.part(21, 0)
    with pytest.raises(ValueError, match="part=2, parts=2"):
        shards.part(2, 2)
