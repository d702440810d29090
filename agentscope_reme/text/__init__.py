# -*- coding: utf-8 -*-
"""Text by itself: bytes as text, words, sentences, languages, and the prompts in each of them."""

from ._dates import DateSpan, date_mentions
from ._decode import Decoded, decode_text, mended, split_lines
from ._language import Language, detect_language
from ._prompt_book import Prompt, PromptBook, normalize_language
from ._sentences import split_sentences
from ._words import WordTokenizer

__all__ = [
    "DateSpan",
    "Decoded",
    "Language",
    "Prompt",
    "PromptBook",
    "WordTokenizer",
    "date_mentions",
    "decode_text",
    "detect_language",
    "mended",
    "normalize_language",
    "split_lines",
    "split_sentences",
]
