# -*- coding: utf-8 -*-
"""Words as they are written, with what search knows each of them by."""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from ..text import WordTokenizer

__all__ = ["surface_words"]

_PART = r"[^\W_\u3040-\u9fff\uac00-\ud7af]+"
_RUN = re.compile(
    rf"(?P<han>[\u3400-\u9fff]+)|(?P<number>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?(?!\d))"
    rf"|(?P<word>{_PART}(?:[.\-_/\\@'’]{_PART})*)|(?P<other>[\u3040-\u30ff\uac00-\ud7af]+)"
)


def surface_words(text: str, tokenizer: WordTokenizer) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The content words of a text in order, each with its tokens; stop words are left out.

    Args:
        text (`str`): Chinese, English, or both.
        tokenizer (`WordTokenizer`): what an index of words uses.
    """
    for match in _RUN.finditer(text):
        for word in _cut(match.group()) if match.lastgroup == "han" else [match.group()]:
            if tokens := tuple(_tokens(word, tokenizer)):
                yield word, tokens


@lru_cache(maxsize=65_536)
def _tokens(word: str, tokenizer: WordTokenizer) -> list[str]:
    return tokenizer.tokens(word)


def _cut(run: str) -> list[str]:
    jieba = _jieba()
    return [run] if jieba is None else jieba.lcut(run)


@lru_cache(maxsize=1)
def _jieba() -> Any:
    """jieba's tokenizer; None where it is not installed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # jieba imports pkg_resources and has invalid escapes
            import jieba
    except ImportError:
        return None
    jieba.setLogLevel(logging.WARNING)
    tokenizer = jieba.Tokenizer()
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True  # initialize() would trust and write a cache in the shared temporary folder
    return tokenizer
