import os
import sys

import pytest

from kerasnmt.cli.quiet import load_tensorflow


def test_standard_error_is_given_back(capfd):
    load_tensorflow()
    os.write(2, b"heard\n")
    assert capfd.readouterr().err == "heard\n"


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
