# -*- coding: utf-8 -*-
"""What the facades are given, checked: folders, languages, time zones, and dictionaries that go by two names."""

import os
from collections.abc import Mapping
from datetime import tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ._errors import ConfigError
from .text import PromptBook, normalize_language

__all__ = ["check_arguments", "checked_language", "llm_config", "zone"]


def check_arguments(working_dir: str | Path, redact: object, prompts: object) -> None:
    """Refuse what no facade can work with.

    Raises:
        `ConfigError`: no folder or an empty one, a `redact` that cannot be called, or prompts that are no book.
    """
    if not isinstance(working_dir, (str, os.PathLike)):
        raise ConfigError(f"working_dir is {working_dir!r}: name a folder, such as '.reme'.")
    if not str(working_dir).strip():
        raise ConfigError("working_dir is empty: name a folder, such as '.reme'.")
    if redact is not None and not callable(redact):
        raise ConfigError(f"redact is {redact!r}: give a function that takes a text and returns one.")
    if prompts is not None and not isinstance(prompts, PromptBook):
        raise ConfigError(f"prompts is {prompts!r}: give a PromptBook; a language is said by language=.")


def llm_config(
    default_llm_config: Mapping[str, Any] | None, default_as_llm_config: Mapping[str, Any] | None
) -> Mapping[str, Any] | None:
    """The one dictionary that goes by two names.

    Raises:
        `ConfigError`: both were given.
    """
    if default_llm_config is not None and default_as_llm_config is not None:
        raise ConfigError("default_llm_config and default_as_llm_config are two names of one thing: give one.")
    return default_llm_config if default_as_llm_config is None else default_as_llm_config


def checked_language(language: str, book: PromptBook) -> str:
    """A language that there are prompts in, by its short name.

    Raises:
        `ConfigError`: there are none.
    """
    normal = normalize_language(language)
    if normal not in book.languages():
        raise ConfigError(f"There are no prompts in language {language!r}: there are {', '.join(book.languages())}.")
    return normal


def zone(timezone: str | tzinfo | None) -> tzinfo | None:
    """A time zone by its name; None for this machine's.

    Raises:
        `ConfigError`: there is none of this name.
    """
    if timezone is None or isinstance(timezone, tzinfo):
        return timezone
    try:
        return ZoneInfo(timezone)
    except (ZoneInfoNotFoundError, ValueError, TypeError) as error:
        raise ConfigError(f"timezone {timezone!r} is not known: give a name such as 'Asia/Shanghai'.") from error
