# -*- coding: utf-8 -*-
"""Text by itself: words, sentences, languages, and the prompts in each of them."""

from ._dates import DateSpan, date_mentions
from ._language import Language, detect_language
from ._prompt_book import Prompt, PromptBook, normalize_language
from ._sentences import split_sentences
from ._words import WordTokenizer

__all__ = [
    "DateSpan",
    "Language",
    "Prompt",
    "PromptBook",
    "WordTokenizer",
    "date_mentions",
    "detect_language",
    "normalize_language",
    "split_sentences",
]
