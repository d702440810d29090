# -*- coding: utf-8 -*-
"""The entries of a person's profile that say what is forgotten, which go with it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..record import MemoryNode
from ..vector_memory import Owner, ProfileBook
from ._lexicon import Lexicon
from ._naming import is_withheld, mentions, names_something
from ._refined import is_behind, source_keys
from ._subject_search import SubjectSearch

__all__ = ["ProfileEntries"]

_ASKED = "a request to forget"
_PERSONAL = "personal"


class ProfileEntries:
    """Lets the entries go that a request, or the end of a memory, is about. Entries of health and safety stay, unless
    the request or the memory is of that.

    Args:
        book (`ProfileBook`): the profiles.
        search (`SubjectSearch`): finds the memories that still say what an entry says.
        lexicon (`Lexicon`): the words of health and safety.
    """

    def __init__(self, book: ProfileBook, search: SubjectSearch, lexicon: Lexicon) -> None:
        self._book, self._search, self._lexicon = book, search, lexicon

    async def forget_naming(
        self, subjects: Collection[str], owners: Sequence[Owner], actor: str
    ) -> tuple[list[str], list[str]]:
        """Delete the entries that name one of these subjects; the keys of those that went, and of those that are
        withheld, come back."""
        deleted: list[str] = []
        kept: list[str] = []
        for owner in owners:
            meant, withheld = await self._naming(subjects, owner)
            deleted += await self._delete(owner, meant, actor, _ASKED)
            kept += withheld
        return deleted, kept

    async def forget_said(self, nodes: Sequence[MemoryNode], actor: str, cause: str = _ASKED) -> list[str]:
        """Delete the entries that say what these memories say, which are about to go; their keys come back."""
        deleted: list[str] = []
        going = {key for node in nodes for key in (node.key, *source_keys(node))}
        for owner in dict.fromkeys(Owner(node.memory_type, node.memory_target) for node in nodes):
            contents = [node.content for node in nodes if node.owner == owner.key]
            deleted += await self._delete(owner, await self._said_by(contents, owner, going), actor, cause)
        return deleted

    async def erase_said(self, contents: Collection[str], owner: Owner, actor: str, cause: str) -> int:
        """Erase the entries that say what these contents say, of memories that are gone; how many comes back."""
        keys = await self._said_by(contents, owner)
        return await self._book.erase(owner.target, keys, actor=actor, cause=cause) if keys else 0

    # ------------------------------------------------------------------ inside

    async def _naming(self, subjects: Collection[str], owner: Owner) -> tuple[list[str], list[str]]:
        """The keys of the entries that name one of these subjects: those that are meant, and those that are withheld
        from every subject that they name."""
        meant: list[str] = []
        withheld: list[str] = []
        for key, value in (await self._read(owner)).items():
            entry = _said(key, value)
            named = [each for each in subjects if mentions(each, MemoryNode(entry))]
            if named:
                stays = all(is_withheld(entry, each, self._lexicon) for each in named)
                (withheld if stays else meant).append(key)
        return meant, withheld

    async def _said_by(self, contents: Collection[str], owner: Owner, going: Collection[str] = ()) -> list[str]:
        """The keys of the entries that say what these contents say, and what no other memory says; memories with one of
        the keys ``going`` do not count."""
        found = []
        for key, value in (await self._read(owner)).items():
            entry = _said(key, value)
            name = value if names_something(value) else key  # "yes" tells nothing of itself
            tells = [each for each in contents if mentions(name, MemoryNode(each)) or mentions(each, MemoryNode(entry))]
            if mentions(name, MemoryNode(owner.target)):  # who they are
                continue
            if all(is_withheld(entry, each, self._lexicon) for each in tells):
                continue
            others = await self._search.naming(name, [owner])
            if not any(node.key not in going and (node.is_active or is_behind(node)) for node in others):
                found.append(key)
        return found

    async def _delete(self, owner: Owner, keys: Sequence[str], actor: str, cause: str) -> list[str]:
        return [key for key in keys if await self._book.delete(owner.target, key, actor=actor, cause=cause)]

    async def _read(self, owner: Owner) -> dict[str, str]:
        return await self._book.read(owner.target) if owner.memory_type == _PERSONAL else {}


def _said(key: str, value: str) -> str:
    return f"{key}: {value}"
