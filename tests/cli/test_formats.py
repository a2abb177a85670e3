"""Records in and out: TSV, CSV and JSON Lines of other people, and a prefix for each text."""

import csv
import gzip
import io
import json

import pytest

from tests.cli.conftest import write

# A comma, quotes, a line break and a tab inside fields; scripts from right to left and without
# spaces; a byte order mark, and line ends of Windows.
CSV = (
    '\ufeffid,"english, text",note\r\n'
    '1,"He said ""no"".\r\nThen he left.",\r\n'
    '2,"one\ttwo",犬が走る\r\n'
    "\r\n"
    "3,مرحبا بالعالم,e\u0301\u2028🙂\r\n"
    "4,,x\r\n"
)
RECORDS = [
    {"id": "1", "english, text": 'He said "no".\nThen he left.', "note": ""},
    {"id": "2", "english, text": "one\ttwo", "note": "犬が走る"},
    {"id": "3", "english, text": "مرحبا بالعالم", "note": "e\u0301\u2028🙂"},
    {"id": "4", "english, text": "", "note": "x"},
]
TEXTS = ['He said "no". Then he left.', "one two", "مرحبا بالعالم", ""]


class Upper:
    """Translator whose translations are the texts in capital letters."""

    description = {"beam_size": 2}  # noqa: RUF012

    def __init__(self, *fields):
        self.fields = fields

    def ask(self, request, batch_size, first_number):
        fronts = [f"{prefix}|" for prefix in request.pop("prefix", ())]
        rows = ["+".join(map(str, row)).upper() for row in zip(*request.values(), strict=True)]
        fronts = fronts or [""] * len(rows)
        return [(front + row, -0.25) for front, row in zip(fronts, rows, strict=True)]

    def n_best(self, texts, *, contexts, batch_size, first_number):
        return [[(text.upper(), -0.5), (text.lower(), -1 / 3)][: 1 + bool(text)] for text in texts]


@pytest.fixture
def translate(kerasnmt, monkeypatch, tmp_path):
    """Run `translate` with a model that reads these fields."""

    def run(*arguments, fields=("text",), stdin=""):
        monkeypatch.setattr(
            "kerasnmt.cli.translate.load_translator", lambda *_, **__: Upper(*fields)
        )
        return kerasnmt("translate", tmp_path, *arguments, "--batch-size", 2, stdin=stdin)

    return run


def rows_of_csv(text):
    return [*csv.DictReader(io.StringIO(text, newline=""))]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(CSV.encode())
    # A column name with a comma cannot be on the command line.
    path.write_bytes(path.read_bytes().replace(b'"english, text"', b"english"))
    return path


@pytest.fixture
def records():
    return [
        {"id": one["id"], "english": one["english, text"], "note": one["note"]} for one in RECORDS
    ]


def test_csv_keeps_its_fields(translate, table, records):
    expected = [
        one | {"translation": text.upper()} for one, text in zip(records, TEXTS, strict=True)
    ]
    done = translate("--input", table, "--columns", "english")
    assert (done.code, done.err) == (0, "")
    assert rows_of_csv(done.out) == expected
    done = translate("--input", table, "--columns", "english", "--format", "json", "--scores")
    assert [json.loads(line) for line in done.lines] == [one | {"score": -0.25} for one in expected]
    assert "犬が走る" in done.out
    done = translate("--input", table, "--columns", "english", "--format", "text")
    assert done.out == "".join(f"{text.upper()}\n" for text in TEXTS)
    done = translate("--input", table, "--columns", "english", "--format", "tsv")
    heading, *lines = done.lines
    assert heading == "id\tenglish\tnote\ttranslation"
    assert lines[:2] == [
        '1\tHe said "no". Then he left.\t\tHE SAID "NO". THEN HE LEFT.',
        "2\tone two\t犬が走る\tONE TWO",
    ]
    # The output can be read again, and has the same records.
    packed = table.with_name("again.csv.gz")
    packed.write_bytes(
        gzip.compress(translate("--input", table, "--columns", "english").out.encode())
    )
    done = translate("--input", packed, "--columns", "id", "--format", "json")
    assert done.code == 2 and "Received: the field 'translation'. Rename it." in done.err
    done = translate("--input", packed, "--columns", "note", "--format", "text")
    assert done.out == "".join(f"{one['note'].upper()}\n" for one in records)


def test_a_name_of_a_column_may_begin_with_a_digit(translate, tmp_path):
    path = write(tmp_path / "data.csv", ["1st,2nd", "a,b"])
    done = translate("--input", path, "--columns", "2nd")
    assert done.lines == ["1st,2nd,translation", "a,b,B"]
    path = write(tmp_path / "data.tsv", ["a\tb"])
    assert translate("--input", path, "--columns", " 2").lines == ["a\tb\tB"]


def test_columns_by_number_have_no_heading(translate, tmp_path):
    path = write(tmp_path / "data.tsv", ["1\tone", "2\t犬", '3\t"quotes" stay'])
    done = translate("--input", path, "--columns", 2)
    assert done.lines == ["1\tone\tONE", "2\t犬\t犬", '3\t"quotes" stay\t"QUOTES" STAY']
    done = translate("--input", path, "--columns", "2,1", fields=("text", "context"))
    assert done.lines[0] == "1\tone\tONE+1"
    done = translate("--input", path, "--columns", 2, "--format", "json")
    assert json.loads(done.lines[1]) == {"1": "2", "2": "犬", "translation": "犬"}


def test_json_lines_keep_their_values(translate, tmp_path):
    rows = [
        {"id": 1, "translation of": {"en": "a\nb"}, "tags": [1.25, None, True]},
        {"translation of": {"en": "\ud83d"}, "more": "x"},
    ]
    path = write(tmp_path / "data.jsonl", [json.dumps(rows[0]), "", json.dumps(rows[1])])
    done = translate("--input", path, "--columns", "translation of.en")
    first, second = map(json.loads, done.lines)
    assert first == rows[0] | {"translation": "A B"}
    assert second["translation of"] == {"en": "\ufffd"} and second["translation"] == "\ufffd"
    done = translate("--input", path, "--columns", "translation of.en", "--format", "csv")
    assert done.code == 2 and rows_of_csv(done.out)[0]["tags"] == "[1.25, null, true]"
    assert "Expected the same fields in each row for csv, id, translation of, tags, tr" in done.err
    rows = [{"text": "a", "id": 1}, {"id": 2, "text": "b"}]  # in any order
    path = write(tmp_path / "order.jsonl", map(json.dumps, rows))
    done = translate("--input", path, "--columns", "text", "--format", "csv")
    assert done.lines == ["text,id,translation", "a,1,A", "b,2,B"]


def test_lines_become_records(translate, tmp_path):
    done = translate("--format", "json", "--scores", stdin="a\n\n犬\tb\n")
    assert [*map(json.loads, done.lines)] == [
        {"text": "a", "translation": "A", "score": -0.25},
        {"text": "", "translation": "", "score": -0.25},
        {"text": "犬\tb", "translation": "犬\tB", "score": -0.25},
    ]
    assert translate("--format", "tsv", stdin="a\n犬\tb\n").lines == [
        "text\ttranslation",
        "a\tA",
        "犬 b\t犬 B",
    ]
    assert translate("--format", "tsv", stdin="").out == ""
    images = [write(tmp_path / f"{name}.png", [name]) for name in "abc"]
    done = translate("--image", *images, "--format", "json", fields=("image",))
    assert [json.loads(line)["image"] for line in done.lines] == [*map(str, images)]
    assert {*json.loads(done.lines[2])} == {"image", "caption"}


def test_n_best_lists(translate):
    done = translate("--n-best", 2, "--format", "json", stdin="aB\n\n")
    assert [*map(json.loads, done.lines)] == [
        {
            "text": "aB",
            "n_best": [
                {"translation": "AB", "score": -0.5},
                {"translation": "ab", "score": -0.333333},
            ],
        },
        {"text": "", "n_best": [{"translation": "", "score": -0.5}]},
    ]
    done = translate("--n-best", 2, "--format", "tsv", stdin="aB\n\n")
    assert done.lines == [
        "text\trank\ttranslation\tscore",
        "aB\t1\tAB\t-0.5",
        "aB\t2\tab\t-0.333333",
        "\t1\t\t-0.5",
    ]


@pytest.mark.parametrize(
    ("name", "content", "columns", "message"),
    [
        (
            "a.csv",
            "id,en\n1,x\n",
            "fr",
            "one column 'fr' in the heading, the first row. Received: path='PATH'",
        ),
        ("a.csv", "id,en,en\n1,x,y\n", "id", "one column 'en' in the heading"),
        ("a.csv", 'id,en\n1,"x\ny"\n2\n', "en", "Expected 2 columns. Received: path='PATH', whose"),
        ("a.csv", 'id,en\n1,"x\ny"\n2\n', "en", "whose line 4 has 1 column: 1 '2'."),
        ("a.csv", 'id,en\n1,x\n2,"y\n', "en", "Expected CSV. Received: path='PATH', whose line 3"),
        ("a.csv", "\n\n", "en", "Expected at least one row. Received: path="),
        ("a.tsv", "id\ten\n1\tx\n2\ty\tz\n", "en", "whose line 3 has 3 columns: 1 '2', 2 'y', 3"),
        ("a.tsv", "1\tx\n2\ty\n", "3", "Expected 3 columns. Received: path='PATH', whose line 1"),
        ("a.jsonl", "\n\n", "en", "Expected at least one row. Received: path="),
        ("a.tsv", "id\ten\n", "en", "Expected at least one row after the heading."),
        ("a.tsv", "", "en", "Expected a file with at least one line."),
        ("a.jsonl", '{"en": "x"}\n{"en": \n', "en", "whose line 2 is not (Expecting value"),
        (
            "a.jsonl",
            '{"en": "x"}\n{"en": null}\n',
            "en",
            "Expected text in 'en'. Received: path='PATH', whose line 2",
        ),
        ("a.jsonl", '{"en": "x"}\n["en"]\n', "en", "Expected JSON objects, and the names of"),
        ("a.jsonl", '{"en": "x"}\n', "1", "Expected JSON objects, and the names of their keys"),
        (
            "a.csv",
            "id,en\n1,x\n",
            "id,en",
            "a column of text, which this model reads. Received: --columns id,en",
        ),
        ("a.csv", "id,en\n1,x\n", "id,en,x", "Expected one column, such as --columns text, or two"),
        ("a.csv", "id,en\n1,x\n", "1,en", "Expected columns that are all numbers"),
    ],
)
def test_wrong_tables(translate, tmp_path, name, content, columns, message):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    done = translate("--input", path, "--columns", columns)
    assert done.code == 2 and done.err.startswith("error: Expected")
    assert message.replace("PATH", str(path)) in done.err
    assert done.err.count("\n") == 1


def test_rows_before_a_broken_row_are_written(translate, tmp_path):
    rows = [*(f"{number},x" for number in range(70)), "70,x,x", "71,x"]
    path = write(tmp_path / "a.csv", ["id,en", *rows])
    done = translate("--input", path, "--columns", "en")
    assert done.code == 2 and "whose line 72 has 3 columns" in done.err
    assert done.lines == ["id,en,translation", *(f"{number},x,X" for number in range(70))]


@pytest.mark.parametrize(
    "arguments",
    [[], ["--context", "f", "--input", "f"], ["--image", "f"], ["--field", "context=f"]],
)
def test_columns_need_an_input_alone(translate, arguments):
    done = translate("--columns", "en", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "error: Expected --input FILE, and no other file of texts, with --columns.\n"
    )


class TestPrefixes:
    def test_a_line_for_each_text(self, translate, tmp_path, table):
        prefixes = write(tmp_path / "prefixes", ["a b", "", "犬"])
        done = translate("--prefix", prefixes, "--scores", stdin="x\ny\nz\n")
        assert done.lines == ["a b|X\t-0.250000", "|Y\t-0.250000", "犬|Z\t-0.250000"]
        write(prefixes, ["a", "b", "", "d"])
        done = translate("--prefix", prefixes, "--input", table, "--columns", "english")
        assert [one["translation"][:2] for one in rows_of_csv(done.out)] == ["a|", "b|", "|م", "d|"]

    @pytest.mark.parametrize(
        ("texts", "message"),
        [
            ("x\ny\nz\nw\n", "with 3 for 4 texts."),
            ("x\ny\n", "with 3 for 2 texts."),
        ],
    )
    def test_another_number_of_lines(self, translate, tmp_path, texts, message):
        prefixes = write(tmp_path / "prefixes", "abc")
        done = translate("--prefix", prefixes, stdin=texts)
        assert done.code == 2 and len(done.lines) == 2
        assert done.err == (
            f"error: Expected one line of --prefix for each text. Received: {prefixes} {message}\n"
        )

    @pytest.mark.parametrize("option", [["--n-best", 1], ["--alignments"], ["--confidence"]])
    def test_it_gives_the_best_translation_alone(self, translate, tmp_path, option):
        done = translate("--prefix", tmp_path / "prefixes", *option, stdin="x\n")
        assert done.err == (
            f"error: Expected --prefix without {option[0]}, because it gives the best translation "
            "alone.\n"
        )

    @pytest.mark.usefixtures("eagerly")
    def test_the_translations_of_a_run_begin_with_them(
        self, kerasnmt, run_folder, export_folder, loaded_model, tmp_path
    ):
        prefixes, options = ["Der Mann", "", "ja"], {"beam_size": 3, "length_penalty": 0.6}
        texts = ["Anna sees two dogs .", "no", ""]
        path = write(tmp_path / "prefixes", prefixes)
        stdin = "".join(f"{text}\n" for text in texts)
        done = kerasnmt("translate", run_folder, "--prefix", path, stdin=stdin)
        expected = loaded_model.translate(texts, prefixes=prefixes, max_length=20, **options)
        assert (done.lines, done.err) == (expected, "")
        assert expected[0].startswith("Der Mann") and expected[2] == ""
        done = kerasnmt("translate", export_folder, "--prefix", path, stdin=stdin)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("error: Expected a model for prefixes. Received: an export")
