# -*- coding: utf-8 -*-
"""What a model answered or why it did not, judged once."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from .._errors import ConfigError, EmbeddingError

if TYPE_CHECKING:
    import numpy as np

__all__ = ["CallFailed", "Kind", "checked_rows", "failure_of", "is_of_another_loop"]

Kind = Literal["final", "down", "refused", "garbled", "unknown"]
"""``final``: no call of this model can succeed. ``down``: none can now. ``refused``: not this input. ``garbled``: an
answer that cannot be used. ``unknown``: anything else."""

_STATUS = re.compile(r"['\"]?status_code['\"]?\s*[:=]\s*(\d{3})")
_DOWN = ("timeout", "connect", "network", "unavailable")
_CLOSED_LOOP = "event loop is closed"
_OTHER_LOOP = ("different loop", "different event loop", "should be used inside a task")  # the last is aiohttp's
_LONGEST = 300  # characters of a provider's message that are repeated


class CallFailed(EmbeddingError):
    """One call failed, and in which way."""

    def __init__(self, message: str, kind: Kind, *, at_once: bool = False) -> None:
        super().__init__(message)
        self.kind = kind
        self.at_once = at_once
        """Trying again needs no pause."""


def failure_of(error: Exception, name: str) -> CallFailed:
    """Sort what a client raised; ``name`` is the model's."""
    if isinstance(error, ConfigError):
        return CallFailed(str(error), "final")
    said = f"{type(error).__name__}: {error}"[:_LONGEST]
    status = _status(error)
    if status in (401, 403, 404):
        return CallFailed(
            f"The embedding model {name} refused the call, check its key, name and address: {said}", "final"
        )
    if status in (400, 413, 422):
        return CallFailed(f"The embedding model {name} refused a text: {said}", "refused")
    if status in (408, 429, 502, 503, 504, 529) or (status is None and _is_down(error)):
        return CallFailed(f"The embedding model {name} cannot be reached: {said}", "down")
    is_closed = isinstance(error, RuntimeError) and _CLOSED_LOOP in str(error).lower()
    at_once = is_closed or is_of_another_loop(error)
    return CallFailed(f"The embedding model {name} failed: {said}", "unknown", at_once=at_once)


def is_of_another_loop(error: Exception) -> bool:
    """Whether a client says that it belongs to another event loop."""
    return isinstance(error, RuntimeError) and any(words in str(error).lower() for words in _OTHER_LOOP)


def checked_rows(answer: Any, count: int, dimensions: int, name: str) -> "list[np.ndarray]":
    """Take the vectors out of a model's response and bring them to length 1.

    Args:
        answer (`EmbeddingResponse`): What the model returned.
        count (`int`): How many texts it was given.
        dimensions (`int`): The dimension that it declares.
        name (`str`): Its name, for messages.

    Returns:
        `list[np.ndarray]`: ``count`` float32 vectors of shape ``(dimensions,)``.

    Raises:
        `CallFailed`: another number of vectors, another dimension, a vector that is not finite or zero.
    """
    embeddings: Sequence[Any] | None = getattr(answer, "embeddings", None)
    if embeddings is None or len(embeddings) != count:
        got = "none" if embeddings is None else len(embeddings)
        raise CallFailed(f"The embedding model {name} was given {count} texts and returned {got} vectors.", "garbled")
    return [_checked_row(row, dimensions, name) for row in embeddings]


def _checked_row(row: Any, dimensions: int, name: str) -> "np.ndarray":
    import numpy as np

    try:
        vector = np.asarray(row, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise CallFailed(
            f"The embedding model {name} returned something that is no vector: {error}.", "garbled"
        ) from error
    if vector.ndim != 1 or vector.shape[0] != dimensions:
        size = vector.shape[0] if vector.ndim == 1 else vector.shape
        raise CallFailed(
            f"The embedding model {name} declares {dimensions} dimensions and returned {size}: "
            f"give it dimensions={size}, or a model of {dimensions}.",
            "final",
        )
    length = float(np.linalg.norm(vector))
    if not np.isfinite(length) or length == 0.0:
        raise CallFailed(f"The embedding model {name} returned a vector that is zero or not finite.", "garbled")
    return (vector / length).astype(np.float32)


def _status(error: Exception) -> int | None:
    for name in ("status_code", "code"):
        value = getattr(error, name, None)
        if isinstance(value, int) and 100 <= value < 600:
            return value
    match = _STATUS.search(str(error))
    return int(match.group(1)) if match else None


def _is_down(error: Exception) -> bool:
    if isinstance(error, (ConnectionError, TimeoutError)):
        return True
    return any(word in type(error).__name__.lower() for word in _DOWN)
