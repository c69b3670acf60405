"""No process outlives the one that began it: it would go on training, and writing checkpoints."""

import ctypes
import os
import signal

_SET_PARENT_DEATH_SIGNAL = 1


def end_with_parent(parent: int) -> None:
    """
    On Linux; elsewhere who stops a run must stop its processes too.

    :param parent: The number of the process that began this one.
    """
    try:
        libc = ctypes.CDLL("libc.so.6")
    except OSError:
        return
    libc.prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGTERM)
    # It may have ended before it was asked for.
    if os.getppid() != parent:
        os._exit(1)
