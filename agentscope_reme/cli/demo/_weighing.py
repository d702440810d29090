# -*- coding: utf-8 -*-
"""A formatter that weighs what it makes: the requests as they go to the model, looked at apart from the memory."""

import json
from collections.abc import Callable
from typing import Any

from agentscope.formatter import FormatterBase

from ._passages import Passage, passages_in

__all__ = ["WeighingFormatter"]


class WeighingFormatter(FormatterBase):
    """Formats as another one does, and keeps the size of each request and what it shows of the long-term memory.

    Args:
        formatter (`FormatterBase`):
            Does the work.
        count (`Callable[[str], int]`):
            Counts the tokens of a text.
        tools (`Callable[[], list[dict]]`):
            The schemas of the tools that go with each request.
    """

    def __init__(
        self,
        formatter: FormatterBase,
        count: Callable[[str], int],
        tools: Callable[[], list[dict[str, Any]]],
    ) -> None:
        self.weights: list[int] = []
        """Tokens of each request, as JSON."""
        self.passages: list[Passage] = []
        """What the requests show of the memory, in their order, again for each request."""
        self._formatter = formatter
        self._count = count
        self._tools = tools

    async def format(self, *args: Any, **kwargs: Any) -> list[dict[str, Any]]:
        """Format messages for the model."""
        request = await self._formatter.format(*args, **kwargs)
        self.weights.append(self._count(_as_json(request)) + self._count(_as_json(self._tools())))
        self.passages.extend(passages_in(request))
        return request


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
