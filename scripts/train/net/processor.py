"""What the processor can do. Read before torch is loaded, as torch must be told."""

from __future__ import annotations

from pathlib import Path

# What oneDNN multiplies bfloat16 with.
_NEEDED = {"avx512bw", "avx512vl", "avx512dq"}


def has_avx512() -> bool:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return False
    flags = next((line for line in lines if line.startswith("flags")), "")
    return _NEEDED <= set(flags.split())
