import ctypes
import os
import subprocess
import sys

import pytest

# Frees a block of 20 MiB, and prints whether one of 300 KiB after it has a mapping of its own.
PROGRAM = """
import ctypes

class Information(ctypes.Structure):  # mallinfo2 of malloc.h
    _fields_ = [(f"field_{number}", ctypes.c_size_t) for number in range(10)]

{call}
library = ctypes.CDLL(None)
library.malloc.restype = ctypes.c_void_p
library.free.argtypes = (ctypes.c_void_p,)
library.mallinfo2.restype = Information
library.free(library.malloc(20 * 2**20))
before = library.mallinfo2().field_3
library.malloc(300 * 1024)
print(library.mallinfo2().field_3 - before)
"""
CALL = "from kerasnmt.training import map_large_tensors; print(map_large_tensors())"


def run(call: str, **settings: str) -> list[str]:
    names = ("MALLOC_", "GLIBC_TUNABLES")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(names)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("{call}", call)],
        env=environment | settings,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


has_mallinfo2 = sys.platform == "linux" and hasattr(ctypes.CDLL(None), "mallinfo2")


@pytest.mark.skipif(not has_mallinfo2, reason="glibc 2.33 or later tells what it has mapped")
def test_a_large_block_is_mapped_though_a_larger_one_was_freed():
    assert run("") == ["0"]
    assert run(CALL) == ["True", "1"]


@pytest.mark.skipif(not has_mallinfo2, reason="glibc 2.33 or later tells what it has mapped")
@pytest.mark.parametrize("setting", ["MALLOC_ARENA_MAX", "GLIBC_TUNABLES"])
def test_settings_of_the_environment_are_left(setting):
    value = {"MALLOC_ARENA_MAX": "4", "GLIBC_TUNABLES": "glibc.malloc.arena_max=4"}[setting]
    assert run(CALL, **{setting: value}) == ["False", "0"]


def test_another_libc_is_left(monkeypatch):
    from kerasnmt.training import map_large_tensors

    monkeypatch.setattr(sys, "platform", "darwin")
    assert map_large_tensors() is False
