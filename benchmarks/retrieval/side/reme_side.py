# -*- coding: utf-8 -*-
"""The installed ReMe (reme-ai 0.3.1) over one note a text, in its own interpreter: `reme_side.py FOLDER`."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any


async def main(folder: Path) -> None:
    task = json.loads((folder / "task.json").read_text(encoding="utf-8"))
    found = [await answers(folder, number, task, each) for number, each in enumerate(task["conversations"])]
    (folder / "found.json").write_text(json.dumps(found), encoding="utf-8")


async def answers(folder: Path, number: int, task: dict[str, Any], conversation: dict[str, Any]) -> list[list[str]]:
    from reme.reme_light import ReMeLight

    place = folder / f"w{number}"
    (place / "memory").mkdir(parents=True)
    ids = {}
    for at, (key, text, day) in enumerate(conversation["memories"]):
        (place / "memory" / f"{day}-{at}.md").write_text(text, encoding="utf-8")
        ids[f"{day}-{at}"] = key
    hybrid = task["mode"] == "hybrid"
    light = ReMeLight(
        working_dir=str(place),
        llm_api_key="none",
        llm_base_url=task["address"],
        embedding_api_key="none",
        embedding_base_url=task["address"],
        default_embedding_model_config={"backend": "openai", "model_name": "offline", "dimensions": 512},
        default_file_store_config={"backend": "local", "fts_enabled": True, "vector_enabled": hybrid},
    )
    await light.start()
    await indexed(light, len(ids))
    found = []
    for question in conversation["questions"]:
        response = await light.memory_search(question, max_results=task["count"])
        try:
            hits = json.loads(response.content[0]["text"])
        except ValueError:  # it says in words that nothing was found
            hits = []
        found.append([ids[Path(hit["path"]).stem] for hit in hits])
    await light.close()
    return found


async def indexed(light: Any, count: int) -> None:
    """Wait until as many files as there are have been indexed; it indexes in the background after its start."""
    from reme.core.enumeration import MemorySource

    store = next(iter(light.service_context.file_stores.values()))
    for _ in range(6_000):
        if len(await store.list_files(MemorySource.MEMORY)) >= count:
            return
        await asyncio.sleep(0.1)
    raise RuntimeError(f"ReMe has not indexed {count} files after ten minutes")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
