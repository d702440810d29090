# -*- coding: utf-8 -*-
"""The sample project that the demo's agent works on, written into a folder of its own."""

from dataclasses import dataclass
from pathlib import Path

from ._project_code import CODE
from ._project_docs import CONFIG, papers
from ._project_logs import Morning, morning
from ._project_scripts import SCRIPTS

__all__ = ["SampleProject"]


@dataclass(frozen=True)
class SampleProject:
    """A copy of the project, and what is wrong with it.

    Args:
        root (`Path`):
            The folder.
        answers (`dict[str, str]`):
            What whoever investigates it should find, by the name of the fact.
    """

    root: Path
    answers: dict[str, str]

    @classmethod
    def write(cls, folder: str | Path, language: str = "en") -> "SampleProject":
        """Write the project into a folder, which is made; the same bytes every time.

        Args:
            folder (`str | Path`):
                Where to.
            language (`str`):
                The language of its papers, `"en"` or `"zh"`.
        """
        root, log = Path(folder).absolute(), morning()
        files = {**papers(language), **CONFIG, **CODE, **SCRIPTS}
        files["logs/server.log"] = "\n".join(log.server) + "\n"
        files["logs/gateway.log"] = "\n".join(log.gateway) + "\n"
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        return cls(root, _answers(log))

    @classmethod
    def at(cls, folder: str | Path) -> "SampleProject":
        """The copy that was written into a folder before; nothing is read or written."""
        return cls(Path(folder).absolute(), _answers(morning()))


def _answers(log: Morning) -> dict[str, str]:
    time, request = log.first_failed or ("", "")
    return {
        "ticket": "CHG-4127",
        "author": "l.moreno",
        "before": "2500",
        "after": "250",
        "setting": f"config/production.ini:{_line_of(CONFIG['config/production.ini'], 'timeout_ms')}",
        "code": f"orderdesk/paylane.py:{_line_of(CODE['orderdesk/paylane.py'], 'continue')}",
        "pool": "24",
        "timeouts": str(log.before_it),
        "checkouts": str(log.checkouts),
        "failed": str(log.failed),
        "first_time": time,
        "first_request": request,
        "extension": "5530",
    }


def _line_of(text: str, word: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), 1) if word in line)
