def test_files_are_named_and_bad_folders_refused(kerasnmt, tmp_path):
    (tmp_path / "en_de" / "1").mkdir(parents=True)
    (tmp_path / "en_de" / "1" / "saved_model.pb").touch()
    files = [tmp_path / "models.config", tmp_path / "batching_parameters.txt"]
    done = kerasnmt("server-config", tmp_path)
    assert done == (0, "".join(f"{path}\n" for path in files), "")
    assert 'base_path: "/models/en_de"\n' in files[0].read_text()
    done = kerasnmt("server-config", tmp_path, "--base-path", "/srv")
    assert done.code == 0
    assert 'base_path: "/srv/en_de"\n' in files[0].read_text()

    done = kerasnmt("server-config", tmp_path / "en_de")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: Expected a folder of models, with a SavedModel")
    assert done.err.count("\n") == 1
