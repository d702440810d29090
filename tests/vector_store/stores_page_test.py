# -*- coding: utf-8 -*-
"""The page about vector stores: its code makes what it says, in both languages alike, and its names exist."""

import inspect
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

import agentscope_reme.vector_store as stores

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("vector_stores.md", "vector_stores_zh.md")
CLASSES = {
    "Chroma": stores.ChromaVectorStore,
    "PostgreSQL": stores.PgVectorStore,
    "Qdrant": stores.QdrantVectorStore,
    "Elasticsearch": stores.ElasticsearchVectorStore,
}


def read(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


def blocks(page: str) -> list[str]:
    return re.findall(r"```\w+\n(.*?)```", read(page), re.DOTALL)


def test_both_languages_show_the_same() -> None:
    ours, zh = map(read, PAGES)
    assert blocks(PAGES[0]) == blocks(PAGES[1])
    assert re.findall(r"`[^`\n]+`", ours) == re.findall(r"`[^`\n]+`", zh)
    assert [line[:3] == "## " for line in ours.splitlines()].count(True) == len(re.findall(r"^## ", zh, re.MULTILINE))


def test_the_programs_make_stores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not all(map(find_spec, ("asyncpg", "elasticsearch"))):
        pytest.skip("clients are missing")
    monkeypatch.chdir(tmp_path)
    made: dict = {}
    for program in re.findall(r"```python\n(.*?)```", read(PAGES[0]), re.DOTALL):
        exec(compile(program, PAGES[0], "exec"), made)
    assert isinstance(made["same"].bank.store, stores.PgVectorStore)
    assert made["team"].companion("ledger").collection_name == "team_ledger"


def test_our_own_options_are_those_that_the_page_names() -> None:
    table = read(PAGES[0]).split("## Options")[1].split("```")[0]
    rows = [[cell.strip() for cell in row.split("|")[1:-1]] for row in table.splitlines() if row.startswith("| ")]
    told = {row[0]: re.findall(r"`(\w+)`", row[1]) for row in rows if row[0] in CLASSES}
    assert told.keys() == CLASSES.keys()
    for name, options in told.items():
        assert set(options) <= set(inspect.signature(CLASSES[name]).parameters), name
