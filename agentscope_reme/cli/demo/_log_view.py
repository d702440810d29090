# -*- coding: utf-8 -*-
"""What happens, as lines of text: the base of both views, and the one for files, pipes and CI."""

from collections.abc import Callable, Iterable, Mapping

from ..._events import Event
from ._columns import fitted, padded, row, wrapped
from ._facts import RELOADING
from ._passages import Passage
from ._texts import TEXTS
from ._witness import Tally

__all__ = ["Line", "LogView", "PlainView"]

Line = tuple[str, str]
"""The name of a style, and the text."""

_WIDEST = 110
_INDENT = 22


class LogView:
    """Words for each thing that happens; how a line is shown is the subclass's.

    Args:
        language (`str`):
            `"en"` or `"zh"`.
    """

    is_plain = False

    def __init__(self, language: str) -> None:
        self.texts: Mapping[str, str] = TEXTS[language]
        self._warnings: set[str] = set()

    @property
    def width(self) -> int:
        """Columns of a line."""
        return _WIDEST

    def show(self, style: str, line: str) -> None:
        """Show a finished line."""

    def gauged(self, tally: Tally) -> None:
        """The numbers are other ones now."""

    def lines(self, lines: Iterable[Line]) -> None:
        """Show finished lines."""
        for style, line in lines:
            self.show(style, line)

    def paragraph(self, style: str, text: str, mark: str = "") -> None:
        """Show a text in lines of the view's width, behind a mark."""
        for at, line in enumerate(wrapped(text, self.width - 2, "  ")):
            self.show(style, (mark + line[len(mark) :]) if mark and at == 0 else line)

    def line_count(self, lines: int) -> str:
        """The number of lines in words."""
        return self._say("line" if lines == 1 else "lines", lines=lines)

    # ------------------------------------------------------------------ what happens

    def opened(self, paragraphs: Iterable[str]) -> None:
        title, *rest = paragraphs
        self.show("title", title)
        for text in rest:
            for line in wrapped(text, self.width):
                self.show("dim", line)

    def asked(self, text: str) -> None:
        self.show("plain", "")
        for line in wrapped(self.texts["you"] + text, self.width):
            self.show("asked", line)

    def said(self, text: str) -> None:
        self.show("plain", "")
        self.paragraph("said", text, "*")

    def used(self, tool: str, arguments: str, tokens: int) -> None:
        style = "reload" if tool in RELOADING else "tool"
        self._row(style, tool, arguments, self._say("tokens", count=tokens))

    def truncated(self, tool: str, file: str, before: int, after: int) -> None:
        what = self._say("truncated_what", tool=tool, file=fitted(file, 13))
        self._row("truncated", self.texts["truncated"], what, self._say("from_to", before=before, after=after))

    def folded(self, event: Event) -> None:
        details = event.details
        what = self._say(
            "folded_what",
            messages=details["messages"],
            source=self.texts.get(f"source_{details['source']}", details["source"]),
            ms=round(1000 * (event.duration or 0)),
        )
        figure = self._say("from_to", before=event.tokens_before or 0, after=event.tokens_after or 0)
        self._row("folded", self.texts["folded"], what, figure)

    def noted(self, path: str, lines: int, last: str) -> None:
        self._row("noted", self.texts["noted"], f"{path}  {last}", f"+{self.line_count(lines)}")

    def recalled(self, passage: Passage, tokens: int) -> None:
        place = passage.path if passage.how == "shown" else f"{passage.path}:{passage.line}"
        what = f"{place}  {_gist(passage)}"
        self._row("recalled", self.texts[passage.how], what, self._say("tokens", count=tokens))

    def warned(self, text: str) -> None:
        if text in self._warnings:
            return
        self._warnings.add(text)
        label = self.texts["warning"]
        for line in wrapped(text, self.width - _INDENT):
            self.show("warning", f"  {padded(label, _INDENT - 2)}{line}")
            label = ""

    def _row(self, style: str, label: str, text: str, figure: str) -> None:
        self.show(style, row(label, text, figure, self.width))

    def _say(self, key: str, **values: object) -> str:
        return self.texts[key].format(**values)


class PlainView(LogView):
    """Lines without colour, one after the other.

    Args:
        language (`str`):
            `"en"` or `"zh"`.
        write (`Callable[[str], None]`):
            Takes each line, with its end.
    """

    is_plain = True

    def __init__(self, language: str, write: Callable[[str], None]) -> None:
        super().__init__(language)
        self._write = write
        self._shown: Mapping[str, int] = {}

    def __enter__(self) -> "PlainView":
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to put back."""

    def show(self, style: str, line: str) -> None:
        self._write(f"{line.rstrip()}\n")

    def gauged(self, tally: Tally) -> None:
        if not tally.parts or tally.parts is self._shown:
            return
        self._shown = tally.parts
        what = ", ".join(f"{self.texts[key]} {tokens:,}" for key, tokens in tally.shares.items() if tokens)
        self._row("dim", self.texts["context"], what, f"{tally.used:,} / {tally.threshold:,}")


def _gist(passage: Passage) -> str:
    """The text on one line; of MEMORY.md the last item, where it has one."""
    if passage.how == "shown":
        items = [line for line in passage.text.splitlines() if line.startswith("- ")]
        return items[-1] if items else ""
    return " ".join(passage.text.split())
