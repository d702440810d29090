# -*- coding: utf-8 -*-
"""The files and chunks in SQLite: what a reading of the files changes there. Blocking: call it in a thread."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..storage import Database
from ._draft import Draft
from ._file_state import FileState, Stamp
from ._schema import fact, next_version, set_fact

__all__ = ["Catalog", "Reading"]

_LISTED_REMOVALS = 20_000
_PARAMETERS = 500
_FILE = "id, path, source, revision, size, mtime, ctime, inode, read_at, lines, bytes, digest"
_CHUNK = (
    "file, start_line, end_line, offset, kind, version, stale, waiting, twin, time, asks, speaker, message_id, "
    "session_id, episode, position, digest, heading, words, text"
)


@dataclass(frozen=True)
class Reading:
    """What reading a file has shown, to be put in the place of what was known.

    Args:
        before (`FileState | None`): what was known; None for a file that is new.
        after (`FileState`): what is known now; its id and revision do not count.
        kept_lines (`int`): up to this line the chunks stay as they are.
        drafts (`Sequence[Draft]`): the chunks after it.
    """

    before: FileState | None
    after: FileState
    kept_lines: int
    drafts: Sequence[Draft]


class Catalog:
    """What the index knows of its files, with a copy of the files' states in memory.

    Args:
        database (`Database`): where it is kept.
    """

    def __init__(self, database: Database) -> None:
        self.files: dict[str, FileState] = {}
        self._database = database
        self._seen: tuple[int, int] | None = None

    def refresh(self) -> bool:
        """Read the states again if somebody else has changed something, or the file was made anew; whether so."""
        version = self._database.data_version_sync()
        seen = (self._database.generation, version)
        if seen == self._seen:
            return False
        rows = self._database.read_sync(_files)
        self.files = {state.path: state for state in map(_state, rows)}
        self._seen = seen
        return True

    def settle_facts(self, cut: str, words: str) -> None:
        """Note how files and words are cut from now on; what was cut another way becomes due to be cut again."""
        if self._database.run_sync(_settle_facts, cut, words):
            self._seen = None

    def new_drafts(self, reading: Reading) -> list[Draft] | None:
        """Those drafts of a reading that are not in the index yet; None where it says nothing new at all."""
        if reading.before is None:
            return list(reading.drafts)
        known = self._database.read_sync(_known, reading.before.id, reading.kept_lines)
        if Counter(row[1:] for row in known) == Counter((draft.digest, *_place(draft)) for draft in reading.drafts):
            return None
        waiting = _by_digest(known)
        return [draft for draft in reading.drafts if not (waiting[draft.digest] and waiting[draft.digest].popleft())]

    def latest_turns(self, state: FileState) -> dict[str, tuple[int, float]]:
        """By session, the episode and the position of the last turn in the lines of an archive that were read."""
        return self._database.read_sync(_latest_turns, state.id, state.lines)

    def words_of(self, twins: Iterable[int]) -> dict[int, str]:
        """The words of texts that stand elsewhere in the index already."""
        return self._database.read_sync(_words_of, sorted(set(twins)))

    def apply(self, reading: Reading, words: Mapping[int, str]) -> bool:
        """Put a reading in the place of what was known of the file.

        Args:
            reading (`Reading`): the reading.
            words (`Mapping[int, str]`): by twin, the words of every draft that is new.

        Returns:
            `bool`: False where somebody else has changed the file's chunks since; nothing was done then.
        """
        state = self._database.run_sync(_apply, reading, words)
        if state is None:
            self._seen = None
            return False
        self.files[state.path] = state
        return True

    def note_stamp(self, state: FileState) -> None:
        """Note a new stamp of a file whose content is what it was; on disk only where it need not be read again."""
        self.files[state.path] = state
        if state.is_current(state.stamp):
            self._database.run_sync(_note_stamp, state)

    def forget(self, states: Sequence[FileState]) -> None:
        """Remove files with all their chunks."""
        self._database.run_sync(_forget, [(state.id, state.revision) for state in states])
        for state in states:
            self.files.pop(state.path, None)

    def stale(self, limit: int) -> list[tuple[int, str]]:
        """Ids and searched texts of chunks whose words are due to be cut again."""
        return self._database.read_sync(_stale, limit)

    def set_words(self, words: Sequence[tuple[int, str]]) -> None:
        """Give chunks the words of the tokenizer in force."""
        self._database.run_sync(_set_words, words)


def _files(connection: sqlite3.Connection) -> list[tuple]:
    return connection.execute(f"SELECT {_FILE} FROM file").fetchall()


def _state(row: Sequence) -> FileState:
    number, path, source, revision, *stamp, read_at, lines, size, digest = row
    return FileState(number, path, source, revision, Stamp(*stamp), read_at, lines, size, digest)


def _settle_facts(connection: sqlite3.Connection, cut: str, words: str) -> bool:
    changed = False
    if fact(connection, "cut") != cut:
        set_fact(connection, "cut", cut)
        connection.execute("UPDATE file SET size = -1, digest = x'', lines = 0, bytes = 0")
        changed = True
    if fact(connection, "words") != words:
        set_fact(connection, "words", words)
        connection.execute("UPDATE chunk SET stale = 1")
        changed = True
    return changed


def _known(connection: sqlite3.Connection, file: int, kept_lines: int) -> list[tuple]:
    query = "SELECT id, digest, start_line, end_line, offset FROM chunk WHERE file = ? AND start_line > ? "
    query += "ORDER BY start_line, offset, id"
    return connection.execute(query, (file, kept_lines)).fetchall()


def _latest_turns(connection: sqlite3.Connection, file: int, lines: int) -> dict[str, tuple[int, float]]:
    query = "SELECT session_id, episode, position FROM chunk WHERE file = ? AND start_line <= ? AND kind = 'turn' "
    rows = connection.execute(query + "ORDER BY start_line, id", (file, lines))
    return {session: (episode, position) for session, episode, position in rows}


def _by_digest(rows: Iterable[tuple]) -> defaultdict[bytes, deque[tuple]]:
    found: defaultdict[bytes, deque[tuple]] = defaultdict(deque)
    for row in rows:
        found[row[1]].append(row)
    return found


def _words_of(connection: sqlite3.Connection, twins: list[int]) -> dict[int, str]:
    found: dict[int, str] = {}
    for start in range(0, len(twins), _PARAMETERS):
        part = twins[start : start + _PARAMETERS]
        marks = ",".join("?" * len(part))
        found.update(connection.execute(f"SELECT twin, words FROM chunk WHERE twin IN ({marks}) AND NOT stale", part))
    return found


def _apply(connection: sqlite3.Connection, reading: Reading, words: Mapping[int, str]) -> FileState | None:
    state = _put_file(connection, reading)
    if state is None:
        return None
    waiting = _by_digest(_known(connection, state.id, reading.kept_lines))
    version = next_version(connection)
    for draft in reading.drafts:
        if waiting[draft.digest]:
            _move(connection, waiting[draft.digest].popleft(), draft)
        else:
            _insert(connection, state.id, draft, words[draft.twin], version)
    _remove(connection, [row[0] for rows in waiting.values() for row in rows], version)
    return state


def _put_file(connection: sqlite3.Connection, reading: Reading) -> FileState | None:
    """The file's row brought up to date; None where it is not as it was known."""
    known = connection.execute("SELECT id, revision FROM file WHERE path = ?", (reading.after.path,)).fetchone()
    expected = (reading.before.id, reading.before.revision) if reading.before else None
    if known != expected:
        return None
    after = reading.after._replace(id=known[0] if known else 0, revision=known[1] + 1 if known else 1)
    values = (after.path, after.source, after.revision, *after.stamp, *after[5:])
    if known:
        columns = " = ?, ".join(_FILE.split(", ")[1:])
        connection.execute(f"UPDATE file SET {columns} = ? WHERE id = ?", (*values, after.id))
        return after
    cursor = connection.execute(f"INSERT INTO file ({_FILE[4:]}) VALUES (?{', ?' * 10})", values)
    return after._replace(id=cursor.lastrowid or 0)


def _move(connection: sqlite3.Connection, row: tuple, draft: Draft) -> None:
    if row[2:] != _place(draft):
        query = "UPDATE chunk SET start_line = ?, end_line = ?, offset = ? WHERE id = ?"
        connection.execute(query, (*_place(draft), row[0]))


def _place(draft: Draft) -> tuple[int, int, int]:
    return draft.start_line, draft.end_line, draft.offset


def _insert(connection: sqlite3.Connection, file: int, draft: Draft, words: str, version: int) -> None:
    asks = draft.kind == "turn" and ("?" in draft.text or "？" in draft.text)
    cursor = connection.execute(
        f"INSERT INTO chunk ({_CHUNK}) VALUES (?{', ?' * 19})",
        (
            *(file, *_place(draft), draft.kind, version, 0, draft.kind != "tool", draft.twin, draft.time, asks),
            *(draft.speaker, draft.message_id, draft.session_id, draft.episode, draft.position),
            *(draft.digest, draft.heading, words, draft.text),
        ),
    )
    copied = connection.execute(
        "INSERT INTO vector SELECT ?, ?, v.data FROM chunk c JOIN vector v ON v.chunk = c.id "
        "WHERE c.twin = ? AND NOT c.waiting LIMIT 1",
        (cursor.lastrowid, version, draft.twin),
    )
    if copied.rowcount:
        connection.execute("UPDATE chunk SET waiting = 0 WHERE id = ?", (cursor.lastrowid,))


def _remove(connection: sqlite3.Connection, chunks: Sequence[int], version: int) -> None:
    connection.executemany("DELETE FROM chunk WHERE id = ?", [(chunk,) for chunk in chunks])
    connection.executemany("INSERT INTO gone VALUES (?, ?)", [(chunk, version) for chunk in chunks])
    oldest = version - _LISTED_REMOVALS
    if chunks and oldest > 0 and version % 100 == 0:
        connection.execute("DELETE FROM gone WHERE version <= ?", (oldest,))
        set_fact(connection, "forgotten", oldest)


def _note_stamp(connection: sqlite3.Connection, state: FileState) -> None:
    query = "UPDATE file SET size = ?, mtime = ?, ctime = ?, inode = ?, read_at = ? WHERE id = ? AND revision = ?"
    connection.execute(query, (*state.stamp, state.read_at, state.id, state.revision))


def _forget(connection: sqlite3.Connection, files: Sequence[tuple[int, int]]) -> None:
    version = next_version(connection)
    for file in files:
        if connection.execute("SELECT 1 FROM file WHERE id = ? AND revision = ?", file).fetchone():
            rows = connection.execute("SELECT id FROM chunk WHERE file = ?", file[:1]).fetchall()
            _remove(connection, [row[0] for row in rows], version)
            connection.execute("DELETE FROM file WHERE id = ?", file[:1])


def _stale(connection: sqlite3.Connection, limit: int) -> list[tuple[int, str]]:
    query = "SELECT id, heading, text FROM chunk WHERE stale ORDER BY id LIMIT ?"
    rows = connection.execute(query, (limit,)).fetchall()
    return [(chunk, f"{heading}\n{text}" if heading else text) for chunk, heading, text in rows]


def _set_words(connection: sqlite3.Connection, words: Sequence[tuple[int, str]]) -> None:
    version = next_version(connection)
    query = "UPDATE chunk SET words = ?, stale = 0, version = ? WHERE id = ?"
    connection.executemany(query, [(cut, version, chunk) for chunk, cut in words])
