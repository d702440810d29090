# -*- coding: utf-8 -*-
"""An agent reads far more than its context holds and loses nothing; another, in a second process, remembers it. No key,
no network, a few seconds.

    python demos/quickstart.py

What you would copy is `first_session` and `second_session`: build an agent as always, make a `MemoryManager`, `attach`.
Here a script stands in for the model, so that it runs without a key; put your own model and formatter in its place.
"""

import asyncio
import subprocess
import sys
import tempfile
from pathlib import Path

from agentscope.agent import ReActAgent
from agentscope.formatter import OpenAIChatFormatter
from agentscope.message import Msg
from agentscope.tool import Toolkit

from agentscope_reme import Event, EventKind, MemoryManager
from agentscope_reme.cli.demo import DIALOGUES, Investigation, ProjectTools, Recollection, SampleProject
from agentscope_reme.testing import ScriptedChatModel

WORDS = DIALOGUES["en"]


def show(event: Event) -> None:
    """A listener: the memory tells what it does."""
    if event.kind is EventKind.TRUNCATED:
        print(f"  cut     {event.details['tool']}: {event.tokens_before} -> {event.tokens_after} tokens")
    elif event.kind is EventKind.FOLDED:
        folded = f"{event.details['messages']} messages, {event.details['source']} summary"
        print(f"  folded  {folded}: {event.tokens_before} -> {event.tokens_after} tokens")
    elif event.kind is EventKind.NOTED and event.details["files"]:
        print(f"  noted   {', '.join(event.details['files'])}{', MEMORY.md' if event.details['memory_md'] else ''}")
    elif event.kind is EventKind.RECALLED:
        print(f"  found   {event.details['hits']} notes and messages that may help")


async def first_session(folder: Path) -> None:
    # Something to work on, and tools: yours go here.
    project = SampleProject.write(folder / "project")
    toolkit = Toolkit()
    for tool in ProjectTools(project.root).functions():
        toolkit.register_tool_function(tool)

    # An agent as AgentScope has it.
    model = ScriptedChatModel(Investigation())  # or OpenAIChatModel(...), DashScopeChatModel(...)
    agent = ReActAgent("detective", WORDS.system_prompt, model, OpenAIChatFormatter(), toolkit, max_iters=60)
    agent.set_console_output_enabled(False)

    # Its memory. The window is small here to show something; leave the numbers out for a real model.
    # model=None: summaries are extracted, not written. Leave it out, and the agent's own model writes them.
    manager = MemoryManager(
        folder / "memory",
        model=None,
        max_input_length=10_000,
        memory_compact_reserve=2_000,
        tool_result_compact_keep_n=1,
        old_max_bytes=1_000,
    )
    manager.subscribe(show)
    await manager.start()
    memory = manager.attach(agent)  # from here on the context stays inside its window

    for request in (WORDS.task, WORDS.follow_up):
        print(f"\nyou: {request}\n")
        reply = await agent(Msg("user", request, "user"))
        print(f"\nagent: {reply.get_text_content()}")

    # What became of it: a part is still in the context, the rest in the archive.
    status = manager.status()
    print(f"\n{len(model.requests)} requests; {status['tokens']} of {status['window']} tokens in the context now:")
    print(f"{len(memory.content)} messages and a summary\n{await manager.command('/status')}")

    # The conversation is over. What is worth remembering is noted down in the background, before `close` at the latest.
    print(f"\nyou: /new\n\n{await manager.command('/new')}")
    await manager.close()
    print((folder / "memory/MEMORY.md").read_text(encoding="utf-8"))


async def second_session(folder: Path) -> None:
    model = ScriptedChatModel(Recollection())
    agent = ReActAgent("detective", WORDS.desk_prompt, model, OpenAIChatFormatter())  # no tools but the memory's
    agent.set_console_output_enabled(False)

    # recall=True: what a search finds is shown before each reply, as MEMORY.md always is; for more there is the tool
    # memory_search.
    async with MemoryManager(folder / "memory", model=None, recall=True) as manager:
        manager.subscribe(show)
        manager.attach(agent)
        print(f"\nyou, in another process: {WORDS.question}\n")
        reply = await agent(Msg("user", WORDS.question, "user"))
        print(f"\nagent: {reply.get_text_content()}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        asyncio.run(second_session(Path(sys.argv[1])))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            asyncio.run(first_session(Path(temporary)))
            sys.stdout.flush()
            subprocess.run([sys.executable, __file__, temporary], check=True)
