# -*- coding: utf-8 -*-
"""The requests of one ``embed``: pieces of texts in, whole vectors out, batch by batch."""

from collections import deque
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import anyio

from ._batch_call import BatchCall, Tally
from ._plain_text import cut_in_two, estimate_tokens, worth_cutting
from ._reply import CallFailed

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Fetch"]

_REQUEST_TOKENS = 100_000  # of one call; OpenAI refuses 300,000


class _Piece:
    """A text, or a part of one that is too long, and what became of it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.row: np.ndarray | CallFailed | None = None


class Fetch:
    """What one ``embed`` asks for.

    Args:
        pieces (`dict[str, list[str]]`): The texts, and the pieces that each is sent in.
        call (`BatchCall`): Whom to ask.
        keep (`Callable`): Told of each text's vector as soon as it is whole.
    """

    def __init__(
        self,
        pieces: dict[str, list[str]],
        call: BatchCall,
        keep: "Callable[[dict[str, np.ndarray]], Awaitable[None]]",
    ) -> None:
        self.rows: dict[str, np.ndarray | CallFailed] = {}
        self._call = call
        self._keep = keep
        self._pieces = {text: [_Piece(part) for part in parts] for text, parts in pieces.items()}
        self._waiting = deque((text, piece) for text, parts in self._pieces.items() for piece in parts)
        self._tally = Tally()
        self._fatal: CallFailed | None = None

    async def run(self, workers: int) -> None:
        """Fill ``rows``, giving what is finished to ``keep`` after each batch.

        Raises:
            `CallFailed`: no use going on; what is under way is finished and kept first.
        """
        async with anyio.create_task_group() as group:
            for _ in range(workers):
                group.start_soon(self._work)
        if self._fatal is not None:
            raise self._fatal

    async def _work(self) -> None:
        while self._fatal is None and (batch := self._take()):
            try:
                rows = await self._call.rows([piece.text for _, piece in batch], self._tally)
            except CallFailed as failure:
                self._fatal = failure
                return
            for (text, piece), row in zip(batch, rows, strict=True):
                self._settle(text, piece, row)
            await self._finish({text for text, _ in batch})

    def _take(self) -> list[tuple[str, _Piece]]:
        """The next batch, limited in texts and in tokens."""
        batch: list[tuple[str, _Piece]] = []
        tokens = 0
        while self._waiting and len(batch) < self._call.batch_size:
            tokens += estimate_tokens(self._waiting[0][1].text)
            if batch and tokens > _REQUEST_TOKENS:
                break
            batch.append(self._waiting.popleft())
        return batch

    def _settle(self, text: str, piece: _Piece, row: "np.ndarray | CallFailed") -> None:
        """Note a row; cut a longer piece that was refused, in case its length was the reason."""
        refused = isinstance(row, CallFailed) and row.kind == "refused" and worth_cutting(piece.text)
        halves = cut_in_two(piece.text) if refused else []
        if len(halves) < 2:
            piece.row = row
            return
        pieces = [_Piece(half) for half in halves]
        place = self._pieces[text].index(piece)
        self._pieces[text][place : place + 1] = pieces
        self._waiting.extendleft((text, part) for part in reversed(pieces))

    async def _finish(self, texts: set[str]) -> None:
        """Give out and keep the texts whose pieces are all there."""
        fresh: dict[str, np.ndarray] = {}
        for text in texts:
            rows = [piece.row for piece in self._pieces[text]]
            failures = [row for row in rows if isinstance(row, CallFailed)]
            vectors = [row for row in rows if row is not None and not isinstance(row, CallFailed)]
            if len(vectors) == len(rows):
                fresh[text] = _mean(vectors, [len(piece.text) for piece in self._pieces[text]])
            elif len(failures) + len(vectors) == len(rows):
                self.rows[text] = failures[0]
        self.rows.update(fresh)
        await self._keep(fresh)


def _mean(vectors: "list[np.ndarray]", weights: list[int]) -> "np.ndarray":
    """The direction of the pieces together, each weighing as much as it is long."""
    import numpy as np

    if len(vectors) == 1:
        return vectors[0]
    total = np.average(vectors, axis=0, weights=weights)
    length = np.linalg.norm(total)
    return (total / length if length else vectors[0]).astype(np.float32)
