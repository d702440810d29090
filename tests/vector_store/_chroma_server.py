# -*- coding: utf-8 -*-
"""A real Chroma server (``chroma run``) on a free port of this machine."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_SECONDS = 60
_COMMAND = "from chromadb.cli.cli import app; app()"


@contextmanager
def chroma_server(folder: Path) -> Iterator[int]:
    """Start a server over a folder, and stop it afterwards; gives its port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-c", _COMMAND, "run", "--path", str(folder), "--host", "127.0.0.1", "--port", str(port)]
    with (folder.parent / "chroma.log").open("wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            _wait(server, port)
            yield port
        finally:
            server.terminate()
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait(10)


def _wait(server: subprocess.Popen, port: int) -> None:
    end = time.monotonic() + _SECONDS
    while time.monotonic() < end:
        if server.poll() is not None:
            raise RuntimeError(f"chroma run ended with {server.returncode}")
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v2/heartbeat", timeout=1):
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"chroma run did not answer within {_SECONDS} seconds")
