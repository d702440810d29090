# -*- coding: utf-8 -*-
"""One call of a host's embedding model, whatever its client does to the event loop."""

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any

import anyio

from .._errors import ConfigError
from ._elsewhere import on_own_thread, on_shared_loop
from ._reply import CallFailed, checked_rows, failure_of, is_of_another_loop

if TYPE_CHECKING:
    import numpy as np
    from agentscope.embedding import EmbeddingModelBase

__all__ = ["ModelCall", "model_key"]

_BLOCKING = {"DashScopeTextEmbedding", "DashScopeMultiModalEmbedding", "GeminiTextEmbedding"}
_ROOMY = {"OpenAITextEmbedding", "OllamaTextEmbedding", "GeminiTextEmbedding"}
_DASHSCOPE_HOSTS = ("dashscope", "aliyuncs")
_DASHSCOPE_BATCH = 10
_ROOMY_BATCH = 64
_NUMBERS = 50_000  # in one answer; a larger one takes longer than 50 ms to take apart


class ModelCall:
    """The model with what is known about its kind.

    Args:
        model (`EmbeddingModelBase`):
            The model.
        timeout (`float`):
            Seconds after which a call is given up.
    """

    def __init__(self, model: "EmbeddingModelBase", *, timeout: float) -> None:
        dimensions = getattr(model, "dimensions", None)
        if not callable(model) or not isinstance(dimensions, int) or dimensions < 1:
            raise ConfigError(
                f"{type(model).__name__} with dimensions={dimensions!r} is no embedding model that can be used here: "
                "give an AgentScope EmbeddingModelBase that declares its dimensions.",
            )
        self.model = model
        self.dimensions = dimensions
        self.name = str(getattr(model, "model_name", None) or type(model).__name__)
        self._timeout = timeout
        self._kinds = {kind.__name__ for kind in type(model).__mro__}
        self._options: dict[str, Any] = {}
        self._place = self._best_place()

    @property
    def batch_size(self) -> int:
        """How many texts the provider takes in one call; 10, the least that common ones take, if that is not known."""
        own = getattr(self.model, "batch_size_limit", None)
        if isinstance(own, int) and own > 0:
            return own
        host = str(getattr(getattr(self.model, "client", None), "base_url", ""))
        if self._kinds & _ROOMY and not any(part in host for part in _DASHSCOPE_HOSTS):
            return max(_DASHSCOPE_BATCH, min(_ROOMY_BATCH, _NUMBERS // self.dimensions))
        return _DASHSCOPE_BATCH

    @property
    def max_tokens(self) -> int | None:
        """The longest text that the model says it takes, if it says so."""
        own = getattr(self.model, "max_input_tokens", None)
        if isinstance(own, int) and own > 0:
            return own
        older = "DashScopeTextEmbedding" in self._kinds and self.name.endswith(("-v1", "-v2"))
        return 2000 if older else None

    def _best_place(self) -> "Callable[[Coroutine[Any, Any, Any]], Awaitable[Any]]":
        """Where to run a call. A client may block its loop: the host's do, whole or while they take a large answer
        apart (half a second for 64 vectors of 1536), and of others nothing is known."""
        if self._kinds & _BLOCKING:
            return on_own_thread
        return _here if getattr(self.model, "in_callers_loop", False) is True else on_shared_loop

    async def rows(self, texts: list[str]) -> "list[np.ndarray]":
        """Call it once.

        Raises:
            `CallFailed`: whatever goes wrong.
        """
        try:
            with anyio.fail_after(self._timeout):
                return await self._place(self._answer(texts))
        except CallFailed:
            raise
        except Exception as error:
            if self._learns(error):
                return await self.rows(texts)
            raise failure_of(error, self.name) from error

    async def _answer(self, texts: list[str]) -> "list[np.ndarray]":
        payload: Sequence[Any] = texts
        if len(getattr(self.model, "supported_modalities", None) or ()) > 1:
            payload = [{"type": "text", "text": text} for text in texts]
        answer = await self.model(payload, **self._options)
        return checked_rows(answer, len(texts), self.dimensions, self.name)

    def _learns(self, error: Exception) -> bool:
        """Whether the call can be made in another way: what belongs to the caller's loop is called there; OpenAI's
        client of the host always names the dimension, which models that have only one refuse to hear."""
        if self._place is on_shared_loop and is_of_another_loop(error):
            self._place = _here
            return True
        if self._options or "OpenAITextEmbedding" not in self._kinds or getattr(error, "status_code", 0) != 400:
            return False
        if not any(word in str(error).lower() for word in ("dimensions", "matryoshka")):
            return False
        import openai

        self._options = {"dimensions": openai.NOT_GIVEN}
        return True


def model_key(model: "EmbeddingModelBase") -> str:
    """What tells the vectors of one model from another's, beside the dimension: its class and its name."""
    return f"{type(model).__name__}:{getattr(model, 'model_name', '')}"


async def _here(call: Coroutine[Any, Any, Any]) -> Any:
    return await call
