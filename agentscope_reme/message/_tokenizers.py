# -*- coding: utf-8 -*-
"""Who counts the tokens: the model's own tokenizer where it works offline, else the estimate by script."""

import hashlib
import inspect
import logging
import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from agentscope.token import OpenAITokenCounter, TokenCounterBase

from .._errors import ConfigError
from ._estimate import estimate_tokens, estimate_with
from ._host_counter import HostCounter
from ._weights import CL100K, O200K, Weights

__all__ = ["CountText", "as_counter", "tokenizer_for"]

CountText = Callable[[str], int]
"""Counts the tokens of a text."""

logger = logging.getLogger("agentscope_reme")

_PIECE = 2000  # characters: a word without a border is never longer, for the cost of a merge grows with its length
_LOADING_ERRORS = (ImportError, OSError, LookupError, ValueError, TypeError, AttributeError, RuntimeError)


class _Encoding(NamedTuple):
    address: str
    """Where tiktoken would load the vocabulary from: its cache is keyed by it."""
    sha256: str
    """What tiktoken expects of the file; where it differs, it would download it again."""
    weights: Weights


_ENCODINGS = {
    "o200k_base": _Encoding(
        "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        O200K,
    ),
    "cl100k_base": _Encoding(
        "https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        CL100K,
    ),
}
_QWEN_NAMES = ("qwen", "qwq", "qvq", "text-embedding-v")
_CL100K_NAMES = ("gpt-3.5", "gpt-35", "gpt-4-", "text-embedding-")
_O200K_NAMES = ("gpt-", "chatgpt-", "o1", "o3", "o4")


def tokenizer_for(model_name: str | None) -> CountText:
    """The best counter that needs no network for a model.

    Qwen models are counted with the tokenizer that dashscope ships. OpenAI models are counted with tiktoken if its
    vocabulary lies in its cache; a download is never started. All else, and what cannot be loaded, is estimated.

    Args:
        model_name (`str | None`):
            The name as the provider knows it, also with a prefix such as `openai/` or `ft:`; `None` for unknown.

    Returns:
        `CountText`: loads its vocabulary at its first call; may be called from any thread.
    """
    name = str(model_name or "").lower().rpartition("/")[2].removeprefix("ft:")
    if name.startswith(_QWEN_NAMES):
        return _qwen()
    if name == "gpt-4" or name.startswith(_CL100K_NAMES):
        return _openai("cl100k_base")
    if name.startswith(_O200K_NAMES):
        return _openai("o200k_base")
    return estimate_tokens


def as_counter(counter: Any, model_name: str | None = None) -> CountText:
    """Make a counter of what a caller injects; the injected one decides.

    Args:
        counter (`CountText | agentscope.token.TokenCounterBase | None`):
            A callable from a text to a number of tokens; a host counter, which is asked about one message that holds
            the text; or `None` for the one that `tokenizer_for` chooses.
        model_name (`str | None`):
            The model to choose for where `counter` is `None`.

    Returns:
        `CountText`: the counter.

    Raises:
        `ConfigError`: `counter` is neither, or does not count "a" as an `int` of at least 0.
    """
    if counter is None:
        return tokenizer_for(model_name)
    if type(counter) is OpenAITokenCounter:
        return tokenizer_for(counter.model_name)  # the same vocabulary, and never a download
    if isinstance(counter, TokenCounterBase):
        return HostCounter(counter)
    if not callable(counter):
        raise ConfigError(
            f"token_counter={counter!r} cannot count; pass a Callable[[str], int], a TokenCounterBase or None."
        )
    _check_counts(counter)
    return counter


def _check_counts(counter: Callable[[str], Any]) -> None:
    cure = "pass a function that takes one text and returns its number of tokens, such as `lambda text: len(text) // 4`"
    try:
        number = counter("a")
    except TypeError as error:
        raise ConfigError(f"token_counter={counter!r} cannot be called with one text ({error}); {cure}.") from error
    if inspect.iscoroutine(number):
        number.close()
        raise ConfigError(f"token_counter={counter!r} returned a coroutine for 'a'; {cure}, not an async one.")
    if not isinstance(number, int) or isinstance(number, bool) or number < 0:
        raise ConfigError(f"token_counter={counter!r} returned {number!r} for 'a', not an int of at least 0; {cure}.")


class _LazyTokenizer:
    """Loads a tokenizer at the first count; one that cannot be loaded is replaced by its estimate, for good."""

    def __init__(self, name: str, load: Callable[[], CountText], estimate: CountText) -> None:
        self.name = name
        self._load = load
        self._estimate = estimate
        self._lock = threading.Lock()
        self._count: CountText | None = None

    def __repr__(self) -> str:
        return f"<tokenizer {self.name}>"

    def __call__(self, text: str) -> int:
        count = self._count or self._loaded()
        return sum(map(count, _pieces(text))) if len(text) > _PIECE else count(text)

    def _loaded(self) -> CountText:
        with self._lock:
            if self._count is None:
                try:
                    self._count = self._load()
                except _LOADING_ERRORS as error:
                    logger.warning("Tokens are estimated: the tokenizer %s cannot be loaded (%s).", self.name, error)
                    self._count = self._estimate
            return self._count


def _pieces(text: str) -> Iterator[str]:
    """The text in pieces, each cut before a space or a line end where there is one."""
    start, size = 0, len(text)
    while size - start > _PIECE:
        end = start + _PIECE
        border = max(text.rfind(" ", start + _PIECE // 2, end), text.rfind("\n", start + _PIECE // 2, end))
        end = border if border > start else end
        yield text[start:end]
        start = end
    yield text[start:]


@lru_cache(maxsize=1)
def _qwen() -> CountText:
    return _LazyTokenizer("qwen", _load_qwen, estimate_tokens)


def _load_qwen() -> CountText:
    from dashscope import get_tokenizer

    encode = get_tokenizer("qwen-turbo").encode
    return lambda text: len(encode(text, allowed_special=set(), disallowed_special=()))


@lru_cache(maxsize=4)
def _openai(encoding: str) -> CountText:
    estimate = partial(estimate_with, _ENCODINGS[encoding].weights)
    return _LazyTokenizer(encoding, partial(_load_tiktoken, encoding), estimate)


def _load_tiktoken(encoding: str) -> CountText:
    """Load a vocabulary that tiktoken has in its cache, and sound: else it would download it."""
    path = _cache_path(_ENCODINGS[encoding].address)
    if path is None or not path.is_file():
        raise FileNotFoundError("its vocabulary is not in tiktoken's cache, and nothing is downloaded here")
    if hashlib.sha256(path.read_bytes()).hexdigest() != _ENCODINGS[encoding].sha256:
        raise ValueError("the vocabulary in tiktoken's cache is damaged")
    import tiktoken

    encode = tiktoken.get_encoding(encoding).encode
    return lambda text: len(encode(text, disallowed_special=()))


def _cache_path(address: str) -> Path | None:
    """Where tiktoken keeps what it loads from an address; `None` where its cache is switched off."""
    folder = os.environ.get("TIKTOKEN_CACHE_DIR", os.environ.get("DATA_GYM_CACHE_DIR"))
    if folder is None:
        folder = os.path.join(tempfile.gettempdir(), "data-gym-cache")
    if not folder:
        return None
    return Path(folder, hashlib.sha1(address.encode(), usedforsecurity=False).hexdigest())
