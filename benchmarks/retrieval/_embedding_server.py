# -*- coding: utf-8 -*-
"""The offline embedding model behind an address of this machine, for systems that only know how to ask a server."""

import asyncio
import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from agentscope_reme.embedding import LocalEmbedding

__all__ = ["embedding_server"]


class _Answer(BaseHTTPRequestHandler):
    """Answers as OpenAI's embedding API does."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        vectors = asyncio.run(_vectors([text if text.strip() else "." for text in texts]))
        as_base64 = body.get("encoding_format") == "base64"
        data = [
            {"object": "embedding", "index": at, "embedding": _packed(vector) if as_base64 else vector}
            for at, vector in enumerate(vectors)
        ]
        usage = {"prompt_tokens": 0, "total_tokens": 0}
        payload = json.dumps({"object": "list", "model": body.get("model", ""), "data": data, "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def embedding_server() -> Iterator[str]:
    """The address of a server that answers until the block ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Answer)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


async def _vectors(texts: list[str]) -> list[list[float]]:
    return (await LocalEmbedding()(texts)).embeddings


def _packed(vector: list[float]) -> str:
    import numpy as np

    return base64.b64encode(np.asarray(vector, dtype="<f4").tobytes()).decode()
