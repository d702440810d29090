# -*- coding: utf-8 -*-
"""An agent reads far more than its context holds, and loses nothing: no key, no network, a few seconds.

    python demos/quickstart.py

What you would copy is `main`: build an agent as always, make a `MemoryManager`, `attach`. Here a script stands in for
the model, so that it runs without a key; put your own model and formatter in its place.
"""

import asyncio
import json
import tempfile
from pathlib import Path

from agentscope.agent import ReActAgent
from agentscope.formatter import OpenAIChatFormatter
from agentscope.message import Msg
from agentscope.tool import Toolkit

from agentscope_reme import Event, EventKind, MemoryManager
from agentscope_reme.cli.demo import DIALOGUES, Investigation, ProjectTools, SampleProject
from agentscope_reme.testing import ScriptedChatModel

WORDS = DIALOGUES["en"]


def show(event: Event) -> None:
    """A listener: the memory tells what it does."""
    if event.kind is EventKind.TRUNCATED:
        print(f"  cut     {event.details['tool']}: {event.tokens_before} -> {event.tokens_after} tokens")
    elif event.kind is EventKind.FOLDED:
        folded = f"{event.details['messages']} messages, {event.details['source']} summary"
        print(f"  folded  {folded}: {event.tokens_before} -> {event.tokens_after} tokens")


async def main(folder: Path) -> None:
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
        max_input_length=8_000,
        memory_compact_reserve=1_600,
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

    # What became of it: a part is still in the context, the rest in the archive, a JSON line a message.
    status = manager.status()
    files = manager.workspace.dialog_dir.glob("*.jsonl")
    archived = [json.loads(line) for path in files for line in path.read_text(encoding="utf-8").splitlines()]
    print(f"\n{len(model.requests)} requests; {status['tokens']} of {status['window']} tokens in the context now:")
    print(f"{len(memory.content)} messages and a summary; {len(archived)} messages in the archive")
    print(await manager.command("/status"))

    await manager.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        asyncio.run(main(Path(temporary)))
