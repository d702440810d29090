# -*- coding: utf-8 -*-
"""Telling that something in the indexed folders has changed, so that it is indexed before it is asked for."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path

import anyio

__all__ = ["FolderWatcher"]

_LOOK = 2_000  # milliseconds after which it is looked whether folders came, went or were replaced
_DEBOUNCE, _STEP = 200, 20  # milliseconds
_SWEEP = 60.0  # seconds after which everything is compared, whatever was seen
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 60.0
logger = logging.getLogger("agentscope_reme")

Identities = dict[str, tuple[int, int]]


class FolderWatcher:
    """Watches folders that may be missing, come later, go away or be replaced.

    A watcher that fails is started again after a pause that doubles up to a minute; after each pause everything is
    compared, so that it degrades to polling.

    Args:
        folders (`Sequence[Path]`): watched with all below them.
        files (`Sequence[Path]`): single files; their folders are watched for them.
        changed (`Callable[[], Awaitable[object]]`): called when something may have changed.
    """

    def __init__(
        self, folders: Sequence[Path], files: Sequence[Path], changed: Callable[[], Awaitable[object]]
    ) -> None:
        self.state = "off"
        """"off", "on", or why it polls."""
        self._folders = [Path(os.path.abspath(folder)) for folder in folders]
        self._files = [Path(os.path.abspath(file)) for file in files]
        self._changed = changed
        self._stop: anyio.Event | None = None
        self._ended = False

    def stop(self) -> None:
        """Let the threads that wait for events end; to be called before the task is cancelled, which they delay."""
        self._ended = True
        if self._stop is not None:
            self._stop.set()

    async def run(self) -> None:
        """Watch until stopped or cancelled."""
        pause = _FIRST_PAUSE
        try:
            while not self._ended:
                started = time.monotonic()
                try:
                    await self._watch()
                except Exception as error:  # noqa: BLE001 - a background task; it is logged and goes on
                    cause = _first(error)
                    self.state = f"polling: {type(cause).__name__}: {cause}"
                    logger.warning("Watching the notes failed (%s); they are compared in %g seconds.", cause, pause)
                    await anyio.sleep(pause)
                    long_ago = time.monotonic() - started > _LONGEST_PAUSE
                    pause = _FIRST_PAUSE if long_ago else min(_LONGEST_PAUSE, 2 * pause)
                await self._tell()
        finally:
            self.state = "off"

    async def _watch(self) -> None:
        """Watch what is there now; returns when other folders are there."""
        before = _identities(self._places())
        deep = [os.fspath(folder) for folder in self._folders if folder.is_dir()]
        flat = sorted({os.fspath(_nearest(place.parent)) for place in (*self._folders, *self._files)})
        stop = self._stop = anyio.Event()
        try:
            async with anyio.create_task_group() as group:
                if deep:
                    group.start_soon(self._events, deep, True, before, stop)
                group.start_soon(self._events, flat, False, before, stop)
                self.state = "on"
        finally:
            stop.set()

    async def _events(self, places: list[str], recursive: bool, before: Identities, stop: anyio.Event) -> None:
        from watchfiles import awatch

        wanted = None if recursive else {os.fspath(place) for place in (*self._folders, *self._files)}
        swept = time.monotonic()
        events = awatch(
            *places,
            watch_filter=None,
            debounce=_DEBOUNCE,
            step=_STEP,
            rust_timeout=_LOOK,
            yield_on_timeout=True,
            recursive=recursive,
            stop_event=stop,
            ignore_permission_denied=True,
        )
        try:
            async for changes in events:
                overdue = time.monotonic() - swept > _SWEEP
                if overdue or any(wanted is None or path in wanted for _, path in changes):
                    swept = time.monotonic()
                    await self._tell()
                if _identities(self._places()) != before:
                    return
        finally:
            stop.set()

    async def _tell(self) -> None:
        if self._ended:
            return
        try:
            await self._changed()
        except Exception:
            logger.exception("Changed notes could not be indexed; the next search tries again.")

    def _places(self) -> Iterable[Path]:
        yield from self._folders
        yield from (_nearest(place.parent) for place in (*self._folders, *self._files))


def _first(error: BaseException) -> BaseException:
    """What is behind a group of errors."""
    while inner := getattr(error, "exceptions", None):
        error = inner[0]
    return error


def _nearest(folder: Path) -> Path:
    """The folder, or the nearest one above it that is there."""
    while not folder.is_dir() and folder != folder.parent:
        folder = folder.parent
    return folder


def _identities(places: Iterable[Path]) -> Identities:
    found: Identities = {}
    for place in places:
        try:
            status = os.stat(place)
        except OSError:
            continue
        found[os.fspath(place)] = (status.st_dev, status.st_ino)
    return found
