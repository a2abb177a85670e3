import shutil

import pytest

ROWS = [
    *("files", "ops", "load", "signatures", "requests", "n_best", "attention", "with_terms"),
    *("batch_of_one", "odd_inputs", "warmup", "python", "description", "expected"),
]


def rows(done):
    """Return the verdict and the name of each row; the last line is the overall verdict."""
    *lines, verdict = done.lines
    found = [tuple(line.split()[:2]) for line in lines]
    failed = ", ".join(name for mark, name in found if mark == "FAIL")
    assert verdict == (f"FAILED: {failed}" if failed else f"all {len(lines)} passed")
    return found


def test_a_good_export(kerasnmt, export_folder, session, served_here, monkeypatch):
    served_here.session = session
    # The rows that take longest are tested in tests/serving.
    monkeypatch.setattr("kerasnmt.serving.check.check_export._check_odd_inputs", lambda *_: "")
    checks = "kerasnmt.serving.runtimes.saved_model.checks"
    for name in ("warmup", "python", "description"):
        monkeypatch.setattr(f"{checks}.check_{name}", lambda *_: "")
    done = kerasnmt("check", export_folder.parent)
    assert (done.code, done.err) == (0, "")
    assert rows(done) == [("ok", name) for name in ROWS]
    assert done.lines[0].endswith(str(export_folder))


@pytest.mark.usefixtures("served_here")
def test_broken_exports(kerasnmt, export_folder, tmp_path):
    broken = shutil.copytree(export_folder, tmp_path / "1")
    (broken / "variables" / "variables.index").unlink()
    done = kerasnmt("check", broken)
    assert (done.code, done.err) == (1, "")
    assert rows(done) == [*(("ok", name) for name in ROWS[:4]), ("FAIL", "requests")]

    (broken / "saved_model.pb").write_bytes(b"nonsense")
    done = kerasnmt("check", broken)
    assert (done.code, done.err, rows(done)) == (1, "", [("FAIL", "files")])

    (broken / "saved_model.pb").unlink()
    done = kerasnmt("check", broken)
    assert (done.code, done.err, rows(done)) == (1, "", [("FAIL", "files")])


def test_no_folder(kerasnmt, export_folder, tmp_path):
    for path in (tmp_path / "none", export_folder / "saved_model.pb"):
        assert kerasnmt("check", path) == (
            2,
            "",
            f"error: Expected the folder of an export. Received: {path}, not a folder.\n",
        )


def test_the_parent_of_the_models_folders(kerasnmt, export_folder, tmp_path):
    parent = tmp_path / "saved_models"
    for name in ("fr_en", "en_de"):
        shutil.copytree(export_folder, parent / name / "1")
    (parent / "notes" / "drafts").mkdir(parents=True)
    (parent / "unfinished").mkdir()
    shutil.copytree(export_folder, parent / "unfinished" / ".kerasnmt-unfinished-x")
    expected = f"Expected the folder of an export. Received: {parent}; "
    line = f"FAIL  files  {expected}did you mean {parent}/en_de or {parent}/fr_en?\n"
    line += "FAILED: files\n"
    assert kerasnmt("check", parent) == (1, line, "")

    shutil.rmtree(parent / "fr_en")
    line = f"FAIL  files  {expected}did you mean {parent}/en_de?\n"
    line += "FAILED: files\n"
    assert kerasnmt("check", parent) == (1, line, "")
