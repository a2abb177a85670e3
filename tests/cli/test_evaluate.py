import json

import pytest
import sacrebleu

from kerasnmt.training import translation_scores
from tests.cli.conftest import write

SOURCES = ["Anna sees two dogs .", "The man sleeps .", "", "Two old men read .", "He sees Anna ."]
KEYS = ["bleu", "bleu_signature", "chrf", "chrf_signature", "exact", "sentences"]


@pytest.fixture
def files(tmp_path, translator):
    """Sources, and references that differ from the translations in the last two words."""
    words = [text.split() for text in translator.translate(SOURCES)]
    references = [" ".join([*some[:-2], "x", "y"]) if some else "" for some in words]
    return write(tmp_path / "source", SOURCES), write(tmp_path / "reference", references)


def options(files):
    return "--source", files[0], "--reference", files[1]


def test_scores_match_sacrebleu_on_the_lines_of_translate(kerasnmt, export_folder, files):
    hypotheses = kerasnmt("translate", export_folder, "--input", files[0]).lines
    references = files[1].read_text().split("\n")[:-1]
    bleu, chrf = sacrebleu.BLEU(force=True), sacrebleu.CHRF()
    expected = [
        bleu.corpus_score(hypotheses, [references]).score,
        str(bleu.get_signature()),
        chrf.corpus_score(hypotheses, [references]).score,
        str(chrf.get_signature()),
        100 * sum(map(str.__eq__, hypotheses, references)) / len(SOURCES),
        len(SOURCES),
    ]
    assert 5 < expected[0] < 95 and 5 < expected[2] < 95

    done = kerasnmt("evaluate", export_folder, *options(files), "--json")
    assert (done.code, done.err, len(done.lines)) == (0, "", 1)
    results = json.loads(done.out)
    assert list(results) == KEYS
    assert [results[key] for key in KEYS] == [
        pytest.approx(value) if isinstance(value, float) else value for value in expected
    ]

    done = kerasnmt("evaluate", export_folder, *options(files), "--batch-size", 2)
    assert done == (
        0,
        f"BLEU  {expected[0]:.2f}  {expected[1]}\nchrF  {expected[2]:.2f}  {expected[3]}\n"
        f"exact  {expected[4]:.2f}%\non 5 sentences\n",
        "",
    )


def test_pairs(kerasnmt, export_folder, files, tmp_path):
    """Consecutive lines with the same source are references of one sentence."""
    rows = list(zip(*(path.read_text().split("\n")[:-1] for path in files), strict=True))
    (tmp_path / "rows.tsv").write_text("".join(f"{one}\t{other}\n" for one, other in rows))
    done = kerasnmt("evaluate", export_folder, "--pairs", tmp_path / "rows.tsv")
    assert done == kerasnmt("evaluate", export_folder, *options(files))
    wide = "".join(f"{n}\t{other}\t{one}\n" for n, (one, other) in enumerate(rows))
    (tmp_path / "wide.tsv").write_text(wide)
    chosen = kerasnmt(
        "evaluate", export_folder, "--pairs", tmp_path / "wide.tsv", "--columns", "3,2"
    )
    assert chosen == done
    twice = "".join(2 * f"{one}\t{other}\n" for one, other in rows)
    (tmp_path / "rows.tsv").write_text(twice)
    found = json.loads(
        kerasnmt("evaluate", export_folder, "--pairs", tmp_path / "rows.tsv", "--json").out
    )
    single = json.loads(kerasnmt("evaluate", export_folder, *options(files), "--json").out)
    for name in ("bleu", "exact", "sentences"):
        assert found[name] == pytest.approx(single[name])
    assert found["bleu_signature"].startswith("nrefs:2|")
    done = kerasnmt("evaluate", export_folder, "--pairs", tmp_path / "rows.tsv")
    assert done.lines[-1] == "on 5 sentences with 10 references"


def test_one_form_of_files(kerasnmt, export_folder, files, tmp_path):
    for arguments in ([], ["--source", files[0]], ["--reference", files[1]]):
        done = kerasnmt("evaluate", export_folder, *arguments)
        assert done == (
            2,
            "",
            "error: Expected --source FILE with --reference FILE, or --pairs FILE.\n",
        )
    for more in ("--source", "--reference", "--context"):
        done = kerasnmt("evaluate", export_folder, "--pairs", files[0], more, files[1])
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("error: Expected --pairs FILE without --source, --reference and")


def test_bad_input(kerasnmt, export_folder, files, tmp_path):
    none = tmp_path / "none"
    bad, short = tmp_path / "bad", tmp_path / "short"
    bad.write_bytes(b"a\n\xff\n")
    short.write_text("one\n\nthree\n")
    for model, source, reference, more, problem in (
        (export_folder, none, files[1], [], f"path='{none}' (No such file or directory)"),
        (export_folder, files[0], bad, [], f"path='{bad}', whose line 2 is not"),
        (export_folder, files[0], short, [], f"'{files[0]}' with 5 lines"),
        (export_folder, files[0], short, [], f"'{short}' with 3"),
        (none, *files, [], f"Received: {none}\n"),
        (export_folder, *files, ["--baseline", none], f"Received: {none}\n"),
        (export_folder, *files, ["--beam-size", 4], "beam size that is fixed in the export, 3."),
    ):
        done = kerasnmt("evaluate", model, *options((source, reference)), *more)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("error: Expected ") and done.err.count("\n") == 1
        assert problem in done.err


def test_the_tokenizer_of_bleu(kerasnmt, export_folder, files):
    found = json.loads(
        kerasnmt("evaluate", export_folder, *options(files), "--tokenize", "char", "--json").out
    )
    translations = kerasnmt("translate", export_folder, "--input", files[0]).lines
    references = files[1].read_text().split("\n")[:-1]
    expected = sacrebleu.BLEU(force=True, tokenize="char").corpus_score(translations, [references])
    assert found["bleu"] == pytest.approx(expected.score)
    assert "|tok:char|" in found["bleu_signature"]

    files[1].write_text("\n".join(["我们看到一只大狗。"] * len(SOURCES)), encoding="utf-8")
    done = kerasnmt("evaluate", export_folder, *options(files))
    assert "|tok:zh|" in done.lines[0]

    done = kerasnmt("evaluate", "none", *options(files), "--tokenize", "chars")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: Expected a tokenizer of sacreBLEU, one of none, zh, 13a")
    assert done.err.endswith("Received: chars. Did you mean char?\n")


@pytest.fixture
def many(tmp_path, translator):
    """Twenty sources, and references without one word of every third translation of a model."""
    people, ends = ("Anna", "He", "Men", "Dogs", "She"), ("a dog", "two dogs")
    verbs = ("see", "sees")
    sources = [f"{one} {verb} {end} ." for one in people for verb in verbs for end in ends]
    references = [
        text if place % 3 else text.partition(" ")[2]
        for place, text in enumerate(translator.translate(sources))
    ]
    return write(tmp_path / "source", sources), write(tmp_path / "reference", references)


@pytest.mark.usefixtures("eagerly")
def test_a_broken_model_against_a_good_one(
    kerasnmt, run_folder, export_folder, other_run_folder, many
):
    def scores(*arguments):
        done = kerasnmt("evaluate", *arguments, *options(many), "--json")
        assert (done.code, done.err) == (0, "")
        return json.loads(done.out)

    good, broken = scores(export_folder), scores(other_run_folder)
    same = scores(export_folder, "--baseline", run_folder)
    better = scores(export_folder, "--baseline", other_run_folder)
    for name in ("bleu", "chrf", "exact"):
        assert same[name] == same[f"baseline_{name}"] == better[name] == good[name]
        assert better[f"baseline_{name}"] == broken[name] < good[name]
        assert same[f"{name}_p_value"] == 1.0
        assert better[f"{name}_p_value"] < 0.05
    assert better["sentences"] == 20

    done = kerasnmt("evaluate", export_folder, *options(many), "--baseline", other_run_folder)
    lines = [
        f"{label}  {better[name]:.2f}  baseline {better[f'baseline_{name}']:.2f}  "
        f"p = {better[f'{name}_p_value']:.4f}  {better[f'{name}_signature']}"
        for name, label in (("bleu", "BLEU"), ("chrf", "chrF"))
    ]
    exact = (
        f"exact  {better['exact']:.2f}%  baseline {better['baseline_exact']:.2f}%  "
        f"p = {better['exact_p_value']:.4f}"
    )
    assert done == (0, "\n".join([*lines, exact, "on 20 sentences"]) + "\n", "")
    assert "|bs:1000|seed:12345|" in lines[0] and "|bs:1000|seed:12345|" in lines[1]


def test_translations_of_another_system(kerasnmt, export_folder, files, tmp_path):
    """A file takes the place of a second model. It has a line for each source."""
    mine = kerasnmt("translate", export_folder, "--input", files[0]).lines
    references = write(tmp_path / "references", mine)
    others = write(tmp_path / "others", ["nothing", *mine[1:]])
    arguments = ("--source", files[0], "--reference", references, "--json", "--baseline")
    found = json.loads(kerasnmt("evaluate", export_folder, *arguments, others).out)
    assert (found["exact"], found["baseline_exact"]) == (100.0, 80.0)
    assert found["exact_p_value"] == 0.5
    expected = translation_scores(["nothing", *mine[1:]], mine)
    assert found["baseline_bleu"] == expected["bleu"] < found["bleu"]
    write(others, mine[1:])
    done = kerasnmt("evaluate", export_folder, *arguments, others)
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "error: Expected one line of --baseline for each text. "
        f"Received: {others} with 4 for 5 texts.\n"
    )


@pytest.mark.thorough("translates twenty sentences twice more")
def test_search_options_against_the_recipe(kerasnmt, run_folder, many):
    """The options of the command line change only the model, not the baseline."""
    arguments = (*options(many), "--json", "--baseline", run_folder)
    found = json.loads(kerasnmt("evaluate", run_folder, *arguments, "--search", "max_length=3").out)
    assert found["chrf"] < found["baseline_chrf"] and found["chrf_p_value"] < 0.05
