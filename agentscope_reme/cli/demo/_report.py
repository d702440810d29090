# -*- coding: utf-8 -*-
"""The last screen of each session: the answer, what became of everything that was said, and the proof."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from ._columns import cells, fitted, padded, wrapped
from ._log_view import Line
from ._run import Outcome
from ._second_session import Remembered

__all__ = ["heading", "report", "second_report"]

_LABEL, _NUMBER, _QUOTE = 34, 12, 30


Claim = tuple[bool, str]
"""Whether it holds, and what is said then."""


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
    yield from _answer(outcome.answer, texts, width)
    yield from heading(texts["became"], width)
    yield from _table(outcome, texts, width)
    yield from heading(texts["proof"], width)
    yield from _proof(_claims(outcome, texts), width)


def second_report(remembered: Remembered, texts: Mapping[str, str], width: int) -> Iterator[Line]:
    """The lines about the second session: the answer, and where each value of it stands in the memory's files."""
    yield from _answer(remembered.answer, texts, width)
    yield from heading(texts["checked"], width)
    yield from _proof(_second_claims(remembered, texts), width)


def _answer(answer: str, texts: Mapping[str, str], width: int) -> Iterator[Line]:
    yield "plain", ""
    yield from heading(texts["answer"], width)
    for paragraph in answer.splitlines():
        for line in wrapped(paragraph, width):
            yield "answer", line


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


def _proof(claims: Iterable[Claim], width: int) -> Iterator[Line]:
    for held, text in claims:
        mark, style = ("✓", "good") if held else ("✗", "bad")
        for at, line in enumerate(wrapped(text, width - 2, "    ")):
            yield style, f"  {mark} {line[4:]}" if at == 0 else line


def _claims(outcome: Outcome, texts: Mapping[str, str]) -> Iterator[Claim]:
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


def _second_claims(remembered: Remembered, texts: Mapping[str, str]) -> Iterator[Claim]:
    for each in remembered.citations:
        values = texts["comma"].join(fitted(value, _QUOTE) for value in each.values)
        yield True, texts["cited"].format(values=values, how=texts[each.how], path=each.path, line=each.line)
    if remembered.unfounded:
        yield False, texts["unfounded"].format(values=texts["comma"].join(remembered.unfounded))
    missing = ", ".join(remembered.missing)
    if missing:
        yield False, texts["not_answered"].format(missing=missing)
    wish = remembered.wish
    yield wish is not None, texts["wish"].format(path=wish.path, line=wish.line) if wish else texts["not_wish"]
    peak, window = max(remembered.requests), remembered.tally.window
    numbers = {"peak": peak, "window": window, "requests": len(remembered.requests)}
    yield remembered.fits, texts["window" if remembered.fits else "not_window"].format(**numbers)
