# -*- coding: utf-8 -*-
"""The command line of the benchmark."""

import argparse
import asyncio
import json
import logging
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from agentscope_reme.embedding import BatchEmbedder, EmbeddingCache, LocalEmbedding

from . import _memories
from ._cases import DataSet
from ._data_sets import DATA_SETS, SOURCES, read
from ._embedding_server import embedding_server
from ._peers import PEERS, fault, plain_bm25, run_peer
from ._product import run
from ._scores import Outcome, mean_scores
from ._table import described, table

Rows = dict[str, list[Outcome]]


def main(argv: Sequence[str] | None = None) -> int:
    args = _parser().parse_args(argv)
    logging.getLogger("agentscope_reme").setLevel(logging.ERROR)
    pythons = {"mem0": args.mem0_python, "reme": args.reme_python}
    kept = {}
    for name in args.sets.split(","):
        data = read(name, args.data)
        if data is None:
            print(f"{name}: not in {args.data}; it is at {SOURCES[name]}.\n")
            continue
        rows = _rows(data, args.peers.split(",") if args.peers else [], pythons)
        print(described(data), table(rows), sep="\n\n", end="\n\n", flush=True)
        kept[name] = {system: mean_scores(outcomes) for system, outcomes in rows.items()}
    if args.json:
        args.json.write_text(json.dumps(kept, indent=1), encoding="utf-8")
    return 0


def _rows(data: DataSet, peers: Sequence[str], pythons: dict[str, str | None]) -> Rows:
    rows: Rows = {}
    for label, outcomes, seconds in _ours(data):
        rows[label] = outcomes
        milliseconds = sorted(1e3 * each for each in seconds)
        p95 = milliseconds[int(0.95 * len(milliseconds))]
        print(f"{label}: {statistics.median(milliseconds):.1f} ms a question, p95 {p95:.1f}", file=sys.stderr)
    if "bm25" in peers:
        rows["rank_bm25, plain words"] = plain_bm25(data)
    for name in (name for name in peers if name != "bm25"):
        peer = PEERS[name]
        if reason := fault(peer, pythons.get(name)):
            print(f"{peer.name} is left out: {reason}.", file=sys.stderr)
            continue
        with embedding_server() as address:
            for mode in peer.modes:
                rows[f"{peer.name}, {mode}"] = run_peer(peer, mode, str(pythons[name]), data, address)
    return rows


def _ours(data: DataSet) -> Iterator[tuple[str, list[Outcome], list[float]]]:
    with _folder() as folder:
        yield ("ours, no embedding", *asyncio.run(run(data, folder / "words", None)))
        yield ("ours as memories, no embedding", *asyncio.run(_memories.run(data, folder / "memories", None)))
        if LocalEmbedding.available():
            yield ("ours, offline embedding", *asyncio.run(_with_vectors(data, folder)))
            memories = _memories.run(data, folder / "embedded memories", LocalEmbedding())
            yield ("ours as memories, offline embedding", *asyncio.run(memories))
        else:
            print('The offline embedding is left out: pip install "agentscope-reme[local]".', file=sys.stderr)


async def _with_vectors(data: DataSet, folder: Path) -> tuple[list[Outcome], list[float]]:
    cache = EmbeddingCache(folder / "embeddings.db")
    try:
        return await run(data, folder / "vectors", BatchEmbedder(LocalEmbedding(), cache=cache))
    finally:
        await cache.close()


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.retrieval", description=__doc__)
    parser.add_argument(
        "--data", type=Path, required=True, help="a folder with one folder a data set, or a file in LoCoMo's format"
    )
    parser.add_argument("--sets", default=",".join(DATA_SETS), help="which of them, separated by commas")
    parser.add_argument("--peers", default="bm25,mem0,reme", help="whom to measure beside: bm25, mem0, reme, or ''")
    parser.add_argument(
        "--mem0-python",
        default=os.environ.get("MEM0_PEER_PYTHON"),
        help="the interpreter that mem0ai and faiss-cpu are installed in (or MEM0_PEER_PYTHON)",
    )
    parser.add_argument(
        "--reme-python",
        default=os.environ.get("REME_PEER_PYTHON"),
        help="the interpreter that reme-ai is installed in (or REME_PEER_PYTHON)",
    )
    parser.add_argument("--json", type=Path, help="a file for the figures")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
