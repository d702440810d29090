# -*- coding: utf-8 -*-
"""A morning of logs, the same on every machine: what a changed timeout and a leak make of a busy shop."""

import random
from dataclasses import dataclass, field
from datetime import datetime, timedelta

__all__ = ["Morning", "morning"]

_POOL = 24
_OPENED = datetime(2025, 3, 11, 8, 0, 0)
_CHANGED = datetime(2025, 3, 11, 9, 12, 4)
_RESTARTED = datetime(2025, 3, 11, 10, 38, 20)
_CLOSED = datetime(2025, 3, 11, 12, 5, 0)
_SLOW_SHARE = 0.09


@dataclass
class Morning:
    """The logs, and what they show.

    Attributes:
        server (`list[str]`): lines of the service's log.
        gateway (`list[str]`): lines of the gateway's log.
        checkouts, failed, timeouts (`int`): how many there were.
        first_failed (`tuple[str, str] | None`): time and request id of the first failure.
        before_it (`int`): timeouts before the first failure.
    """

    server: list[str] = field(default_factory=list)
    gateway: list[str] = field(default_factory=list)
    checkouts: int = 0
    failed: int = 0
    timeouts: int = 0
    first_failed: tuple[str, str] | None = None
    before_it: int = 0


def morning() -> Morning:
    """Let the morning happen."""
    return _Service(random.Random(4127)).run()


class _Service:
    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._now = _OPENED
        self._free = _POOL
        self._timeout = 2500
        self._restarted = False
        self._log = Morning()
        self._order = 810_200

    def run(self) -> Morning:
        self._say("INFO", "service", "-", f"started, 8400 open, pool {_POOL}/{_POOL} free")
        while self._now < _CLOSED:
            self._now += timedelta(milliseconds=2_000 + self._below(20_000))
            self._happenings()
            self._checkout()
        return self._log

    def _below(self, bound: int) -> int:
        return int(self._chance.random() * bound)

    def _say(self, level: str, source: str, request: str, text: str) -> None:
        stamp = f"{self._now:%Y-%m-%d %H:%M:%S}.{self._now.microsecond // 1000:03d}"
        self._log.server.append(f"{stamp} {level:<5} {source:<8} {request} {text}")

    def _happenings(self) -> None:
        if self._timeout == 2500 and self._now >= _CHANGED:
            self._timeout = 250
            self._say("INFO", "service", "-", "settings read again, 1 changed")
        if not self._restarted and self._now >= _RESTARTED:
            self._restarted, self._free = True, _POOL
            self._say("INFO", "service", "-", f"restarted by on-call, pool {_POOL}/{_POOL} free")
        dice = self._below(100)
        if dice < 14:
            self._say("INFO", "health", "-", f"ok cpu={12 + self._below(20)}% heap={410 + self._below(90)}MB")
        elif dice < 20:
            self._say("INFO", "cache", "-", f"price list refreshed, {3100 + self._below(60)} items")
        elif dice < 22:
            self._say("WARN", "database", "-", f"slow query {510 + self._below(400)} ms: stock_level")

    def _checkout(self) -> None:
        request = f"req-{self._below(0xFFFFFF):06x}"
        self._order += 1
        self._log.checkouts += 1
        if self._free and self._chance.random() < _SLOW_SHARE and self._timeout < 1900:
            self._free -= 1
            self._log.timeouts += 1
            self._say("WARN", "paylane", request, f"timeout, attempt 1: no answer within {self._timeout} ms")
        if self._free:
            self._pay(request)
        else:
            self._fail(request)

    def _pay(self, request: str) -> None:
        euros = f"{9 + self._below(180)}.{self._below(100):02d}"
        took = 90 + self._below(140)
        self._say("INFO", "checkout", request, f"order {self._order} paid {euros} EUR in {took} ms")
        self._pass(request, 200, took + 6)

    def _fail(self, request: str) -> None:
        self._log.failed += 1
        if self._log.first_failed is None:
            self._log.first_failed = (f"{self._now:%H:%M:%S}", request)
            self._log.before_it = self._log.timeouts
        self._say("ERROR", "checkout", request, f"PoolEmpty: no connection free (pool 0/{_POOL} free)")
        self._pass(request, 502, 2 + self._below(4))

    def _pass(self, request: str, status: int, took: int) -> None:
        if status != 200 or self._below(5) == 0:  # of the good ones, a sample
            stamp = f"{self._now:%Y-%m-%d %H:%M:%S}"
            self._log.gateway.append(f'{stamp} {request} "POST /checkout" {status} {took}ms upstream=orderdesk:8400')
