# -*- coding: utf-8 -*-
"""Memories that condense (MemRefine): sessions of talk become a few lines each, what must be kept stays word for word,
and whoever asks for a detail still gets it from the sources. No key, no network; with a key in the environment a real
model condenses.

    python demos/memory_refinement.py
"""

import asyncio
import tempfile
from datetime import datetime, timedelta
from pathlib import Path

from _stage import a_model

from agentscope_reme import ReMe
from agentscope_reme.message import estimate_tokens
from agentscope_reme.refine import RefinerConfig
from agentscope_reme.testing import ScriptedChatModel

TRIP = """Hi there! | We are finally planning the trip to Lisbon with the whole family.
We fly out on 2026-04-12 with TP 533 from Madrid, and back on the 19th. | Thanks!
My sister Clara and her two children join us on the third day, they come by train from Porto.
I booked the Hotel Mundial for four nights, the confirmation number is LX-88421. | Okay.
For the other three nights we take a flat in Alfama, it costs 96 euros a night.
I never eat shellfish, I am allergic to it, so please no seafood restaurants that serve nothing else.
The children want to ride tram 28 and to see the castle of São Jorge. | How nice.
We thought about renting a car and decided against it, parking in the old town is too expensive.
Clara's birthday is on the 15th, we want to have dinner by the river that evening.
If it rains we go to the tile museum, it is closed on Mondays."""
KITCHEN = """Good morning. | The kitchen is being renovated from May on, it will take three weeks.
The carpenter is called Duarte Nunes, he comes on Tuesdays at 7:30. | Great.
We chose the blue tiles from the shop in Alfama, forty euros each, sixty pieces.
The oven was delivered with a dent, I sent it back and the new one comes on 2026-05-20. | Hm.
The electrician says that the fuse box is in src/plans/kitchen.pdf on page 4.
We do not want a gas stove any more, the new one is induction.
While it lasts we cook in the garden, on the old camping stove. | See you!"""
QUESTIONS = (
    "What is going on with the kitchen?",
    "What is the confirmation number of the hotel?",
    "When does the new oven come?",
)


async def told(reme: ReMe, session: str, talk: str, start: datetime) -> None:
    """One session, a memory for each thing that was said, half a minute apart."""
    for number, text in enumerate(line.strip() for part in talk.splitlines() for line in part.split("|")):
        is_vital = "allergic" in text
        time = start + timedelta(seconds=30 * number)
        await reme.add_memory(
            text, user_name="Alice", ref_memory_id=session, message_time=time, importance=0.95 if is_vital else 0.4
        )


async def size(reme: ReMe) -> tuple[int, int]:
    """How many memories are found, and how many tokens they have."""
    memories = await reme.list_memory(user_name="Alice")
    return len(memories), sum(estimate_tokens(memory.content) for memory in memories)


async def main(folder: Path) -> None:
    model, formatter = a_model(lambda asked, seen: "")
    if isinstance(model, ScriptedChatModel):  # no key is set: the sources' own most telling sentences are kept
        model, formatter = None, None
    config = RefinerConfig(window_minutes=30, target_ratio=0.3)
    async with ReMe(folder, model=model, formatter=formatter, refiner=config) as reme:
        await told(reme, "trip", TRIP, datetime(2026, 3, 1, 10))
        await told(reme, "kitchen", KITCHEN, datetime(2026, 3, 20, 18))
        before = await size(reme)

        report = await reme.refine(user_name="Alice", goal="plans of the family")
        after = await size(reme)
        print(f"{before[0]} memories of {before[1]} tokens became {after[0]} of {after[1]}, ", end="")
        print(
            f"{report.refined} of them condensed; calls of a model: {report.calls}, faults found: {len(report.faults)}"
        )
        for memory in await reme.list_memory(user_name="Alice", sort_key="message_time", reverse=False):
            kind = f"from {len(memory.source_ids)} sources" if memory.source_ids else "kept word for word"
            print(f"\n[{kind}] {memory.content}")
            for name, said in memory.metadata.get("parts", {}).items():  # a model's answer, in parts
                print(f"    {name}: {said}")

        print("\n--- asked in general, and for details that stand in no condensed memory ---")
        for question in QUESTIONS:
            print(f"\n{question}")
            for memory in (await reme.recall(question, user_name="Alice", limit=2)).nodes:
                print(f"  {'source' if memory.metadata.get('refined_into') else 'memory'}: {memory}")

        again = await reme.refine(user_name="Alice")
        print(f"\nA second run with nothing new: {again.groups} groups, {again.calls} calls of a model.")
        [sample] = await reme.review_refined(1, user_name="Alice")
        print(f"\nOne beside its sources, for a person to judge:\n{sample}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        asyncio.run(main(Path(temporary)))
