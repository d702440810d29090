# -*- coding: utf-8 -*-
"""Memories in Qdrant: on a server or a cluster, or in the client's local mode."""

from __future__ import annotations

import os
from typing import Any

from .._errors import ConfigError
from ..text import WordTokenizer
from ._qdrant_client import QdrantConnection
from ._qdrant_options import client_options
from ._qdrant_tables import QdrantTables
from ._table_store import TableVectorStore

__all__ = ["QdrantVectorStore"]


class QdrantVectorStore(TableVectorStore):
    """Memories in Qdrant (the ``[qdrant]`` extra). Say where: `url`, `host`, `path`, `location` or `client`.

    It wants a server of version 1.16 or later. Filters are exact; what Qdrant cannot say (a part of a text, a range of
    texts) is decided here, which reads what the other conditions leave. Search by vector is as exact as the server's
    index; search by words is the server's own, over sparse vectors. The local mode (`path`, ``":memory:"``) is for
    tests and trials: it is slow from some thousands of memories on, and a folder belongs to one process.

    Args:
        collection_name (`str`): the collection; any text.
        url (`str | None`): a server, such as ``"http://localhost:6333"``.
        host (`str | None`): a server's name, in the place of `url`.
        api_key (`str | None`): of the server.
        path (`str | os.PathLike | None`), persist_directory (`str | os.PathLike | None`): a folder, for the local mode.
        location (`str | None`): ``":memory:"``, for the local mode without a disk; or a URL.
        client (`Any`): a `QdrantClient` or `AsyncQdrantClient` of your own; it stays open.
        tokenizer (`WordTokenizer | None`): cuts words; None is the one for all languages.
        options (`Any`): of the client (``prefer_grpc``, ``timeout``...) and of new collections (``hnsw_config``,
            ``quantization_config``, ``shard_number``, ``on_disk``...; dictionaries or the client's own objects).

    Raises:
        `ConfigError`: none or several places, or an unknown option.
    """

    def __init__(
        self,
        collection_name: str = "reme",
        *,
        url: str | None = None,
        host: str | None = None,
        api_key: str | None = None,
        path: str | os.PathLike | None = None,
        persist_directory: str | os.PathLike | None = None,
        location: str | None = None,
        client: Any = None,
        tokenizer: WordTokenizer | None = None,
        **options: Any,
    ) -> None:
        folders = {"path": path, "persist_directory": persist_directory}
        places = {"url": url, "host": host, **folders, "location": location, "client": client}
        given = [name for name, value in places.items() if value is not None]
        if len(given) != 1:
            raise ConfigError(f"{' and '.join(given) or 'Nothing'} says where Qdrant is: give one of {list(places)}.")
        place = client_options(options)
        if given[0] in folders:
            place["path"] = os.fspath(places[given[0]])
        elif client is None:
            place[given[0]] = places[given[0]]
        if api_key is not None:
            place["api_key"] = api_key
        connection = QdrantConnection(place, client)
        super().__init__(collection_name, QdrantTables(connection, options, tokenizer or WordTokenizer()))
