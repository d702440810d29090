# -*- coding: utf-8 -*-
"""A coding agent that learns a procedure: what went wrong in the first release is known before the second one begins.
No key, no network, a few seconds; with a key in the environment a real model works.

    python demos/coding_agent.py
"""

import asyncio
import tempfile
from pathlib import Path

from _stage import Lesson, a_model
from agentscope.agent import ReActAgent
from agentscope.message import Msg, TextBlock
from agentscope.tool import Toolkit, ToolResponse

from agentscope_reme import Event, EventKind, MemoryManager, ReMe
from agentscope_reme.testing import call

TASK = "Release version {version} of the parser package."
LESSONS = (
    Lesson(
        "CHANGELOG.md has no entry",
        "Before publishing, add the entry of the new version to CHANGELOG.md: publish refuses a version without one.",
        "pitfall",
        "I want to publish a new version of a package, or publish says that the changelog has no entry.",
    ),
    Lesson(
        "build the wheel first",
        "Release in this order: changelog, build, publish. publish takes nothing that was not built.",
        "sequence",
        "I am to release a version and do not know in which order the steps go.",
    ),
)


class Releasing:
    """The tools of the job: a package that can be published only when everything is in place."""

    def __init__(self) -> None:
        self.calls, self.noted, self.built = 0, "", ""

    async def edit_changelog(self, version: str) -> ToolResponse:
        """Add the entry of a version to CHANGELOG.md.

        Args:
            version (`str`): The version.
        """
        self.noted = version
        return self.answered(f"CHANGELOG.md has an entry for {version} now.")

    async def build(self, version: str) -> ToolResponse:
        """Build the wheel of a version.

        Args:
            version (`str`): The version.
        """
        self.built = version
        return self.answered(f"parser-{version}-py3-none-any.whl was built.")

    async def publish(self, version: str) -> ToolResponse:
        """Publish a version.

        Args:
            version (`str`): The version.
        """
        if self.noted != version:
            return self.answered(f"Error: CHANGELOG.md has no entry for {version}.")
        if self.built != version:
            return self.answered(f"Error: there is no wheel of {version}: build the wheel first.")
        return self.answered(f"parser {version} is published.")

    def toolkit(self) -> Toolkit:
        toolkit = Toolkit()
        for tool in (self.edit_changelog, self.build, self.publish):
            toolkit.register_tool_function(tool)
        return toolkit

    def answered(self, text: str) -> ToolResponse:
        self.calls += 1
        print(f"  {text}")
        return ToolResponse([TextBlock(type="text", text=text)])


def work(asked: str, seen: str) -> object:
    """The scripted agent: it publishes at once, unless it remembers what comes first, or an error told it."""
    version = asked.split("version ")[1].split()[0]
    happened = seen.split(asked)[-1]
    if f"parser {version} is published" in happened:
        return f"Version {version} is out."
    knows_entry = "add the entry of the new version" in seen or "has no entry for" in happened
    knows_wheel = "changelog, build, publish" in seen or "build the wheel first" in happened
    if knows_entry and f"an entry for {version} now" not in happened:
        return call("edit_changelog", version=version)
    if knows_wheel and f"parser-{version}" not in happened:
        return call("build", version=version)
    return call("publish", version=version)


def tell(event: Event) -> None:
    if event.kind is EventKind.RECALLED:
        print(f"  ({event.details['hits']} memories were shown to the agent)")


async def release(folder: Path, version: str) -> int:
    """One run of the task by a new agent. Returns how many calls of tools it took."""
    model, formatter = a_model(work, LESSONS)
    tools = Releasing()
    async with (
        ReMe(folder, model=model, formatter=formatter) as reme,
        MemoryManager(folder / version, recall_from=reme, enable_notes=False) as manager,
    ):
        agent = ReActAgent("releaser", "You release software.", model, formatter, tools.toolkit())
        agent.set_console_output_enabled(False)
        manager.subscribe(tell)
        memory = manager.attach(agent, task_name="release the parser package")  # recall before each reply
        print(f"\nyou: {TASK.format(version=version)}")
        reply = await agent(Msg("user", TASK.format(version=version), "user"))
        print(f"agent: {reply.get_text_content()}")

        # What the run teaches: how it is done, and when that is of use.
        for node in await reme.summarize_memory(await memory.get_memory(), task_name="release the parser package"):
            print(f"  learned: {node}")
    return tools.calls


async def main(folder: Path) -> None:
    first = await release(folder, "1.4.0")
    second = await release(folder, "1.5.0")
    print(f"\nCalls of tools: {first} in the first run, {second} in the second.")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        asyncio.run(main(Path(temporary)))
