"""Captioning models as SavedModels, from the bytes of images to captions."""

import base64
import json

import numpy as np
import pytest
import tensorflow as tf

from kerasnmt.serving import ExportModule, Translator, check_export, load_export
from kerasnmt.serving.contract.caption_contract import encode_png
from kerasnmt.serving.runtimes.saved_model.session import SavedModelSession
from kerasnmt.tasks.decoded_images import decoded_images
from kerasnmt.text import WordTokenizer
from kerasnmt.zoo import show_attend_tell_lstm
from tests.numerics import fill
from tests.serving.conftest import details

pytestmark = pytest.mark.usefixtures("eagerly")

IMAGES = np.random.default_rng(2).integers(0, 256, (3, 8, 8, 3), "uint8")
PNG, *_ = FILES = [tf.io.encode_png(image).numpy() for image in IMAGES]
JPEG = tf.io.encode_jpeg(IMAGES[0], quality=100).numpy()
OPTIONS = {"beam_size": 1, "min_length": 3, "max_length": 5}
BROKEN = {
    "no bytes": b"",
    "text": b"two dogs",
    "the beginning of a PNG": PNG[:30],
    "a PNG without its end": PNG[:-40],
    "the beginning of a JPEG": JPEG[:40],
    "a JPEG without its end": JPEG[:-60],
    "another kind": b"BM" + b"\0" * 60,
}


def decoded(files, height=8, width=8, channels=3):
    decode = tf.function(
        lambda files: decoded_images(files, height, width, channels), autograph=False
    )
    images, readable = decode(tf.constant(files, tf.string))
    return images.numpy(), readable.numpy().tolist()


def test_decoded_images():
    images, readable = decoded([*FILES, JPEG])
    assert readable == [True] * 4
    np.testing.assert_array_equal(images[:3], IMAGES)
    np.testing.assert_allclose(images[3], tf.io.decode_jpeg(JPEG), atol=1e-3)
    # A different size, and gray.
    images, readable = decoded([encode_png(31, 50, (200, 10, 0)), encode_png(1, 1, (7,))], 4, 6)
    assert readable == [True, True] and images.shape == (2, 4, 6, 3)
    np.testing.assert_allclose(images[0], np.broadcast_to([200, 10, 0], (4, 6, 3)), atol=1e-3)
    np.testing.assert_allclose(images[1], np.full((4, 6, 3), 7), atol=1e-3)
    images, _ = decoded([PNG], channels=1)
    np.testing.assert_array_equal(images[0], tf.io.decode_png(PNG, 1))
    # The mean of the pixels that are merged into one.
    halves = np.repeat(np.uint8([[[0], [100]]]), 3, axis=2)
    images, _ = decoded([tf.io.encode_png(halves).numpy()], 1, 1)
    np.testing.assert_allclose(images[0], np.full((1, 1, 3), 50), atol=1e-3)


def test_what_cannot_be_read_fails_alone():
    images, readable = decoded([PNG, *BROKEN.values(), JPEG])
    assert readable == [True, *[False] * len(BROKEN), True]
    np.testing.assert_array_equal(images[0], IMAGES[0])
    assert not images[1:-1].any()
    images, readable = decoded([])
    assert images.shape == (0, 8, 8, 3) and readable == []


def test_too_many_pixels(monkeypatch):
    monkeypatch.setattr("kerasnmt.tasks.decoded_images.MOST_PIXELS", 64)
    larger = tf.io.encode_jpeg(np.zeros((8, 9, 3), "uint8")).numpy()
    assert decoded([PNG, JPEG, encode_png(8, 9), larger])[1] == [True, True, False, False]


def test_a_png_by_hand():
    file = encode_png(3, 2, (1, 2, 250))
    np.testing.assert_array_equal(
        tf.io.decode_png(file), np.broadcast_to([1, 2, 250], (2, 3, 3)).astype("uint8")
    )
    np.testing.assert_array_equal(tf.io.decode_png(encode_png(1, 4, (9,))), np.full((4, 1, 1), 9))


@pytest.fixture(scope="module")
def model():
    model = show_attend_tell_lstm(
        WordTokenizer(list("abcdefghi")), image_size=8, filters=(3, 4), embedding_dim=6, units=5
    )
    return fill(model, scale=0.7)


@pytest.fixture(scope="module")
def exported(model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("exports") / "captions"
    assert model.export(str(folder / "1"), **OPTIONS) == str(folder / "1")
    return folder


@pytest.fixture(scope="module")
def session(exported):
    with SavedModelSession(exported / "1") as session:
        yield session


def test_a_server_answers_as_the_model_does(model, session):
    expected = model.caption(IMAGES, **OPTIONS)
    found = model.search({"images": IMAGES}, **OPTIONS, with_records=True)
    assert all(expected)
    rows = [FILES[0], b"broken", FILES[1], b"", FILES[2]]
    served = session.run("serving_default", {"image": rows})
    assert [caption.decode() for caption in served["caption"]] == [
        *(expected[0], "", expected[1], "", expected[2])
    ]
    np.testing.assert_allclose(served["score"][::2], found.scores[:, 0], atol=1e-5)
    assert served["score"][[1, 3]].tolist() == [0.0, 0.0]
    for row, file in enumerate(rows):
        alone = session.run("serving_default", {"image": [file]})
        assert alone["caption"][0] == served["caption"][row]
        np.testing.assert_allclose(alone["score"][0], served["score"][row], atol=1e-5)
    none = session.run("serving_default", {"image": []})
    assert none["caption"].shape == none["score"].shape == (0,)

    looked = session.run("attention", {"image": rows})
    assert (looked["target_tokens"][[1, 3]] == b"").all() and not looked["weights"][[1, 3]].any()
    for place, row in enumerate((0, 2, 4)):
        tokens = [token.decode() for token in looked["target_tokens"][row] if token]
        assert " ".join(tokens).removesuffix(" </s>") == expected[place]
        weights = found.records["weights"][place, 0, : len(tokens)]
        np.testing.assert_allclose(looked["weights"][row, : len(tokens)], weights, atol=1e-5)


def test_signatures_and_description(exported, session):
    assert session.signatures.keys() == {"serving_default", "attention"}
    for signature in session.signatures.values():
        assert {name: info.dtype for name, info in signature.inputs.items()} == {"image": "string"}
    written = json.loads((exported / "1" / "assets.extra" / "kerasnmt.json").read_text())
    examples = written.pop("examples")
    assert written["image_shape"] == [8, 8, 3] and written["grid"] == [2, 2]
    assert (written["model"], written["min_length"]) == ("show_attend_tell_lstm", 3)
    files = [base64.b64decode(image) for image in examples["image"]]
    assert {file[:4] for file in files} == {b"\x89PNG", b"\xff\xd8\xff\xe0", b""}
    found = session.run("serving_default", {"image": files})
    assert [caption.decode() for caption in found["caption"]] == examples["caption"]


@pytest.mark.thorough("checks another kind; test_check_export.py tests the check")
def test_check_passes(exported):
    report = check_export(exported)
    assert report.passed, str(report)
    found = details(report)
    assert found["signatures"] == "serving_default, attention"
    assert found["attention"].startswith("weights sum to at most 1 over the regions")
    assert found["odd_inputs"].startswith("14 odd images, from no bytes to a GIF: answered")
    assert found["expected"] == "6 captions as expected"
    assert found["warmup"] == "12 requests answered, for serving_default, attention"


def test_it_is_loaded_and_asked(exported, model):
    translator = Translator(load_export(exported / "1"))
    captions = model.caption(IMAGES, **OPTIONS)
    assert translator.caption(IMAGES) == captions
    found = translator.ask({"image": [FILES[1], b"two dogs", FILES[0]]})
    assert [caption for caption, _ in found] == [captions[1], "", captions[0]]
    assert found[1][1] == 0.0 and found[0][1] < 0
    with pytest.raises(ValueError, match=r"with image, which .* Received: text\."):
        translator.translate(["two dogs"])


def test_options_out_of_range(model):
    with pytest.raises(ValueError, match="beam_size"):
        ExportModule(model, beam_size=0)
    with pytest.raises(ValueError, match="weights"):
        model.caption(IMAGES, weights="int8")
    with pytest.raises(ValueError, match=r"batch_size to be at least 1\. Received: batch_size=0"):
        model.caption(IMAGES, batch_size=0, **OPTIONS)
