# -*- coding: utf-8 -*-
"""Memories in Chroma: in this process over a folder, or on a server."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from typing import Any

from .._errors import ConfigError
from ..text import WordTokenizer
from ._chroma_client import ChromaConnection, embedded_client, server_client
from ._chroma_tables import ChromaTables
from ._table_store import TableVectorStore

__all__ = ["ChromaVectorStore"]


class ChromaVectorStore(TableVectorStore):
    """Memories in Chroma (the ``[chroma]`` extra). Say where: `persist_directory`, `url`, `host` or `client`.

    A search by vector is approximate, except that where conditions leave few memories all of them are compared; and it
    returns as many as there are. Filters are exact; what Chroma cannot say (a part of a text, a range of texts, nothing
    in a field) is decided here, which reads what the other conditions leave. A folder belongs to one process.

    Args:
        collection_name (`str`): the collection; any text.
        persist_directory (`str | os.PathLike | None`): a folder, made where it is missing.
        url (`str | None`): a server, such as ``"http://localhost:8000"``.
        host (`str | None`): a server's name, in the place of `url`.
        port (`int`): its port.
        ssl (`bool`): whether it is spoken to with TLS.
        headers (`Mapping[str, str] | None`): sent with every request, such as a token.
        tenant (`str | None`), database (`str | None`): where they are not the default.
        client (`Any`): a client of your own, blocking or asynchronous; it stays open.
        metadata (`Mapping[str, Any] | None`): for new collections, such as ``{"hnsw:space": "cosine"}``.
        configuration (`Mapping[str, Any] | None`): for new collections, such as ``{"hnsw": {"ef_search": 200}}``.
        tokenizer (`WordTokenizer | None`): cuts words; None is the one for all languages.
        options (`Any`): ``hnsw:...`` options, as in `metadata`.

    Raises:
        `ConfigError`: none or several places, or an unknown option.
    """

    def __init__(
        self,
        collection_name: str = "reme",
        *,
        persist_directory: str | os.PathLike | None = None,
        url: str | None = None,
        host: str | None = None,
        port: int = 8000,
        ssl: bool = False,
        headers: Mapping[str, str] | None = None,
        tenant: str | None = None,
        database: str | None = None,
        client: Any = None,
        metadata: Mapping[str, Any] | None = None,
        configuration: Mapping[str, Any] | None = None,
        tokenizer: WordTokenizer | None = None,
        **options: Any,
    ) -> None:
        places = {"persist_directory": persist_directory, "url": url, "host": host, "client": client}
        given = [name for name, value in places.items() if value is not None]
        if len(given) != 1:
            raise ConfigError(f"{' and '.join(given) or 'Nothing'} says where Chroma is: give one of {list(places)}.")
        unknown = [name for name in options if not name.startswith("hnsw:")]
        if unknown:
            raise ConfigError(f"ChromaVectorStore has no option {unknown[0]!r}; options of the index begin with hnsw:.")
        named = {"tenant": tenant, "database": database}
        where = {name: value for name, value in named.items() if value is not None}
        if persist_directory is not None:
            make = partial(embedded_client, persist_directory, where)
        else:
            secure = url.startswith("https:") if url else ssl
            make = partial(server_client, url or host or "", port, secure, headers, where)
        connection = ChromaConnection(make, client)
        tables = ChromaTables(
            connection, {**(metadata or {}), **options}, configuration or {}, tokenizer or WordTokenizer()
        )
        super().__init__(collection_name, tables)
