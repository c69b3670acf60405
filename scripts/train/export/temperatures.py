"""The temperatures of a calibration file, and its bias, as a readout has them."""

import json
from pathlib import Path
from typing import Any

_BUCKETS = ("2", "3-5", "6-10", "11+")


def read_temperatures(path: Path) -> dict[str, Any]:
    """By type, and by number of options where that was fitted; for yes or no, with its bias."""
    types = json.loads(path.read_text(encoding="utf-8"))["types"]
    found: dict[str, Any] = {}
    for name, fitted in types.items():
        if "bias" in fitted:
            found[name] = {part: fitted[part] for part in ("temperature", "bias")}
            continue
        own = fitted.get("buckets", {})
        found[name] = {
            bucket: own.get(bucket, fitted)["temperature"] for bucket in _BUCKETS
        }
    return found
