# -*- coding: utf-8 -*-
"""Texts to vectors over any embedding model of the host: in batches, once a text, and in order."""

import asyncio
import contextlib
import inspect
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from .._errors import ConfigError, EmbeddingError, NotStartedError, StorageError
from ._batch_call import BatchCall
from ._cache import EmbeddingCache
from ._fetch import Fetch
from ._floor import PROBES, calibrate_floor
from ._model_call import ModelCall, model_key
from ._plain_text import clean, cut_to_size, estimate_tokens
from ._reply import CallFailed
from ._single_flight import SingleFlight

if TYPE_CHECKING:
    import numpy as np
    from agentscope.embedding import EmbeddingModelBase

__all__ = ["BatchEmbedder", "EmbeddedTexts"]

T = TypeVar("T")

_AT_ONCE = 20_000  # characters that are looked at without leaving the event loop
_log = logging.getLogger("agentscope_reme")


@dataclass(frozen=True)
class EmbeddedTexts:
    """The vectors of some texts, row for row."""

    vectors: "np.ndarray"
    """Float32, shape ``(n, dimensions)``, rows of length 1; a row without a vector is zero and matches nothing."""

    mask: "np.ndarray"
    """Bool, shape ``(n,)``: whether the row holds a vector."""

    failed: dict[int, str] = field(default_factory=dict)
    """Row number to reason, for texts that could not be embedded. A blank text is masked, but no failure."""


class BatchEmbedder:
    """Embeds any number of texts with a host model; each text is sent once, for as long as the cache remembers it.

    Nothing in it belongs to an event loop, and clients that block run on threads of their own.

    Args:
        model (`EmbeddingModelBase`):
            A model of the host, or your own; it declares its dimension. It is called in an event loop of its own, so
            that what it does never keeps the caller's; one that has to be called in that says so with
            ``in_callers_loop = True``. It may also declare ``batch_size_limit``, ``max_input_tokens`` and ``floor``.
        batch_size (`int | None`):
            Texts in one call. By default what the provider takes: 10 for DashScope and for unknown models, 64 for
            OpenAI, Ollama, Gemini and the offline model. It shrinks by itself when the provider takes fewer.
        max_tokens (`int`):
            The longest text that is sent; a longer one is cut, and its vector is the mean of its pieces' vectors.
            A text that is refused is cut as well, in case the provider takes less.
        cache (`EmbeddingCache | None`):
            Where vectors are kept; its owner closes it.
        count (`Callable[[str], int]`):
            Counts tokens; by default an estimate that is rather too high.
        retries (`int`):
            How often a failed call is repeated.
        concurrency (`int`):
            Calls under way at the same time.
        backoff (`float`):
            Seconds before the first repetition; doubled for each further one, 8 at most.
        timeout (`float`):
            Seconds after which a call is given up.

    Raises:
        `ConfigError`: the model declares no dimension, or a number cannot work.
    """

    def __init__(
        self,
        model: "EmbeddingModelBase",
        *,
        batch_size: int | None = None,
        max_tokens: int = 8000,
        cache: EmbeddingCache | None = None,
        count: Callable[[str], int] = estimate_tokens,
        retries: int = 3,
        concurrency: int = 2,
        backoff: float = 0.5,
        timeout: float = 60.0,
    ) -> None:
        for name, value in (("batch_size", batch_size), ("max_tokens", max_tokens), ("concurrency", concurrency)):
            if value is not None and value < 1:
                raise ConfigError(f"{name} is {value}: give a number of at least 1.")
        call = ModelCall(model, timeout=timeout)
        self.model = model
        self.key = model_key(model)
        self.dimensions = call.dimensions
        self.answered_at = float("-inf")
        """When the model last gave a vector, on the monotonic clock."""
        self._call = BatchCall(call, batch_size=batch_size or call.batch_size, retries=retries, backoff=backoff)
        self._max_tokens = min(max_tokens, call.max_tokens or max_tokens)
        self._cache = cache
        self._count = count
        self._concurrency = concurrency
        self._flights: SingleFlight[np.ndarray] = SingleFlight()
        self._floor: float | None = None

    async def embed(self, texts: Sequence[str]) -> EmbeddedTexts:
        """Embed texts; blank ones are not sent, equal ones are sent once, and one that fails does not fail the others.

        Args:
            texts (`Sequence[str]`):
                The texts; half surrogate pairs and control characters are replaced before they are sent.

        Returns:
            `EmbeddedTexts`: A row for each text, in order.

        Raises:
            `EmbeddingError`: the model cannot be reached, returns another dimension than it declares, or none of the
            texts could be embedded. What was embedded before is in the cache.
        """
        import numpy as np

        cleaned = await _look_at(texts, clean)
        rows = await self._rows(list(dict.fromkeys(text for text in cleaned if text)))
        vectors = np.zeros((len(cleaned), self.dimensions), dtype=np.float32)
        mask = np.zeros(len(cleaned), dtype=bool)
        failed: dict[int, str] = {}
        for number, text in enumerate(cleaned):
            row = rows.get(text)
            if isinstance(row, CallFailed):
                failed[number] = str(row)
            elif row is not None:
                vectors[number], mask[number] = row, True
        if failed and not mask.any():
            kinds = {row.kind for row in rows.values() if isinstance(row, CallFailed)}
            kind = kinds.pop() if len(kinds) == 1 else "unknown"
            raise CallFailed(f"None of {len(failed)} texts could be embedded. {_first(failed)}", kind)
        if failed:
            _log.warning("%d of %d texts could not be embedded. %s", len(failed), len(texts), _first(failed))
        return EmbeddedTexts(vectors, mask, failed)

    async def embed_one(self, text: str) -> "np.ndarray | None":
        """Embed one text, such as a query.

        Returns:
            `np.ndarray | None`: A vector of shape ``(dimensions,)``, ``None`` for a blank text.

        Raises:
            `EmbeddingError`: it could not be embedded.
        """
        embedded = await self.embed([text])
        return embedded.vectors[0] if embedded.mask[0] else None

    async def prepare(self) -> None:
        """Wait until a model that lies on this machine is loaded, where it has a coroutine ``load`` for that."""
        load = getattr(self.model, "load", None)
        if inspect.iscoroutinefunction(load):
            with contextlib.suppress(ConfigError, EmbeddingError):  # the first call says so
                await load()

    async def forget(self, texts: Sequence[str]) -> int:
        """Delete the cached vectors of texts; how many there were comes back.

        Raises:
            `StorageError`: the cache refused.
        """
        return 0 if self._cache is None else await self._cache.forget(await _look_at(texts, clean))

    async def floor(self) -> float:
        """The cosine below which two texts of this model have nothing to do with each other.

        The model's own ``floor`` where it has one; otherwise taken once from sentences about unrelated things.

        Raises:
            `EmbeddingError`: as ``embed``.
        """
        if self._floor is None:
            own = getattr(self.model, "floor", None)
            if isinstance(own, (int, float)):
                self._floor = float(own)
            else:
                probes = await self.embed(PROBES)
                self._floor = calibrate_floor(probes.vectors[probes.mask])
        return self._floor

    async def _rows(self, texts: list[str]) -> "dict[str, np.ndarray | CallFailed]":
        """Vectors or failures of distinct texts that are not blank."""
        rows: dict[str, np.ndarray | CallFailed] = {}
        while missing := [text for text in texts if text not in rows]:
            rows.update(await self._known(missing))
            mine, theirs = self._flights.claim(text for text in missing if text not in rows)
            try:
                if mine:
                    rows.update(await self._fetch(mine))
            finally:
                for text in mine:
                    self._flights.land(text, None)
            for text, flight in theirs.items():
                row = await asyncio.wrap_future(flight)
                if row is not None:  # else its owner failed: ask once more, ourselves
                    rows[text] = row
        return rows

    async def _fetch(self, texts: list[str]) -> "dict[str, np.ndarray | CallFailed]":
        pieces = await _look_at(texts, lambda text: cut_to_size(text, self._max_tokens, self._count))
        fetch = Fetch(dict(zip(texts, pieces, strict=True)), self._call, self._keep)
        await fetch.run(self._concurrency)
        return fetch.rows

    async def _known(self, texts: list[str]) -> "dict[str, np.ndarray]":
        if self._cache is None:
            return {}
        try:
            return await self._cache.get_many(self.key, self.dimensions, texts)
        except (StorageError, NotStartedError) as error:
            _log.warning("Cached vectors cannot be read, so texts are embedded again: %s", error)
            return {}

    async def _keep(self, vectors: "dict[str, np.ndarray]") -> None:
        if vectors:
            self.answered_at = time.monotonic()
        for text, vector in vectors.items():
            self._flights.land(text, vector)
        if self._cache is None or not vectors:
            return
        try:
            await self._cache.put_many(self.key, self.dimensions, vectors)
        except (StorageError, NotStartedError) as error:
            _log.warning("Vectors cannot be cached: %s", error)


def _first(reasons: dict[int, str]) -> str:
    return next(iter(reasons.values()))


async def _look_at(texts: Sequence[str], look: Callable[[str], T]) -> list[T]:
    """Apply a function to each text; on a thread where that would keep the event loop."""
    if sum(map(len, texts)) < _AT_ONCE:
        return [look(text) for text in texts]
    return await asyncio.to_thread(lambda: [look(text) for text in texts])
