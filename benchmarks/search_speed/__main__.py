# -*- coding: utf-8 -*-
"""The command line of the benchmark."""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ._processes import OURS, PEERS, at_size, faults
from ._table import aims, environment, notes, slower, table

PLAN = {"queries": 200, "notes": 20, "budget": 30.0, "idle": 5.0}
QUICK = {"queries": 10, "notes": 2, "budget": 5.0, "idle": 0.1}


def main(argv: Sequence[str] | None = None) -> int:
    args = _parser().parse_args(argv)
    pythons = _pythons(args)
    missing = faults(pythons, not args.no_vectors)
    sizes = [200] if args.quick and not args.sizes else args.sizes or [1_000, 10_000, 100_000]
    done: dict[int, dict[str, Any]] = {}
    for size in sizes:
        left_out = [side for side in PEERS if side.startswith("reme") and size > args.peer_limit]
        sides = {side: pythons[side] for side in (*OURS, *PEERS) if side not in missing and side not in left_out}
        plan = {**(QUICK if args.quick else PLAN), "cpu": args.cpu}
        done[size] = at_size(size, sides, plan, lambda text: print(text, file=sys.stderr))
        _show(size, done[size], args.cpu)
        if left_out and "reme_words" not in missing:
            print(f"\nReMe was left out at this size (--peer-limit {args.peer_limit}).")
        if args.json:
            args.json.write_text(json.dumps(done, indent=1), encoding="utf-8")
    print(*(f"{side} was not measured: {reason}." for side, reason in missing.items()), notes(), sep="\n")
    return 0


def _show(size: int, sides: dict[str, Any], cpu: bool) -> None:
    print(f"## {size:,} chunks", environment(sides, cpu), table(sides), sep="\n\n")
    print(f"\nSlower or larger than the other: {', '.join(slower(sides)) or 'nothing'}.")
    print(*aims(size, sides), sep="\n")
    print(*(f"\n{each['fault']}" for each in sides.values() if "fault" in each), sep="\n")
    print(flush=True)


def _pythons(args: argparse.Namespace) -> dict[str, str | None]:
    ours = dict.fromkeys((*OURS, "rank_bm25", "fts5"), sys.executable)
    reme = {"reme_words": args.peer_python, "reme_hybrid": args.peer_python}
    return {**ours, **reme, "chroma": args.chroma_python or args.peer_python or sys.executable}


def _sizes(text: str) -> list[int]:
    sizes = [int(part.replace("_", "")) for part in text.split(",")]
    if min(sizes) < 20:
        raise argparse.ArgumentTypeError(f"{text}: give sizes of at least 20")
    return sizes


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.search_speed", description=__doc__)
    parser.add_argument("--sizes", type=_sizes, help="chunks, separated by commas (1000,10000,100000)")
    parser.add_argument(
        "--peer-python",
        default=os.environ.get("REME_PEER_PYTHON"),
        help="the interpreter of the environment that ReMe is installed in (or REME_PEER_PYTHON)",
    )
    parser.add_argument(
        "--chroma-python", help="the interpreter that chromadb is installed in; the peer's, else this one"
    )
    parser.add_argument("--peer-limit", type=int, default=10_000, help="the most chunks that ReMe is measured with")
    parser.add_argument("--no-vectors", action="store_true", help="words alone")
    parser.add_argument(
        "--cpu", action="store_true", help="processor time in place of the wall's, for a machine that is busy"
    )
    parser.add_argument("--quick", action="store_true", help="200 chunks and few searches, to see that it works")
    parser.add_argument("--json", type=Path, help="a file for all figures")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
