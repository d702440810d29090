# -*- coding: utf-8 -*-
"""A stub of a Qdrant server on 127.0.0.1: the REST requests are read with the client's own models, as strictly as those
are, and answered by its local mode. It shows that the requests are well formed, not what a real server does with them.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from typing_extensions import Self


class Refused(Exception):
    """An answer that is an error."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class QdrantWire:
    """The stub. Use it in ``with``.

    Args:
        api_key (`str | None`): what requests must carry.
        keeps_metadata (`bool`): False answers as servers before 1.16.
    """

    def __init__(self, api_key: str | None = None, keeps_metadata: bool = True) -> None:
        from qdrant_client import QdrantClient

        self.local = QdrantClient(location=":memory:")
        self.api_key = api_key
        self.keeps_metadata = keeps_metadata
        self.requests: list[tuple[str, str]] = []
        self.indexed: dict[str, str] = {}
        self.fails: Callable[[str, str], bool] = lambda method, path: False
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        self.local.close()

    def answer(self, method: str, target: str, body: Any) -> Any:
        """What a request gets, as JSON values."""
        url = urlsplit(target)
        parts = [unquote(part) for part in url.path.strip("/").split("/")]
        self.requests.append((method, re.sub(r"/collections/[^/]+", "/collections/*", url.path)))
        if self.fails(method, url.path):
            raise Refused(500, "told to fail")
        waits = parse_qs(url.query).get("wait") == ["true"]
        with self._lock:
            if parts == ["aliases"]:
                return self.local.get_aliases()
            if parts == ["collections"]:
                return self.local.get_collections()
            if parts == ["collections", "aliases"]:
                return self._aliases(body)
            name, rest = parts[1], "/".join(parts[2:])
            return self._of_collection(method, name, rest, body, waits)

    def _aliases(self, body: Any) -> bool:
        from qdrant_client import models

        actions = models.ChangeAliasesOperation.model_validate(body).actions
        return self.local.update_collection_aliases(actions)

    def _of_collection(self, method: str, name: str, rest: str, body: Any, waits: bool) -> Any:
        if rest == "exists":
            return {"exists": self.local.collection_exists(name)}
        if not rest and method == "PUT":
            return self._create(name, body)
        if not self.local.collection_exists(name):
            raise Refused(404, f"Not found: Collection `{name}` doesn't exist!")
        if not rest:
            return self.local.delete_collection(name) if method == "DELETE" else self._about(name)
        if rest == "index":
            self.indexed[body["field_name"]] = body["field_schema"]
            return {"operation_id": 0, "status": "completed"}
        if rest in ("points/scroll", "points/count", "points/query") or (rest == "points" and method == "POST"):
            return self._read(name, rest, body)
        if not waits:
            raise Refused(400, "a write that does not wait may be read too early")
        return self._write(name, rest, body)

    def _create(self, name: str, body: Any) -> bool:
        from qdrant_client import models

        if self.local.collection_exists(name):
            raise Refused(409, f"Wrong input: Collection `{name}` already exists!")
        asked = models.CreateCollection.model_validate(body)
        return self.local.create_collection(
            name,
            vectors_config=asked.vectors or {},
            sparse_vectors_config=asked.sparse_vectors,
            metadata=asked.metadata if self.keeps_metadata else None,
        )

    def _about(self, name: str) -> Any:
        return self.local.get_collection(name)

    def _read(self, name: str, rest: str, body: Any) -> Any:
        from qdrant_client import models

        if rest == "points/scroll":
            scroll = models.ScrollRequest.model_validate(body)
            points, after = self.local.scroll(
                name,
                scroll_filter=scroll.filter,
                limit=scroll.limit or 10,
                offset=scroll.offset,
                with_payload=scroll.with_payload or False,
                with_vectors=scroll.with_vector or False,
            )
            return models.ScrollResult(points=points, next_page_offset=after)
        if rest == "points/count":
            count = models.CountRequest.model_validate(body)
            return self.local.count(name, count_filter=count.filter, exact=bool(count.exact))
        if rest == "points/query":
            query = models.QueryRequest.model_validate(body)
            return self.local.query_points(
                name,
                query=query.query,
                using=query.using,
                query_filter=query.filter,
                limit=query.limit or 10,
                offset=query.offset,
                with_payload=query.with_payload or False,
            )
        asked = models.PointRequest.model_validate(body)
        return self.local.retrieve(
            name, ids=asked.ids, with_payload=asked.with_payload or False, with_vectors=asked.with_vector or False
        )

    def _write(self, name: str, rest: str, body: Any) -> Any:
        from qdrant_client import models

        if rest == "points":
            return self.local.upsert(name, points=models.PointsList.model_validate(body).points)
        if rest == "points/delete":
            return self.local.delete(name, points_selector=models.PointIdsList.model_validate(body))
        if rest == "points/batch":
            operations = models.UpdateOperations.model_validate(body).operations
            return self.local.batch_update_points(name, update_operations=operations)
        raise Refused(404, f"the stub has no {rest}")

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        wire = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _serve(self) -> None:
                data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                status, result = 200, None
                try:
                    if wire.api_key is not None and self.headers.get("api-key") != wire.api_key:
                        raise Refused(401, "Must provide an API key")
                    result = wire.answer(self.command, self.path, json.loads(data) if data else None)
                    told: dict[str, Any] = {"result": _plain(result), "status": "ok", "time": 0.0}
                except Refused as error:
                    status, told = error.status, {"status": {"error": str(error)}, "time": 0.0}
                except ValueError as error:
                    status, told = 400, {"status": {"error": str(error)}, "time": 0.0}
                answer = json.dumps(told).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = _serve

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        return Handler


def _plain(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", exclude_none=True)
    return [_plain(each) for each in value] if isinstance(value, list) else value
