# -*- coding: utf-8 -*-
"""The memories, the questions and the right answers, as they were written for all sides."""

import json
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["Given", "Question"]


class Question(NamedTuple):
    """A question with its vector, whose memories it may be about, and the numbers of the right answers."""

    text: str
    user: int
    best: list[int]
    best_of_user: list[int]
    vector: Any


class Given:
    """What was written into a folder; the vectors stay on disk until they are asked for."""

    def __init__(self, folder: Path) -> None:
        import numpy as np

        self.vectors = np.load(folder / "vectors.npy", mmap_mode="r")
        self.memories = json.loads((folder / "memories.json").read_text(encoding="utf-8"))
        vectors = np.load(folder / "questions.npy")
        rows = json.loads((folder / "questions.json").read_text(encoding="utf-8"))
        self.questions = [Question(*row, vector) for row, vector in zip(rows, vectors, strict=True)]

    @property
    def dimensions(self) -> int:
        return int(self.vectors.shape[1])

    def text(self, number: int) -> str:
        return self.memories[number][0]

    def user(self, number: int) -> str:
        return f"user-{self.memories[number][1]}"

    def time(self, number: int) -> float:
        """When it was made, in seconds since the epoch."""
        return 1_700_000_000.0 + 60.0 * number
