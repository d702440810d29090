# -*- coding: utf-8 -*-
"""Kinds of memory are data: those of the package, and one of one's own without a line of code elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from _extraction_scenes import ALICE, BOOK, bank_in, memories, prompt_of, run, texts, user
from agentscope.formatter import OpenAIChatFormatter

from agentscope_reme import ReMe
from agentscope_reme._errors import ConfigError, PromptError
from agentscope_reme.testing import ScriptedChatModel, call
from agentscope_reme.text import PromptBook
from agentscope_reme.vector_memory import PERSONAL, PROCEDURAL, TOOL, MemoryKind, MemoryRetriever, MemorySummarizer
from agentscope_reme.vector_memory.kinds import kinds_by_name

BUILT_IN = (PERSONAL, PROCEDURAL, TOOL)
PROJECT = MemoryKind(
    name="project",
    argument="project_name",
    prompts="memory_project",
    categories=("milestone", "risk"),
    writes_when_to_use=True,
)
YAML = {
    "en": """
role: {placeholders: [target], text: 'You keep the log of the project {{target}}.'}
keep: {placeholders: [], text: '- milestones and risks'}
drop: {placeholders: [], text: '- gossip'}
situation: {placeholders: [], text: 'when_to_use: the question that a project manager would ask.'}
""",
    "zh": """
role: {placeholders: [target], text: '你为项目{{target}}记事。'}
keep: {placeholders: [], text: '- 里程碑和风险'}
drop: {placeholders: [], text: '- 闲话'}
situation: {placeholders: [], text: 'when_to_use：项目经理会问的问题。'}
""",
}


def own_book(root: Path) -> PromptBook:
    for language, text in YAML.items():
        (root / language).mkdir(parents=True)
        (root / language / "memory_project.yaml").write_text(text, encoding="utf-8")
    return PromptBook(root)


@pytest.mark.parametrize("kind", BUILT_IN)
@pytest.mark.parametrize("language", BOOK.languages())
def test_the_prompts_of_each_kind_are_there(kind: MemoryKind, language: str) -> None:
    needed = ["role", "keep", "drop"]
    needed += ["situation"] if kind.writes_when_to_use else []
    needed += ["profile"] if kind.keeps_profile else []
    for name in needed:
        prompt = BOOK.get(language, f"{kind.prompts}.{name}")
        assert set(prompt.placeholders) <= {"target"}
    assert "target" in BOOK.get(language, f"{kind.prompts}.role").placeholders


def test_what_the_contract_names() -> None:
    assert [(kind.name, kind.argument) for kind in BUILT_IN] == [
        ("personal", "user_name"),
        ("procedural", "task_name"),
        ("tool", "tool_name"),
    ]
    assert PERSONAL.categories == ("fact", "preference", "plan", "event")
    assert [kind.writes_when_to_use for kind in BUILT_IN] == [False, True, True]
    assert PERSONAL.owner("alice") == ALICE


@pytest.mark.parametrize("mode", ["cheap", "agentic"])
@pytest.mark.parametrize(
    ("text", "role"), [("We ship in May", "You keep the log"), ("我们五月上线", "你为项目Apollo记事")]
)
def test_a_kind_of_ones_own_is_a_declaration_and_a_file_of_prompts(
    tmp_path: Path, mode: Any, text: str, role: str
) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            found = {
                "content": "Apollo ships in May 2027.",
                "when_to_use": "when does Apollo ship",
                "category": "milestone",
            }
            script = [memories(found)] if mode == "cheap" else [call("add_memory", **found), "Done."]
            model = ScriptedChatModel(script)
            summarizer = MemorySummarizer(
                bank,
                model=model,
                formatter=OpenAIChatFormatter(),
                book=own_book(tmp_path / "prompts"),
                kinds=[*BUILT_IN, PROJECT],
                mode=mode,
            )
            [node] = await summarizer.summarize([user(text)], [PROJECT.owner("Apollo")])
            assert (node.memory_type, node.category, node.when_to_use) == (
                "project",
                "milestone",
                "when does Apollo ship",
            )
            system = prompt_of(model.requests[0].messages[:1])
            assert role in system
            assert '"milestone", "risk"' in system
            assert "profile" not in system.replace("<profile>", "")
            hits = await MemoryRetriever(bank).retrieve("when does Apollo ship", [PROJECT.owner("Apollo")])
            assert texts(hits) == [node.content]

    run(scene)


def test_a_kind_of_ones_own_goes_through_the_methods_of_reme(tmp_path: Path) -> None:
    apollo, zeus = PROJECT.owner("Apollo"), PROJECT.owner("Zeus")

    async def scene() -> None:
        reply = memories({"content": "Apollo ships in May 2027.", "when_to_use": "when does it ship"})
        reme = ReMe(
            tmp_path / "memories",
            model=ScriptedChatModel([reply]),
            formatter=OpenAIChatFormatter(),
            embedding_model=None,
            prompts=own_book(tmp_path / "prompts"),
            kinds=[*BUILT_IN, PROJECT],
            schema={"topic": ["launch"]},
        )
        async with reme:
            [drawn] = await reme.summarize_memory([user("We ship in May")], apollo)
            added = await reme.add_memory("The budget is at risk", apollo, category="risk", tags=["topic:launch"])
            await reme.add_memory("Zeus sleeps", zeus)
            await reme.add_memory("likes tea", "Apollo")
            with pytest.raises(ConfigError, match="'milestone', 'risk'"):
                await reme.add_memory("gossip", apollo, category="gossip")
            assert {each.key for each in await reme.list_memory(apollo)} == {drawn.key, added.key}
            assert len(await reme.list_memory([apollo, "Apollo"], task_name=zeus)) == 4
            [found, *_] = await reme.retrieve_memory("when does it ship", user_name=apollo)
            assert found.key == drawn.key
            changed = await reme.update_memory(added.memory_id, "The budget is safe", user_name=apollo)
            assert await reme.forget(changed, apollo)
            assert await reme.delete_all(apollo) == 2
            assert len(await reme.list_memory([zeus, "Apollo"])) == 2
            with pytest.raises(ConfigError, match="names nobody"):
                await reme.list_memory(PROJECT.owner(" "))

    run(scene)


def test_a_kind_without_prompts_is_told_so(tmp_path: Path) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            model = ScriptedChatModel([])
            summarizer = MemorySummarizer(bank, model=model, formatter=OpenAIChatFormatter(), kinds=[PROJECT])
            with pytest.raises(PromptError, match=r"memory_project\.role"):
                await summarizer.summarize([user("We ship in May")], [PROJECT.owner("Apollo")])

    run(scene)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"name": "Personal"}, "'Personal'"),
        ({"name": "a/b"}, "'a/b'"),
        ({"name": ""}, "''"),
        ({"name": "history"}, "history"),
        ({"name": "audit"}, "audit"),
        ({"argument": "user name"}, "'user name'"),
        ({"prompts": " "}, "prompts="),
    ],
)
def test_a_declaration_that_cannot_be_is_refused(fields: dict[str, str], named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        MemoryKind(**{"name": "project", "argument": "project_name", "prompts": "memory_project", **fields})


def test_two_kinds_cannot_share_a_name_or_an_argument() -> None:
    with pytest.raises(ConfigError, match="project"):
        kinds_by_name([PROJECT, PROJECT])
    with pytest.raises(ConfigError, match="user_name"):
        kinds_by_name([PERSONAL, MemoryKind("people", "user_name", "memory_people")])
