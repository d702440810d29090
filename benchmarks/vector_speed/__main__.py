# -*- coding: utf-8 -*-
"""The command line of the benchmark."""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ._processes import PEERS, at_size, faults
from ._table import aims, environment, notes, slower, table

PLAN = {"queries": 200, "ones": 20, "budget": 30.0}
QUICK = {"queries": 10, "ones": 2, "budget": 5.0}


def main(argv: Sequence[str] | None = None) -> int:
    args = _parser().parse_args(argv)
    pythons = _pythons(args)
    missing = faults(pythons)
    sizes = args.sizes or ([200] if args.quick else [1_000, 10_000, 100_000])
    dimensions = args.dimensions or ([32] if args.quick else [384, 1_024])
    limits = {"reme": args.peer_limit, "mem0": args.mem0_limit, "chroma": args.chroma_limit}
    done: dict[str, dict[str, Any]] = {}
    for size, length in ((size, length) for size in sizes for length in dimensions):
        left_out = {side: limit for side, limit in limits.items() if size > limit and side not in missing}
        sides = {side: pythons[side] for side in ("ours", *PEERS) if side not in missing and side not in left_out}
        plan = {**(QUICK if args.quick else PLAN), "cpu": args.cpu}
        figures = at_size(size, length, sides, plan, lambda text: print(text, file=sys.stderr))
        done[f"{size}x{length}"] = figures
        _show(size, length, figures, args.cpu)
        for side, limit in left_out.items():
            print(f"{side} was left out at this size (its limit is {limit:,}).")
        if args.json:
            args.json.write_text(json.dumps(done, indent=1), encoding="utf-8")
    print(*(f"{side} was not measured: {reason}." for side, reason in missing.items()), notes(), sep="\n")
    return 0


def _show(size: int, dimensions: int, sides: dict[str, Any], cpu: bool) -> None:
    print(f"## {size:,} memories of {dimensions:,} dimensions", environment(sides, cpu), table(sides), sep="\n\n")
    print(f"\nBehind another: {', '.join(slower(sides)) or 'nothing'}.")
    print(*aims(size, sides), sep="\n")
    print(*(f"\n{each['fault']}" for each in sides.values() if "fault" in each), sep="\n")
    print(flush=True)


def _pythons(args: argparse.Namespace) -> dict[str, str | None]:
    chroma = args.chroma_python or args.peer_python
    return {"ours": sys.executable, "reme": args.peer_python, "chroma": chroma, "mem0": args.mem0_python}


def _numbers(text: str) -> list[int]:
    numbers = [int(part.replace("_", "")) for part in text.split(",")]
    if min(numbers) < 8:
        raise argparse.ArgumentTypeError(f"{text}: give numbers of at least 8")
    return numbers


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.vector_speed", description=__doc__)
    parser.add_argument("--sizes", type=_numbers, help="memories, separated by commas (1000,10000,100000)")
    parser.add_argument("--dimensions", type=_numbers, help="of the vectors (384,1024)")
    parser.add_argument(
        "--peer-python",
        default=os.environ.get("REME_PEER_PYTHON"),
        help="the interpreter of the environment that ReMe is installed in (or REME_PEER_PYTHON)",
    )
    parser.add_argument("--chroma-python", help="the interpreter that chromadb is installed in; else ReMe's")
    parser.add_argument(
        "--mem0-python",
        default=os.environ.get("MEM0_PEER_PYTHON"),
        help="the interpreter that mem0 and faiss are installed in (or MEM0_PEER_PYTHON)",
    )
    parser.add_argument("--peer-limit", type=int, default=10_000, help="the most memories for ReMe (10000)")
    parser.add_argument("--mem0-limit", type=int, default=10_000, help="the most memories for mem0 (10000)")
    parser.add_argument("--chroma-limit", type=int, default=100_000, help="the most memories for chroma (100000)")
    parser.add_argument("--cpu", action="store_true", help="processor time in place of the wall's, for a busy machine")
    parser.add_argument("--quick", action="store_true", help="200 memories and few searches, to see that it works")
    parser.add_argument("--json", type=Path, help="a file for all figures")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
