# -*- coding: utf-8 -*-
"""A token counter of the host, asked about one text at a time, without a loop and without a network."""

import logging
from collections.abc import Callable
from typing import Any

from agentscope.token import TokenCounterBase

from ._estimate import estimate_tokens

__all__ = ["HostCounter"]

logger = logging.getLogger("agentscope_reme")

_REMOTE = ("AnthropicTokenCounter", "GeminiTokenCounter")  # the host's own that ask a server
_CURE = "pass token_counter=Callable[[str], int] instead"


class HostCounter:
    """Counts with a host `TokenCounterBase` that answers at once; estimates what it cannot count.

    Its `count` is a coroutine. It is driven without a loop: one that waits (for a server) is closed at its first wait.
    """

    def __init__(self, counter: TokenCounterBase, estimate: Callable[[str], int] = estimate_tokens) -> None:
        self._counter = counter
        self._estimate = estimate
        self._given_up = self._warned = False
        if type(counter).__name__ in _REMOTE:
            self._give_up("asks a server for each count")

    def __repr__(self) -> str:
        return f"HostCounter({self._counter!r})"

    def __call__(self, text: str) -> int:
        number = None if self._given_up else self._asked(text)
        return self._estimate(text) if number is None else number

    def _asked(self, text: str) -> int | None:
        """The counter's answer; `None` where it has none."""
        try:
            number = self._driven(text)
        except (LookupError, ValueError, TypeError, AttributeError) as error:
            self._warn(f"failed on a text, which is estimated ({error!r})")
            return None
        except (ImportError, OSError, RuntimeError) as error:
            self._give_up(f"failed ({error!r})")
            return None
        if self._given_up or (isinstance(number, int) and not isinstance(number, bool) and number >= 0):
            return number
        self._give_up(f"returned {number!r}, not an int of at least 0")
        return None

    def _driven(self, text: str) -> Any:
        asked: Any = self._counter.count([{"role": "user", "content": text}])
        if not hasattr(asked, "send"):
            return asked
        try:
            asked.send(None)
        except StopIteration as answer:
            return answer.value
        asked.close()
        self._give_up("waits for something, perhaps a server")
        return None

    def _give_up(self, reason: str) -> None:
        self._warn(f"{reason}, so tokens are estimated from now on")
        self._given_up = True

    def _warn(self, reason: str) -> None:
        if not self._warned:
            logger.warning("The token counter %s %s; %s.", type(self._counter).__name__, reason, _CURE)
        self._warned = True
