# -*- coding: utf-8 -*-
"""Refinement runs: what is condensed, by what, and that nothing is lost."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from _refine_world import ALICE, BOB, CHAT, NOW, Clock, active, bank_in, chat, draft, note, refiner_of, texts
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme._errors import StorageError
from agentscope_reme.record import MemoryNode
from agentscope_reme.refine import RefinerConfig, check_fidelity, missing_statements, must_keep
from agentscope_reme.refine._grounds import Grounds, sources_of
from agentscope_reme.refine._refined import is_refined, restored_fields, source_keys
from agentscope_reme.vector_memory import MemoryBank, Owner

FAITHFUL = {
    "narrative": "用户在学钢琴，并准备参加比赛。",
    "facts": [
        "2024-05-05 用户和李雷去上海出差，花了1200元",
        "钢琴课在每周三15:00",
        "代码在 src/app/main.py，端口是8443",
    ],
    "preferences": ["用户不吃辣"],
}


def run(main: Any) -> Any:
    return asyncio.run(main)


async def check_world(bank: MemoryBank, nodes: list[MemoryNode], config: RefinerConfig | None = None) -> None:
    """What holds after any run: every memory is there, found or behind a refined one that is; nothing was invented."""
    there = await bank.store.get([node.key for node in nodes])
    assert there.keys() == {node.key for node in nodes}
    found = [node for owner in (ALICE, BOB) for node in await active(bank, owner)]
    refined = [node for node in found if is_refined(node)]
    behind = {key for node in refined for key in source_keys(node)}
    for key, node in there.items():
        assert node.is_active != (key in behind), node.content
    for node in refined:
        sources = list((await bank.store.get(source_keys(node))).values())
        assert {each.owner for each in sources} == {node.owner}
        assert set(node.source_ids) == {each.memory_id for each in sources}
        assert all(each.metadata["refined_into"] == node.memory_id for each in sources)
        assert (
            check_fidelity(node.content, Grounds(sources_of(sources), known=["alice", "bob"]), node.message_time) == []
        )
        must = [each for source in sources for each in must_keep(source, config or RefinerConfig())]
        assert missing_statements(node.content, must) == []
        assert node.metadata["started"] <= node.metadata["ended"]
    shown = "\n".join(texts(found))
    for node in nodes:
        assert missing_statements(shown, must_keep(node, config or RefinerConfig())) == []


def test_a_session_becomes_one_memory_and_its_sources_stay_behind_it(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            nodes = chat()
            await bank.add(nodes)
            seen: list[tuple[int, int]] = []
            report = await refiner_of(bank).run(on_progress=lambda done, of: seen.append((done, of)))
            found = await active(bank)
            assert len(found) == 1
            assert found[0].author == "extractive"
            assert "我对青霉素过敏" in found[0].content
            assert report.refined == 1
            assert report.sources == len(nodes)
            assert report.calls == 0
            assert report.tokens_after < 0.75 * report.tokens_before
            assert seen == [(0, 20), (10, 20), (20, 20)]
            await check_world(bank, nodes)
            history = await bank.history(nodes[1].memory_id, ALICE)
            assert [row.action for row in history] == ["created", "refined"]
            assert history[-1].details["into"] == found[0].memory_id

    run(main())


def test_with_nothing_new_a_second_run_does_nothing(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            await bank.add([*chat(), note("他的生日是5月9日"), note("记住：紧急电话是 555-0101", importance=0.95)])
            model = refiner_of(bank, [draft(**FAITHFUL)])
            await model.run()
            before = [node.to_dict() for node in await bank.list(include_inactive=True)]
            again = await model.run(on_progress=lambda *_: pytest.fail("nothing is to be done"))
            assert (again.groups, again.calls, again.refined) == (0, 0, 0)
            assert [node.to_dict() for node in await bank.list(include_inactive=True)] == before

    run(main())


def test_users_never_mix(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            nodes = [*chat(owner=ALICE), *chat(owner=BOB)]
            await bank.add(nodes)
            await refiner_of(bank).run([ALICE])
            assert len(await active(bank, ALICE)) == 1
            assert len(await active(bank, BOB)) == len(CHAT)
            await refiner_of(bank).run()
            assert len(await active(bank, BOB)) == 1
            await check_world(bank, nodes)

    run(main())


SCRIPTS = st.sampled_from(
    [
        None,
        [draft(**FAITHFUL)],
        ["```json\n" + draft(**FAITHFUL) + "\n```"],
        ["我是某某大语言模型，很高兴为您服务。", draft(**FAITHFUL)],
        ["", ""],
        [draft(narrative="用户住在巴黎，有三只猫。", facts=["花了9999元", "他吃辣"]), draft(facts=["用户搬去了东京"])],
        [draft(facts=["用户不吃辣", "用户和韩梅梅去了上海"])],
        [RuntimeError("the server is down"), RuntimeError("the server is down")],
        [draft(facts=["很长" * 400]), draft(facts=["很长" * 400])],
        ["[]", "{}"],
    ],
)


@settings(max_examples=25)
@given(
    st.lists(st.sampled_from(CHAT), min_size=1, max_size=10),
    st.lists(st.sampled_from(CHAT), max_size=6),
    SCRIPTS,
    st.sampled_from(["two_level", "session", "time", "entity", "cluster"]),
    st.sampled_from([60, 4000]),
)
def test_no_run_loses_or_invents_anything(
    mine: list[str], theirs: list[str], script: list[str] | None, way: str, limit: int
) -> None:
    async def main(folder: Path) -> None:
        async with bank_in(folder, vectors=way == "cluster") as bank:
            nodes = list({node.key: node for node in (*chat(mine), *chat(theirs, BOB, ""))}.values())
            await bank.add(nodes)
            replies = None if script is None else script * 20
            refiner = refiner_of(bank, replies, group_by=way, group_tokens=limit)
            report = await refiner.run()
            await check_world(bank, nodes)
            assert report.tokens_after <= report.tokens_before
            assert (await refiner.run()).groups == 0

    with TemporaryDirectory() as folder:
        run(main(Path(folder)))


# ---------------------------------------------------------------- models


def test_a_model_condenses_and_its_answer_is_checked(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            nodes = chat()
            await bank.add(nodes)
            wrong = {**FAITHFUL, "facts": [*FAITHFUL["facts"], "用户和韩梅梅去了上海"]}
            refiner = refiner_of(bank, [draft(**wrong)])
            report = await refiner.run(goal="安排日程")
            (found,) = await active(bank)
            assert found.author == "scripted"
            assert "2024-05-05 用户和李雷去上海出差，花了1200元" in found.content
            assert "韩梅梅" not in found.content
            assert "我对青霉素过敏，去医院的时候一定要告诉医生。" in found.content
            assert [fault.text for fault in report.faults] == ["韩梅梅"]
            assert found.metadata["goal"] == "安排日程"
            assert found.metadata["parts"]["preferences"] == ["用户不吃辣"]
            await check_world(bank, nodes)
            prompt = str(refiner.refine_model.model.requests[0].messages)
            assert "安排日程" in prompt
            assert "你好呀" not in prompt
            assert "我对青霉素过敏" in prompt

    run(main())


def test_a_bad_answer_is_asked_for_once_more_and_then_extracted(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            await bank.add(chat())
            bad = draft(facts=["用户搬去了东京", "花了9999元"])
            refiner = refiner_of(bank, [bad, bad])
            report = await refiner.run()
            (found,) = await active(bank)
            assert report.calls == 2
            assert len(report.failures) == 1
            assert found.author == "extractive"
            assert "9999" in str(refiner.refine_model.model.requests[1].messages)

    run(main())


def test_a_cheap_model_sifts_first(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            nodes = chat()
            await bank.add(nodes)
            refiner = refiner_of(bank, [draft(**FAITHFUL)], sift=['{"drop": [2, 7, 99, "x"]}'])
            report = await refiner.run()
            assert report.calls == 2
            prompt = str(refiner.refine_model.model.requests[0].messages)
            assert "公司换了新的办公楼" not in prompt  # the seventh of those that are no small talk
            assert "我对青霉素过敏" in prompt  # the second, which nobody may drop
            await check_world(bank, nodes)

    run(main())


# ---------------------------------------------------------------- what is new, and what it touches


def test_what_comes_later_in_a_session_is_condensed_with_it(tmp_path: Path) -> None:
    async def main() -> None:
        clock = Clock()
        async with bank_in(tmp_path, clock) as bank:
            early = chat()
            await bank.add(early)
            await refiner_of(bank).run()
            (first,) = await active(bank)
            clock.go_on(minutes=10)
            late = chat(
                ["我又加了一节小提琴课，在周五晚上七点。", "小提琴老师叫陈晓东。"], start=NOW + timedelta(minutes=9)
            )
            await bank.add(late)
            report = await refiner_of(bank).run()
            (second,) = await active(bank)
            assert report.refined == 1
            assert set(second.source_ids) == {node.memory_id for node in (*early, *late)}
            old = await bank.store.get([first.key])
            assert not old[first.key].is_active or first.key == second.key
            await check_world(bank, [*early, *late])

    run(main())


def test_a_memory_alone_waits_for_another(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            await bank.add([note("李雷的办公室搬到了三楼的东侧，门口有一盆很大的绿萝。")])
            assert (await refiner_of(bank).run()).groups == 0
            assert len(await active(bank)) == 1
            await bank.add(
                [note("李雷下周开始负责支付系统的值班，值班电话已经换成新的了。", message_time=NOW + timedelta(days=2))]
            )
            assert (await refiner_of(bank).run()).groups == 1

    run(main())


def test_protected_memories_take_no_part(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            asked = note("我的紧急联系人是姐姐，电话 555-0101", importance=0.95, ref_memory_id="s1")
            useful = note("他每天晨跑五公里", metadata={"useful": 3}, ref_memory_id="s1")
            await bank.add([*chat(), asked, useful])
            await refiner_of(bank).run()
            assert {asked.content, useful.content} <= set(texts(await active(bank)))

    run(main())


def test_guides_to_tools_are_left_alone(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            nodes = chat(owner=Owner("tool", "search"))
            await bank.add(nodes)
            assert (await refiner_of(bank).run()).groups == 0
            assert not any(is_refined(node) for node in await bank.list())
            assert (await refiner_of(bank, memory_types=None).run()).refined == 1

    run(main())


def test_the_same_words_are_no_trouble(tmp_path: Path) -> None:
    """One source is all that is left of the others: the refined memory is still another one."""

    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            nodes = chat(
                [
                    "你好呀！",
                    "我在苏州的一家小公司做财务，平时喜欢做饭和养花。",
                    "好的，谢谢。",
                    "再见！",
                    "晚安",
                    "辛苦了",
                ]
            )
            await bank.add(nodes)
            await refiner_of(bank, target_ratio=1.0, keyword_ratio=0.0).run()
            await check_world(bank, nodes)

    run(main())


# ---------------------------------------------------------------- what goes wrong


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("number", range(1, 9))
def test_a_failure_at_any_write_leaves_old_or_new(tmp_path: Path, number: int, before: bool) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            nodes = [*chat(), *chat(CHAT[4:], session="s2", start=NOW + timedelta(days=1))]
            nodes = list({node.key: node for node in nodes}.values())
            await bank.add(nodes)
            writes = 0

            def failing(write: Any) -> Any:
                async def call(*args: Any, **options: Any) -> Any:
                    nonlocal writes
                    writes += 1
                    if writes == number and before:
                        raise StorageError("the disk is full")
                    answer = await write(*args, **options)
                    if writes == number:
                        raise StorageError("the disk is full")
                    return answer

                return call

            with pytest.MonkeyPatch.context() as patch:
                for store in (bank.store, bank.ledger):
                    patch.setattr(store, "write", failing(store.write))
                    patch.setattr(store, "patch", failing(store.patch))
                try:
                    await refiner_of(bank).run()
                except StorageError:
                    pass
            await check_world(bank, nodes)
            await refiner_of(bank).run()
            await check_world(bank, nodes)
            assert (await refiner_of(bank).run()).groups == 0

    run(main())


def test_a_run_can_be_stopped_and_goes_on_there(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            nodes = [
                node
                for day in range(4)
                for node in chat(
                    [f"第{day}天：{text}" for text in CHAT], session=f"s{day}", start=NOW + timedelta(days=day)
                )
            ]
            await bank.add(nodes)

            def stop(done: int, of: int) -> None:
                if done == 6 * len(CHAT):  # all are read, and two sessions condensed
                    raise KeyboardInterrupt

            with pytest.raises(KeyboardInterrupt):
                await refiner_of(bank).run(on_progress=stop)
            assert sum(map(is_refined, await active(bank))) == 2
            await check_world(bank, nodes)
            assert (await refiner_of(bank).run()).refined == 2
            await check_world(bank, nodes)

    run(main())


@given(st.lists(st.sampled_from(CHAT), min_size=1, max_size=20), st.booleans())
def test_progress_goes_from_nothing_to_everything(said: list[str], together: bool) -> None:
    async def main(folder: Path) -> None:
        async with bank_in(folder) as bank:
            session = "s1" if together else ""
            await bank.add(list({node.key: node for node in chat(said, session=session)}.values()))
            seen: list[tuple[int, int]] = []
            await refiner_of(bank).run(on_progress=lambda *steps: seen.append(steps))
            done = [each for each, _ in seen]
            assert done == sorted(done)
            assert done[0] == 0
            assert all(each <= total for each, total in seen)
            assert seen[-1][0] == seen[-1][1]
            assert len({each for each in done if each <= len(set(said))}) > 1  # told while memories are read

    with TemporaryDirectory() as folder:
        run(main(Path(folder)))


def test_what_is_changed_meanwhile_is_left_for_the_next_run(tmp_path: Path) -> None:
    async def main() -> None:
        clock = Clock()
        async with bank_in(tmp_path, clock) as bank:
            nodes = chat()
            await bank.add(nodes)

            async def slow(messages: Any, tools: Any) -> str:
                clock.go_on(seconds=1)
                await bank.update(nodes[4].memory_id, ALICE, content="我改学小提琴了，老师姓陈。")
                return draft(**FAITHFUL)

            report = await refiner_of(bank, slow).run()
            assert report.skipped == 1
            assert report.refined == 0
            assert "我改学小提琴了，老师姓陈。" in texts(await active(bank))
            assert (await refiner_of(bank).run()).refined == 1

    run(main())


def test_refining_can_be_undone(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            nodes = await bank.add(chat())
            await refiner_of(bank).run()
            (refined,) = await active(bank)
            sources = await bank.store.get(source_keys(refined))
            await bank.exchange([], {key: restored_fields(node) for key, node in sources.items()}, action="restored")
            await bank.delete(refined.memory_id, ALICE)
            assert [node.to_dict() for node in await active(bank)] == [
                node.to_dict() for node in sorted(nodes, key=lambda node: node.message_time)
            ]

    run(main())
