# -*- coding: utf-8 -*-
"""What tools printed: the line that tells of a failure, and the lines that are worth quoting. All of it is data."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from ._cues import gives_orders, identifiers, looks_like_code
from ._one_line import as_data, clipped

__all__ = ["excerpts", "failure_in", "offloaded_to"]

_FAILURE_WIDTH = 200
_EDGE_CHARS = 4000
_EDGE_LINES = 25
_LINE_CHARS = 400
_MOST_HITS = 60
_SHORT_OUTPUT = 3
_FIRST_PAIRS = 5
_MOST_PAIRS = 16
_LONGEST_JSON = 50_000
_DEEPEST_JSON = 6

_HINTS = (
    "error",
    "exception",
    "fail",
    "fatal",
    "fault",
    "denied",
    "refused",
    "not found",
    "no such",
    "timed",
    "panic",
    "exit",
    "dumped",
    "err!",
    "err_",
    *("失败", "报错", "错误", "异常", "致命", "超时", "拒绝", "不存在", "找不到", "不足"),
)
_HINT = re.compile("|".join(map(re.escape, _HINTS)))
_RAISED = re.compile(r"(?:E\s+)?[\w.]*(?:Error|Exception|Fault)\b(?:\s*[:(]|$)")
_FAILURE = re.compile(
    r"^(?:\S+:\s+)?(?:E\s+)?[\w.]*(?:Error|Exception|Fault)\b(?:\s*[:(]|$)"
    r"|^\W*(?:error|fatal|failed|failure|panic|err!|npm err!)\b\s*[:\[(!]|^FAILED\b"
    r"|\berror(?:\[\w+\]|\s+\w?\d+)?:\s|: fatal\b"
    r"|^\W*[\"']?(?:error|err_?msg|exception)[\"']?\s*[:=]\s*[\"'{\w]"
    r"|command not found|no such file or directory|permission denied|connection refused|segmentation fault"
    r"|\btimed out\b|core dumped"
    r"|\bexit(?:ed)?\s*(?:code|status|with(?: code| status)?)?\s*[:=]?\s*[1-9]\d{0,2}\b"
    r"|[1-9]\d*\s+(?:failed|failures|errors?)\b(?![./])"
    r"|^\W*(?:错误|报错|失败|异常|致命)[^。]{0,4}[:：]"
    r"|(?:执行|请求|调用|操作|连接|编译|部署|测试|构建|上传|下载|写入|读取)(?:超时|失败|异常|被拒绝)"
    r"|文件不存在|找不到文件|权限不足",
    re.IGNORECASE,
)
_NO_FAILURE = re.compile(
    r"\b(?:0|no) (?:failed|failures|errors?)\b|\bexcept\b|\braise\b|\bcatch\b|^\W*\d+[:|]"
    r"|失败\s*0|0\s*个?(?:失败|错误)",
    re.IGNORECASE,
)
_OFFLOADED = re.compile(r"tool_result/[\w.%-]{1,200}\.txt")
_NOTICE = re.compile(r"^\[(?:…|\.\.\.)|tool_result/|read_working_memory\(")
_VERDICT = re.compile(
    r"pass|fail|total|found|result|success|summary|warning|updated|created|status|version"
    r"|共|合计|结果|成功|通过|完成|状态|版本",
)


def offloaded_to(output: str) -> str:
    """The file that a shortened output says its full text lies in; `""` where it names none."""
    found = _OFFLOADED.search(output)
    return found[0] if found else ""


def failure_in(output: str) -> str | None:
    """The line of a tool's output that says best what went wrong; `None` where nothing did.

    Lines that only look like errors, such as code that raises one, do not count. The last exception is the one that
    tells; else the first line that reports a failure.
    """
    lowered = output.lower()
    if len(lowered) != len(output):  # a few letters become two
        lowered = output
    if not any(hint in lowered for hint in _HINTS):
        return None
    best = ""
    for line in _lines_at_hints(lowered, output):
        if (not best or _RAISED.match(line)) and _FAILURE.search(line) and not _NO_FAILURE.search(line):
            best = line
    return clipped(as_data(best), _FAILURE_WIDTH) or None


def excerpts(outputs: list[str], wanted: set[str], limit: int) -> list[str]:
    """The most telling lines of each output, on one line: all of a short one, else the best two.

    Args:
        outputs (`list[str]`):
            What tools printed. A line that many of them have, such as a prompt, tells nothing.
        wanted (`set[str]`):
            Identifiers that matter: lines that name one come first.
        limit (`int`):
            The width that each result may have.
    """
    printed = [list(dict.fromkeys(_edges(output, wanted))) for output in outputs]
    common = Counter(line for lines in printed for line in lines)
    worn = max(2, len(outputs) // 4)
    told = [[line for line in lines if common[line] <= worn and not gives_orders(line)] for lines in printed]
    return [clipped(" / ".join(_best(lines, wanted)), limit) for lines in told]


def _best(lines: list[str], wanted: set[str]) -> list[str]:
    if len(lines) <= _SHORT_OUTPUT:
        return lines
    ranked = sorted(range(len(lines)), key=lambda at: (-_telling(lines[at], wanted), -at))
    return [lines[at] for at in sorted(ranked[:2])]


def _telling(line: str, wanted: set[str]) -> float:
    names = identifiers(line)
    used = sum(name in wanted for name in names)
    return (
        3.0 * min(used, 2) + 1.5 * bool(_VERDICT.search(line.lower())) + 0.5 * bool(names) - 2.0 * looks_like_code(line)
    )


def _edges(output: str, wanted: set[str]) -> list[str]:
    """The lines at both ends of an output with something on them; the first and the wanted pairs of a JSON value."""
    if pairs := _json_pairs(output):
        telling = [
            pair for at, pair in enumerate(pairs) if at < _FIRST_PAIRS or not wanted.isdisjoint(identifiers(pair))
        ]
        return [as_data(", ".join(dict.fromkeys(telling[:_MOST_PAIRS])))]
    tail = output[max(_EDGE_CHARS, len(output) - _EDGE_CHARS) :]
    lines = output[:_EDGE_CHARS].splitlines()[:_EDGE_LINES] + tail.splitlines()[-_EDGE_LINES:]
    shown = (as_data(line[:_LINE_CHARS]) for line in lines if not _NOTICE.search(line))
    return [line for line in shown if any(map(str.isalnum, line))]


def _json_pairs(output: str) -> list[str]:
    if output[:1] not in ("{", "[") or len(output) > _LONGEST_JSON:
        return []
    try:
        return list(_leaves(json.loads(output), "", 0))
    except (ValueError, RecursionError):
        return []


def _leaves(value: Any, name: str, depth: int) -> Iterator[str]:
    if depth > _DEEPEST_JSON:
        return
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _leaves(part, str(key), depth + 1)
    elif isinstance(value, list):
        for part in value:
            yield from _leaves(part, name, depth + 1)
    elif value not in (None, ""):
        yield f"{name}: {value}" if name else str(value)


def _lines_at_hints(lowered: str, text: str) -> Iterator[str]:
    """The lines on which something may be said to fail, each once: the first ones, and those near the end."""
    hits = start = 0
    while match := _HINT.search(lowered, start):
        begin = text.rfind("\n", 0, match.start()) + 1
        start = _line_end(text, match.end())
        if text[match.start() : start].rstrip().endswith(":"):  # what went wrong stands on the line below
            start = _line_end(text, start + 1)
        if match.start() - begin > _LINE_CHARS:
            begin = text.find(" ", match.start() - _LINE_CHARS // 2, match.start()) + 1 or match.start()
        yield text[begin : min(start, match.end() + _LINE_CHARS)].strip()
        hits += 1
        if hits == _MOST_HITS:
            start = max(start, len(text) - _EDGE_CHARS)


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end
