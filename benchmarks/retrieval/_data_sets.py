# -*- coding: utf-8 -*-
"""Reading the public data sets, none of which is part of this repository."""

import json
import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from ._cases import Conversation, DataSet, Memory, Question

__all__ = ["DATA_SETS", "SOURCES", "read"]

SOURCES = {
    "locomo": "github.com/snap-research/locomo, data/locomo10.json (CC BY-NC 4.0)",
    "bfcl": "github.com/ShishirPatil/gorilla, BFCL v4 memory and its prerequisite conversations (Apache-2.0)",
    "memorybank": "github.com/zhongwanjun/MemoryBank-SiliconFriend, eval_data/cn (MIT), with labels of one's own",
    "madial": "github.com/hejunqing/MADial-Bench, data/ch (MIT)",
}
_TURN = timedelta(seconds=20)


def read(name: str, folder: Path) -> DataSet | None:
    """A data set; None where the folder does not have it."""
    return DATA_SETS[name](folder)


def locomo(folder: Path) -> DataSet | None:
    """Ten long English conversations of two people; a question's evidence are the turns that answer it."""
    files = [folder] if folder.is_file() else sorted((folder / "locomo").glob("*.json"))
    samples = [sample for file in files for sample in json.loads(file.read_text(encoding="utf-8"))]
    if not samples:
        return None
    pairs = [_locomo_conversation(sample) for sample in samples]
    return DataSet("locomo", "dialog", [conversation for conversation, _ in pairs], sum(left for _, left in pairs))


def _locomo_conversation(sample: dict[str, Any]) -> tuple[Conversation, int]:
    said = sample["conversation"]
    memories = []
    for number in sorted(int(key.split("_")[1]) for key in said if re.fullmatch(r"session_\d+", key)):
        began = datetime.strptime(said[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y")
        for at, turn in enumerate(said[f"session_{number}"]):
            text = turn["text"] + (f" [shares {turn['blip_caption']}]" if turn.get("blip_caption") else "")
            role = "user" if turn["speaker"] == said["speaker_a"] else "assistant"
            spoken = ((role, turn["speaker"], text),)
            memories.append(Memory(turn["dia_id"], spoken, began + at * _TURN, f"session_{number}"))
    known = {memory.id for memory in memories}
    questions, left_out = [], 0
    for item in sample["qa"]:
        named = {each for text in item["evidence"] for each in re.split(r"[;,\s]+", text)}
        if gold := frozenset(named & known):
            questions.append(Question(str(item["question"]), gold, str(item["category"])))
        else:
            left_out += 1
    return Conversation(str(sample["sample_id"]), memories, questions, memories[-1].time), left_out


def memorybank(folder: Path) -> DataSet | None:
    """Chinese conversations of fifteen people with an assistant; a memory is a request with its answer."""
    bank, gold = folder / "memorybank" / "memory_bank_cn.json", folder / "memorybank" / "gold_cn.json"
    if not bank.exists() or not gold.exists():
        return None
    labels = json.loads(gold.read_text(encoding="utf-8"))
    conversations = []
    for user, person in json.loads(bank.read_text(encoding="utf-8")).items():
        memories = []
        for day, exchanges in person["history"].items():
            for at, pair in enumerate(exchanges):
                said = (("user", user, pair["query"]), ("assistant", "AI", pair["response"]))
                time = datetime.fromisoformat(day) + timedelta(hours=12) + 3 * at * _TURN
                memories.append(Memory(f"{day}#{at}", said, time, day))
        questions = [Question(each["question"], frozenset(each["evidence"])) for each in labels if each["user"] == user]
        if questions:
            conversations.append(Conversation(user, memories, questions, memories[-1].time))
    return DataSet("memorybank", "dialog", conversations)


def madial(folder: Path) -> DataSet | None:
    """Chinese dialogues of two children with an assistant that ought to think of an event; events are notes."""
    events, dialogues = (folder / "madial" / f"MADial-Bench-zh-{name}.json" for name in ("memory", "dialogue"))
    if not events.exists() or not dialogues.exists():
        return None
    notes = [next(iter(line.values())) for line in _lines(events)]
    asked = list(_lines(dialogues))
    conversations = []
    for user in sorted({note["user-id"] for note in notes}):
        mine = [note for note in notes if note["user-id"] == user]
        memories = [_event(note) for note in mine]
        known = {memory.id for memory in memories}
        questions = []
        for dialogue in (each for each in asked if each["user-id"] == user):
            turns = [_spoken(line) for line in dialogue["dialogue"][1 : dialogue["test-turn"][0]]]
            gold = frozenset(map(str, dialogue["relevant-id"])) & known
            if gold:
                questions.append(Question("\n".join(turns), frozenset(gold)))
        conversations.append(Conversation(str(user), memories, questions, datetime(2024, 6, 1)))
    left_out = len(asked) - sum(len(conversation.questions) for conversation in conversations)
    return DataSet("madial", "notes", conversations, left_out)


def _event(note: dict[str, Any]) -> Memory:
    text = f"{note['event']}（{note['scene']}，{note['emotion']}）"
    return Memory(str(note["id"]), (("user", "", text),), datetime.fromisoformat(note["time"]), "")


def _spoken(line: str) -> str:
    return line.strip().partition(":")[2].strip('"') or line.strip()


def bfcl(folder: Path) -> DataSet | None:
    """What English users told an assistant in five scenes; a question quotes where its answer was said."""
    base = folder / "bfcl_memory"
    if not (base / "questions.json").exists():
        return None
    answers = {answer["id"]: answer for answer in _lines(base / "answers.json")}
    questions = list(_lines(base / "questions.json"))
    conversations, left_out = [], 0
    for scene in sorted({question["scenario"] for question in questions}):
        memories = list(_told(base / f"prereq_{scene}.json"))
        plain = {memory.id: _plain(memory.text) for memory in memories}
        asked = []
        for question in (each for each in questions if each["scenario"] == scene):
            gold = _quoted(answers[question["id"]]["source"], plain)
            if gold:
                asked.append(Question(question["question"][0][0]["content"], gold, scene))
            else:
                left_out += 1
        conversations.append(Conversation(scene, memories, asked, memories[-1].time))
    return DataSet("bfcl", "dialog", conversations, left_out)


def _told(file: Path) -> Iterator[Memory]:
    for session, conversation in enumerate(_lines(file)):
        messages = [message for turn in conversation["question"] for message in turn]
        for at, message in enumerate(messages):
            time = datetime(2024, 1, 1, 9) + timedelta(days=session) + 3 * at * _TURN
            said = ((message["role"], message["role"], message["content"]),)
            yield Memory(f"{session}:{at}", said, time, f"{file.stem}_{session}")


def _quoted(source: str | list[str], plain: dict[str, str]) -> frozenset[str]:
    """The memories that hold one of the quoted passages, else those that share four fifths of its words."""
    text = source if isinstance(source, str) else " ... ".join(source)
    passages = [passage for part in re.split(r"\.\.\.|…", text) if (passage := _plain(part))]
    gold = {key for key, said in plain.items() if any(passage in said for passage in passages)}
    if gold:
        return frozenset(gold)
    words = set(_plain(re.sub(r"^\w+:", "", text)).split())
    shared = {key: len(words & set(said.split())) / max(1, len(words)) for key, said in plain.items()}
    best = max(shared.values(), default=0.0)
    return frozenset(key for key, share in shared.items() if share == best) if best >= 0.8 else frozenset()


def _plain(text: str) -> str:
    return re.sub(r"\W+", " ", text.lower()).strip()


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.strip():
            yield json.loads(line)


DATA_SETS: dict[str, Callable[[Path], DataSet | None]] = {
    "locomo": locomo,
    "bfcl": bfcl,
    "memorybank": memorybank,
    "madial": madial,
}
