# -*- coding: utf-8 -*-
"""Lines of the archive to chunks."""

import json
from pathlib import Path
from typing import Any

from _note_world import found, make_workspace, places, put, run, turn

from agentscope_reme.note_index import NoteIndex
from agentscope_reme.note_index._draft import Draft
from agentscope_reme.note_index._turns import RECALLING, TurnReader

DAY = "dialog/2026-03-01.jsonl"


def read(*lines: bytes, path: str = DAY, limit: int = 400) -> list[Draft]:
    reader = TurnReader(path, limit, {})
    return [draft for number, line in enumerate(lines, start=1) for draft in reader.read(number, line)]


def block(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, **fields}


def test_a_turn_is_a_chunk_with_speaker_time_and_id() -> None:
    (draft,) = read(turn(1, "我喜欢喝茶", name="小明", time="2026-03-01 10:00:00.250"))
    assert (draft.kind, draft.text, draft.speaker, draft.message_id, draft.session_id) == (
        "turn",
        "我喜欢喝茶",
        "小明",
        "m1",
        "s",
    )
    assert (draft.start_line, draft.end_line) == (1, 1)
    assert draft.time.endswith("+00:00")


def test_text_is_a_turn_and_tools_are_chunks_of_their_own() -> None:
    call = block("tool_use", id="c", name="grep", input={"pattern": "ZX-4471"})
    result = block("tool_result", id="c", name="grep", output=[block("text", text="log.txt: " + "x" * 5000)])
    drafts = read(
        turn(1, [block("thinking", thinking="hidden"), block("text", text="Let me look."), call], role="assistant"),
        turn(2, [result], role="system"),
    )
    assert [(draft.kind, draft.start_line) for draft in drafts] == [("turn", 1), ("tool", 1), ("tool", 2)]
    assert drafts[0].text == "Let me look."
    assert "ZX-4471" in drafts[1].text
    assert drafts[2].text.startswith("grep result:\nlog.txt: xxx")
    assert len(drafts[2].text) < 1_100
    assert "hidden" not in "".join(draft.text for draft in drafts)


def test_what_was_recalled_summarized_or_injected_is_not_found_again() -> None:
    recalled = [block("tool_result", id="c", name=name, output="old memory") for name in sorted(RECALLING)]
    ours = json.loads(turn(2, "the summary"))
    ours["metadata"] = {"agentscope_reme": "summary"}
    assert read(turn(1, recalled, role="system"), json.dumps(ours).encode()) == []
    assert read(turn(3, "<system-hint>do this</system-hint>")) == []
    assert read(turn(4, "   \n "), turn(5, []), turn(6, [block("image", source={})])) == []


def test_lines_that_are_no_messages_are_passed_over() -> None:
    broken: list[Any] = [b"", b"{", b"[]", b"17", b'{"role": 3}', b'{"role": "user"}', b"\xff\xfe", b"[" * 100_000]
    broken += [b'{"role": "user", "content": [[], null, {"type": "text"}, {"type": 5}]}']
    assert read(*broken) == []
    (draft,) = read(b'{"role": "user", "content": "no name, no id, no time \\ud83c"}')
    assert (draft.speaker, draft.message_id, draft.time) == ("user", "", "2026-03-01")
    assert draft.text == "no name, no id, no time \ufffd"


def test_a_pause_begins_another_episode() -> None:
    drafts = read(
        turn(1, "a", time="2026-03-01 10:00:00"),
        turn(2, "b", time="2026-03-01 10:59:00"),
        turn(3, "other", time="2026-03-01 11:00:00", session="t"),
        turn(4, "c", time="2026-03-01 13:00:00"),
    )
    assert [(draft.session_id, draft.episode) for draft in drafts] == [("s", 0), ("s", 0), ("t", 0), ("s", 1)]


def test_a_long_turn_is_cut_and_keeps_its_id() -> None:
    drafts = read(turn(1, "\n\n".join(f"Paragraph {n} says something of its own." for n in range(200))))
    assert len(drafts) > 3
    assert {draft.message_id for draft in drafts} == {"m1"}
    assert len({draft.position for draft in drafts}) == 1


def test_appended_lines_are_read_alone_and_the_same_as_all_at_once(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        lines = [
            turn(n, f"line number {n} of bravo", time=f"2026-03-01 {8 + n // 3:02d}:{n % 3 * 20:02d}:00")
            for n in range(12)
        ]
        index = NoteIndex(workspace)
        for count in range(1, 13):
            put(workspace, DAY, b"".join(lines[:count]))
            hits = await index.search("bravo", max_results=50)
            assert sorted(places(hits)) == [(DAY, n) for n in range(1, count + 1)]
        grown = await index._open().database.read(_rows)
        await index.close()
        (workspace.state_dir / "index.db").unlink()
        again = NoteIndex(workspace)
        await again.sync()
        assert await again._open().database.read(_rows) == grown
        await again.close()

    run(work())


def test_a_torn_last_line_is_waited_for(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        whole = turn(1, "alpha") + turn(2, "bravo")
        index = NoteIndex(workspace)
        for end in (len(whole) - 30, len(whole) - 1, len(whole)):
            put(workspace, DAY, whole[:end])
            assert await found(index, "alpha", max_results=1) == [DAY]
            assert bool(await found(index, "bravo")) == (end >= len(whole) - 1)
        put(workspace, DAY, whole[:-1] + b"   garbage")
        assert await found(index, "bravo") == []
        await index.close()

    run(work())


def test_a_line_taken_out_in_the_middle_is_gone_even_where_the_file_has_grown(tmp_path: Path) -> None:
    async def work() -> None:
        workspace = make_workspace(tmp_path)
        index = NoteIndex(workspace)
        put(workspace, DAY, turn(1, "alpha") + turn(2, "bravo") + turn(3, "charlie"))
        assert await found(index, "bravo", max_results=1) == [DAY]
        put(workspace, DAY, turn(1, "alpha") + turn(3, "charlie") + turn(4, "delta " * 50) + turn(5, "echo " * 50))
        assert await found(index, "bravo") == []
        assert places(await index.search("charlie", max_results=1)) == [(DAY, 2)]
        assert places(await index.search("echo", max_results=1)) == [(DAY, 4)]
        await index.close()

    run(work())


def _rows(connection: Any) -> list[tuple]:
    query = "SELECT start_line, text, episode, position, session_id, digest FROM chunk ORDER BY start_line, id"
    return connection.execute(query).fetchall()
