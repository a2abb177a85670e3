import struct

import pytest

TEXT = "Anna sees two dogs ."


def test_the_picture(kerasnmt, run_folder, export_folder, translator, tmp_path):
    (translation,) = translator.translate([TEXT])
    pictures = [tmp_path / "new" / "run.png", tmp_path / "new" / "export.png"]
    for folder, picture in zip((run_folder, export_folder), pictures, strict=True):
        done = kerasnmt("attention", folder, TEXT, "--output", picture)
        assert done == (0, f"{translation}\n{picture}\n", "")
    one, other = (picture.read_bytes() for picture in pictures)
    assert one == other and len(one) > 5000
    assert one.startswith(b"\x89PNG\r\n\x1a\n")
    # A row for each token of the translation, a column for each of the source.
    (attended,) = translator.attention([TEXT])
    width, height = struct.unpack(">II", one[16:24])
    assert min(len(attended.target_tokens), len(attended.source_tokens)) > 10
    assert width > 150 * 0.26 * len(attended.source_tokens)
    assert height > 150 * 0.26 * len(attended.target_tokens)

    vectors = tmp_path / "figure.SVG"
    assert kerasnmt("attention", export_folder, TEXT, "--output", vectors).code == 0
    assert "<svg" in vectors.read_text()


def test_a_long_text_is_cut_with_one_warning(kerasnmt, export_folder, tmp_path):
    done = kerasnmt("attention", export_folder, "dogs " * 40, "--output", tmp_path / "figure.png")
    assert done.code == 0
    assert done.err.startswith("warning: text 1 has ") and done.err.count("\n") == 1


@pytest.mark.parametrize("text", ["", " "])
def test_nothing_to_draw(kerasnmt, export_folder, tmp_path, text):
    done = kerasnmt("attention", export_folder, text, "--output", tmp_path / "figure.png")
    line = f"error: Expected a text with at least one token. Received: text={text!r}\n"
    assert done == (2, "", line)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["figure", "figure.xyz", "figure.", ".png"])
def test_unknown_format(kerasnmt, export_folder, tmp_path, name):
    picture = tmp_path / "new" / name
    done = kerasnmt("attention", export_folder, TEXT, "--output", picture)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: Expected a file whose name ends in the format of the pict")
    assert "pdf, " in done.err and " png, " in done.err
    assert done.err.endswith(f"Received: --output {picture}\n") and done.err.count("\n") == 1
    assert not any(tmp_path.iterdir())


def test_a_place_that_cannot_be_written(kerasnmt, export_folder, tmp_path):
    (tmp_path / "file").touch()
    for picture, problem in (
        (tmp_path / "file" / "figure.png", "file: File exists"),
        (tmp_path / "folder.png", "folder.png: Is a directory"),
    ):
        (tmp_path / "folder.png").mkdir(exist_ok=True)
        done = kerasnmt("attention", export_folder, TEXT, "--output", picture)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("error: ") and done.err.endswith(f"/{problem}\n")
        assert done.err.count("\n") == 1
