import pytest

from kerasnmt.atomic_write import atomic_write


def test_the_folder_is_made_and_only_the_file_is_left(tmp_path):
    with atomic_write(tmp_path / "new/file.txt") as path:
        assert path.suffix == ".txt"
        path.write_text("whole")
        assert not (tmp_path / "new/file.txt").exists()
    assert [(p.name, p.read_text()) for p in (tmp_path / "new").iterdir()] == [
        ("file.txt", "whole")
    ]


def test_an_error_leaves_the_old_file(tmp_path):
    file = tmp_path / "file.txt"
    file.write_text("old")
    with pytest.raises(OSError, match="full disk"), atomic_write(file) as path:
        path.write_text("ha")
        raise OSError("full disk")
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("file.txt", "old")]
