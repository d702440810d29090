# -*- coding: utf-8 -*-
"""The decisions of the demo's agent, replayed: which tool next, and when to look something up again.

The script decides, and nothing more. It has no memory of its own: what it reports it reads, with regular expressions,
in the messages of the very request that it answers, as a model would. A fact that compaction took out of the context is
looked up in the archive; if it could not be found there, the report would say so.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...testing import Reply, ToolCall, call
from ._dialogue import DIALOGUES, Dialogue
from ._facts import FACTS, Finding, Seen

__all__ = ["Investigation"]

SERVER_LOG = "logs/server.log"
_AT_ONCE = 2

Step = tuple[str, Callable[[Seen], Sequence[ToolCall]]]


def _read(path: str, start_line: int = 1, lines: int = 400) -> ToolCall:
    return call("read_file", path=path, start_line=max(1, start_line), lines=lines)


def _search(pattern: str, path: str) -> ToolCall:
    return call("search_files", pattern=pattern, path=path)


def _run(command: str) -> ToolCall:
    return call("run_command", command=command)


_FIRST_ERROR = r"logs/server\.log:(\d+): \S+ \S+ ERROR"
_RESTART = r"logs/server\.log:(\d+): \S+ \S+ INFO +service +- restarted"

STEPS: Sequence[Step] = (
    ("look", lambda seen: [call("list_files", path=".")]),
    ("", lambda seen: [_read("README.md"), _read("docs/runbook.md")]),
    ("", lambda seen: [_read("docs/deploys.md")]),
    ("customers", lambda seen: [_run("log_stats")]),
    ("", lambda seen: [_read("logs/gateway.log")]),
    ("server", lambda seen: [_read(SERVER_LOG)]),
    ("", lambda seen: [_search("ERROR", SERVER_LOG)]),
    ("", lambda seen: [_read(SERVER_LOG, seen.number(_FIRST_ERROR) - 30, 40)]),
    ("code", lambda seen: [_read("orderdesk/checkout.py"), _read("orderdesk/connections.py")]),
    ("", lambda seen: [_read("orderdesk/paylane.py")]),
    ("", lambda seen: [_search("continue", "orderdesk"), _search("release(", "orderdesk")]),
    ("settings", lambda seen: [_run("settings")]),
    ("", lambda seen: [_read("config/default.ini"), _read("config/production.ini")]),
    ("", lambda seen: [_search("timeout", SERVER_LOG)]),
    ("proof", lambda seen: [_run("replay")]),
    ("", lambda seen: [_run("tests")]),
    ("", lambda seen: [_read("tests/test_paylane.py")]),
    ("others", lambda seen: [_search("slow query", SERVER_LOG), _read("config/gateway.ini")]),
    ("", lambda seen: [_search("restarted", SERVER_LOG)]),
    ("", lambda seen: [_read(SERVER_LOG, seen.number(_RESTART) - 10, 30)]),
    ("", lambda seen: [_read(SERVER_LOG, 401)]),
    ("", lambda seen: [_read(SERVER_LOG, 801)]),
    ("", lambda seen: [_read(SERVER_LOG, 1201)]),
)


class Investigation:
    """The script, to be given to a `ScriptedChatModel`.

    Args:
        language (`str`):
            What it speaks, `"en"` or `"zh"`.

    Attributes:
        findings (`list[Finding]`):
            What the report was made of, and where each of it was found.
    """

    def __init__(self, language: str = "en") -> None:
        self._language = language
        self._words: Dialogue = DIALOGUES[language]
        self._replies = self._decide()
        self._seen = Seen([])
        self.findings: list[Finding] = []

    def __call__(self, messages: list[dict[str, Any]], _tools: list[dict[str, Any]] | None) -> Reply:
        self._seen = Seen(messages)
        return next(self._replies)

    def _decide(self) -> Iterator[Reply]:
        for chapter, calls in STEPS:
            yield [*([self._words.chapters[chapter]] if chapter else []), *calls(self._seen)]
        yield self._words.conclusion
        yield from self._look_up()
        yield self._report()

    def _look_up(self) -> Iterator[Reply]:
        """Search the archive for each fact that is not in sight, a few at a time; what was found and has been condensed
        away again meanwhile is searched once more."""
        tried: Counter[str] = Counter()
        found: set[str] = set()
        said = self._words.missing
        while True:
            wanted = [fact.search[self._language] for fact in FACTS if self._seen.find(fact) is None]
            found.update(fact.search[self._language] for fact in FACTS if self._seen.find(fact) is not None)
            searches = [each for each in dict.fromkeys(wanted) if tried[each] < 1 + (each in found)][:_AT_ONCE]
            if not searches:
                return
            tried.update(searches)
            yield [*([said] if said else []), *(call("grep_working_memory", pattern=each) for each in searches)]
            said = ""

    def _report(self) -> str:
        self.findings = [found for fact in FACTS if (found := self._seen.find(fact)) is not None]
        values = {name: self._words.unknown for fact in FACTS for name in fact.names}
        for finding in self.findings:
            values.update(finding.values)
        return self._words.report.format(**values)
