# -*- coding: utf-8 -*-
"""A process that has everything imported and forks; each fork lives with a bank, says what it does, and dies.

It reads orders from its standard input, JSON, a line each, and answers with how the fork ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import logging
import os
import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


class Nursery:
    """The other end: start it, give it orders, get exit statuses (negative: killed by that signal)."""

    def __init__(self) -> None:
        roots = [str(HERE), str(HERE.parent), str(HERE.parent.parent)]
        path = os.pathsep.join([*roots, *filter(None, [os.environ.get("PYTHONPATH")])])
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
            text=True,
        )

    def run(self, **order: Any) -> int:
        """Fork once, and wait until it has ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self) -> None:
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()  # type: ignore[union-attr]
        self._process.wait(10)
        self._process.stdout.close()  # type: ignore[union-attr]


def steps(seed: int, count: int) -> Iterator[tuple[str, int, str, str]]:
    """What a life does: a name, an owner by number, and one text or two."""
    from _bank_model import OWNERS, TEXTS

    pick = random.Random(seed)
    for _ in range(count):
        name = pick.choices(("add", "update", "supersede", "delete"), (5, 5, 2, 2))[0]
        yield name, pick.randrange(len(OWNERS)), pick.choice(TEXTS), pick.choice(TEXTS)


async def live(order: dict[str, Any]) -> None:
    """Do what an order says, and die at its n-th write: before it, or after it."""
    from _bank_model import OWNERS, node
    from _bank_world import bank_of

    from agentscope_reme import MemoryNotFound
    from agentscope_reme.record import memory_id_of
    from agentscope_reme.vector_store import LocalVectorStore

    told = os.open(order["told"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    bank = bank_of(LocalVectorStore(order["file"]))
    await bank.open()
    writes = 0

    def counted(write: Any) -> Any:
        async def call(*args: Any, **options: Any) -> Any:
            nonlocal writes
            writes += 1
            if writes == order["die_at"] and order["before"]:
                os.kill(os.getpid(), signal.SIGKILL)
            answer = await write(*args, **options)
            if writes == order["die_at"]:
                os.kill(os.getpid(), signal.SIGKILL)
            return answer

        return call

    for store in (bank.store, bank.ledger):
        store.write, store.patch = counted(store.write), counted(store.patch)  # type: ignore[method-assign]
    for step in steps(order["seed"], order["count"]):
        name, number, old, new = step
        owner = OWNERS[number]
        os.write(told, json.dumps({"begun": step}).encode() + b"\n")
        with contextlib.suppress(MemoryNotFound):
            if name == "add":
                await bank.add([node(owner, old), node(owner, new)])
            elif name == "update":
                await bank.update(memory_id_of(old), owner, content=new)
            elif name == "supersede":
                await bank.supersede(node(owner, old), node(owner, new))
            else:
                await bank.delete(memory_id_of(old), owner)
        os.write(told, json.dumps({"done": step}).encode() + b"\n")
    await bank.close()


def fork(order: dict[str, Any]) -> int:
    pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    try:
        asyncio.run(live(order))
        os._exit(0)
    except BaseException:
        logging.exception("the life failed")
        os._exit(1)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:  # loads what is loaded at first use
        order = {
            "told": f"{folder}/told",
            "file": f"{folder}/m.db",
            "seed": 1,
            "count": 3,
            "die_at": 0,
            "before": False,
        }
        asyncio.run(live(order))
    gc.freeze()
    for line in sys.stdin:
        print(fork(json.loads(line)), flush=True)


if __name__ == "__main__":
    main()
