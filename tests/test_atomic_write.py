from pathlib import Path

import pytest

from kerasnmt.atomic_write import atomic_folder, atomic_write


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


def test_a_folder_is_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in (tmp_path, "."):
        message = rf"^Expected a file to write\. Received: {folder}, a folder\. Add a file name\.$"
        with pytest.raises(ValueError, match=message), atomic_write(folder):
            raise AssertionError


def test_an_error_of_the_disk_names_the_file(tmp_path):
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    (tmp_path / "file.txt").write_text("old")
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        named = pytest.raises(OSError, match=r"^\[.*large: '.*/file\.txt'$")
        with named, atomic_write(tmp_path / "file.txt") as path:
            path.write_text("x" * 2000)
        named = pytest.raises(OSError, match=r"^\[.*large: '.*/folder'$")
        with named, atomic_folder(tmp_path / "folder") as folder:
            (folder / "file.txt").write_text("x" * 2000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("file.txt", "old")]
    for write in (atomic_write, atomic_folder):
        with pytest.raises(FileNotFoundError) as caught, write(tmp_path / "new") as path:
            path.with_name(f"{path.name}.absent").read_text()
        assert not Path(caught.value.filename).name.startswith(".")


def test_a_folder_appears_whole(tmp_path):
    with atomic_folder(tmp_path / "new/folder") as written:
        (written / "file.txt").write_text("whole")
        assert not (tmp_path / "new/folder").exists()
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["folder"]
    assert (tmp_path / "new/folder/file.txt").read_text() == "whole"


def test_a_folder_after_an_error(tmp_path):
    with pytest.raises(OSError, match="full disk"), atomic_folder(tmp_path / "a/b/c") as written:
        (written / "file.txt").write_text("ha")
        raise OSError("full disk")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_exists_stays(tmp_path):
    """This includes a folder that appears while the new one is written."""
    (tmp_path / "one").mkdir()
    refused = r"Expected a folder that does not exist\. Received: .*one\. Choose another name"
    with pytest.raises(ValueError, match=refused), atomic_folder(tmp_path / "one"):
        raise AssertionError
    refused = refused.replace("one", "two")
    with pytest.raises(ValueError, match=refused), atomic_folder(tmp_path / "two") as written:
        (written / "new.txt").write_text("new")
        (tmp_path / "two").mkdir()
        (tmp_path / "two/old.txt").write_text("old")
    assert [path.name for path in (tmp_path / "two").iterdir()] == ["old.txt"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "two"]
