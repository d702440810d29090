# -*- coding: utf-8 -*-
"""An assistant that knows its people: what Alice said weeks ago is there when it matters, and gives way to what she
says now. No key, no network, a few seconds; with a key in the environment a real model speaks.

    python demos/personal_assistant.py
"""

import asyncio
import tempfile
from datetime import datetime
from pathlib import Path

from _stage import Lesson, a_model
from agentscope.agent import ReActAgent
from agentscope.message import Msg

from agentscope_reme import ReMe, ReMeLongTermMemory

FIRST = (
    "Hi! I'm Alice, I live in Hangzhou and I am allergic to peanuts. In the morning I drink green tea.",
    "Please remember that my train to Shanghai leaves on 2026-12-04 at 08:15.",
)
WEEKS_LATER = (
    "I am planning the dinner for my team. What am I allergic to?",
    "By the way, I no longer drink tea, the doctor told me to take decaf coffee.",
    "What should I order for breakfast?",
)
LESSONS = (
    Lesson("allergic to peanuts", "Alice is allergic to peanuts.", profile={"name": "Alice", "allergies": "peanuts"}),
    Lesson("live in Hangzhou", "Alice lives in Hangzhou.", profile={"city": "Hangzhou"}),
    Lesson("I drink green tea", "Alice drinks green tea in the morning.", "preference"),
    Lesson("train to Shanghai", "Alice's train to Shanghai leaves on 2026-12-04 at 08:15.", "plan"),
    Lesson(
        "no longer drink tea",
        "Alice drinks decaf coffee, on her doctor's advice.",
        "preference",
        instead_of="drinks green tea",
    ),
)


def speak(asked: str, seen: str) -> str:
    """The scripted assistant knows nothing but what it is shown."""
    if "breakfast" in asked:
        drink = "a decaf coffee" if "decaf coffee" in seen else "green tea" if "green tea" in seen else "what you like"
        return f"Order {drink}."
    if "dinner" in asked:
        return "Nothing with peanuts for you." if "allergic to peanuts" in seen else "I know of nothing you must avoid."
    return "I will keep that in mind."


async def session(reme: ReMe, requests: tuple[str, ...]) -> None:
    """A conversation with a new agent: all that it knows of Alice is in the long-term memory."""
    model, formatter = a_model(speak, LESSONS)
    memory = ReMeLongTermMemory(reme, user_name="Alice")
    agent = ReActAgent(
        "assistant",
        "You are a personal assistant. Answer briefly.",
        model,
        formatter,
        long_term_memory=memory,
        long_term_memory_mode="static_control",  # recall before each reply, record after it
    )
    agent.set_console_output_enabled(False)
    for request in requests:
        reply = await agent(Msg("Alice", request, "user"))
        print(f"Alice: {request}\nassistant: {reply.get_text_content()}\n")


async def main(folder: Path) -> None:
    model, formatter = a_model(speak, LESSONS)  # it draws the memories; a small one is enough
    async with ReMe(folder, model=model, formatter=formatter) as reme:
        await session(reme, FIRST)
        print("What is known of Alice now:")
        print(*(f"  - {memory}" for memory in await reme.list_memory(user_name="Alice", reverse=False)), sep="\n")
        print(f"  profile: {await reme.retrieve_profile('Alice')}\n")

    async with ReMe(
        folder, model=model, formatter=formatter
    ) as reme:  # weeks later, in another process for all it knows
        await session(reme, WEEKS_LATER)
        print("What is known of Alice's habits, with what was superseded:")
        for memory in await reme.list_memory(
            user_name="Alice", filters={"category": "preference"}, include_inactive=True
        ):
            print(f"  - {memory}{'' if memory.is_active else '   (no longer true; kept, not found)'}")
        since = {"time_created": {"range": [datetime(2026, 1, 1), None]}, "category": "plan"}
        plans = await reme.retrieve_memory("When does the train leave?", user_name="Alice", filters=since)
        print("\nHer plans, found by question and filter:")
        print(*(f"  - {plan.content}" for plan in plans), sep="\n")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        asyncio.run(main(Path(temporary)))
