# -*- coding: utf-8 -*-
"""What is forgotten, cut out of messages that nothing was drawn from yet."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from agentscope.message import Msg

from ..message import raw_blocks, render
from ..record import MemoryNode
from ..text import split_sentences
from ._lexicon import Lexicon
from ._naming import is_withheld, mentions
from ._requests import asks_to_forget
from ._words import plain, words_of

__all__ = ["Choice", "about", "asked_until", "kept_of", "said_in", "without"]

Choice = Callable[[Sequence[str]], Collection[int]]
"""Which of some sentences are meant, by their places."""


def about(subjects: Collection[str], lexicon: Lexicon) -> Choice:
    """The sentences that name one of these subjects; not those of health or safety, unless the subject is of that."""

    def named(sentence: str) -> bool:
        return any(
            mentions(subject, _plain(sentence)) and not is_withheld(sentence, subject, lexicon) for subject in subjects
        )

    return lambda sentences: {at for at, each in enumerate(sentences) if named(each)}


def kept_of(subjects: Collection[str], lexicon: Lexicon) -> Choice:
    """The sentences of health or safety that name a subject and stay, whichever of them they name."""
    goes = about(subjects, lexicon)

    def choice(sentences: Sequence[str]) -> Collection[int]:
        named = {at for at, each in enumerate(sentences) if any(mentions(one, _plain(each)) for one in subjects)}
        return named - set(goes(sentences))

    return choice


def asked_until(chosen: Choice, lexicon: Lexicon) -> Choice:
    """The same in the message that asks to forget: what is said behind the request is new."""

    def choice(sentences: Sequence[str]) -> Collection[int]:
        last = max((at for at, each in enumerate(sentences) if asks_to_forget(each, lexicon)), default=-1)
        return chosen(sentences[: last + 1])

    return choice


def said_in(memories: Sequence[MemoryNode]) -> Choice:
    """The sentences that say what these memories say, or a part of it: more of it than a single word."""

    def same(sentence: str) -> bool:
        is_part = len(words_of(sentence)) > 1
        return any(
            mentions(node.content, _plain(sentence))
            or (is_part and mentions(sentence, node))
            or _bare(sentence) == _bare(node.content)
            for node in memories
        )

    return lambda sentences: {at for at, each in enumerate(sentences) if same(each)}


def without(msg: Msg, choice: Choice) -> Msg | None:
    """A message without the sentences that are meant; one in which there are none comes back itself.

    A block that is no text, such as a call of a tool, goes whole.

    Returns:
        `Msg | None`: None where nothing is left.
    """
    content: Any = msg.content
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else raw_blocks(msg)
    cut = [_cut(block, choice) for block in blocks]
    if all(after is before for before, after in zip(blocks, cut, strict=True)):
        return msg
    left = Msg.from_dict({**msg.to_dict(), "content": []})
    left.content = [block for block in cut if block is not None]
    return left if left.content else None


def _cut(block: Any, choice: Choice) -> Any:
    if isinstance(block, dict) and block.get("type") == "text":
        text = str(block.get("text") or "")
        rest = _rest(text, choice)
        return block if rest == text else {**block, "text": rest} if rest else None
    shown = render(Msg("agent", [block], "assistant"), thinking=True)
    return None if choice(split_sentences(shown)) else block


def _rest(text: str, choice: Choice) -> str:
    """The text without these sentences; untouched where none of them is meant."""
    sentences = split_sentences(text)
    meant = choice(sentences)
    if not meant:
        return text
    rest, at = "", 0
    for number, sentence in enumerate(sentences):
        begin = text.find(sentence, at)
        if begin < 0:  # it was put together otherwise: without what stands between
            return "\n".join(each for place, each in enumerate(sentences) if place not in meant)
        rest += text[at:begin] + ("" if number in meant else sentence)
        at = begin + len(sentence)
    return (rest + text[at:]).strip()


def _bare(text: str) -> str:
    """A text that may have no content word, to be compared."""
    return plain(text).casefold().strip(" \t\r\n.!?。！？")


def _plain(sentence: str) -> MemoryNode:
    return MemoryNode(sentence)
