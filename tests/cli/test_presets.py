"""Commands accept presets instead of runs."""

import re
import shutil

import pytest

from kerasnmt.cli.loading import licenses_of
from kerasnmt.presets import Preset
from kerasnmt.presets.folders import SECOND_NAMES
from kerasnmt.zoo import list_presets
from tests.cli.conftest import write

LINES = ["Anna sees two dogs .", "The man sleeps .", ""]
TEXT = "".join(f"{line}\n" for line in LINES)


def test_list(kerasnmt, shipped, preset_folder):
    done = kerasnmt("presets")
    size = sum(
        (preset_folder / name).stat().st_size
        for name in ("config.json", "tokenizer.json", "model.weights.h5")
    )
    assert (done.code, done.err) == (0, "")
    assert [re.split("  +", line) for line in done.lines] == [
        ["preset", "task", "languages", "MB", "score", "license"],
        ["tiny_en_de", "rhymes", "en-de", f"{size / 1e6:.1f}", "BLEU 1.2", "cc-by-4.0"],
        [""],
        ["`kerasnmt presets NAME` shows what a preset is for, and what to type."],
        [f"`pip install kerasnmt-presets` adds {', '.join(SECOND_NAMES)}."],
    ]
    for command in ("translate", "presets"):
        done = kerasnmt(command, "g2p_dutch", stdin="fiets\n")
        assert done.code == 2
        assert "Install g2p_dutch with: pip install --upgrade kerasnmt-presets\n" in done.err


def test_demonstrations_stand_apart_without_scores(kerasnmt):
    lines = kerasnmt("presets").lines
    apart = lines.index("Demonstrations, of what an architecture learns from artificial data:")
    of_use, shows = lines[1 : apart - 1], lines[apart + 3 : -2]
    names = [[line.split()[0] for line in part] for part in (of_use, shows)]
    assert sorted([*names[0], *names[1]]) == list_presets()
    assert names[1][2:4] == ["demo_de_en", "demo_en_de"] and "tatoeba_en_fr_gru" in names[0]
    assert lines[apart + 2].split() == ["preset", "task", "languages", "MB", "license"]
    assert not any("BLEU" in line or "%" in line for line in shows)


def test_presets_of_a_task_and_a_language(kerasnmt):
    done = kerasnmt("presets", "--task", "pronunciation", "--language", "nld")
    assert [line.split()[0] for line in done.lines[:2]] == ["preset", "g2p"]
    assert done.lines[2].startswith("g2p_dutch ") and (done.code, done.lines[3]) == (0, "")
    lines = kerasnmt("presets", "--task", "captioning").lines  # demonstrations alone
    assert lines[0].startswith("Demonstrations") and lines[3].startswith("scenes_de ")
    for options, message in (
        (
            ["--task", "pronunciations"],
            "unknown task 'pronunciations'; did you mean 'pronunciation'?",
        ),
        (["--language", "tlh"], "Received: any task in tlh. `kerasnmt presets` lists all presets."),
        (["--language", "klingon"], "by its code of ISO 639-1 or 639-3, such as de or deu."),
        (["g2p_dutch", "--task", "sorting"], "Expected a NAME, or --task and --language."),
    ):
        done = kerasnmt("presets", *options)
        assert (done.code, done.out) == (2, "") and message in done.err


def test_a_preset_is_described(kerasnmt, shipped, preset_folder):
    card = (preset_folder / "README.md").read_text()
    for place in (shipped, preset_folder):
        done = kerasnmt("presets", place)
        assert (done.code, done.err) == (0, "")
        assert done.out.startswith("# tiny_en_de\n") and card.endswith(done.out)
        assert "| kerasnmt translate tiny_en_de\n" in done.out
    done = kerasnmt("presets", "tiny_en_df")
    assert (done.code, done.out) == (2, "")
    assert "There is no preset tiny_en_df. Did you mean the preset tiny_en_de?" in done.err


def test_more_than_two_languages_are_counted(kerasnmt, preset_folder, tmp_path, monkeypatch):
    copied = shutil.copytree(preset_folder, tmp_path / "many")
    path = copied / "metadata.json"
    path.write_text(path.read_text().replace('"de"', '"de", "fr"', 1))
    monkeypatch.setattr("kerasnmt.presets.folders.shipped_presets", lambda: {"many": copied})
    monkeypatch.setattr("kerasnmt.presets.finding.shipped_presets", lambda: {"many": copied})
    assert "  3 languages  " in kerasnmt("presets").out


@pytest.mark.usefixtures("eagerly")
def test_translate_by_name_and_by_folder(kerasnmt, shipped, preset_folder, preset_translations):
    """The preset has its own search options, which `--search` changes."""
    texts = ["no", "", "he", *LINES]
    stdin = "".join(f"{text}\n" for text in texts)
    expected = preset_translations(texts)
    assert kerasnmt("translate", preset_folder, stdin=stdin).lines == expected
    done = kerasnmt("translate", shipped, "--beam-size", 1, stdin=stdin)
    assert done.lines == preset_translations(texts, beam_size=1) != expected
    done = kerasnmt("translate", shipped, "--search", "max_length=3", stdin=stdin)
    assert done.lines == preset_translations(texts, max_length=3) != expected


@pytest.mark.thorough("four more verbs, which load presets like `translate`")
def test_other_commands(kerasnmt, shipped, run_folder, tmp_path):
    """The output is the same as for the run with the same options."""
    files = ("--source", write(tmp_path / "source", LINES[:2]))
    target = write(tmp_path / "target", ["Anna sieht .", "Er ."])
    search = ("--beam-size", 2, "--search", "length_penalty=0", "--search", "max_length=8")
    for verb, options, of_run in (
        ("score", (*files, "--target", target), ()),
        ("align", (*files, "--target", target), ()),
        ("evaluate", (*files, "--reference", target, "--json"), search),
    ):
        done = kerasnmt(verb, shipped, *options)
        assert (done.code, done.out) == (0, kerasnmt(verb, run_folder, *options, *of_run).out)
    done = kerasnmt("attention", shipped, LINES[0], "--output", tmp_path / "drawn.png")
    assert done.code == 0 and (tmp_path / "drawn.png").stat().st_size > 5000


@pytest.mark.thorough("traces two ensembles; test_translate.py has one of runs")
def test_an_ensemble_with_a_preset(kerasnmt, shipped, run_folder, other_run_folder):
    """A preset is a member like its run."""
    alone = kerasnmt("translate", other_run_folder, "--scores", stdin=TEXT).lines
    done = kerasnmt("translate", other_run_folder, "--scores", "--with", shipped, stdin=TEXT)
    with_run = kerasnmt("translate", other_run_folder, "--scores", "--with", run_folder, stdin=TEXT)
    assert done.lines == with_run.lines != alone


def test_unknown_names(kerasnmt, shipped, tmp_path):
    near = "Received: tiny_en_dee. Did you mean the preset tiny_en_de?\n"
    for arguments in (
        ("translate", "tiny_en_dee"),
        ("score", "tiny_en_dee", "--source", __file__, "--target", __file__),
        ("export", "tiny_en_dee", tmp_path / "x"),
    ):
        done = kerasnmt(*arguments, stdin=TEXT)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("error: Expected the folder of a run") and done.err.endswith(
            near
        )
    done = kerasnmt("translate", "runs/one", stdin=TEXT)
    assert done.err.endswith("or a preset. Received: runs/one\n")
    done = kerasnmt("translate", "https://a/b", stdin=TEXT)
    assert done.err == "error: Expected a URI of the form hf://user/model. Received: https://a/b\n"


def test_an_export_says_the_licenses(kerasnmt, shipped, run_folder, preset_folder, tmp_path):
    """A run has none, also if a preset has its name."""
    preset = Preset(preset_folder)
    folder = tmp_path / "licensed"
    about = {"license": "cc-by-4.0", "attribution": "Words of Anna."}
    preset.load().save_to_preset(folder, about=about)
    assert licenses_of([str(run_folder), str(folder)]) == [
        (str(folder), "cc-by-4.0. Words of Anna.")
    ]
