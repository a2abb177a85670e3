import pytest

from kerasnmt.training import RunFolder


def test_a_new_folder_is_unused_and_has_nothing_to_resume(tmp_path):
    run = RunFolder(tmp_path / "run")
    run.check_unused()
    with pytest.raises(ValueError, match=r"folder of a run to resume\. Received: .*run, which has"):
        run.check_resumable()


@pytest.mark.parametrize("name", ["recipe.yaml", "model.keras"])
def test_a_folder_in_use(tmp_path, name):
    (tmp_path / name).touch()
    with pytest.raises(ValueError, match=rf"without a run\. Received: .*, which has a {name}\."):
        RunFolder(tmp_path).check_unused()


def test_other_files_do_not_matter(tmp_path):
    (tmp_path / "notes.txt").touch()
    RunFolder(tmp_path).check_unused()
