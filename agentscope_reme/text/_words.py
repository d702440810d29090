# -*- coding: utf-8 -*-
"""Text to the words that keyword search counts, for every script that a note is likely to hold."""

from __future__ import annotations

import importlib.metadata
import io
import logging
import re
import threading
import unicodedata
import warnings
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from ._irregular_forms import BASE_FORMS
from ._stop_words import HAN_STOP_WORDS, HANGUL_STOP_WORDS, KANA_STOP_WORDS, STOP_WORDS

__all__ = ["WordTokenizer"]

_VERSION = 2
_LONGEST_WORD = 128

_HAN = "\u2e80-\u2fdf\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA = "\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
_HANGUL = "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer: no spaces between words
_MARKS = "\u0300-\u036f\u0610-\u061a\u064b-\u065f\u0900-\u0dff"  # \w leaves these out, words do not
_LETTER = rf"(?:[^\W{_HAN}{_KANA}{_HANGUL}{_UNSPACED}]|[{_MARKS}])"

_RUN = re.compile(
    rf"(?P<word>{_LETTER}+(?:[.\-/\\@']{_LETTER}+)*(?:\+\+|\#)?)"
    rf"|(?P<han>[{_HAN}]+)|(?P<kana>[{_KANA}]+)|(?P<hangul>[{_HANGUL}]+)|(?P<unspaced>[{_UNSPACED}]+)",
)
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_ACCENTS = re.compile("[\u0300-\u036f]+")
_APOSTROPHES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u02bc": "'"})
_SEGMENT = re.compile(r"[/\\@]")
_PART = re.compile(r"[.\-_]")
_PIECE = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_RELEASE = re.compile(r"v(\d+(?:\.\d+)+)")

_stemmer_lock = threading.Lock()
_jieba_lock = threading.Lock()


class WordTokenizer:
    """Cuts text into the words of keyword search.

    Chinese is segmented by jieba and doubled with character pairs, so that a word that jieba cuts differently in two
    sentences is still found; kana, hangul and scripts without spaces become character pairs; Latin words are stemmed
    (Snowball) without stop words; identifiers (``v2.1``, ``GOALS.md``, ``INV-2093``, ``snake_case``, ``camelCase``,
    paths) stay whole and are given in parts too. Case, width and accents do not count. Safe to share between threads.

    Args:
        segmenter: cuts a run of Chinese characters into words; by default jieba, loaded at the first Chinese text.
            Where jieba is not installed, pairs of characters take the place of its words.
        name: how an index remembers who cut its texts; needed with a ``segmenter`` of your own.
    """

    def __init__(self, segmenter: Callable[[str], list[str]] | None = None, name: str = "") -> None:
        self._segmenter = segmenter
        self._name = name

    @property
    def name(self) -> str:
        """Name and versions of what cuts the words; an index built under another name has to be rebuilt."""
        return self._name or f"reme-words/{_VERSION} {_version('jieba')} {_version('snowballstemmer')}"

    def tokens(self, text: str) -> list[str]:
        """The words of ``text`` for the index, in order and with repetitions; stop words are left out."""
        return list(self._walk(text))

    def query_tokens(self, text: str) -> list[str]:
        """The distinct words of a query, in order of appearance; stop words are left out."""
        return list(dict.fromkeys(self._walk(text)))

    def is_stop_query(self, text: str) -> bool:
        """Whether ``text`` holds nothing to search for: stop words, punctuation or emoji only."""
        return next(self._walk(text), None) is None

    def _walk(self, text: str) -> Iterator[str]:
        for run in _RUN.finditer(_normalize(text)):
            kind, value = run.lastgroup, run.group()
            if kind == "word":
                yield from _word_tokens(value)
            elif kind == "han":
                yield from self._han_tokens(value)
            elif kind == "kana":
                yield from _kana_tokens(value)
            elif kind == "hangul":
                yield from _hangul_tokens(value)
            else:
                yield from _pairs(value, frozenset())

    def _han_tokens(self, run: str) -> Iterator[str]:
        segment = self._segmenter or _jieba_segmenter()
        if segment is None:
            yield from (pair for pair in _pairs(run, HAN_STOP_WORDS) if not HAN_STOP_WORDS.issuperset(pair))
            return
        for content in _content_runs(segment(run)):
            whole = "".join(content)
            yield from (word for word in content if len(word) > 2 or len(word) == 1 < len(whole))
            yield from (word[-1] for word in content if self._segmenter is None and _is_name_and_verb(word))
            yield from _pairs(whole, HAN_STOP_WORDS)


def _normalize(text: str) -> str:
    """Compatibility forms, no accents, one apostrophe, no thousands separators, no lone surrogates."""
    if not text.isascii():
        valid = text.encode("utf-8", "replace").decode("utf-8").translate(_APOSTROPHES)
        text = unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFKD", valid)))
    return _THOUSANDS.sub("", text)


def _word_tokens(raw: str) -> tuple[str, ...]:
    """The tokens of one run of letters, digits and joiners; what a model or a dump wrote without end is cut."""
    return _cached_word_tokens(raw) if len(raw) <= _LONGEST_WORD else tuple(_cut(raw))


def _cut(raw: str) -> Iterator[str]:
    for segment in _SEGMENT.split(raw):
        for start in range(0, len(segment), _LONGEST_WORD):
            yield from _segment_tokens(segment[start : start + _LONGEST_WORD])


@lru_cache(maxsize=65536)
def _cached_word_tokens(raw: str) -> tuple[str, ...]:
    """A path or an address whole, then each of its segments whole and in parts."""
    segments = [segment for segment in _SEGMENT.split(raw) if segment]
    found = [token for segment in segments for token in _segment_tokens(segment)]
    if len(segments) > 1:
        found.insert(0, raw.casefold())
    return tuple(found)


def _segment_tokens(segment: str) -> list[str]:
    """``v2.1`` gives v2.1 and 2.1; ``parse_HTTPReply`` gives itself, parse, http and reply."""
    whole = segment.casefold()
    if whole in STOP_WORDS or not whole.strip("_"):
        return []
    pieces = [piece for part in _PART.split(segment) for piece in _pieces(part)]
    if len(pieces) < 2 or _NUMBER.fullmatch(whole):
        return [_stem(whole)]
    release = _RELEASE.fullmatch(whole)
    parts = [release.group(1)] if release else [piece.casefold() for piece in pieces]
    return [_stem(whole), *(_stem(part) for part in parts if len(part) > 1 and part not in STOP_WORDS)]


def _pieces(part: str) -> list[str]:
    """The humps of ``camelCase`` and the letters and digits of ``gpt4``; a plain word is one piece."""
    if not part.isascii() or "'" in part or (part.isalpha() and (part.islower() or part.istitle() or part.isupper())):
        return [part] if part else []
    return _PIECE.findall(part)


@lru_cache(maxsize=65536)
def _stem(word: str) -> str:
    """The Snowball stem of a Latin word or of its irregular base form; anything with digits or joiners as it is."""
    if len(word) < 3 or not word.isascii() or not word.replace("'", "").isalpha():
        return word
    with _stemmer_lock:
        return _english_stemmer().stemWord(BASE_FORMS.get(word, word))


@lru_cache(maxsize=1)
def _english_stemmer() -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer("english")


def _pairs(run: str, stop: frozenset[str]) -> list[str]:
    """Neighbouring characters of a run two by two, a lone character as it is."""
    pairs = [run[i : i + 2] for i in range(len(run) - 1)] or [run]
    return [pair for pair in pairs if pair not in stop]


def _kana_tokens(run: str) -> list[str]:
    """Pairs of kana; a lone one is a particle."""
    return _pairs(run, KANA_STOP_WORDS) if len(run) > 1 else []


def _hangul_tokens(word: str) -> list[str]:
    """A Korean word whole and, since particles stick to it, in pairs of syllables."""
    if word in HANGUL_STOP_WORDS:
        return []
    return [word, *_pairs(word, HANGUL_STOP_WORDS)] if len(word) > 2 else [word]


def _content_runs(words: list[str]) -> Iterator[list[str]]:
    """The words between stop words, run by run."""
    content: list[str] = []
    for word in words:
        if word not in HAN_STOP_WORDS:
            content.append(word)
        elif content:
            yield content
            content = []
    if content:
        yield content


def _is_name_and_verb(word: str) -> bool:
    """Whether it may be a name with a verb of one character that jieba took for a part of it, as in 张伟住."""
    return len(word) == 3 and word[-1] not in HAN_STOP_WORDS and not _jieba().FREQ.get(word)


def _jieba_segmenter() -> Callable[[str], list[str]] | None:
    """jieba's precise mode, or None where it is missing; the shorter words of its search mode come as pairs."""
    with _jieba_lock:
        jieba = _jieba()
    return None if jieba is None else jieba.lcut


@lru_cache(maxsize=1)
def _jieba() -> Any:
    """jieba's tokenizer with its dictionary, or None where it is not installed.

    The dictionary is parsed here and not by ``initialize()``: that one trusts and writes a cache in the shared
    temporary folder, which saves nothing measurable, and logs to stderr.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # jieba imports pkg_resources and has invalid escapes
            import jieba
    except ImportError:
        return None
    jieba.setLogLevel(logging.WARNING)
    tokenizer = jieba.Tokenizer()
    with tokenizer.get_dict_file() as file:  # whole: a thread that lets go of Python at each block starves the others
        data = io.BytesIO(file.read())
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(data)
    tokenizer.initialized = True
    return tokenizer


def _version(package: str) -> str:
    try:
        return f"{package}={importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        return f"{package}=none"
