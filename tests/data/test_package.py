import subprocess
import sys

import pytest

import kerasnmt.data


def test_every_name_is_there():
    for name in kerasnmt.data.__all__:
        assert getattr(kerasnmt.data, name).__name__ == name
    with pytest.raises(AttributeError, match="attribute nothing"):
        _ = kerasnmt.data.nothing


def test_the_builtin_corpus_needs_no_tensorflow():
    script = """
import sys
sys.modules["tensorflow"] = sys.modules["tensorflow_text"] = None
from kerasnmt.data import builtin_corpus
from kerasnmt.data.builtin import builtin_corpus as same
assert builtin_corpus is same
assert len(list(builtin_corpus(3))) == 3
"""
    subprocess.run([sys.executable, "-c", script], check=True)
