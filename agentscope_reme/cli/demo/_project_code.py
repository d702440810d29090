# -*- coding: utf-8 -*-
"""The service of the sample project: it takes payments, and has a fault that takes an hour to show."""

__all__ = ["CODE"]

_CHECKOUT = '''"""What happens when a customer presses "pay"."""

import logging

from orderdesk.connections import PoolEmpty
from orderdesk.paylane import charge

log = logging.getLogger("checkout")


def checkout(pool, order, settings):
    """Charge an order and return the HTTP status of the answer."""
    try:
        receipt = charge(pool, order, settings)
    except PoolEmpty as error:
        log.error("%s PoolEmpty: %s", order.request_id, error)
        return 503  # the gateway shows its own 502 page for this
    order.paid_with(receipt)
    return 200
'''

_CONNECTIONS = '''"""A fixed number of connections to the payment provider, lent one at a time."""


class PoolEmpty(Exception):
    """All connections are out, and none came back in time."""


class Connection:
    """One open line to the provider. Slow answers are its business."""

    def __init__(self, number, latency_of):
        self.number = number
        self._latency_of = latency_of

    def charge(self, order, timeout_ms):
        latency = self._latency_of(order)
        if latency > timeout_ms:
            raise TimeoutError(f"no answer within {timeout_ms} ms")
        return f"receipt-{order.number}-{latency}"


class Pool:
    """Lends connections; whoever takes one gives it back."""

    def __init__(self, size, latency_of):
        self.size = size
        self._free = [Connection(number, latency_of) for number in range(size)]

    @property
    def free(self):
        return len(self._free)

    def acquire(self):
        if not self._free:
            raise PoolEmpty(f"no connection free (pool 0/{self.size} free)")
        return self._free.pop()

    def release(self, connection):
        self._free.append(connection)
'''

_PAYLANE = '''"""The client of Paylane, our payment provider."""

import logging

log = logging.getLogger("paylane")


def charge(pool, order, settings):
    """Charge an order; a timeout is tried again, on another connection.

    Paylane drops a request that we hang up on, so nobody is charged twice.
    """
    for attempt in range(1, settings.attempts + 1):
        connection = pool.acquire()
        try:
            receipt = connection.charge(order, settings.timeout_ms)
        except TimeoutError as error:
            log.warning("%s timeout, attempt %d: %s", order.request_id, attempt, error)
            continue
        pool.release(connection)
        return receipt
    return f"deferred-{order.number}"  # the nightly job charges it again
'''

_SETTINGS = '''"""The defaults, then what the environment overrides, each with the file and line it came from."""

import configparser
import sys
from pathlib import Path
from types import SimpleNamespace

CONFIG = Path(__file__).parent.parent / "config"


def lines_of(path):
    """Every `key = value` of a file with its section and line number."""
    section = ""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        line = line.strip()
        if line.startswith("["):
            section = line.strip("[]")
        elif "=" in line and not line.startswith(("#", ";")):
            yield f"{section}.{line.partition('=')[0].strip()}", number


def load(environment="production"):
    """The settings of an environment, and where each was set last."""
    parser, origin = configparser.ConfigParser(), {}
    for name in ("default", environment):
        path = CONFIG / f"{name}.ini"
        parser.read(path, encoding="utf-8")
        origin.update({key: f"config/{path.name}:{number}" for key, number in lines_of(path)})
    settings = SimpleNamespace(
        timeout_ms=parser.getint("paylane", "timeout_ms"),
        attempts=parser.getint("paylane", "attempts"),
        pool_size=parser.getint("pool", "size"),
    )
    return settings, parser, origin


if __name__ == "__main__":
    _, parser, origin = load(sys.argv[1] if len(sys.argv) > 1 else "production")
    for section in parser.sections():
        for key, value in parser.items(section):
            print(f"{section + '.' + key:<28} {value:<24} from {origin[section + '.' + key]}")
'''

CODE = {
    "orderdesk/__init__.py": '"""Order desk: takes payments for the shop."""\n',
    "orderdesk/checkout.py": _CHECKOUT,
    "orderdesk/connections.py": _CONNECTIONS,
    "orderdesk/paylane.py": _PAYLANE,
    "orderdesk/settings.py": _SETTINGS,
}
