# -*- coding: utf-8 -*-
"""Memories in Elasticsearch: on a server or a cluster."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from .._errors import ConfigError
from ..record import FIELDS, Condition, MemoryNode
from ..text import WordTokenizer
from ._elasticsearch_client import ElasticsearchConnection
from ._elasticsearch_document import IndexOptions
from ._elasticsearch_table import MOST_FOUND, ElasticsearchTable
from ._elasticsearch_tables import ElasticsearchTables
from ._order import check_sort_key
from ._table_store import TableVectorStore

__all__ = ["ElasticsearchVectorStore"]

_PREFIX = re.compile(r"[a-z0-9][a-z0-9._-]{0,60}")


class ElasticsearchVectorStore(TableVectorStore):
    """Memories in Elasticsearch (the ``[elasticsearch]`` extra; the client's major version is to be the server's).

    It wants a server of version 8.15 or later. Filters are exact and the server's own, also while it searches by
    vector; a text of more than 1,000 characters equals itself only and sorts by its first 1,000. Search by vector is
    approximate, except that where conditions leave few memories the server compares all of them. Search by words is
    the server's BM25 over words cut by our own tokenizer. A search or a listing of more than 10,000 memories by
    relevance ends there.

    Args:
        url (`str | Sequence[str]`): the server or its nodes, such as ``"http://localhost:9200"``.
        collection_name (`str`): the collection; any text.
        api_key (`str | None`): of the server.
        client (`Any`): an `AsyncElasticsearch` of your own; it stays open.
        refresh (`bool | str`): when what was written is found: ``"wait_for"``, a write waits for it, up to a second;
            True, at once, which costs the server more; False, within a second.
        index_options (`Mapping[str, Any] | None`): of the vectors of new collections, such as ``{"type":
            "int8_hnsw"}``, which takes a quarter of the memory and makes scores less exact; ``"hnsw"`` otherwise.
        settings (`Mapping[str, Any] | None`): of new indexes, such as ``{"number_of_shards": 3}``.
        num_candidates (`int`): how many vectors a search compares on each shard, at least.
        index_prefix (`str`): what the names of indexes begin with.
        tokenizer (`WordTokenizer | None`): cuts words; None is the one for all languages.
        options (`Any`): of the client (``cloud_id``, ``basic_auth``, ``ca_certs``, ``request_timeout``...).

    Raises:
        `ConfigError`: no server or several, an unknown option, or the client's package is missing.
    """

    def __init__(
        self,
        url: str | Sequence[str] = "",
        collection_name: str = "reme",
        *,
        api_key: str | None = None,
        client: Any = None,
        refresh: bool | str = "wait_for",
        index_options: Mapping[str, Any] | None = None,
        settings: Mapping[str, Any] | None = None,
        num_candidates: int = 200,
        index_prefix: str = "reme-",
        tokenizer: WordTokenizer | None = None,
        **options: Any,
    ) -> None:
        places = {"url": url, "cloud_id": options.get("cloud_id"), "client": client}
        given = [name for name, value in places.items() if value]
        if len(given) != 1:
            said = " and ".join(given) or "Nothing"
            raise ConfigError(f"{said} says where Elasticsearch is: give one of {list(places)}.")
        if refresh not in (True, False, "wait_for"):
            raise ConfigError(f"refresh is {refresh!r}: it is True, False or 'wait_for'.")
        if not _PREFIX.fullmatch(index_prefix):
            raise ConfigError(f"index_prefix is {index_prefix!r}: give small letters, digits and '-', a letter first.")
        place = dict(options)
        if url:
            place["hosts"] = [url] if isinstance(url, str) else list(url)
        if api_key is not None:
            place["api_key"] = api_key
        how = IndexOptions(index_prefix, dict(settings or {}), dict(index_options or {}), refresh, num_candidates)
        connection = ElasticsearchConnection(place, client)
        super().__init__(collection_name, ElasticsearchTables(connection, how, tokenizer or WordTokenizer()))

    async def find(
        self,
        conditions: Sequence[Condition] = (),
        *,
        limit: int | None = None,
        sort_key: str = "time_created",
        reverse: bool = True,
        after: str | None = None,
    ) -> list[MemoryNode]:
        """See `VectorStore.find`; the server sorts where it knows the field and there is a limit."""
        check_sort_key(sort_key)
        if limit is None or not 0 < limit <= MOST_FOUND or sort_key not in FIELDS:
            return await super().find(conditions, limit=limit, sort_key=sort_key, reverse=reverse, after=after)
        asked = (conditions, limit, sort_key, reverse, after)
        return await self._ask(lambda table: cast(ElasticsearchTable, table).listed(*asked))
