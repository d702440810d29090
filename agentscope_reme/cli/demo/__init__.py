# -*- coding: utf-8 -*-
"""The demo: an agent investigates an incident in a sample project, in a context far too small for it, and is asked
about it later, in another process.

Its parts are there to be used by your own programs too: `demos/quickstart.py` shows how.
"""

from ._columns import fitted, padded, wrapped
from ._commands import COMMANDS, Commands
from ._dialogue import DIALOGUES, Dialogue
from ._facts import FACTS, Fact, Finding
from ._live_view import LiveView
from ._log_view import LogView, PlainView
from ._passages import Passage
from ._project import SampleProject
from ._project_tools import ProjectTools
from ._recollection import Recollection
from ._report import heading, report, second_report
from ._run import DemoRun, Outcome
from ._script import Investigation
from ._second_session import Citation, Remembered, SecondSession
from ._texts import TEXTS
from ._witness import Spectacle, Tally, Witness

__all__ = [
    # what the agent works on, and with
    "SampleProject",
    "ProjectTools",
    "Commands",
    "COMMANDS",
    # who decides, and what is said
    "Investigation",
    "Recollection",
    "Fact",
    "FACTS",
    "Finding",
    "Dialogue",
    "DIALOGUES",
    # the first session
    "DemoRun",
    "Outcome",
    # the second, in another process
    "SecondSession",
    "Remembered",
    "Citation",
    "Passage",
    # watching either
    "Tally",
    "Witness",
    # how it is shown
    "Spectacle",
    "LogView",
    "PlainView",
    "LiveView",
    "TEXTS",
    "heading",
    "fitted",
    "padded",
    "wrapped",
    "report",
    "second_report",
]
