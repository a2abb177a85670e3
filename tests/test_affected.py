from tests import affected
from tests.affected import ROOT, import_distances


def files(changed):
    return {str(path.relative_to(ROOT)): n for path, n in import_distances(changed).items()}


def test_the_nearest_tests_come_first():
    found = files({ROOT / "kerasnmt/text/word_tokenizer.py"})
    # The name comes from the package, whose stub says from which module.
    assert found["tests/text/test_word_tokenizer.py"] == 1
    assert found["tests/cli/test_translate.py"] > 1
    assert "tests/layers/attention/test_windows.py" not in found


def test_a_file_of_data_counts_as_the_modules_around_it():
    assert files({ROOT / "kerasnmt/viz/page/page.css"})["tests/viz/test_attention_figure.py"] == 1
    assert files({ROOT / "kerasnmt/data/corpus/x.tsv.xz"})["tests/data/test_reading.py"] == 1
    found = files({ROOT / "tutorials/guides/serving.md"})
    assert found["tests/tutorials/test_guides.py"] == 0
    assert "tests/data/test_reading.py" not in found
    assert files({ROOT / "pyproject.toml"})["tests/data/test_reading.py"] == 0


def test_a_changed_conftest_affects_the_tests_below_it():
    found = files({ROOT / "tests/cli/conftest.py"})
    assert found["tests/cli/test_translate.py"] == 1
    assert "tests/text/test_word_tokenizer.py" not in found


def test_without_git_it_is_not_known_what_changed(monkeypatch):
    monkeypatch.setattr(affected, "git", lambda *_: "")
    assert affected.changed_files() is None
