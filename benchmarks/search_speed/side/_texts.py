# -*- coding: utf-8 -*-
"""A workspace of invented notes and dialog in two languages, whose words are as unevenly frequent as real ones.

The same number gives the same files. Standard library only: it is read under the interpreter of each side.
"""

import datetime as dt
import itertools
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

__all__ = ["MARK", "latest_note", "queries", "write_workspace"]

MARK = "zuxqorv"
"""Begins the words that stand in nothing but added notes."""

_NOTE_SHARE = 20  # one note for so many chunks, the others are turns
_TURNS_A_DAY, _TURNS_A_SESSION = 200, 40
_WORDS = 20_000
_BEGAN = dt.datetime(2020, 1, 1, 9, 0)
_STARTS = [
    "b",
    "bl",
    "br",
    "c",
    "ch",
    "d",
    "dr",
    "f",
    "fl",
    "g",
    "gr",
    "h",
    "j",
    "k",
    "l",
    "m",
    "n",
    "p",
    "pl",
    "pr",
    "qu",
    "r",
    "s",
    "sh",
    "st",
    "t",
    "tr",
    "v",
    "w",
]
_VOWELS = ["a", "e", "i", "o", "u", "ai", "ea", "oo"]
_ENDS = ["", "n", "r", "s", "t", "l", "m", "ck", "nd", "ng"]
_FUNCTION_WORDS = [
    "the",
    "and",
    "to",
    "of",
    "a",
    "in",
    "I",
    "it",
    "that",
    "you",
    "for",
    "is",
    "was",
    "on",
    "with",
    "we",
    "my",
    "he",
    "she",
    "this",
    "have",
    "be",
    "are",
    "not",
    "but",
    "they",
    "at",
    "so",
    "what",
    "had",
    "as",
    "about",
    "will",
    "can",
    "would",
    "there",
    "all",
    "me",
    "your",
    "our",
    "one",
    "from",
    "or",
    "if",
    "do",
    "when",
    "out",
    "up",
    "just",
    "been",
    "no",
    "then",
    "like",
    "them",
    "how",
    "her",
]
_FUNCTION_SIGNS = [
    "的",
    "了",
    "我",
    "是",
    "在",
    "你",
    "不",
    "有",
    "就",
    "也",
    "和",
    "他",
    "都",
    "这",
    "说",
    "要",
    "很",
    "会",
    "她",
    "那",
    "我们",
    "没有",
    "一个",
    "什么",
    "可以",
    "因为",
    "所以",
    "还是",
]
_SIGNS = (
    "天地人山水火木金土日月星云风雨雪电花草树林江河湖海石路桥门窗床灯书笔纸画琴棋茶酒饭菜米面油盐糖果肉鱼鸡牛羊马狗猫鸟虫"
    "春夏秋冬早晚年周城市村镇街店学校医院银行公司工厂车船机站票钱衣鞋帽包手机电脑网络信息项目计划会议报告合同客户老师学生"
    "朋友家庭父母孩子音乐电影游戏运动跑步游泳旅行健康睡眠咖啡牛奶面包蛋糕生日礼物搬考试课程语言历史科技研究数据模型设计测试"
)


class _Language:
    """Texts of one language: its words by their rank, each drawn as often as its rank is low."""

    def __init__(self, rng: random.Random, words: Sequence[str], between: str, end: str) -> None:
        self._rng, self._words, self._between, self._end = rng, words, between, end
        self._weights = list(itertools.accumulate(1 / (rank + 2.7) for rank in range(len(words))))

    def words(self, count: int) -> list[str]:
        return self._rng.choices(self._words, cum_weights=self._weights, k=count)

    def sentence(self, shortest: int, longest: int) -> str:
        text = self._between.join(self.words(self._rng.randint(shortest, longest)))
        return text[0].upper() + text[1:] + self._end


def write_workspace(root: Path, chunks: int) -> None:
    """Write dialog and daily notes of about so many chunks: one in twenty a section of a note, the others turns."""
    rng = random.Random(chunks)
    languages = _languages(rng)
    notes = chunks // _NOTE_SHARE
    days = -(-(chunks - notes) // _TURNS_A_DAY)
    for folder in ("memory", "dialog", "tool_result", ".state"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    for day in range(days):
        date = (_BEGAN + dt.timedelta(days=day)).date().isoformat()
        turns = range(day * _TURNS_A_DAY, min((day + 1) * _TURNS_A_DAY, chunks - notes))
        lines = [json.dumps(_turn(rng, languages, at), ensure_ascii=False) for at in turns]
        (root / "dialog" / f"{date}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        sections = range(day * notes // days, (day + 1) * notes // days)
        text = f"# {date}\n\n" + "\n".join(_section(rng, languages[number % 2]) for number in sections)
        (root / "memory" / f"{date}.md").write_text(text, encoding="utf-8")


def latest_note(root: Path) -> Path:
    """The note that is written to last."""
    return max((root / "memory").glob("*.md"))


def queries(root: Path, count: int) -> list[str]:
    """Distinct questions of which every one has words of some turn."""
    rng = random.Random(count)
    files = sorted((root / "dialog").glob("*.jsonl"))
    found: dict[str, None] = {}
    while len(found) < count:
        line = json.loads(rng.choice(rng.choice(files).read_text(encoding="utf-8").splitlines()))
        found[_question(rng, line["content"])] = None
    return list(found)


def _question(rng: random.Random, text: str) -> str:
    if text.isascii():
        words = text.rstrip(".").split()
        at = rng.randrange(max(1, len(words) - 4))
        return f"What did we say about {' '.join(words[at : at + 4])}?"
    at = rng.randrange(max(1, len(text) - 8))
    return f"我们上次说到{text[at : at + 8].rstrip('。')}是什么？"


def _languages(rng: random.Random) -> tuple[_Language, _Language]:
    latin = _distinct(lambda: "".join(_syllables(rng, rng.choice((1, 2, 2, 3)))))
    signs = _distinct(lambda: "".join(rng.choices(_SIGNS, k=rng.choice((1, 2, 2, 2, 3)))))
    return (
        _Language(rng, [*_FUNCTION_WORDS, *itertools.islice(latin, _WORDS)], " ", "."),
        _Language(rng, [*_FUNCTION_SIGNS, *itertools.islice(signs, _WORDS)], "", "。"),
    )


def _distinct(make) -> Iterator[str]:
    seen: set[str] = set()
    while True:
        word = make()
        if word not in seen:
            seen.add(word)
            yield word


def _syllables(rng: random.Random, count: int) -> Iterator[str]:
    for _ in range(count):
        yield rng.choice(_STARTS) + rng.choice(_VOWELS) + rng.choice(_ENDS)


def _turn(rng: random.Random, languages: tuple[_Language, _Language], at: int) -> dict[str, object]:
    day, in_day = divmod(at, _TURNS_A_DAY)
    session = at // _TURNS_A_SESSION
    moment = _BEGAN + dt.timedelta(days=day, hours=2 * (in_day // _TURNS_A_SESSION), seconds=30 * in_day)
    role, name = (("user", "Lin"), ("assistant", "Friday"))[at % 2]
    return {
        "id": f"turn_{at}",
        "name": name,
        "role": role,
        "content": languages[session % 2].sentence(6, 24),
        "metadata": {},
        "timestamp": moment.isoformat(sep=" ", timespec="milliseconds"),
        "invocation_id": None,
        "session_id": f"session_{session}",
    }


def _section(rng: random.Random, language: _Language) -> str:
    sentences = [f"- {language.sentence(6, 20)}" for _ in range(rng.randint(3, 6))]
    return f"## {language.sentence(2, 4)[:-1]}\n\n" + "\n".join(sentences) + "\n"
