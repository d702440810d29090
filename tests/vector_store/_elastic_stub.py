# -*- coding: utf-8 -*-
"""A stand-in for Elasticsearch on loopback. It is no search engine: it checks that requests are what the API takes, and
does what they say over documents in memory, as a server of version 9.2 or later does: no vectors in ``_source``,
searches see what was refreshed, an update merges objects and keeps what it does not name."""

from __future__ import annotations

import copy
import json
import math
import re
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from _elastic_query import ApiError, check_keys, field_type, nearest, predicate, refuse, scores_of, values_of
from typing_extensions import Self

__all__ = ["ElasticStub"]

_JSON = re.compile(r"application/vnd\.elasticsearch\+(x-nd)?json; ?compatible-with=\d")
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
_LONGEST_TERM = 32_766
_MOST = 10_000
_TYPES: dict[str, set[str]] = {
    "keyword": {"index", "doc_values", "ignore_above"},
    "wildcard": {"ignore_above"},
    "double": {"index", "doc_values"},
    "text": {"analyzer", "index_options", "similarity", "norms"},
    "dense_vector": {"dims", "index", "similarity", "index_options"},
}


class Index:
    """An index: its mappings, its documents, and what of them searches see."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        check_keys("index", body, {"settings", "mappings", "aliases"})
        self.settings, self.mappings = body.get("settings", {}), body.get("mappings", {})
        self.aliases = body.get("aliases", {})
        check_keys("mappings", self.mappings, {"dynamic", "_meta", "properties"})
        self._check(self.mappings)
        self.documents: dict[str, dict[str, Any]] = {}
        self.seen: dict[str, dict[str, Any]] = {}

    def _check(self, mapped: Mapping[str, Any]) -> None:
        for name, field in mapped.get("properties", {}).items():
            if "properties" in field:
                self._check(field)
                continue
            kind = field.get("type")
            if kind not in _TYPES:
                raise refuse(f"No handler for type [{kind}] declared on field [{name}]", "mapper_parsing_exception")
            check_keys(f"mapping of {name}", field, _TYPES[kind], {"type"})
            if kind == "dense_vector" and not 1 <= field["dims"] <= 4096:
                raise refuse(f"dims is {field['dims']}", "mapper_parsing_exception")
            named = field.get("similarity")
            if kind == "text" and named and f"index.similarity.{named}.type" not in self.settings:
                raise refuse(f"Unknown Similarity type [{named}] for field [{name}]", "mapper_parsing_exception")

    def refresh(self) -> None:
        self.seen = copy.deepcopy(self.documents)

    def parse(self, document: Mapping[str, Any], at: str = "") -> None:
        """Refuse what the mappings do not take."""
        for name, value in document.items():
            path = f"{at}{name}"
            mapped = field_type(self.mappings, path)
            if not mapped:
                kind = "strict_dynamic_mapping_exception"
                raise refuse(f"introduction of [{name}] within [{at or '_doc'}] is not allowed", kind)
            if "properties" in mapped:
                self.parse(value, f"{path}.")
            elif value is not None:
                self._parse_value(path, mapped, value)

    def _parse_value(self, path: str, mapped: Mapping[str, Any], value: Any) -> None:
        kind = mapped["type"]
        if kind == "dense_vector":
            if len(value) != mapped["dims"]:
                raise refuse(f"[{path}] has {len(value)} dims, not {mapped['dims']}", "document_parsing_exception")
            if not all(map(math.isfinite, value)) or not any(value):
                raise refuse(f"[{path}] is no vector of a direction", "document_parsing_exception")
            return
        for each in value if isinstance(value, list) else [value]:
            fits = isinstance(each, str) if kind != "double" else isinstance(each, (int, float))
            if not fits or (kind == "double" and not math.isfinite(each)):
                raise refuse(f"failed to parse field [{path}]: {each!r}", "document_parsing_exception")
            as_term = kind == "keyword" and (mapped.get("index", True) or mapped.get("doc_values", True))
            if as_term and len(each.encode()) > _LONGEST_TERM:
                raise refuse(
                    f"Document contains at least one immense term in field=[{path}]", "illegal_argument_exception"
                )

    def source(self, document: Mapping[str, Any]) -> dict[str, Any]:
        vectors = {n for n, each in self.mappings.get("properties", {}).items() if each.get("type") == "dense_vector"}
        return {name: value for name, value in document.items() if name not in vectors}


class ElasticStub:
    """The server. `url` says where; ``refuse_bulk(n)`` makes it too busy for the first document of n requests."""

    def __init__(self) -> None:
        self.indexes: dict[str, Index] = {}
        self.requests: list[tuple[str, str]] = []
        self._busy = 0
        self._lock = threading.RLock()

    def __enter__(self) -> Self:
        stub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # head and body in one packet
            disable_nagle_algorithm = True

            def answer(self) -> None:
                data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                status, body = stub.handle(self.command, self.path, self.headers.get("Content-Type", ""), data)
                out = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("X-Elastic-Product", "Elasticsearch")
                self.send_header("Content-Type", "application/vnd.elasticsearch+json;compatible-with=9")
                self.send_header("Content-Length", str(len(out)))
                self.end_headers()
                self.wfile.write(out)

            do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = answer

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True, kwargs={"poll_interval": 0.02}).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def refuse_bulk(self, times: int) -> None:
        self._busy = times

    # ------------------------------------------------------------------ requests

    def handle(self, method: str, path: str, content_type: str, data: bytes) -> tuple[int, Any]:
        """Answer a request; what the API would not take is an error."""
        parts = urlsplit(path)
        names = [unquote(each) for each in parts.path.strip("/").split("/")]
        asked = {name: values[-1] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
        with self._lock:
            self.requests.append((method, parts.path))
            try:
                if data and not _JSON.fullmatch(content_type):
                    raise ApiError(406, "media_type_header_exception", f"Content-Type is {content_type!r}")
                return 200, self._route(method, names, asked, data)
            except ApiError as error:
                return error.status, _error(error)

    def _route(self, method: str, names: list[str], asked: dict[str, str], data: bytes) -> Any:
        if names == ["_aliases"] and method == "POST":
            return self._update_aliases(json.loads(data))
        if len(names) == 1:
            if method == "PUT":
                return self._create(names[0], json.loads(data))
            if method == "GET":
                return self._get_indexes(names[0], asked)
            if method == "DELETE":
                return self._delete(names[0], asked)
        if len(names) == 2 and method in ("POST", "PUT"):
            routes: dict[str, Callable[[Index, str, dict[str, str], bytes], Any]] = {
                "_bulk": self._bulk,
                "_search": self._search,
                "_mget": self._mget,
                "_count": self._count,
                "_refresh": lambda index, *_: index.refresh() or {"_shards": {"failed": 0}},
            }
            if names[1] in routes:
                if names[0] not in self.indexes:
                    raise ApiError(404, "index_not_found_exception", f"no such index [{names[0]}]")
                return routes[names[1]](self.indexes[names[0]], names[0], asked, data)
        raise refuse(f"no handler found for {method} /{'/'.join(names)}", "illegal_argument_exception")

    def _create(self, name: str, body: Mapping[str, Any]) -> Any:
        if not _NAME.fullmatch(name) or len(name.encode()) > 255:
            raise refuse(f"Invalid index name [{name}]", "invalid_index_name_exception")
        if name in self.indexes:
            raise refuse(f"index [{name}] already exists", "resource_already_exists_exception")
        self.indexes[name] = Index(body)
        return {"acknowledged": True, "shards_acknowledged": True, "index": name}

    def _get_indexes(self, pattern: str, asked: Mapping[str, str]) -> Any:
        if asked.get("filter_path") != "*.aliases,*.mappings._meta":
            raise refuse("the stub knows this filter_path only")
        matched = re.compile(re.escape(pattern).replace(r"\*", ".*"))
        found = {name: index for name, index in self.indexes.items() if matched.fullmatch(name)}
        return {
            name: {"aliases": index.aliases, "mappings": {"_meta": index.mappings.get("_meta", {})}}
            for name, index in found.items()
        }

    def _delete(self, names: str, asked: Mapping[str, str]) -> Any:
        for name in names.split(","):
            if "*" in name:
                raise refuse("Wildcard expressions or all indices are not allowed", "illegal_argument_exception")
            if name not in self.indexes and asked.get("ignore_unavailable") != "true":
                raise ApiError(404, "index_not_found_exception", f"no such index [{name}]")
            self.indexes.pop(name, None)
        return {"acknowledged": True}

    def _update_aliases(self, body: Mapping[str, Any]) -> Any:
        check_keys("aliases", body, set(), {"actions"})
        for action in body["actions"]:
            ((kind, given),) = action.items()
            check_keys(kind, given, {"alias"} if kind != "remove_index" else set(), {"index"})
            if given["index"] not in self.indexes:
                raise ApiError(404, "index_not_found_exception", f"no such index [{given['index']}]")
            if kind == "add":
                self.indexes[given["index"]].aliases[given["alias"]] = {}
            elif kind == "remove_index":
                del self.indexes[given["index"]]
            else:
                raise refuse(f"[alias_action] unknown field [{kind}]")
        return {"acknowledged": True}

    # ------------------------------------------------------------------ documents

    def _bulk(self, index: Index, name: str, asked: Mapping[str, str], data: bytes) -> Any:
        if not data.endswith(b"\n"):
            raise refuse("The bulk request must be terminated by a newline [\\n]", "illegal_argument_exception")
        if asked.get("refresh", "false") not in ("true", "false", "wait_for"):
            raise refuse(f"Unknown value for refresh: [{asked['refresh']}].", "illegal_argument_exception")
        lines = [json.loads(line, parse_constant=_no_constant) for line in data.decode().split("\n")[:-1]]
        items = []
        while lines:
            ((kind, about),) = lines.pop(0).items()
            check_keys(kind, about, {"retry_on_conflict"} if kind == "update" else set(), {"_id"})
            body = lines.pop(0) if kind != "delete" else {}
            items.append({kind: {"_index": name, "_id": about["_id"], **self._one(index, kind, about["_id"], body)}})
        if asked.get("refresh") in ("true", "wait_for"):
            index.refresh()
        return {"took": 0, "errors": any("error" in next(iter(item.values())) for item in items), "items": items}

    def _one(self, index: Index, kind: str, key: str, body: dict[str, Any]) -> dict[str, Any]:
        try:
            if self._busy:
                self._busy -= 1
                raise ApiError(429, "es_rejected_execution_exception", "the queue is full")
            if kind == "index":
                index.parse(body)
                index.documents[key] = body
            elif kind == "update":
                check_keys("update", body, set(), {"doc"})
                if key not in index.documents:
                    raise ApiError(404, "document_missing_exception", f"[{key}]: document missing")
                index.parse(body["doc"])
                _merge(index.documents[key], body["doc"])
            elif kind == "delete":
                there = index.documents.pop(key, None) is not None
                return {"status": 200 if there else 404, "result": "deleted" if there else "not_found"}
            else:
                raise refuse(f"Malformed action [{kind}]", "illegal_argument_exception")
            return {"status": 200, "result": "updated"}
        except ApiError as error:
            return _error(error)

    def _mget(self, index: Index, name: str, asked: Mapping[str, str], data: bytes) -> Any:
        body = json.loads(data)
        check_keys("mget", body, set(), {"ids"})
        wanted = asked["_source_includes"].split(",")
        docs = []
        for key in body["ids"]:
            document = index.documents.get(key)
            source = {n: v for n, v in index.source(document or {}).items() if n in wanted}
            docs.append({"_index": name, "_id": key, "found": document is not None, "_source": source})
        return {"docs": docs}

    def _count(self, index: Index, name: str, asked: Mapping[str, str], data: bytes) -> Any:
        body = json.loads(data)
        check_keys("count", body, set(), {"query"})
        meets = predicate(body["query"], index.mappings)
        return {"count": sum(meets(key, doc) for key, doc in index.seen.items()), "_shards": {"failed": 0}}

    def _search(self, index: Index, name: str, asked: Mapping[str, str], data: bytes) -> Any:
        body = json.loads(data)
        known = {"query", "knn", "size", "_source", "sort", "search_after", "fields", "track_total_hits"}
        check_keys("search", body, known)
        size = body.get("size", 10)
        if not 0 <= size <= _MOST:
            raise refuse(f"Result window is too large, size must be at most [{_MOST}] but was [{size}]")
        if "knn" in body:
            scored = nearest(body["knn"], index.seen, index.mappings)
        else:
            meets = predicate(body.get("query", {"match_all": {}}), index.mappings)
            found = [key for key, doc in index.seen.items() if meets(key, doc)]
            weights = (float(index.settings[f"index.similarity.reme.{each}"]) for each in ("k1", "b"))
            scored = list(scores_of(body["query"], index.seen, found, *weights).items())
            scored.sort(key=lambda pair: -pair[1])
        if "sort" in body:
            scored = [(key, None) for key in _sorted(index, [key for key, _ in scored], body)]
        elif "search_after" in body:
            raise refuse("Sort must contain at least one field when search_after is used", "illegal_argument_exception")
        hits = [self._hit(index, name, key, score, body) for key, score in scored[:size]]
        return {"took": 0, "timed_out": False, "_shards": {"total": 1, "failed": 0}, "hits": {"hits": hits}}

    def _hit(self, index: Index, name: str, key: str, score: Any, body: Mapping[str, Any]) -> dict[str, Any]:
        document = index.seen[key]
        hit: dict[str, Any] = {"_index": name, "_id": key, "_score": score}
        wanted = body.get("_source", True)
        if wanted is not False:
            hit["_source"] = {n: v for n, v in index.source(document).items() if wanted is True or n in wanted}
        fields = {each["field"]: values_of(document, each["field"]) for each in body.get("fields", [])}
        if fields := {field: values for field, values in fields.items() if values}:
            hit["fields"] = fields
        return hit


def _sorted(index: Index, keys: list[str], body: Mapping[str, Any]) -> list[str]:
    """The keys in the order that is asked for, those after `search_after`."""
    for spec in reversed(body["sort"]):
        ((field, how),) = spec.items()
        check_keys("sort", how, {"missing"}, {"order"})
        if field_type(index.mappings, field).get("type") not in ("keyword", "double"):
            raise refuse(f"No mapping found for [{field}] in order to sort on", "query_shard_exception")
        there = [key for key in keys if values_of(index.seen[key], field)]
        missing = [key for key in keys if not values_of(index.seen[key], field)]
        value = lambda key, field=field: _comparable(values_of(index.seen[key], field)[0])  # noqa: E731
        keys = sorted(there, key=value, reverse=how["order"] == "desc") + missing
    after = body.get("search_after")
    if after is not None:
        if len(after) != len(body["sort"]) or len(after) != 1:
            raise refuse("search_after has another number of values than sort", "illegal_argument_exception")
        ((field, _),) = body["sort"][0].items()
        keys = [key for key in keys if values_of(index.seen[key], field)[0] > after[0]]
    return keys


def _comparable(value: Any) -> Any:
    return value.encode() if isinstance(value, str) else value


def _merge(old: dict[str, Any], new: Mapping[str, Any]) -> None:
    for name, value in new.items():
        if isinstance(value, Mapping) and isinstance(old.get(name), dict):
            _merge(old[name], value)
        else:
            old[name] = value


def _error(error: ApiError) -> dict[str, Any]:
    about = {"type": error.kind, "reason": error.reason}
    return {"error": {**about, "root_cause": [about]}, "status": error.status}


def _no_constant(name: str) -> Any:
    raise refuse(f"Non-standard token '{name}'", "x_content_parse_exception")
