# -*- coding: utf-8 -*-
"""What is found, in which order, and what is not."""

import datetime as dt
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from _note_world import embedder, found, make_workspace, paths, places, put, run, turn
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme import ConfigError
from agentscope_reme.note_index import NoteIndex
from agentscope_reme.note_index._snippets import snippet
from agentscope_reme.search._query_text import without_names
from agentscope_reme.testing import HashEmbedding

SHANGHAI = ZoneInfo("Asia/Shanghai")
DAY = "dialog/2026-03-01.jsonl"


class Strangers(HashEmbedding):
    """No two texts have anything to do with each other."""

    floor = 0.95


@pytest.mark.parametrize(
    ("note", "queries"),
    [
        ("明天下午三点开项目评审会议讨论排期", ["评审", "项目评审会议", "排期"]),
        ("我们用 9router 做 rerank，配置在 GOALS.md", ["9router", "GOALS.md", "goals.md", "rerank 配置"]),
        ("GitHub 备份脚本昨晚上传失败", ["GitHub备份脚本上传失败", "备份 github"]),
        ("飞书的插件在后台配置", ["飞书插件配置"]),
        ("每日复盘 cron 备份", ["每日复盘 cron 备份", "CRON"]),
        ("今日は成語しりとりをした", ["しりとり", "成語"]),
        ("오늘 끝말잇기 게임을 했다", ["끝말잇기"]),
        ("The model is Qwen.", ["qwen", "Qwen?", "models"]),
        ("工单 ZX-4471 已关闭", ["ZX-4471", "zx-4471", "4471"]),
        ("call parse_config_file in v2.1 of INV-2093", ["parse_config_file", "config", "v2.1", "INV-2093"]),
    ],
)
def test_words_of_any_script_are_found_at_default_settings(tmp_path: Path, note: str, queries: list[str]) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        put(workspace, "memory/a.md", note)
        for number in range(3):
            put(workspace, f"memory/other{number}.md", f"unrelated {number} 天气 晴朗 すし 김치")
        for index in (NoteIndex(workspace), NoteIndex(workspace, embedder=embedder(Strangers()))):
            for query in queries:
                assert (await found(index, query))[:1] == ["memory/a.md"], query
            await index.close()

    run(work())


@pytest.mark.parametrize("query", ["的了？", "", "   ", "the of and", "？！…", "👍", "violin", "小提琴", "\ud83c"])
def test_a_query_that_nothing_answers_finds_nothing(tmp_path: Path, query: str) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        for number, note in enumerate(["鸡蛋羹的做法", "今天很好", "the weather", "工单已关闭", "a b c"]):
            put(workspace, f"memory/{number}.md", note)
        for index in (NoteIndex(workspace), NoteIndex(workspace, embedder=embedder(Strangers()))):
            assert await index.search(query) == []
            await index.close()

    run(work())


def test_any_of_several_words_finds(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        for name, word in (("a", "微信读书"), ("b", "书架"), ("c", "阅读偏好")):
            put(workspace, f"memory/{name}.md", f"关于{word}的记录")
        index = NoteIndex(workspace)
        assert sorted(await found(index, "微信读书 书架 阅读偏好")) == ["memory/a.md", "memory/b.md", "memory/c.md"]
        await index.close()

    run(work())


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_corpus_of_one_or_two_works(tmp_path: Path, count: int) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        for number, note in enumerate(["伦敦风很大", "今天很好", "london calling"][:count]):
            put(workspace, f"memory/{number}.md", note)
        index = NoteIndex(workspace)
        (hit,) = await index.search("伦敦", max_results=10)
        assert hit.chunk.path == "memory/0.md"
        assert 0.2 <= hit.score <= 1
        await index.close()

    run(work())


def test_scores_are_absolute_and_differ(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        put(workspace, "memory/a.md", "red apple pie recipe")
        put(workspace, "memory/b.md", "an apple a day, and many other fruits as well on the table of the house")
        index = NoteIndex(workspace)
        hits = await index.search("red apple pie")
        assert paths(hits) == ["memory/a.md", "memory/b.md"]
        assert hits[0].score > hits[1].score
        (weak,) = await index.search("apple crumble of grandmother", max_results=1)
        assert weak.score < hits[0].score
        assert await index.search("red apple pie", min_score=0.999) == []
        assert paths(await index.search("red apple pie", min_score=hits[0].score)) == ["memory/a.md"]
        await index.close()

    run(work())


def test_duplicates_are_one_result_and_memory_md_goes_first(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        for path in ("memory/2026-03-01.md", "memory/2026-03-02.md", "docs/a.md"):
            put(workspace, path, "The user drinks green tea.")
        put(workspace, "memory/2026-03-03.md", "The user drinks black coffee.")
        index = NoteIndex(workspace, extra_folders=["docs"])
        await index.sync()
        put(workspace, "MEMORY.md", "The user drinks green tea.")
        assert await found(index, "green tea", max_results=3) == ["MEMORY.md"]
        assert await found(index, "user drinks", max_results=2) == ["MEMORY.md", "memory/2026-03-03.md"]
        await index.close()

    run(work())


def test_turns_that_say_the_same_are_different_events(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        lines = [turn(n, "I went running today", time=f"2026-03-01 {10 + 2 * n}:00:00") for n in range(3)]
        put(workspace, DAY, b"".join(lines))
        index = NoteIndex(workspace)
        assert sorted(places(await index.search("running"))) == [(DAY, 1), (DAY, 2), (DAY, 3)]
        await index.close()

    run(work())


def test_neighbours_join_only_beside_a_hit(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        texts = ["one", "two", "Where is the key?", "Under the mat.", "five", "six", "seven", "eight", "nine", "ten"]
        lines = [turn(n, text, name="ab"[n % 2]) for n, text in enumerate(texts)]
        lines.append(turn(10, "after a long pause", time="2026-03-01 20:00:00"))
        put(workspace, DAY, b"".join(lines))
        index = NoteIndex(workspace)
        hits = await index.search("key", max_results=20)
        assert {(DAY, 3), (DAY, 4)} <= set(places(hits[:2]))
        assert {line for _, line in places(hits)} <= set(range(1, 7))
        assert await index.search("violin", max_results=20) == []
        await index.close()

    run(work())


def test_sources_paths_and_days_limit_what_is_found(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        put(workspace, "MEMORY.md", "alpha rule")
        put(workspace, "memory/2026-03-01.md", "alpha first")
        put(workspace, "memory/2026-03-10.md", "alpha tenth")
        put(workspace, "memory/2026-03-100.md", "alpha no day")
        put(workspace, DAY, turn(1, "alpha said", time="2026-03-01 23:59:59"))
        index = NoteIndex(workspace)

        async def those(**limits: object) -> set[str]:
            return set(await found(index, "alpha", max_results=20, **limits))

        first, tenth = "memory/2026-03-01.md", "memory/2026-03-10.md"
        assert await those() == {"MEMORY.md", first, tenth, "memory/2026-03-100.md", DAY}
        assert await those(sources="dialog") == {DAY}
        assert await those(sources=["notes"]) == {"MEMORY.md", first, tenth, "memory/2026-03-100.md"}
        assert await those(paths="memory/") == {first, tenth, "memory/2026-03-100.md"}
        assert await those(paths=[first, "./MEMORY.md"]) == {first, "MEMORY.md"}
        assert await those(paths="memory/2026-03-0*") == set()
        assert await those(since="2026-03-01", until="2026-03-01") == {first, DAY}
        assert await those(since=dt.date(2026, 3, 2)) == {tenth}
        assert await those(until=dt.datetime(2026, 3, 1, 12)) == {first}
        assert await those(paths="memory", since="2026-03-05") == {tenth}
        with pytest.raises(ConfigError, match=r"'web'.*notes, dialog"):
            await index.search("alpha", sources="web")
        with pytest.raises(ConfigError, match="since is 'soon'"):
            await index.search("alpha", since="soon")
        assert await index.search("alpha", max_results=0) == []
        await index.close()

    run(work())


def test_days_are_those_of_the_time_zone_and_relative_dates_those_of_the_clock(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        clock = dt.datetime(2026, 3, 2, 0, 30, tzinfo=SHANGHAI)
        late = dt.datetime(2026, 3, 1, 23, 59, tzinfo=SHANGHAI)
        early = dt.datetime(2026, 3, 2, 0, 1, tzinfo=SHANGHAI)
        lines = turn(1, "会议改到三点", time=late.isoformat()) + turn(
            2, "会议改到五点", time=early.isoformat(), session="t"
        )
        put(workspace, DAY, lines)
        put(workspace, "memory/2026-03-01.md", "会议在一号")
        index = NoteIndex(workspace, timezone=SHANGHAI, clock=lambda: clock)
        assert places(await index.search("会议", sources="dialog", since="2026-03-02")) == [(DAY, 2)]
        assert places(await index.search("会议", sources="dialog", until="2026-03-01")) == [(DAY, 1)]
        assert places(await index.search("昨天的会议改到几点", sources="dialog"))[0] == (DAY, 1)
        assert places(await index.search("今天的会议改到几点", sources="dialog"))[0] == (DAY, 2)
        (hit,) = await index.search("会议", since="2026-03-01", until="2026-03-01", sources="notes")
        assert hit.chunk.time == dt.datetime(2026, 3, 1, tzinfo=SHANGHAI)
        await index.close()

    run(work())


def test_a_named_speaker_is_preferred_and_a_role_is_no_name(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        lines = turn(1, "I love hiking in the hills", name="Anna") + turn(
            2, "I love hiking in the woods", name="Ben", session="t"
        )
        lines += turn(3, "the user interface is slow", name="user", session="u")
        put(workspace, DAY, lines)
        index = NoteIndex(workspace)
        assert places(await index.search("Where does Ben love hiking?"))[0] == (DAY, 2)
        assert places(await index.search("Where does Anna love hiking?"))[0] == (DAY, 1)
        assert places(await index.search("user interface"))[0] == (DAY, 3)
        await index.close()

    run(work())


def test_tool_results_are_found_after_what_was_said(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        result = [{"type": "tool_result", "id": "c", "name": "grep", "output": "error E1234 in payment service"}]
        lines = turn(1, result, role="system") + turn(2, "error E1234 in payment service")
        put(
            workspace,
            DAY,
            lines + turn(3, [{"type": "tool_use", "id": "d", "name": "sh", "input": {"cmd": "pytest -k pay"}}]),
        )
        index = NoteIndex(workspace)
        hits = await index.search("E1234", max_results=10)
        assert places(hits) == [(DAY, 2), (DAY, 1)]
        assert {hit.chunk.source for hit in hits} == {"dialog"}
        assert places(await index.search("pytest")) == [(DAY, 3)]
        await index.close()

    run(work())


def test_the_snippet_is_the_part_that_matches(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        filler = "This sentence says nothing of interest to anybody at all. " * 12
        put(workspace, "memory/a.md", f"{filler}The blue parrot speaks Latin. {filler}")
        put(workspace, "memory/b.md", "short note about a canary")
        index = NoteIndex(workspace)
        (hit,) = await index.search("parrot")
        assert "The blue parrot speaks Latin." in hit.snippet
        assert len(hit.snippet) < 710
        assert hit.snippet.startswith("…")
        assert hit.snippet.endswith("…")
        (hit,) = await index.search("canary")
        assert hit.snippet == "short note about a canary"
        assert set(hit.to_dict()) == {"path", "start_line", "end_line", "score", "snippet", "source", "time"}
        await index.close()

    run(work())


@settings(max_examples=60)
@given(
    st.text(alphabet="ab 会议。.\n", max_size=600),
    st.sampled_from([["会议"], ["ab"], ["zz"], []]),
    st.integers(20, 200),
)
def test_a_snippet_is_a_stretch_of_the_text_and_not_too_wide(text: str, words: list[str], width: int) -> None:
    shown = snippet(text, words, width)
    bare = shown.removeprefix("…").removesuffix("…") if shown != text else shown
    assert bare in text
    assert sum(1 + (not char.isascii()) for char in bare) <= width or shown == text
    if shown == text:
        assert sum(1 + (char > "\u2e80") for char in text) <= width
    elif any(word in text for word in words):
        assert any(word in bare for word in words)


@pytest.mark.parametrize(
    ("query", "names", "put"),
    [
        ("What did Caroline say?", ["Caroline"], "What did they say?"),
        ("caroline's dog", ["Caroline"], "their dog"),
        ("Anna’s and Ben's plans", ["Anna", "Ben"], "their and their plans"),
        ("Mary Jane Watson likes Mary", ["Mary", "Mary Jane Watson"], "they likes they"),
        ("Annabel went", ["Anna"], "Annabel went"),
        ("王小明喜欢什么", ["王小明"], "他喜欢什么"),
        ("Caroline", ["Caroline"], "Caroline"),
        ("Anna and Ben", ["Anna", "Ben"], "Anna and Ben"),
        ("c++ (draft)", ["c++"], "c++ (draft)"),
    ],
)
def test_names_become_pronouns(query: str, names: list[str], put: str) -> None:
    assert without_names(query, names) == put


def test_arguments_that_cannot_work_are_refused(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path)
    for options in (
        {"candidate_multiplier": 0.5},
        {"chunk_tokens": 3},
        {"keyword_search": False},
        {"vector_weight": 2.0},
        {"recipes": {"web": None}},
    ):
        with pytest.raises(ConfigError):
            NoteIndex(workspace, **options)


def test_vector_weight_orders_the_notes(tmp_path: Path) -> None:
    class Opposite(HashEmbedding):
        floor = 0.1

        def vector(self, text: str) -> list[float]:
            return [1.0, 0.2] + [0.0] * 62 if "violin" in text or "?" in text else [0.5, 1.0] + [0.0] * 62

    async def work() -> None:
        workspace = make_workspace(tmp_path)
        put(workspace, "memory/a.md", "alpha bravo charlie")
        put(workspace, "memory/b.md", "violin alpha")
        firsts = []
        for weight in (0.0, 1.0):
            index = NoteIndex(workspace, embedder=embedder(Opposite(64)), vector_weight=weight)
            await index.sync()
            firsts.append((await found(index, "alpha bravo charlie?"))[0])
            await index.close()
        assert firsts == ["memory/a.md", "memory/b.md"]

    run(work())
