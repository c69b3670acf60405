"""Memory that was freed is kept for the next step.

A step frees and takes the same hundreds of megabytes again. Given back to the system each time,
they come back as pages to be cleared, which takes as long as the products.
"""

import ctypes

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_MAX = -1, -2, -4


def keep_freed_memory() -> None:
    try:
        libc = ctypes.CDLL("libc.so.6")
    except OSError:
        return
    libc.mallopt(_MMAP_MAX, 0)
    libc.mallopt(_TRIM_THRESHOLD, 2**31 - 1)
    libc.mallopt(_TOP_PAD, 2**28)
