# -*- coding: utf-8 -*-
"""One step of one side in a process of its own: `python measure.py SIDE STEP FOLDER PLAN`. Prints JSON.

It stands alone, since it runs under each side's interpreter: no import but the standard library and the side.
"""

import asyncio
import gc
import json
import sys
import time
from pathlib import Path
from typing import Any

from _clock import disk, memory, now, over, percentile, stalls, tell_time_by, timed
from _texts import queries


def main(which: str, step: str, folder: Path, plan: dict[str, Any]) -> dict[str, Any]:
    tell_time_by(plan.get("cpu", False))
    side, version = chosen(which, folder)
    gc.collect()  # what was imported is visited now: later, it would be a stall of whichever step came by
    began = time.perf_counter()
    gc.collect()
    figures = {"full_gc": time.perf_counter() - began}
    steps = {"build": build, "use": use}
    figures |= asyncio.run(steps[step](side, which, folder, plan))
    return {"version": version, "python": sys.version.split()[0], "figures": figures}


def chosen(which: str, folder: Path) -> tuple[Any, str]:
    """The side, with its package imported, and its version."""
    if which.startswith("ours"):
        from _ours import Ours

        return Ours(folder, vectors=which == "ours_hybrid"), Ours.load()
    from _peers import PEERS

    peer = PEERS[which]
    return peer(folder, folder / which), peer.load()


async def build(side: Any, which: str, folder: Path, plan: dict[str, Any]) -> dict[str, float]:
    """Index everything that there is; what is written is on disk when it ends."""
    async with stalls() as stall:
        took = await timed(side.build)
    figures = {"build": took, "stall_build": stall.longest, **await side.counts()}
    figures["embedding"] = getattr(side, "embedding", 0.0)
    if which.startswith("ours"):
        from _ours import export

        asked = queries(folder / "workspace", plan["queries"])
        (folder / "queries.json").write_text(json.dumps(asked, ensure_ascii=False), encoding="utf-8")
        figures["rss_peak"] = memory("VmHWM")
        if plan["export"]:
            await export(side, folder, asked)
    else:
        figures["rss_peak"] = memory("VmHWM")
    closing = await timed(side.close)
    return figures | {"close": closing, "disk": disk(*side.files())}


async def use(side: Any, which: str, folder: Path, plan: dict[str, Any]) -> dict[str, float]:
    """Open what was built, search, and add notes."""
    asked = json.loads((folder / "queries.json").read_text(encoding="utf-8"))
    rss = memory()
    began = now()
    await side.open()
    await side.search(next((query for query in asked if not query.isascii()), asked[0]))  # needs all that there is
    figures = {"restart": now() - began}
    if which == "ours_hybrid":
        await side.embed("a first question, so that the model is there")
        figures["query_embedding"] = percentile(await over([f"{text} " * 2 for text in asked], side.embed, 30), 0.5)
    await over(asked, side.search, plan["budget"])  # so that each query was embedded and each file is in memory
    async with stalls() as idle:
        await asyncio.sleep(plan.get("idle", 2.0))
    async with stalls() as stall:
        times = await over(asked, side.search, plan["budget"])
    figures |= {"search_p50": percentile(times, 0.5), "search_p95": percentile(times, 0.95), "searches": len(times)}
    figures |= {"stall_idle": idle.longest, "stall_search": stall.longest, "rss": memory(), "rss_index": memory() - rss}
    async with stalls() as stall:
        added = await over(list(map(str, range(plan["notes"]))), lambda number: side.add(int(number)), plan["budget"])
    figures |= {"add": percentile(added, 0.5), "add_most": max(added), "stall_add": stall.longest}
    await side.close()
    return figures


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), json.loads(sys.argv[4]))))
