"""Writes a llama model of a GGUF file anew, with the same BF16 numbers for vLLM and for us.

Usage: convert.py SOURCE.gguf FOLDER

FOLDER gets the files of a Hugging Face model, and BF16.gguf and Q8_0.gguf.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import torch
from gguf import GGMLQuantizationType as Type
from gguf import GGUFReader, GGUFValueType, GGUFWriter
from gguf.quants import dequantize, quantize
from safetensors.torch import save_file
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

_CONTROL = 3
_PARTS = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
}
_WHOLE = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
    "output.weight": "lm_head.weight",
}


def main(source: Path, folder: Path) -> None:
    reader = GGUFReader(source)
    data = {name: field.contents() for name, field in reader.fields.items()}
    if data["general.architecture"] != "llama" or data["tokenizer.ggml.pre"] != "smollm":
        raise SystemExit(f"{source.name}: expected a model as SmolLM2 is")
    rounded = {t.name: _bf16(dequantize(t.data, t.tensor_type)) for t in reader.tensors}
    folder.mkdir(parents=True, exist_ok=True)
    config = _config(data, tied="output.weight" not in rounded)
    (folder / "config.json").write_text(json.dumps(config, indent=2))
    _tokenizer(data).save(str(folder / "tokenizer.json"))
    end = data["tokenizer.ggml.tokens"][data["tokenizer.ggml.eos_token_id"]]
    tokenizer = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": end}
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer))
    tensors = {_name(name): _torch(name, bits, config) for name, bits in rounded.items()}
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    for kind in (Type.BF16, Type.Q8_0):
        _write_gguf(folder / f"{kind.name}.gguf", reader, rounded, kind)


def _bf16(values: np.ndarray) -> np.ndarray:
    """The bits of each number."""
    return quantize(values, Type.BF16).view(np.uint16).reshape(values.shape)


def _config(data: dict, tied: bool) -> dict:
    own = {name.removeprefix("llama."): value for name, value in data.items()}
    heads = own["attention.head_count"]
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "dtype": "bfloat16",
        "hidden_act": "silu",
        "hidden_size": own["embedding_length"],
        "intermediate_size": own["feed_forward_length"],
        "num_hidden_layers": own["block_count"],
        "num_attention_heads": heads,
        "num_key_value_heads": own["attention.head_count_kv"],
        "head_dim": own["embedding_length"] // heads,
        "max_position_embeddings": own["context_length"],
        "rms_norm_eps": own["attention.layer_norm_rms_epsilon"],
        "rope_theta": own["rope.freq_base"],
        "vocab_size": len(data["tokenizer.ggml.tokens"]),
        "bos_token_id": data["tokenizer.ggml.bos_token_id"],
        "eos_token_id": data["tokenizer.ggml.eos_token_id"],
        "tie_word_embeddings": tied,
    }


def _tokenizer(data: dict) -> Tokenizer:
    tokens = data["tokenizer.ggml.tokens"]
    merges = [tuple(merge.split(" ")) for merge in data["tokenizer.ggml.merges"]]
    bpe = models.BPE(vocab={token: i for i, token in enumerate(tokens)}, merges=merges)
    tokenizer = Tokenizer(bpe)
    digits = pre_tokenizers.Digits(individual_digits=True)
    level = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([digits, level])
    tokenizer.decoder = decoders.ByteLevel()
    kinds = zip(tokens, data["tokenizer.ggml.token_type"], strict=True)
    tokenizer.add_special_tokens([AddedToken(t, special=True) for t, k in kinds if k == _CONTROL])
    return tokenizer


def _name(name: str) -> str:
    if name in _WHOLE:
        return _WHOLE[name]
    _, layer, part, _ = name.split(".")
    return f"model.layers.{layer}.{_PARTS[part]}.weight"


def _torch(name: str, bits: np.ndarray, config: dict) -> torch.Tensor:
    heads = {"attn_q": "num_attention_heads", "attn_k": "num_key_value_heads"}
    for part, count in heads.items():
        if f".{part}." in name:
            # GGUF has the two halves of a head, which rotary positions pair, row by row.
            pairs = bits.reshape(config[count], -1, 2, bits.shape[1])
            bits = pairs.swapaxes(1, 2).reshape(bits.shape)
    return torch.from_numpy(np.ascontiguousarray(bits).view(np.int16)).view(torch.bfloat16)


def _write_gguf(path: Path, reader: GGUFReader, rounded: dict, kind: Type) -> None:
    writer = GGUFWriter(path, "llama")
    for name, field in reader.fields.items():
        if name.startswith("GGUF.") or name in ("general.architecture", "general.file_type"):
            continue
        sub_type = field.types[-1] if field.types[0] == GGUFValueType.ARRAY else None
        writer.add_key_value(name, field.contents(), field.types[0], sub_type=sub_type)
    for name, bits in rounded.items():
        values = (bits.astype(np.uint32) << 16).view(np.float32)
        own = Type.F32 if values.ndim == 1 else kind
        data = values if own == Type.F32 else quantize(values, own)
        writer.add_tensor(name, data, raw_dtype=own)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
