# -*- coding: utf-8 -*-
"""The messages that memories come from: kept once, whole, and with those whom they belong to."""

from __future__ import annotations

import asyncio
from pathlib import Path

from _bank_world import ALICE, BOB, local_bank, note
from agentscope.message import Msg
from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme.message import as_msgs
from agentscope_reme.vector_memory import Conversations, Owner

TALK = [
    {"role": "user", "content": "帮我看看 requirements.txt", "time_created": "2026-02-28 10:00:00"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call_0", "type": "function", "function": {"name": "read", "arguments": '{"a": 1}'}}],
        "time_created": "2026-02-28 10:00:05",
    },
    {"role": "tool", "tool_call_id": "call_0", "name": "read", "content": "flask==2.3.3"},
    {"role": "assistant", "content": "好的。", "name": "friday", "time_created": "2026-02-28 10:00:09"},
]


def test_a_conversation_is_read_as_it_was_kept_and_kept_once(tmp_path: Path) -> None:
    async def main() -> None:
        msgs = as_msgs(TALK)
        async with local_bank(tmp_path) as bank:
            conversations = Conversations(bank)
            ref_id = await conversations.keep(msgs, [ALICE, BOB])
            rows = await bank.ledger.count()
            assert rows == 2 * len(TALK)
            assert await conversations.keep(msgs, [ALICE]) == ref_id
            assert await bank.ledger.count() == rows
            assert await conversations.keep(msgs[:2], [ALICE]) != ref_id
        async with local_bank(tmp_path) as bank:
            conversations = Conversations(bank)
            read = await conversations.read(ref_id, ALICE)
            assert [msg.to_dict() for msg in read] == [msg.to_dict() for msg in msgs]
            assert await conversations.read(ref_id, Owner("personal", "eve")) == []
            assert await conversations.read("unknown", ALICE) == []
            assert await conversations.keep([], [ALICE]) == ""

    asyncio.run(main())


def test_a_conversation_goes_with_its_owner_and_stays_with_others(tmp_path: Path) -> None:
    async def main() -> None:
        async with local_bank(tmp_path) as bank:
            conversations = Conversations(bank)
            ref_id = await conversations.keep(TALK, [ALICE, BOB])
            await bank.add([note("uses flask", ref_memory_id=ref_id)])
            await bank.delete_all([ALICE])
            assert await conversations.read(ref_id, ALICE) == []
            assert len(await conversations.read(ref_id, BOB)) == len(TALK)
            assert await conversations.delete(ref_id, BOB) is True
            assert await conversations.delete(ref_id, BOB) is False
            assert "flask" not in str([node.to_dict() for node in await bank.ledger.find()])

    asyncio.run(main())


def test_secrets_are_not_kept(tmp_path: Path) -> None:
    async def main() -> None:
        async with local_bank(tmp_path, redact=lambda text: text.replace("sk-1", "***")) as bank:
            msgs = [Msg("alice", [{"type": "text", "text": "my key is sk-1"}], "user", metadata={"k": ["sk-1"]})]
            ref_id = await Conversations(bank).keep(msgs, [ALICE])
            [msg] = await Conversations(bank).read(ref_id, ALICE)
            assert msg.get_text_content() == "my key is ***"
            assert "sk-1" not in str([node.to_dict() for node in await bank.ledger.find()])

    asyncio.run(main())


@given(
    st.lists(
        st.tuples(st.sampled_from(["user", "assistant"]), st.text(max_size=20), st.integers(0, 59)),
        min_size=1,
        max_size=12,
    )
)
def test_any_text_comes_back_in_its_order(tmp_path_factory, said: list[tuple[str, str, int]]) -> None:  # type: ignore[no-untyped-def]
    msgs = [Msg(role, text, role, timestamp=f"2026-03-01 10:00:{at:02}") for role, text, at in said]  # type: ignore[arg-type]

    async def main() -> None:
        async with local_bank(tmp_path_factory.mktemp("bank")) as bank:
            ref_id = await Conversations(bank).keep(msgs, [ALICE])
            read = await Conversations(bank).read(ref_id, ALICE)
            assert [(msg.id, msg.role, msg.content) for msg in read] == [
                (msg.id, msg.role, msg.content) for msg in msgs
            ]

    asyncio.run(main())
