# -*- coding: utf-8 -*-
"""Where the sentences of a language, and its questions, lie on average: what a vector says beside its subject."""

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..text import split_sentences
from ._parallel import QUESTIONS, STATEMENTS

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Centres", "chinese_share", "is_question"]

_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0002fa1f]")
_LATIN_WORD = re.compile(r"[A-Za-z]+")
_OTHER = re.compile(
    r"[\u0400-\u06ff\u0e00-\u0e7f\u3040-\u30ff\uac00-\ud7af]"
)  # Cyrillic, Hebrew, Arabic, Thai, kana, hangul
_HAN_A_WORD = 1.6
_LONG_QUESTION = 300  # characters; a longer text is more than a question

_CLOSERS = "\"'”’」』）)】》* "
_STOPS = "。.!！…;；:："
_ASKS_ZH = re.compile(
    r"什么|哪[里儿个些一天位种]|谁|多少|几[个点号次岁天年月]|怎么|怎样|为何|如何|是否|是不是|有没有|能不能|[吗呢么]$"
)
_ASKS_EN = re.compile(
    r"^(?:(?:when|where|why|(?:who|whom|whose|which|what|how)(?:\s+\w+){0,3}?)\s+"
    r"(?:do|does|did|is|are|was|were|has|have|had|can|could|will|would|should|may|might|must)\b"
    r"|(?:do|does|did|is|are|was|were|has|have|had|can|could|will|would|should)\s+(?:i|you|he|she|it|we|they|there|the|my|your)\b"
    r"|who\s+\w+|how\s+to\b|what's\b|where's\b|who's\b|when's\b|how's\b)",
    re.IGNORECASE,
)


class Centres:
    """The average vectors of statements and of questions, in Chinese and in English, taken off what a model returns.

    A multilingual encoder places a sentence by its language and by its form before its subject. What the form adds to a
    question is in the way most: a question lies nearer to other questions than to its answer.

    Args:
        encode (`Callable[[Sequence[str]], np.ndarray]`):
            The bare model.
    """

    def __init__(self, encode: "Callable[[Sequence[str]], np.ndarray]") -> None:
        import numpy as np

        groups = [[pair[language] for pair in pairs] for pairs in (STATEMENTS, QUESTIONS) for language in (0, 1)]
        self._means = np.stack([encode(group).mean(axis=0) for group in groups])

    def taken_off(self, texts: Sequence[str], vectors: "np.ndarray") -> "np.ndarray":
        """The vectors of the texts without their centres, of length 1."""
        import numpy as np

        shares = np.array([chinese_share(text) for text in texts], dtype=np.float32)[:, None]
        offsets = np.array([2 if is_question(text) else 0 for text in texts])
        moved = vectors - (1 - shares) * self._means[offsets] - shares * self._means[offsets + 1]
        return moved / np.maximum(np.linalg.norm(moved, axis=1, keepdims=True), 1e-9)


def chinese_share(text: str) -> float:
    """How much of a text is Chinese rather than English, by words; a half for what is written in neither script."""
    han = len(_HAN.findall(text)) / _HAN_A_WORD
    latin = len(_LATIN_WORD.findall(text))
    other = len(_OTHER.findall(text)) / _HAN_A_WORD
    total = han + latin + other
    if not total:
        return 0.5
    if other > 0.2 * total:
        return 0.5
    return han / (han + latin)


def is_question(text: str) -> bool:
    """Whether a text asks and does nothing else."""
    text = text.strip()
    if not text or len(text) > _LONG_QUESTION:
        return False
    return all(_asks(sentence) for sentence in split_sentences(text))


def _asks(sentence: str) -> bool:
    sentence = sentence.strip().rstrip(_CLOSERS)
    if sentence.endswith(("?", "？")):
        return True
    if sentence.endswith(tuple(_STOPS)):
        return False
    return bool(_ASKS_EN.match(sentence) or _ASKS_ZH.search(sentence))
