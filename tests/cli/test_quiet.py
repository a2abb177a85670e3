import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kerasnmt.cli import quiet
from kerasnmt.cli.quiet import load_tensorflow, load_tensorflow_to_train, without_talk

# The commands until they load TensorFlow.
BEGINNING = """
import os
import sys

from kerasnmt.cli import quiet


def stop():
    print(os.environ.pop("TF_ENABLE_ONEDNN_OPTS"), "tensorflow" in sys.modules)
    raise SystemExit


quiet.load_tensorflow = stop
from kerasnmt.cli.main import main

recipe, run = sys.argv[1:]
for arguments in (["train", recipe], ["demo"]):
    sys.argv = ["kerasnmt", *arguments, "--output", run]
    try:
        main()
    except SystemExit:
        pass
"""


def test_standard_error_is_given_back(capfd):
    load_tensorflow()
    os.write(2, b"heard\n")
    assert capfd.readouterr().err == "heard\n"


@pytest.mark.parametrize(
    ("error", "shown"), [(ValueError, ""), (OSError, ""), (RuntimeError, "heard\n")]
)
def test_messages_are_shown_with_an_error_that_the_user_cannot_fix(capfd, error, shown):
    with pytest.raises(error), without_talk():
        os.write(2, b"heard\n")
        raise error
    assert capfd.readouterr().err == shown


def test_a_backend_that_is_not_installed(monkeypatch):
    monkeypatch.setenv("KERAS_BACKEND", "jax")
    monkeypatch.setattr(quiet, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"Received: KERAS_BACKEND=jax, and jax is not installed"):
        load_tensorflow()


def test_packages_are_hidden_only_while_tensorflow_is_loaded(monkeypatch):
    import matplotlib

    monkeypatch.delitem(sys.modules, "wave", raising=False)
    with pytest.raises(KeyError), quiet._hidden("matplotlib", "wave"):
        assert sys.modules["matplotlib"] is matplotlib  # is already imported
        with pytest.raises(ModuleNotFoundError):
            import wave
        raise KeyError
    import wave

    assert wave.open


def test_the_first_import_is_excluded_from_garbage_collection(monkeypatch):
    class Finder:
        def find_spec(self, name, *_):
            if name == "tensorflow":
                assert not gc.isenabled()
                raise KeyError

    before = gc.get_freeze_count()
    load_tensorflow()  # it is already imported
    assert gc.isenabled() and gc.get_freeze_count() == before
    monkeypatch.delitem(sys.modules, "tensorflow")
    monkeypatch.setattr(sys, "meta_path", [Finder(), *sys.meta_path])
    try:
        with pytest.raises(KeyError):
            load_tensorflow()
        assert gc.isenabled() and gc.get_freeze_count() > before
    finally:
        gc.unfreeze()


def test_the_environment_decides_on_onednn(monkeypatch):
    monkeypatch.setenv("TF_ENABLE_ONEDNN_OPTS", "0")
    load_tensorflow_to_train()
    assert os.environ["TF_ENABLE_ONEDNN_OPTS"] == "0"


def test_training_chooses_onednn_before_tensorflow_is_loaded(tmp_path):
    """The setting has no effect after TensorFlow is loaded."""
    recipe = Path(quiet.__file__).with_name("demo.yaml")
    environment = {key: os.environ[key] for key in os.environ if key != "TF_ENABLE_ONEDNN_OPTS"}
    done = subprocess.run(
        [sys.executable, "-c", BEGINNING, recipe, tmp_path / "run"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == 2 * "1 False\n", done.stderr


def test_a_failure_is_shown(capfd, monkeypatch):
    class Broken:
        def find_spec(self, name, *_):
            if name == "tensorflow_text":
                os.write(2, b"what the libraries said\n")
                raise ImportError("no such symbol")

    monkeypatch.delitem(sys.modules, "tensorflow_text", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Broken(), *sys.meta_path])
    with pytest.raises(ImportError, match="no such symbol"):
        load_tensorflow()
    os.write(2, b"heard\n")
    assert capfd.readouterr().err == "what the libraries said\nheard\n"
