# -*- coding: utf-8 -*-
"""The command line of the benchmark."""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ._rounds import Round, peer_fault, rounds
from ._table import environment, medians, notes, slower, table

SIZES = {
    "idle": [100, 500, 2000],
    "check": [500, 2000, 8000],
    "add": 2000,
    "results": [200, 200_000],
    "repeats": 15,
    "firsts": 5,
}
QUICK = {"idle": [20], "check": [40], "add": 20, "results": [4, 8_000], "repeats": 2, "firsts": 1}


def main(argv: Sequence[str] | None = None) -> int:
    args = _parser().parse_args(argv)
    sizes: dict[str, Any] = {**(QUICK if args.quick else SIZES), "cpu": args.cpu}
    fault = peer_fault(args.peer_python)
    done: dict[str, list[Round]] = {"ours": [], "peer": []}
    for side, figures in rounds(args.rounds, sizes, None if fault else args.peer_python):
        done[side].append(figures)
        print(f"round {len(done[side])} of {args.rounds}: {side}", file=sys.stderr)
    ours, peer = medians(done["ours"]), medians(done["peer"])
    print(environment(done, sizes), table(ours, peer, sizes), sep="\n\n")
    if fault:
        print(f"\nReMe was not measured: {fault}.")
    else:
        print(f"\n{notes()}\n\nSlower or larger than ReMe: {', '.join(slower(ours, peer)) or 'nothing'}.")
    if args.json:
        args.json.write_text(json.dumps({"sizes": sizes, "rounds": done}, indent=1), encoding="utf-8")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.working_memory", description=__doc__)
    parser.add_argument(
        "--peer-python",
        default=os.environ.get("REME_PEER_PYTHON"),
        help="the interpreter of the environment that ReMe is installed in (or REME_PEER_PYTHON)",
    )
    parser.add_argument("--rounds", type=int, default=5, help="how often each side is run; medians are shown")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that it works")
    parser.add_argument(
        "--cpu", action="store_true", help="processor time in place of the wall's, for a machine that is busy"
    )
    parser.add_argument("--json", type=Path, help="a file for the figures of each round")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
