# -*- coding: utf-8 -*-
"""mem0 over the texts as they are (infer=False, no model is asked), in its own interpreter: `mem0_side.py FOLDER`."""

import json
import sys
from pathlib import Path
from typing import Any


def main(folder: Path) -> None:
    task = json.loads((folder / "task.json").read_text(encoding="utf-8"))
    found = [answers(folder, number, task, each) for number, each in enumerate(task["conversations"])]
    (folder / "found.json").write_text(json.dumps(found), encoding="utf-8")


def answers(folder: Path, number: int, task: dict[str, Any], conversation: dict[str, Any]) -> list[list[str]]:
    from mem0 import Memory

    access = {"api_key": "none", "openai_base_url": task["address"]}
    store = {"collection_name": f"c{number}", "path": str(folder / f"faiss{number}"), "embedding_model_dims": 512}
    memory = Memory.from_config(
        {
            "vector_store": {"provider": "faiss", "config": {**store, "distance_strategy": "cosine"}},
            "embedder": {"provider": "openai", "config": {"model": "offline", "embedding_dims": 512, **access}},
            "llm": {"provider": "openai", "config": {"model": "none", **access}},
            "history_db_path": str(folder / f"history{number}.db"),
        }
    )
    for key, text, _ in conversation["memories"]:
        memory.add(text, user_id="u", infer=False, metadata={"key": key})
    found = []
    for question in conversation["questions"]:
        hits = memory.search(question, filters={"user_id": "u"}, top_k=task["count"])["results"]
        found.append([hit["metadata"]["key"] for hit in hits])
    return found


if __name__ == "__main__":
    main(Path(sys.argv[1]))
