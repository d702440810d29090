# -*- coding: utf-8 -*-
"""What was reported about searches that find nothing, anything or what is gone, and about embedding services."""

import asyncio
import json
import math
import os
import random
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from agentscope.embedding import EmbeddingResponse

from agentscope_reme import ReMeLight
from agentscope_reme.embedding import LocalEmbedding
from agentscope_reme.testing import HashEmbedding

pytestmark = pytest.mark.slow

WORDS_ONLY = {"vector_enabled": False}


class Notes:
    """A folder of notes as its owner sees it: files on one side, `memory_search` on the other."""

    def __init__(self, folder: Path, **options: Any) -> None:
        self.folder = folder
        self.light = ReMeLight(folder, model=None, enable_notes=False, **options)

    def write(self, path: str, text: str | bytes) -> Path:
        place = self.folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
        return place

    async def search(self, query: str, **options: Any) -> tuple[list[dict[str, Any]], str]:
        """The hits, and what is said besides."""
        response = await self.light.memory_search(query, **options)
        first, *rest = [block["text"] for block in response.content]
        return json.loads(first), "".join(rest)

    async def paths(self, query: str, **options: Any) -> list[str]:
        return [hit["path"] for hit in (await self.search(query, **options))[0]]


@asynccontextmanager
async def notes(folder: Path, *texts: str, model: Any = None, **options: Any) -> AsyncIterator[Notes]:
    """Notes `memory/0.md`, `memory/1.md`... with these texts; searched by words alone unless there is a model."""
    chosen = {"embedding_model": model} if model is not None else {"default_file_store_config": WORDS_ONLY}
    it = Notes(folder, **{**chosen, **options})
    for number, text in enumerate(texts):
        it.write(f"memory/{number}.md", text)
    try:
        yield it
    finally:
        await it.light.close()


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentscope_reme.embedding._batch_call._LONGEST_PAUSE", 0.01)


class Strangers(HashEmbedding):
    """A model that finds nothing related to anything."""

    floor = 0.95


# ---------------------------------------------------------------------- words of every script

PIECES = ["飞书", "插件", "后台", "配置", "评审", "排期", "备份", "脚本", "上传", "失败", "预算", "合同", "迁移"]
PIECES += ["数据库", "端口", "重启", "GitHub", "cron", "9router", "v2.1", "GOALS.md", "INV-2093", "parse_config_file"]
PIECES += ["Qwen", "nginx"]


def test_words_of_a_mixed_sentence_find_it_however_they_are_joined(tmp_path: Path) -> None:
    """Glued to Latin letters, parted by particles, in another case or order, few or many of them."""
    pick = random.Random(1)
    words = [pick.sample(PIECES, 5) for _ in range(8)]
    texts = ["".join(word + pick.choice(["的", "了", " ", "在", "，", "和"]) for word in each) + "。" for each in words]

    async def main() -> None:
        async with notes(tmp_path, *texts) as it:
            for number, each in enumerate(words):
                asked = ["".join(each), "".join(reversed(each)).upper(), " ".join(each).lower(), *each]
                asked += ["".join(pick.sample(each, 2)), "请问" + each[0] + "怎么样了？"]
                for query in asked:
                    assert f"memory/{number}.md" in await it.paths(query, max_results=8), (query, texts[number])

    asyncio.run(main())


@pytest.mark.parametrize(
    ("note", "queries"),
    [
        ("今日は成語しりとりをした", ["しりとり", "成語", "しりとりは？"]),
        ("データベースを再起動した", ["データベース", "再起動", "ﾃﾞｰﾀﾍﾞｰｽ"]),
        ("오늘 끝말잇기 게임을 했다", ["끝말잇기", "게임", "끝말잇기를"]),
        ("서버를 재시작했습니다", ["서버", "재시작"]),
    ],
)
def test_kana_and_hangul_are_words(tmp_path: Path, note: str, queries: list[str]) -> None:
    async def main() -> None:
        async with notes(tmp_path, note, "天气很好，适合散步", "すしを食べた", "김치를 먹었다") as it:
            for query in queries:
                assert (await it.paths(query))[:1] == ["memory/0.md"], query

    asyncio.run(main())


@pytest.mark.parametrize("sign", [".", ",", "!", "?", "。", "，", "！", "”", "）", ")", ":", "'s", "**", "`"])
def test_a_sign_behind_a_word_is_no_part_of_it(tmp_path: Path, sign: str) -> None:
    async def main() -> None:
        async with notes(tmp_path, f"We switched to Qwen{sign} It works", "we switched to nothing") as it:
            for query in ("Qwen", "qwen?", "(Qwen)", "“Qwen”"):
                assert await it.paths(query) == ["memory/0.md"]

    asyncio.run(main())


@pytest.mark.parametrize(
    "query", ["的了？", "？！…", "the of and", "是不是在的", "👍🎉", "\ud83c", "量子计算", "xylophone"]
)
@pytest.mark.parametrize("model", [None, Strangers()])
def test_what_shares_no_word_with_a_query_is_not_found_for_it(tmp_path: Path, query: str, model: Any) -> None:
    async def main() -> None:
        async with notes(tmp_path, "鸡蛋羹的做法", "今天很好", "the weather of today", "工单已关闭", model=model) as it:
            hits, told = await it.search(query)
            assert hits == []
            assert told, "it is said that there is nothing"

    asyncio.run(main())


def test_one_word_of_several_is_enough(tmp_path: Path) -> None:
    asked = ["微信读书", "书架", "阅读偏好"]

    async def main() -> None:
        async with notes(tmp_path, *(f"关于{word}的记录" for word in asked), "今天天气很好") as it:
            for query in (" ".join(asked), "，".join(asked), "".join(reversed(asked))):
                assert sorted(await it.paths(query)) == ["memory/0.md", "memory/1.md", "memory/2.md"]

    asyncio.run(main())


@pytest.mark.parametrize("code", ["ZX-4471", "INV-2093", "v2.10.3", "GOALS.md", "parse_config_file"])
def test_a_code_is_found_where_vectors_know_nothing_of_it_and_scores_tell_matches_apart(
    tmp_path: Path, code: str
) -> None:
    async def main() -> None:
        texts = [
            f"工单 {code} 已关闭",
            f"{code} 和它的二十个同伴都在这张很长很长的清单里：" + "买菜、洗碗、遛狗、" * 20,
        ]
        async with notes(tmp_path, *texts, "买菜清单", "遛狗", model=Strangers()) as it:
            hits, _ = await it.search(code.lower())
            assert [hit["path"] for hit in hits] == ["memory/0.md", "memory/1.md"]
            assert hits[0]["score"] > hits[1]["score"] > 0

    asyncio.run(main())


@pytest.mark.parametrize("count", range(5))
def test_few_notes_are_told_apart_although_all_have_the_word(tmp_path: Path, count: int) -> None:
    """In half of the notes, in most, in all, in the only one: the word still says something, and nothing is below 0."""

    async def main() -> None:
        texts = [f"伦敦的记录，第 {number} 天：{'下雨' * number}" for number in range(count)]
        async with notes(tmp_path, *texts, *["今天很好"] * bool(count)) as it:
            hits, _ = await it.search("伦敦", max_results=10)
            assert sorted(hit["path"] for hit in hits) == [f"memory/{number}.md" for number in range(count)]
            assert all(0 < hit["score"] <= 1 for hit in hits)

    asyncio.run(main())


# ---------------------------------------------------------------------- what the files hold


def test_search_without_start_or_embedding_finds_what_lay_there_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No key, no server, no offline model, nothing started: an empty result would be a lie."""
    monkeypatch.setattr(LocalEmbedding, "available", staticmethod(lambda: False))
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "old.md").write_text("端口改为 8443", "utf-8")

    async def main() -> None:
        it = Notes(tmp_path)
        assert await it.paths("端口") == ["memory/old.md"]
        it.write("memory/2026-09/09.md", "fresh rhubarb")
        assert await it.paths("rhubarb") == ["memory/2026-09/09.md"], "a moment after it was written"
        it.write("MEMORY.md", "- likes quince")
        assert await it.paths("quince") == ["MEMORY.md"], "created after the first search"
        await it.light.close()

    asyncio.run(main())


def test_where_nobody_watches_any_more_a_search_still_sees_what_changed(tmp_path: Path) -> None:
    """The watcher was lost without a word, and the folder is another one by now."""

    async def main() -> None:
        async with notes(tmp_path, "alpha plan", "bravo plan") as it:
            await it.light.start()
            assert len(await it.paths("plan")) == 2
            index = it.light._search._made()
            for task in index._tasks:
                task.cancel()
            shutil.move(tmp_path / "memory", tmp_path / "elsewhere")
            it.write("memory/new.md", "charlie plan")
            assert await it.paths("plan") == ["memory/new.md"]
            os.replace(it.write("memory/.new.tmp", "delta scheme"), tmp_path / "memory" / "new.md")
            assert await it.paths("plan") == []
            assert await it.paths("scheme") == ["memory/new.md"]

    asyncio.run(main())


def test_after_a_restart_nothing_unchanged_is_embedded_and_the_same_is_found(tmp_path: Path) -> None:
    texts = [f"note {number} about subject{number}" for number in range(12)]

    async def life(model: HashEmbedding) -> list[list[str]]:
        async with notes(tmp_path, model=model) as it:
            await it.light.sync()
            return [await it.paths(f"what of subject{number}") for number in range(12)]

    async def main() -> None:
        async with notes(tmp_path, *texts):
            pass
        first, second = HashEmbedding(64), HashEmbedding(64)
        before = await life(first)
        assert len(set(first.texts)) >= 12
        assert await life(second) == before
        assert second.texts == []

    asyncio.run(main())


def test_what_is_deleted_leaves_its_place_in_every_way_of_searching(tmp_path: Path) -> None:
    async def main() -> None:
        async with notes(tmp_path, "apple pie", "apple tart", "pear tart", model=HashEmbedding(64)) as it:
            assert (await it.paths("apple pie", max_results=1)) == ["memory/0.md"]
            (tmp_path / "memory" / "0.md").unlink()
            for query in ("apple pie", "apple", "the pie of apples"):
                assert (await it.paths(query, max_results=1)) == ["memory/1.md"]

    asyncio.run(main())


def test_both_halves_of_a_line_that_was_cut_are_found_and_neither_twice(tmp_path: Path) -> None:
    """Chunks that share their line range do not overwrite each other, and none holds what another one holds."""
    pick = random.Random(2)
    marks = ["".join(pick.choices("bcdfghjklmnpqrstvwxz", k=8)) for _ in range(1_500)]
    line = " ".join(f"{mark} filler words of no interest" for mark in marks)

    async def main() -> None:
        async with notes(tmp_path, line) as it:
            for mark in (marks[0], *marks[100:1_400:130], marks[-1]):
                (hit,) = (await it.search(mark, max_results=10))[0]
                assert (hit["start_line"], hit["end_line"]) == (1, 1)
                assert f"{mark} " in hit["snippet"]

    asyncio.run(main())


# ---------------------------------------------------------------------- embedding services


class Picky(HashEmbedding):
    """A service with every limit that was ever reported: ten texts a call, a length in tokens, no blanks, no halves."""

    floor = 0.3
    longest = 8_192

    def __init__(self, dimensions: int = 64, name: str = "text-embedding-v4") -> None:
        super().__init__(dimensions, name)
        self.not_a_number = ""
        self.down = False

    async def __call__(self, text: Sequence[Any], **_: Any) -> EmbeddingResponse:
        batch = [each if isinstance(each, str) else each["text"] for each in text]
        self.batches.append(batch)
        if self.down:
            raise ConnectionError("no route to host")
        if len(batch) > 10:
            raise ValueError("400: batch size is invalid, it should not be larger than 10")
        for each in batch:
            each.encode("utf-8")
            if not each.strip():
                raise ValueError("400: input must not be empty")
            if 1.5 * len(each) > self.longest:
                raise ValueError(f"400: range of input length should be [1, {self.longest}]")
        vectors = [self.vector(each) for each in batch]
        for at, each in enumerate(batch):
            if self.not_a_number and self.not_a_number in each:
                vectors[at] = [math.nan] * self.dimensions
        return EmbeddingResponse(embeddings=vectors)


HARD = {
    "blank": "---\ntitle: x\n---\n\n\n",
    "wide": "：" * 9_000 + "末尾的结论是改用蓝色",
    "spaces": "长段落\n\n\n \t \n\n另一个长段落",
    "half": "勤务 \ud83c 完成",
    "family": "字" * 396 + "👨‍👩‍👧" * 20 + "合影",
    "words": "sunflower " * 3_000,
}


def test_one_hard_text_never_keeps_the_others_from_being_embedded(tmp_path: Path) -> None:
    """Blank, wide, long, with half a character, at the cut an emoji of five: each is taken or left, by itself."""

    async def main() -> None:
        model = Picky()
        async with notes(tmp_path, *(f"普通的第 {n} 条：种植番茄{n}" for n in range(25)), model=model) as it:
            for name, text in HARD.items():
                it.write(f"memory/{name}.md", text)
            await it.light.sync()
            status = await it.light._search._made().status()
            assert (status.vectors, status.waiting) == ("on", 0)
            assert all(any(f"种植番茄{number}" in each for each in model.texts) for number in range(25))
            assert any("末尾的结论" in each for each in model.texts), "nothing is cut off silently"
            assert max(map(len, model.batches)) <= 10
            for query, name in (
                ("末尾的结论", "wide"),
                ("勤务完成", "half"),
                ("合影", "family"),
                ("sunflower", "words"),
            ):
                assert (await it.paths(query))[0] == f"memory/{name}.md"

    asyncio.run(main())


def test_a_vector_that_is_no_number_costs_its_own_text_only_and_for_a_while(tmp_path: Path) -> None:
    async def main() -> None:
        model = Picky()
        model.not_a_number = "bravo"
        async with notes(tmp_path, "alpha violet", "bravo violet", "charlie violet", model=model) as it:
            await it.light.sync()
            index = it.light._search._made()
            assert (await index.status()).waiting == 1
            for name, path in (("alpha", "memory/0.md"), ("charlie", "memory/2.md")):
                hits = await index.search(f"{name} violet", 1)
                assert [(hit.chunk.path, hit.parts.get("meaning", 0) > 0) for hit in hits] == [(path, True)]
            assert await it.paths("bravo") == ["memory/1.md"], "by its word"
        model.not_a_number = ""
        async with notes(tmp_path, model=model) as it:
            await it.light.sync()
            assert (await it.light._search._made().status()).waiting == 0, "what failed was not remembered"

    asyncio.run(main())


@pytest.mark.parametrize("change", [{"dimensions": 128}, {"name": "another-model"}])
def test_another_model_is_noticed_and_words_answer_until_it_has_embedded(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    async def main() -> None:
        async with notes(tmp_path, "alpha", "bravo", model=Picky()) as it:
            await it.light.sync()
        other = Picky(**change)
        other.down = True
        async with notes(tmp_path, model=other) as it:
            assert await it.paths("alpha") == ["memory/0.md"]
            assert "no route" in (await it.light._search._made().status()).vectors
        other.down = False
        async with notes(tmp_path, model=other) as it:
            await it.light.sync()
            status = await it.light._search._made().status()
            assert (status.vectors, status.waiting) == ("on", 0)
            assert {"alpha", "bravo"} <= set(other.texts)
            assert await it.paths("bravo") == ["memory/1.md"]

    asyncio.run(main())


@pytest.mark.parametrize("count", [0, 1, 2])
def test_more_results_are_asked_for_than_there_are_notes(tmp_path: Path, count: int) -> None:
    async def main() -> None:
        texts = [f"rhubarb cake {'x' * number}" for number in range(count)]
        async with notes(tmp_path / "用户" / "记忆", *texts, model=HashEmbedding(64)) as it:
            found = await it.paths("rhubarb cake", max_results=100)
            assert sorted(found) == [f"memory/{number}.md" for number in range(count)]

    asyncio.run(main())


def test_searches_embed_their_questions_and_nothing_again(tmp_path: Path) -> None:
    async def main() -> None:
        model = HashEmbedding(64)
        async with notes(tmp_path, *(f"note {n} about subject{n}" for n in range(30)), model=model) as it:
            await it.light.sync()
            model.batches.clear()
            for number in range(5):
                await it.paths(f"subject{number}")
            await it.paths("subject0")
            assert model.texts == [f"subject{number}" for number in range(5)]

    asyncio.run(main())
