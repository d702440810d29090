# -*- coding: utf-8 -*-
"""What every test shares: no key, no network beyond this machine, a quiet host."""

import gc
import os
import socket
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

# Read by AgentScope when an agent is made.
os.environ["AGENTSCOPE_DISABLE_CONSOLE_OUTPUT"] = "true"

import pytest

if TYPE_CHECKING:
    from _loopback import Loopback

_KEYS = ("LLM_", "EMBEDDING_", "DASHSCOPE_", "OPENAI_")
_LOCAL = ("127.", "localhost", "::1")


def pytest_configure(config: pytest.Config) -> None:
    """Where tests run, and not in the process that hands them out, which need not load what it takes."""
    if getattr(config.option, "numprocesses", None) and not hasattr(config, "workerinput"):
        return
    from hypothesis import HealthCheck, settings

    # Two shared cores: a slow example is no fault. A failure is printed with the lines that repeat it.
    settings.register_profile(
        "reme",
        deadline=None,
        max_examples=int(os.environ.get("REME_EXAMPLES", "8")),
        print_blob=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )
    settings.load_profile("reme")
    gc.disable()  # until all is imported, nothing is garbage


def pytest_collection_finish() -> None:
    """What has been imported stays: no collection of garbage needs to look at it again."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """The developer's own keys never reach a test."""
    for name in list(os.environ):
        if name.startswith(_KEYS):
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True, scope="session")
def _no_waiting_for_the_disk() -> Iterator[None]:
    """What is synchronized survives the loss of power, which no test brings about; killed processes lose nothing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _fd: None)
        yield


@pytest.fixture(autouse=True, scope="session")
def _no_network() -> Iterator[None]:
    """A connection that leaves this machine is an error at once: nothing may download, in a hook or elsewhere."""
    connect, resolve = socket.socket.connect, socket.getaddrinfo

    def guarded_connect(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6):
            _refuse_remote(address[0])
        connect(self, address)

    def guarded_resolve(host: Any, *args: Any, **kwargs: Any) -> Any:
        _refuse_remote(host)
        return resolve(host, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded_connect)
        patch.setattr(socket, "getaddrinfo", guarded_resolve)
        yield


def _refuse_remote(host: Any) -> None:
    name = host.decode() if isinstance(host, bytes) else str(host or "localhost")
    if not name.startswith(_LOCAL):
        raise OSError(f"a test tried to reach {name!r}; tests stay on this machine")


@pytest.fixture
def loopback() -> "Iterator[Callable[..., Loopback]]":
    """Start loopback servers with `loopback(script, window=...)`; they stop with the test."""
    from _loopback import Loopback

    servers: list[Loopback] = []

    def start(*args: Any, **kwargs: Any) -> Loopback:
        servers.append(Loopback(*args, **kwargs).__enter__())
        return servers[-1]

    yield start
    for server in servers:
        server.__exit__()
