# -*- coding: utf-8 -*-
"""The error tree: one root, and a leaf for each thing that a caller may want to tell apart."""

__all__ = [
    "ReMeError",
    "ConfigError",
    "MissingModelError",
    "NotStartedError",
    "AttachError",
    "SessionError",
    "SessionInUseError",
    "SessionNotFoundError",
    "SessionExistsError",
    "MessageFormatError",
    "StorageError",
    "PathNotAllowedError",
    "PromptError",
    "ModelReplyError",
    "EmbeddingError",
    "MemoryNotFound",
    "AmbiguousMemoryId",
    "VectorStoreError",
    "VectorSpaceError",
]


class ReMeError(Exception):
    """The root of every error that this package raises on purpose."""


class ConfigError(ReMeError, ValueError):
    """An argument or a configuration that cannot work; the message names the value and the cure."""


class MissingModelError(ConfigError):
    """A model is needed here, and none was given or its key is missing."""


class NotStartedError(ReMeError, RuntimeError):
    """The object was used before ``start()`` or after ``close()``."""


class AttachError(ReMeError):
    """An agent cannot be attached or detached as asked."""


class SessionError(ReMeError):
    """The root of what can be wrong with a session's journal."""


class SessionInUseError(SessionError):
    """Another owner, perhaps in another process, has the session open."""


class SessionNotFoundError(SessionError, LookupError):
    """There is no journal for the session that was asked for."""


class SessionExistsError(SessionError):
    """A new session was asked for under an id that already has a journal."""


class MessageFormatError(ReMeError, ValueError):
    """A message is neither a ``Msg`` nor a dictionary that can be made one."""


class StorageError(ReMeError, OSError):
    """The disk refused to read or to write; what was in memory is unchanged."""


class PathNotAllowedError(ReMeError, ValueError):
    """A path or a name leads out of the workspace."""


class PromptError(ReMeError, LookupError):
    """A prompt, a language or a placeholder is missing."""


class ModelReplyError(ReMeError):
    """A model gave no reply that can be used."""


class EmbeddingError(ReMeError):
    """An embedding model failed or returned vectors that cannot be used."""


class MemoryNotFound(ReMeError, LookupError):
    """There is no memory of this id, and never was one."""


class AmbiguousMemoryId(ReMeError, LookupError):
    """An id names memories of several owners; the owner has to be given."""


class VectorStoreError(ReMeError):
    """A vector store refused or could not be reached; what is in it is unchanged."""


class VectorSpaceError(ConfigError):
    """A collection holds vectors of another model or dimension: embed it again with ``reindex``."""
