# -*- coding: utf-8 -*-
"""An embedding that only sees letters: for tests, never for search that should understand."""

import math
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agentscope.embedding import EmbeddingModelBase, EmbeddingResponse

from .._errors import ConfigError

__all__ = ["HashEmbedding"]

_WORD = re.compile(r"[^\W_]+", re.UNICODE)


class HashEmbedding(EmbeddingModelBase):
    """Texts as hashed counts of their words and character pairs (the hashing trick, Weinberger et al. 2009).

    It is *lexical*: texts with the same letters are near, texts with the same meaning in other words are not. Equal
    texts give equal vectors in every process and on every machine. All vectors have length 1.

    Args:
        dimensions (`int`, defaults to `256`):
            Numbers in a vector, at least 8.
        model_name (`str`, defaults to `"hash-lexical"`):
            The name that the model reports.
    """

    in_callers_loop: bool = True
    """Tests tell their models what to do while they are called."""

    def __init__(self, dimensions: int = 256, model_name: str = "hash-lexical") -> None:
        if dimensions < 8:
            raise ConfigError(f"dimensions={dimensions} is too few to tell texts apart; use at least 8")
        super().__init__(model_name, dimensions)
        self.supported_modalities = ["text"]
        self.batches: list[list[str]] = []

    @property
    def calls(self) -> int:
        """How often the model was called."""
        return len(self.batches)

    @property
    def texts(self) -> list[str]:
        """Every text that was embedded, in order and with repetitions."""
        return [text for batch in self.batches for text in batch]

    async def __call__(self, text: Sequence[str | Mapping[str, Any]], **_: Any) -> EmbeddingResponse:
        """Embed texts.

        Args:
            text (`Sequence[str | TextBlock]`):
                The texts.

        Returns:
            `EmbeddingResponse`:
                One vector of `dimensions` floats for each text, in order.
        """
        batch = [_plain(item) for item in text]
        self.batches.append(batch)
        return EmbeddingResponse(embeddings=[self.vector(item) for item in batch])

    def vector(self, text: str) -> list[float]:
        """The vector of one text; not counted as a call."""
        vector = [0.0] * self.dimensions
        for feature, count in Counter(_features(text)).items():
            code = zlib.crc32(feature.encode("utf-8", "surrogatepass"))
            vector[(code >> 1) % self.dimensions] += (1.0 if code & 1 else -1.0) * (1.0 + math.log(count))
        length = math.sqrt(sum(x * x for x in vector))
        if not length:  # nothing to see, or all of it cancelled out: a fixed direction
            return [1.0] + [0.0] * (self.dimensions - 1)
        return [x / length for x in vector]


def _features(text: str) -> Iterator[str]:
    """Whole words, and within them pairs of characters: the pairs are what Chinese is compared by."""
    for word in _WORD.findall(text.lower()):
        yield word
        yield from (word[i : i + 2] for i in range(len(word) - 1))


def _plain(item: str | Mapping[str, Any]) -> str:
    if isinstance(item, str):
        return item
    if isinstance(item, Mapping) and isinstance(item.get("text"), str):
        return item["text"]
    raise ConfigError(f"cannot embed {item!r}; give a str or a text block")
