# -*- coding: utf-8 -*-
"""Sessions and whole folders that are removed for good: messages, texts, and what index and cache hold of them."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from ._events import EventKind
from ._note_search import NoteSearch
from ._session_users import SessionUsers
from .storage import storage_error, sync_folder
from .working_memory import MemoryServices, check_unused, delete_session

if TYPE_CHECKING:
    from .refine import Purged

__all__ = ["purge_session", "purge_workspace", "together"]

_CACHES = ("index.db*", "embeddings.db*", "retention.json", "note_queue.lock", "notes.lock", "dialog.lock")


async def purge_session(session_id: str, services: MemoryServices, search: NoteSearch) -> Purged:
    """See `ReMeLight.purge_session`."""
    from .refine import Purged

    texts = await search.texts_of(session_id)
    counts = await anyio.to_thread.run_sync(delete_session, session_id, services)
    purged = Purged(counts, await search.forget(texts))
    await anyio.to_thread.run_sync(SessionUsers(services.workspace.state_dir).forget, session_id)
    services.events.emit(EventKind.PURGED, session_id=session_id, counts=dict(purged.counts))
    return purged


def together(purged: Iterable[Purged]) -> Purged:
    """What several calls have removed, as one."""
    from .refine import Purged

    every = list(purged)
    counts: Counter[str] = Counter()
    for each in every:
        counts.update(each.counts)
    return Purged(dict(counts), all(each.is_compact for each in every))


async def purge_workspace(services: MemoryServices, *, keep_notes: bool) -> Purged:
    """See `ReMeLight.purge_workspace`."""
    from .refine import Purged

    counts = await anyio.to_thread.run_sync(_remove_all, services, keep_notes)
    services.events.emit(EventKind.PURGED, counts=counts)
    return Purged(counts)


def _remove_all(services: MemoryServices, keep_notes: bool) -> dict[str, int]:
    """The journals go last, so that a call that was cut off can be made again with the same checks."""
    at = services.workspace
    check_unused(services)
    counts = {} if keep_notes else {"notes": _removed(at.notes_dir) + _removed(at.memory_md)}
    counts |= {
        "dialog": _removed(at.dialog_dir),
        "tool_results": _removed(at.tool_result_dir),
        "caches": sum(_removed(path) for pattern in _CACHES for path in at.state_dir.glob(pattern)),
        "records": sum(_removed(at.state_dir / name) for name in ("recorded", "loose"))
        + _removed(SessionUsers(at.state_dir).path)
        + (0 if keep_notes else _removed(at.state_dir / "notes")),
        "sessions": _removed(at.sessions_dir),
    }
    return counts


def _removed(path: Path) -> int:
    """Remove a file, or a folder with all that is in it; how many files there were comes back. A link goes itself."""
    try:
        if path.is_symlink() or path.is_file():
            path.unlink()
            count = 1
        elif path.is_dir():
            count = sum(each.is_file() for each in path.rglob("*"))
            shutil.rmtree(path)
        else:
            return 0
    except OSError as error:
        raise storage_error("remove", path, error) from error
    sync_folder(path.parent)
    return count
