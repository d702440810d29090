# -*- coding: utf-8 -*-
"""Whether a model's text may stand for the messages that it summarizes: plain values in, problems out."""

import html
import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache

from ..chat import strip_thinking
from ..text import PromptBook, split_sentences
from ._sections import Checkpoint, heading_count, parse_checkpoint

__all__ = ["SHORT_SUMMARY", "check_summary", "summary_body"]

MIN_HEADINGS = 3
SHORT_SUMMARY = 1_000
"""Tokens below which a summary may be longer than what it replaces: six headings have a length of their own."""

_OPENING_CHARS = 400
_UNTRUSTED_WIDTH = 16
_REPEATED_SHARE = 0.5
_QUOTE_CHARS = 80
_MOST_UNTRUSTED = 2
_HOLLOW_ITEMS = 2
_PATTERN_LISTS = ("compactor.error_patterns", "compactor.refusal_patterns", "compactor.greeting_patterns")
_FENCED = re.compile(r"\A```\w*[ \t]*\n(.*)\n```\s*\Z", re.DOTALL)
_MARKS = re.compile(r"\A[\s\W_]+|[\s\W_]+\Z")
_HAN = r"[\u3400-\u4dbf\u4e00-\u9fff]"
_WORDS = re.compile(rf"(?=({_HAN}{{2}}))|([^\W\u3400-\u9fff]{{4,}}|[^\W\u3400-\u9fff]*\d[^\W\u3400-\u9fff]*)")
_LABEL = re.compile(r"\A[^:：]{1,30}[:：]\s*")


def check_summary(
    text: str,
    *,
    replaced_tokens: int,
    budget: int,
    count: Callable[[str], int],
    book: PromptBook,
    language: str = "en",
    user_text: str = "",
    other_text: str = "",
    agent_text: str = "",
) -> tuple[str, ...]:
    """What is wrong with a summary.

    Args:
        text (`str`): What the model wrote; reasoning in it does not count.
        replaced_tokens (`int`): Tokens of the messages and the summary that it would take the place of.
        budget (`int`): The most tokens that it may have.
        count (`Callable[[str], int]`): Tokens in a text.
        book (`PromptBook`): Holds the openings of errors, refusals and greetings, those of all languages being looked
            for, and the wording of the problems.
        language (`str`): The language of the wording.
        user_text (`str`): What users said, and the previous summary: where goals and constraints may come from.
        other_text (`str`): What tools and others said: where they may not come from.
        agent_text (`str`): What the agent said: where they may come from only as far as it repeats what users said.

    Returns:
        `tuple[str, ...]`: The problems in words that a model can act on; none for a summary that may be used.
    """
    body = summary_body(text)
    checkpoint = parse_checkpoint(body)
    if not _item_count(checkpoint):
        return (book.text(language, "compactor.problem_empty"),)
    found, size = heading_count(body), count(body)
    problems = []
    if quote := _foreign_opening(strip_thinking(text), found, checkpoint, book):
        problems.append(book.text(language, "compactor.problem_not_a_summary", quote=quote[:_QUOTE_CHARS]))
    if found < MIN_HEADINGS:
        problems.append(book.text(language, "compactor.problem_headings", found=found))
    if size > budget:
        problems.append(book.text(language, "compactor.problem_budget", size=size, budget=budget))
    if size > replaced_tokens and size >= SHORT_SUMMARY:
        problems.append(book.text(language, "compactor.problem_longer", size=size, replaced=replaced_tokens))
    for line in _untrusted(checkpoint, user_text, other_text, agent_text)[:_MOST_UNTRUSTED]:
        problems.append(book.text(language, "compactor.problem_untrusted", line=line[:_QUOTE_CHARS]))
    return tuple(problems)


def summary_body(text: str) -> str:
    """The summary in a model's reply: without reasoning, without a fence around it, from its first heading on."""
    answer = strip_thinking(text)
    if fenced := _FENCED.match(answer):
        answer = fenced[1].strip()
    return answer[len(_preamble(answer)) :] if heading_count(answer) >= MIN_HEADINGS else answer


def _preamble(text: str) -> str:
    """What stands before the first of the six headings."""
    length = 0
    for line in text.splitlines(keepends=True):
        if heading_count(line):
            break
        length += len(line)
    return text[:length]


def _foreign_opening(text: str, found: int, checkpoint: Checkpoint, book: PromptBook) -> str:
    """The sentence in which a reply begins like an error, a refusal or a greeting; "" where none does.

    A summary may quote errors, so only its opening is looked at: what comes before its headings, or all of it where it
    has next to no items.
    """
    opening = _preamble(text) if found >= MIN_HEADINGS else text
    sentences = split_sentences(opening[:_OPENING_CHARS])
    if found >= MIN_HEADINGS and _item_count(checkpoint) <= _HOLLOW_ITEMS:
        sentences += [sentence for item in _items(checkpoint) for sentence in split_sentences(item[:_OPENING_CHARS])]
    patterns = [pattern for each in book.languages() for pattern in _patterns(book, each)]
    bare = (sentence.lstrip(" \t#*_>-`'\"“”‘’[(（【") for sentence in sentences)
    return next((each for each in bare if any(pattern.match(each) for pattern in patterns)), "")


def _patterns(book: PromptBook, language: str) -> tuple[re.Pattern[str], ...]:
    names = set(book.names(language))
    return tuple(_compiled(each) for name in _PATTERN_LISTS if name in names for each in book.list(language, name))


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _untrusted(checkpoint: Checkpoint, user_text: str, other_text: str, agent_text: str) -> list[str]:
    """Lines under Goal and Constraints that stand word for word in what others said, and not in what users said."""
    lines = [(line, form) for line in (*checkpoint.goal, *checkpoint.constraints) for form in _forms(line)]
    if not lines:
        return []
    other, agent = _normalised(other_text), _normalised(agent_text)
    suspects = [(line, form) for line, form in lines if form in other or form in agent]
    if not suspects:
        return []
    user = _normalised(user_text)
    known = _words(user)
    foreign = ((line, form) for line, form in suspects if form not in user)
    return list(dict.fromkeys(line for line, form in foreign if form in other or not _repeats(form, known)))


def _repeats(form: str, known: frozenset[str]) -> bool:
    """Whether a line takes up the words of the user, in another order or mood."""
    words = _words(form)
    return len(words & known) >= _REPEATED_SHARE * len(words)


def _words(text: str) -> frozenset[str]:
    """The words that carry something: long or with a digit, and pairs of Chinese characters."""
    return frozenset(match[0] or match[1] for match in _WORDS.findall(text))


def _forms(line: str) -> list[str]:
    """The line as it is compared, and what follows a label in it."""
    bare = (_MARKS.sub("", each) for each in (_normalised(line), _LABEL.sub("", _normalised(line))))
    return [each for each in dict.fromkeys(bare) if _width(each) >= _UNTRUSTED_WIDTH]


def _width(text: str) -> int:
    """Columns on a screen: a Chinese character says as much as two letters."""
    return sum(2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in text)


def _normalised(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", html.unescape(text)).casefold().split())


def _items(checkpoint: Checkpoint) -> Iterator[str]:
    for field in vars(checkpoint).values():
        yield from field


def _item_count(checkpoint: Checkpoint) -> int:
    return sum(1 for _ in _items(checkpoint))
