"""The type in which matrices are multiplied: bfloat16 where the hardware does, or else float32."""

from __future__ import annotations

import torch

from net.processor import has_avx512

#: On a CPU, what multiplies bfloat16 fast (oneDNN) needs AVX-512.
PRODUCTS = torch.bfloat16 if torch.cuda.is_available() or has_avx512() else torch.float32
