"""How much memory this process holds."""

import os
import resource
import sys
from pathlib import Path


def resident_memory() -> int:
    """Returns the resident memory of this process in bytes; where only its peak is known, that."""
    pages = Path("/proc/self/statm")
    if pages.exists():
        return int(pages.read_text().split()[1]) * os.sysconf("SC_PAGESIZE")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
