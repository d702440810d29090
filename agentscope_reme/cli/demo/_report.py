# -*- coding: utf-8 -*-
"""The last screen: the answer, what became of everything that was said, and the proof that nothing was lost."""

from collections import Counter
from collections.abc import Iterator, Mapping

from ._columns import cells, padded, wrapped
from ._log_view import Line
from ._run import Outcome

__all__ = ["heading", "report"]

_LABEL, _NUMBER = 34, 12


def report(outcome: Outcome, texts: Mapping[str, str], width: int) -> Iterator[Line]:
    """The lines of the report.

    Args:
        outcome (`Outcome`):
            How the run went.
        texts (`Mapping[str, str]`):
            The words.
        width (`int`):
            Columns.
    """
    yield "plain", ""
    yield from heading(texts["answer"], width)
    for paragraph in outcome.answer.splitlines():
        for line in wrapped(paragraph, width):
            yield "answer", line
    yield from heading(texts["became"], width)
    yield from _table(outcome, texts, width)
    yield from heading(texts["proof"], width)
    yield from _proof(outcome, texts, width)


def heading(text: str, width: int) -> Iterator[Line]:
    """The line that begins a part."""
    yield "heading", f"── {text} {'─' * max(0, width - cells(text) - 4)}"


def _table(outcome: Outcome, texts: Mapping[str, str], width: int) -> Iterator[Line]:
    census, tally = outcome.census, outcome.tally
    rows = (
        ("said", census.said, census.said_tokens),
        ("archived", census.archived, census.archived_tokens),
        ("condensed", "", census.summary_tokens),
        ("kept", census.kept, census.kept_tokens),
        ("now", "", census.now_tokens),
    )
    head = padded("", _LABEL) + _right(texts["column_messages"]) + _right(texts["column_tokens"])
    yield "dim", head
    for key, messages, tokens in rows:
        style = "heading" if key in ("said", "now") else "plain"
        yield style, padded(f"  {texts[key]}", _LABEL) + _right(messages) + _right(tokens)
    ratio = texts["ratio_what"].format(said=census.said_tokens, now=census.now_tokens, ratio=census.ratio)
    yield "good", padded(f"  {texts['ratio']}", _LABEL) + padded(ratio, 2 * _NUMBER, right=True)
    folds = texts["folds_what"].format(count=tally.folds)
    cuts = texts["truncations_what"].format(
        count=tally.truncations, files=census.files, kb=round(census.file_bytes / 1000)
    )
    for text in (folds, cuts):
        yield from (("plain", line) for line in wrapped(text, width, "  "))


def _right(value: object) -> str:
    return padded(f"{value:,}" if isinstance(value, int) else str(value), _NUMBER, right=True)


def _proof(outcome: Outcome, texts: Mapping[str, str], width: int) -> Iterator[Line]:
    for held, text in _claims(outcome, texts):
        mark, style = ("✓", "good") if held else ("✗", "bad")
        for at, line in enumerate(wrapped(text, width - 2, "    ")):
            yield style, f"  {mark} {line[4:]}" if at == 0 else line


def _claims(outcome: Outcome, texts: Mapping[str, str]) -> Iterator[tuple[bool, str]]:
    census, window, peak = outcome.census, outcome.tally.window, max(outcome.requests)
    numbers = {**vars(census), "window": window, "peak": peak, "requests": len(outcome.requests)}
    for held, good, bad in (
        (not census.lost and not census.doubled, "once", "not_once"),
        (not census.altered, "words", "not_words"),
        (peak <= window, "window", "not_window"),
    ):
        yield held, texts[good if held else bad].format(**numbers)
    count = {"right": len(outcome.right), "all": len(outcome.right) + len(outcome.missing)}
    missing = ", ".join(outcome.missing)
    yield not missing, texts["not_right" if missing else "right"].format(missing=missing, **count)
    if outcome.findings:
        where = Counter(finding.source for finding in outcome.findings)
        sources = {source: where[source] for source in ("summary", "kept", "archive")}
        yield True, texts["sources"].format(count=len(outcome.findings), **sources)
