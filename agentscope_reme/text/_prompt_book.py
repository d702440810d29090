# -*- coding: utf-8 -*-
"""The prompts of this package: one folder of YAML a language, read as package data.

A file ``compactor.yaml`` holds entries; the entry ``update`` in it is called ``compactor.update``. An entry is either
``{placeholders: [...], text: ...}`` or a list of strings. In a text, ``{{name}}`` stands for a declared placeholder and
every other brace for itself; what is put in is never looked through again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._errors import PromptError

if TYPE_CHECKING:
    from importlib.abc import Traversable  # importlib.resources.abc from Python 3.11 on

__all__ = ["Prompt", "PromptBook", "normalize_language"]

_PLACEHOLDER = re.compile(r"\{\{([A-Za-z_]\w*)\}\}", re.ASCII)
_ALIASES = {
    "": "en",
    "english": "en",
    "英文": "en",
    "英语": "en",
    "cn": "zh",
    "chinese": "zh",
    "中文": "zh",
    "汉语": "zh",
}


@dataclass(frozen=True)
class Prompt:
    """One text of one language, with the placeholders that it declares."""

    name: str
    language: str
    text: str
    placeholders: tuple[str, ...] = ()

    def fill(self, **values: object) -> str:
        """The text with a value in the place of each placeholder.

        Raises:
            `PromptError`: a value is missing, `None`, or not asked for.
        """
        missing = [name for name in self.placeholders if values.get(name) is None]
        extra = sorted(set(values) - set(self.placeholders))
        if missing or extra:
            raise PromptError(
                f"Prompt {self.name!r} ({self.language}) takes {_listed(self.placeholders)}: "
                f"missing {_listed(missing)}, not asked for {_listed(extra)}.",
            )
        return _PLACEHOLDER.sub(lambda match: str(values[match[1]]), self.text)


Entry = Prompt | tuple[str, ...]


class PromptBook:
    """All prompts in all languages.

    Args:
        root (`Path | None`):
            A folder of one's own with one sub-folder of YAML a language. What it holds is added to the prompts of the
            package, and takes their place entry by entry where the names are equal.
    """

    def __init__(self, root: Path | None = None) -> None:
        if root is not None and not Path(root).is_dir():
            raise PromptError(f"There is no folder of prompts at {str(root)!r}.")
        self._root = None if root is None else Path(root)
        self._entries: dict[str, Mapping[str, Entry]] = {}

    def languages(self) -> tuple[str, ...]:
        """The languages there are, in alphabetical order."""
        found = set(_folders(_package_root()))
        if self._root is not None:
            found |= {normalize_language(name) for name in _folders(self._root)}
        return tuple(sorted(found))

    def names(self, language: str) -> tuple[str, ...]:
        """The dotted names of a language's entries, in alphabetical order."""
        return tuple(sorted(self._language(language)))

    def get(self, language: str, name: str) -> Prompt:
        """The text entry of this name.

        Raises:
            `PromptError`: no such language or name, or the entry is a list.
        """
        entry = self._entry(language, name)
        if not isinstance(entry, Prompt):
            raise PromptError(f"{name!r} ({normalize_language(language)}) is a list: read it with `list`.")
        return entry

    def text(self, language: str, name: str, **values: object) -> str:
        """The text of this name with its placeholders filled in; see `Prompt.fill`."""
        return self.get(language, name).fill(**values)

    def list(self, language: str, name: str) -> tuple[str, ...]:
        """The list entry of this name.

        Raises:
            `PromptError`: no such language or name, or the entry is a text.
        """
        entry = self._entry(language, name)
        if isinstance(entry, Prompt):
            raise PromptError(f"{name!r} ({normalize_language(language)}) is a text: read it with `text`.")
        return entry

    def _entry(self, language: str, name: str) -> Entry:
        entries = self._language(language)
        if name not in entries:
            raise PromptError(
                f"There is no prompt {name!r} in {normalize_language(language)!r}, only {_listed(sorted(entries))}.",
            )
        return entries[name]

    def _language(self, language: str) -> Mapping[str, Entry]:
        wanted = normalize_language(language)
        if wanted not in self._entries:
            if wanted not in self.languages():
                raise PromptError(f"There are no prompts in {language!r}: there are {_listed(self.languages())}.")
            self._entries[wanted] = {**_package_entries(wanted), **self._own_entries(wanted)}
        return self._entries[wanted]

    def _own_entries(self, language: str) -> dict[str, Entry]:
        if self._root is None:
            return {}
        folders = [name for name in _folders(self._root) if normalize_language(name) == language]
        return {key: entry for name in folders for key, entry in _read_folder(self._root / name, language).items()}


def normalize_language(language: str) -> str:
    """The short name of a language: "" is "en", and "zh-CN", "cn" or "Chinese" are "zh".

    Raises:
        `PromptError`: it is not a string. What `None` means is for the caller to decide.
    """
    if not isinstance(language, str):
        raise PromptError(f"language is {language!r}: give a name such as 'en' or 'zh', or '' for English.")
    name = language.strip().lower()
    name = _ALIASES.get(name, name)
    return re.split(r"[-_]", name, maxsplit=1)[0] or name


def _package_root() -> Traversable:
    return files(__name__.partition(".")[0]) / "prompts"


@cache
def _package_entries(language: str) -> Mapping[str, Entry]:
    folder = _package_root() / language
    return _read_folder(folder, language) if folder.is_dir() else {}


def _folders(root: Traversable) -> tuple[str, ...]:
    if not root.is_dir():
        return ()
    return tuple(sorted(each.name for each in root.iterdir() if each.is_dir() and each.name[0] not in "._"))


def _read_folder(folder: Traversable, language: str) -> dict[str, Entry]:
    entries: dict[str, Entry] = {}
    for source in sorted(folder.iterdir(), key=lambda each: each.name):
        if source.name.endswith((".yaml", ".yml")):
            entries.update(_read_file(source, language))
    return entries


def _read_file(source: Traversable, language: str) -> dict[str, Entry]:
    import yaml

    try:
        content = yaml.load(source.read_text(encoding="utf-8"), _loader(yaml))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise PromptError(f"The prompts in {language}/{source.name} cannot be read: {error}") from error
    if not isinstance(content, dict):
        raise PromptError(f"{language}/{source.name} holds {type(content).__name__}: it must map names to entries.")
    stem = source.name.rpartition(".")[0]
    return {f"{stem}.{key}": _checked(f"{stem}.{key}", language, value) for key, value in content.items()}


def _loader(yaml: Any) -> Any:
    """The safe loader, in C where PyYAML was built with it: ten times as fast."""
    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _checked(name: str, language: str, value: Any) -> Entry:
    where = f"Prompt {name!r} ({language})"
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return tuple(value)
    if not isinstance(value, dict) or set(value) != {"placeholders", "text"}:
        raise PromptError(f"{where} must be a list of strings or have exactly `placeholders` and `text`.")
    text, declared = value["text"], value["placeholders"]
    if not isinstance(text, str) or not text.strip():
        raise PromptError(f"{where} has no text.")
    if not isinstance(declared, list) or not all(isinstance(each, str) for each in declared):
        raise PromptError(f"{where}: `placeholders` must be a list of names, [] for none.")
    used = set(_PLACEHOLDER.findall(text))
    if used != set(declared):
        raise PromptError(
            f"{where} declares {_listed(declared)}; undeclared {_listed(sorted(used - set(declared)))}, "
            f"unused {_listed(sorted(set(declared) - used))}.",
        )
    return Prompt(name, language, text.strip("\n"), tuple(declared))


def _listed(names: Any) -> str:
    return ", ".join(map(repr, names)) or "nothing"
