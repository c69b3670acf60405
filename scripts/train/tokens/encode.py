"""Text to tokens, as llama.cpp does it."""

from tokens.learn import apply_merges
from tokens.pretokens import pretokens
from tokens.vocabulary import BYTE_CHARACTERS, Vocabulary

_MOST_CACHED = 400_000


class Encoder:
    """Plain text only: control tokens are put in by number, so that no text can become one."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._ranks = {pair: rank for rank, pair in enumerate(vocabulary.merges)}
        self._ids = {token: i for i, token in enumerate(vocabulary.tokens)}
        self._words: dict[str, list[int]] = {}

    def encode(self, text: str) -> list[int]:
        words = self._words
        tokens: list[int] = []
        for word in pretokens(text):
            ids = words.get(word)
            if ids is None:
                if len(words) > _MOST_CACHED:
                    words.clear()
                ids = words[word] = self._merge(word)
            tokens += ids
        return tokens

    def _merge(self, word: str) -> list[int]:
        parts = apply_merges(self._ranks, [BYTE_CHARACTERS[byte] for byte in word.encode()])
        return [self._ids[part] for part in parts]
