# -*- coding: utf-8 -*-
"""The model of a demo: a real one where a key is set, else one that answers from a script. Not for copying."""

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentscope.formatter import FormatterBase, OpenAIChatFormatter
from agentscope.model import ChatModelBase

from agentscope_reme import MissingModelError
from agentscope_reme.chat import build_model
from agentscope_reme.testing import ScriptedChatModel

Answer = Callable[[str, str], Any]
"""What a scripted agent says: it is given the last request, and all that its model is shown."""

_MESSAGE = re.compile(r'<message number="(\d+)" role="(\w+)"[^>]*>\n(.*?)\n</message>', re.DOTALL)
_KNOWN = re.compile(r'<memory id="(\w+)"[^>]*>\n(.*?)\n</memory>', re.DOTALL)


@dataclass(frozen=True)
class Lesson:
    """What the script draws from a conversation in which something was said.

    Args:
        said (`str`): the words of a message; without them nothing is drawn.
        content (`str`): the memory.
        category (`str`): its category.
        when_to_use (`str`): for a procedure, the situation.
        instead_of (`str`): words of a known memory that is no longer true, as they stand in it.
        profile (`Mapping[str, str]`): what goes into the profile.
    """

    said: str
    content: str
    category: str = "fact"
    when_to_use: str = ""
    instead_of: str = ""
    profile: Mapping[str, str] | None = None

    def drawn_from(self, request: str) -> dict[str, Any] | None:
        """The entry for the reply; None where nobody said it."""
        heard = ("user",) if not self.when_to_use else ("user", "agent", "tool")
        numbers = [
            int(number) for number, role, text in _MESSAGE.findall(request) if role in heard and self.said in text
        ]
        if not numbers:
            return None
        entry: dict[str, Any] = {
            "content": self.content,
            "category": self.category,
            "from": numbers[:1],
            "action": "add",
        }
        if self.when_to_use:
            entry["when_to_use"] = self.when_to_use
        known = next(
            (id_ for id_, text in _KNOWN.findall(request) if self.instead_of and self.instead_of in text), None
        )
        return {**entry, "action": "supersede", "id": known, "no_longer_true": self.instead_of} if known else entry


def a_model(answer: Answer, lessons: Sequence[Lesson] = ()) -> tuple[ChatModelBase, FormatterBase]:
    """A model and its formatter.

    With `LLM_API_KEY` (and `LLM_BASE_URL`, `LLM_MODEL_NAME`), `DASHSCOPE_API_KEY` or `OPENAI_API_KEY` set it is a real
    one. Else a script: `answer` speaks for the agent, and the lessons are what it draws from conversations.
    """
    backend, name = ("dashscope", "qwen-plus") if os.environ.get("DASHSCOPE_API_KEY") else ("openai", "gpt-4.1-mini")
    try:
        return build_model({"backend": backend, "model_name": os.environ.get("LLM_MODEL_NAME", name)})
    except MissingModelError:
        return ScriptedChatModel(lambda messages, tools: _reply(messages, answer, lessons)), OpenAIChatFormatter()


def _reply(messages: list[dict[str, Any]], answer: Answer, lessons: Sequence[Lesson]) -> Any:
    texts = [_text(message) for message in messages]
    if '"memories"' not in texts[0]:
        said = [text for text, message in zip(texts, messages, strict=True) if message["role"] == "user"]
        return answer(next(text for text in reversed(said) if "<memories" not in text), "\n".join(texts[1:]))
    request = texts[-1]
    entries = [(lesson, entry) for lesson in lessons if (entry := lesson.drawn_from(request))]
    wanted = '"when_to_use"' in texts[0]
    memories = [entry for _, entry in entries if ("when_to_use" in entry) is wanted]
    profile = {key: value for lesson, _ in entries for key, value in (lesson.profile or {}).items()}
    return json.dumps({"memories": memories, "profile": profile}, ensure_ascii=False)


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "\n".join(str(part.get("text", "")) for part in content)
