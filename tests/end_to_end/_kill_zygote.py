# -*- coding: utf-8 -*-
"""A process that has everything imported and forks, so that twenty deaths take seconds.

It reads orders from its standard input, a JSON object a line, and answers each with how the forks ended.
"""

import contextlib
import gc
import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


class Zygote:
    """The other end: start it, give it orders, get exit statuses (negative: killed by that signal)."""

    def __init__(self) -> None:
        roots = [str(HERE), str(HERE.parent), str(HERE.parent.parent)]
        path = os.pathsep.join([*roots, *filter(None, [os.environ.get("PYTHONPATH")])])
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path, "AGENTSCOPE_DISABLE_CONSOLE_OUTPUT": "true"},
            text=True,
        )

    def run(self, *orders: dict[str, Any]) -> list[int]:
        """Fork once for each order, all at the same time, and wait until they have ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(orders) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()  # type: ignore[union-attr]
        self._process.wait(10)
        self._process.stdout.close()  # type: ignore[union-attr]


def main() -> None:
    logging.disable(logging.CRITICAL)
    os.fsync = lambda _fd: None
    from _kill_session import PATCHED, run

    with tempfile.TemporaryDirectory() as folder:  # loads what is loaded at first use
        saved = {name: getattr(os, name) for name in PATCHED}
        run({"folder": folder, "session": "warm", "told": f"{folder}/told", "seed": 2, "count": 25, "close": True})
        for name, call in saved.items():
            setattr(os, name, call)
    until = time.monotonic() + 10
    while threading.active_count() > 1:  # threads end with their event loop and with the manager
        assert time.monotonic() < until, threading.enumerate()
        time.sleep(0.01)
    gc.freeze()
    for line in sys.stdin:
        print(json.dumps(together(run, json.loads(line))), flush=True)


def together(run: Any, orders: list[dict[str, Any]]) -> list[int]:
    """The statuses of the orders' forks; each is killed when its time has come, if it has one."""
    pids = [fork(run, order) for order in orders]
    started = time.monotonic()
    due = sorted((order["kill_after"], pid) for order, pid in zip(orders, pids, strict=True) if "kill_after" in order)
    for after, pid in due:
        time.sleep(max(0.0, started + after - time.monotonic()))
        os.kill(pid, signal.SIGKILL)
    return [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]


def fork(run: Any, order: dict[str, Any]) -> int:
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        os.close(0)
        os.dup2(2, 1)
        run(order)
        status = 0
    except BaseException:  # noqa: BLE001 - a fork ends here, whatever happened in it
        traceback.print_exc()
    finally:
        os._exit(status)


if __name__ == "__main__":
    main()
