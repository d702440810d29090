# -*- coding: utf-8 -*-
"""An agent that learns its tools: its calls are recorded, and a guide to each tool is drawn from them without a model.
No key, no network, a few seconds; with a key in the environment a real model works.

    python demos/tool_memory.py
"""

import asyncio
import tempfile
from pathlib import Path

from _stage import a_model
from agentscope.agent import ReActAgent
from agentscope.message import Msg, TextBlock
from agentscope.tool import Toolkit, ToolResponse

from agentscope_reme import MemoryManager, ReMe
from agentscope_reme.testing import call

CITIES = {"Hangzhou": "HGH", "Shanghai": "SHA", "Beijing": "PEK", "Chengdu": "CTU"}


async def search_flights(origin: str, destination: str, limit: int = 10) -> ToolResponse:
    """Search for flights.

    Args:
        origin (`str`): Where from.
        destination (`str`): Where to.
        limit (`int`): How many flights.
    """
    if origin not in CITIES.values() or destination not in CITIES.values():
        return ToolResponse([TextBlock(type="text", text="Error: give IATA codes of three letters, such as HGH.")])
    text = f"{min(limit, 3)} flights from {origin} to {destination}: 07:40, 12:05, 18:30"
    return ToolResponse([TextBlock(type="text", text=text)])


def work(asked: str, seen: str) -> object:
    """The scripted agent gives names of cities, unless it knows or is told that codes are wanted."""
    origin, destination = (city for city in CITIES if city in asked)
    happened = seen.split(asked)[-1]
    if "flights from" in happened:
        return "There are flights at 07:40, 12:05 and 18:30."
    if "IATA" in seen:
        return call("search_flights", origin=CITIES[origin], destination=CITIES[destination])
    return call("search_flights", origin=origin, destination=destination, limit=50)


async def ask(reme: ReMe, folder: Path, request: str) -> None:
    """A request to a new agent, whose calls are recorded."""
    model, formatter = a_model(work)
    toolkit = Toolkit()
    toolkit.register_tool_function(search_flights)
    agent = ReActAgent("travel_desk", "You look up flights.", model, formatter, toolkit)
    agent.set_console_output_enabled(False)
    async with MemoryManager(folder, recall_from=reme, enable_notes=False, enable_search_tools=False) as manager:
        manager.attach(agent)  # what is known of the agent's own tools is shown before each reply
        reply = await agent(Msg("user", request, "user"))
        print(f"you: {request}\nagent: {reply.get_text_content()}\n")


async def main(folder: Path) -> None:
    async with ReMe(folder) as reme:
        for number, cities in enumerate(("Hangzhou to Beijing", "Shanghai to Chengdu", "Beijing to Shanghai")):
            await ask(reme, folder / f"session_{number}", f"When can I fly from {cities}?")
            # In an application: once a day, or after some number of calls.
            for guide in await reme.summarize_memory([], tool_name="search_flights"):
                print(f"--- the guide now ---\n{guide.content}\n")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        asyncio.run(main(Path(temporary)))
