"""What glibc does with the memory of large tensors."""

import ctypes
import os
import sys

# From malloc.h.
_M_MMAP_THRESHOLD = -3
_SMALLEST = 256 * 1024


def map_large_tensors() -> bool:
    """Lets every tensor of 256 KiB or more have memory of its own, for the rest of this process.

    On a CPU, TensorFlow allocates its tensors by `malloc`. Where large ones are freed, glibc moves
    up, to 32 MiB, the size from which it maps blocks of their own: the activations of a training
    step then lie in heaps, which batches of many shapes break into pieces, so that they grow. With
    that size fixed, a training of 8 million parameters took three quarters of the memory and 4 to
    6% less CPU time. `kerasnmt train` and `kerasnmt demo` begin with it; in a program of your own,
    call it before the first `model.fit`.

    Nothing is changed where the environment has settings for glibc's malloc (`MALLOC_…`, or
    `GLIBC_TUNABLES`), or where there is another libc.

    Returns:
        whether the threshold was set.
    """
    if any(name.startswith(("MALLOC_", "GLIBC_TUNABLES")) for name in os.environ):
        return False
    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    if not hasattr(library, "gnu_get_libc_version"):
        return False
    return library.mallopt(_M_MMAP_THRESHOLD, _SMALLEST) == 1
