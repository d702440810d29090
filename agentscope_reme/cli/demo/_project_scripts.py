# -*- coding: utf-8 -*-
"""The scripts and tests of the sample project: programs that print a lot."""

__all__ = ["SCRIPTS"]

_REPLAY = '''"""Feeds the timeouts of logs/server.log to the real client and pool, and prints what each one leaves."""

import logging
import re
from pathlib import Path
from types import SimpleNamespace

from orderdesk.checkout import checkout
from orderdesk.connections import Pool
from orderdesk.settings import load

LOG = Path(__file__).parent.parent / "logs" / "server.log"
LINE = re.compile(r"\\S+ ([\\d:]{8})\\S+ \\w+ +(\\w+) +(\\S+) (.*)")
TOO_SLOW = 60_000


def main():
    logging.disable(logging.CRITICAL)
    settings, _, _ = load("production")
    settings.attempts = 1  # the log has each attempt by itself
    pool, wave, timeouts, sums = Pool(settings.pool_size, lambda order: TOO_SLOW), 1, 0, []
    for number, line in enumerate(LOG.read_text(encoding="utf-8").splitlines(), 1):
        time, source, request, text = LINE.match(line).groups()
        if source == "paylane" and text.startswith("timeout"):
            timeouts += 1
            order = SimpleNamespace(request_id=request, number=timeouts, paid_with=lambda receipt: None)
            before, status = pool.free, checkout(pool, order, settings)
            print(f"{time} {request} timeout {timeouts:2d}: answered {status}, free {before} -> {pool.free}")
        elif source == "checkout" and text.startswith("PoolEmpty") and len(sums) < wave:
            sums.append(f"wave {wave}: {timeouts} timeouts, then PoolEmpty at {time} for {request} "
                        f"(logs/server.log:{number})")
            print(sums[-1])
        elif source == "service" and "restarted" in text:
            pool, wave, timeouts = Pool(settings.pool_size, lambda order: TOO_SLOW), wave + 1, 0
            print(f"{time} restart: {pool.free} connections free again")
    print(f"{len(sums)} waves replayed; no connection that timed out ever came back")


if __name__ == "__main__":
    main()
'''

_LOG_STATS = '''"""Checkouts, timeouts and failures of each minute of logs/server.log, and the sum."""

import re
from collections import Counter
from pathlib import Path

LOG = Path(__file__).parent.parent / "logs" / "server.log"
KINDS = {"paid": " paid ", "timeout": " timeout,", "failed": " PoolEmpty"}


def main():
    minutes = {}
    for line in LOG.read_text(encoding="utf-8").splitlines():
        minute = re.match(r"\\S+ (\\d\\d:\\d\\d)", line).group(1)
        row = minutes.setdefault(minute, Counter())
        row.update(kind for kind, mark in KINDS.items() if mark in line)
    print("minute   checkouts      paid  timeouts    failed")
    for minute, row in minutes.items():
        done = row["paid"] + row["failed"]
        print(f"{minute}    {done:9d} {row['paid']:9d} {row['timeout']:9d} {row['failed']:9d}")
    total = sum(minutes.values(), Counter())
    print(f"in all   {total['paid'] + total['failed']} checkouts, {total['failed']} failed, "
          f"{total['timeout']} timeouts")


if __name__ == "__main__":
    main()
'''

_TEST_CONNECTIONS = """import unittest

from orderdesk.connections import Pool, PoolEmpty


class PoolTest(unittest.TestCase):
    def setUp(self):
        self.pool = Pool(3, lambda order: 100)

    def test_lends_each_connection_once(self):
        numbers = {self.pool.acquire().number for _ in range(3)}
        self.assertEqual(numbers, {0, 1, 2})

    def test_says_when_it_is_empty(self):
        for _ in range(3):
            self.pool.acquire()
        with self.assertRaises(PoolEmpty):
            self.pool.acquire()

    def test_lends_again_what_came_back(self):
        self.pool.release(self.pool.acquire())
        self.assertEqual(self.pool.free, 3)
"""

_TEST_PAYLANE = """import logging
import unittest
from types import SimpleNamespace

from orderdesk.checkout import checkout
from orderdesk.connections import Pool
from orderdesk.paylane import charge
from orderdesk.settings import load


def order(number=1):
    return SimpleNamespace(request_id=f"req-{number}", number=number, paid_with=lambda receipt: None)


class PaylaneTest(unittest.TestCase):
    def setUp(self):
        logging.disable(logging.CRITICAL)
        self.settings, _, _ = load("production")

    def test_a_quick_answer_is_a_receipt(self):
        pool = Pool(self.settings.pool_size, lambda order: 100)
        self.assertTrue(charge(pool, order(), self.settings).startswith("receipt-"))
        self.assertEqual(pool.free, self.settings.pool_size)

    def test_a_slow_answer_is_deferred(self):
        pool = Pool(self.settings.pool_size, lambda order: 60000)
        self.assertTrue(charge(pool, order(), self.settings).startswith("deferred-"))

    def test_a_timeout_gives_the_connection_back(self):
        pool = Pool(self.settings.pool_size, lambda order: 60000)
        charge(pool, order(), self.settings)
        self.assertEqual(pool.free, self.settings.pool_size, "a connection that timed out is lost")

    def test_a_hundred_slow_payments_do_not_stop_the_shop(self):
        pool = Pool(self.settings.pool_size, lambda order: 60000)
        for number in range(100):
            with self.subTest(payment=number):
                self.assertEqual(checkout(pool, order(number), self.settings), 200)
"""

SCRIPTS = {
    "scripts/__init__.py": "",
    "scripts/log_stats.py": _LOG_STATS,
    "scripts/replay.py": _REPLAY,
    "tests/__init__.py": "",
    "tests/test_connections.py": _TEST_CONNECTIONS,
    "tests/test_paylane.py": _TEST_PAYLANE,
}
