"""The teacher, on all of the processor: torch must be told before it is loaded."""

from __future__ import annotations

import os

from net.processor import has_avx512

# It takes AVX2 where there is more.
if has_avx512():
    os.environ.setdefault("ATEN_CPU_CAPABILITY", "avx512")

import torch

from net.heap import keep_freed_memory
from teach.encoder import Encoder

keep_freed_memory()
torch.set_num_threads(os.cpu_count() or 1)

__all__ = ["Encoder"]
