# -*- coding: utf-8 -*-
"""The command line of the benchmark."""

import argparse
import asyncio
import json
import logging
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from agentscope.embedding import EmbeddingModelBase

from agentscope_reme.embedding import LocalEmbedding
from agentscope_reme.refine import RefinerConfig

from ..retrieval._cases import DataSet
from ..retrieval._data_sets import DATA_SETS, SOURCES, read
from ._measure import Measured, joined, measure
from ._scale import scaled

_AIM_TOKENS, _AIM_POINTS = 0.5, 0.02
_HEADS = (
    "",
    "memories",
    "after",
    "tokens",
    "after",
    "kept",
    "kept, text alone",
    "evidence in 1,000 tokens",
    "after",
    "points",
    "recoverable",
    "ms a question",
    "after",
    "run, s",
    "aim",
)


def main(argv: Sequence[str] | None = None) -> int:
    parser = _parser()
    args = parser.parse_args(argv)
    logging.getLogger("agentscope_reme").setLevel(logging.ERROR)
    if args.scale is not None:
        if args.scale < 1:
            parser.error(f"--scale {args.scale}: give how many memories")
        return _print_scaled(args.scale, args.json)
    if args.data is None:
        parser.error("give --data PATH, or --scale N")
    print(f"| {' | '.join(_HEADS)} |", "|---" * len(_HEADS) + "|", sep="\n", flush=True)
    kept = {}
    config = RefinerConfig(target_ratio=args.target_ratio, keyword_ratio=args.keyword_ratio)
    for name in args.sets.split(","):
        data = read(name, args.data)
        if data is None:
            print(f"| {name}: not in {args.data}; it is at {SOURCES[name]} |")
            continue
        models: list[EmbeddingModelBase | None] = [None]
        if LocalEmbedding.available() and not args.no_vectors:
            models.append(LocalEmbedding())
        for model in models:
            name_of = f"{name}, all in one" if args.together else name
            label = f"{name_of}, {'offline embedding' if model else 'no embedding'}"
            measured = asyncio.run(_measured(data, model, config, args.conversations, args.together))
            print(_row(label, measured), flush=True)
            kept[label] = _figures(measured)
    if args.json:
        args.json.write_text(json.dumps(kept, indent=1), encoding="utf-8")
    return 0


async def _measured(
    data: DataSet, model: EmbeddingModelBase | None, config: RefinerConfig, conversations: int, together: bool
) -> Measured:
    measured = Measured()
    for conversation in joined(data.conversations[:conversations]) if together else data.conversations[:conversations]:
        with tempfile.TemporaryDirectory() as folder:
            await measure(conversation, Path(folder), model, config, measured)
    return measured


def _figures(measured: Measured) -> dict[str, float]:
    return {
        "kept": measured.tokens_after / measured.tokens_before,
        "text": measured.shown_after / measured.tokens_before,
        "before": statistics.mean(measured.before),
        "after": statistics.mean(measured.after),
        "recoverable": statistics.mean(measured.recoverable),
        "ms_before": 1e3 * statistics.median(measured.asked_before),
        "ms_after": 1e3 * statistics.median(measured.asked_after),
        "seconds": measured.refine_seconds,
    }


def _row(label: str, measured: Measured) -> str:
    figures = _figures(measured)
    lost = figures["before"] - figures["after"]
    reached = figures["kept"] <= _AIM_TOKENS and lost <= _AIM_POINTS and figures["recoverable"] == 1
    cells = [
        label,
        f"{measured.memories_before:,}",
        f"{measured.memories_after:,}",
        f"{measured.tokens_before:,}",
        f"{measured.tokens_after:,}",
        f"{figures['kept']:.1%}",
        f"{figures['text']:.1%}",
        f"{figures['before']:.3f}",
        f"{figures['after']:.3f}",
        f"{-100 * lost:+.1f}",
        f"{figures['recoverable']:.1%}",
        f"{figures['ms_before']:.1f}",
        f"{figures['ms_after']:.1f}",
        f"{figures['seconds']:.1f}",
        "reached" if reached else "missed",
    ]
    return f"| {' | '.join(cells)} |"


def _print_scaled(number: int, file: Path | None) -> int:
    with tempfile.TemporaryDirectory() as folder:
        found = scaled(number, Path(folder))
    print("| run | s | MB above loading | reports of progress | longest without, s | refined | behind them |")
    print("|---" * 7 + "|")
    rows = (
        ("stopped half-way", found.stopped, f"{found.refined_half:,}", ""),
        ("resumed", found.resumed, f"{found.refined:,}", f"{found.sources:,}"),
        ("again, nothing new", found.idle, f"{found.refined:,}", f"{found.sources:,}"),
    )
    for name, part, refined, behind in rows:
        above = f"{(part.peak - part.base) / 2**20:.0f}" if part.peak else "-"
        told = f"{part.reports:,} | {part.silence:.1f}"
        print(f"| {name}, {number:,} | {part.seconds:.1f} | {above} | {told} | {refined} | {behind} |")
    print("\n".join(f"FAULT: {fault}" for fault in found.faults) or "Nothing was done twice, nothing is lost.")
    if file:
        file.write_text(json.dumps(asdict(found), indent=1), encoding="utf-8")
    return 1 if found.faults else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.refine", description=__doc__)
    parser.add_argument("--data", type=Path, help="a folder with one folder a data set, or a file in LoCoMo's format")
    parser.add_argument("--sets", default=",".join(DATA_SETS), help="which of them, separated by commas")
    parser.add_argument("--no-vectors", action="store_true", help="search by words alone")
    parser.add_argument("--conversations", type=int, default=10**6, help="how many of each set at most")
    parser.add_argument("--together", action="store_true", help="all conversations of a set as one person's memory")
    parser.add_argument("--target-ratio", type=float, default=RefinerConfig.target_ratio)
    parser.add_argument("--keyword-ratio", type=float, default=RefinerConfig.keyword_ratio)
    parser.add_argument("--scale", type=int, metavar="N", help="no data set: N stand-in memories, stopped and resumed")
    parser.add_argument("--json", type=Path, help="a file for the figures")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
