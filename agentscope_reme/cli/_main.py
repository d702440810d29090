# -*- coding: utf-8 -*-
"""The command line: which subcommand, and how it ends."""

import argparse
import sys
from collections.abc import Sequence

from .._errors import ReMeError
from .._version import __version__
from . import _demo_command, _refine_command, _reindex_command
from ._terminal import Terminal

__all__ = ["main"]

_COMMANDS = (_demo_command, _reindex_command, _refine_command)
"""Each a module with `NAME`, `SUMMARY`, `configure(parser)` and `run(options, terminal)`; what is heavy is imported in
`run`."""

_FAILED, _WRONG_USE, _INTERRUPTED, _BROKEN_PIPE = 1, 2, 130, 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line.

    Args:
        argv (`Sequence[str] | None`):
            The arguments behind the command's name; the process's own unless given.

    Returns:
        `int`: the exit code: 0; 1 where something failed; 2 for a wrong use, such as an unknown option; 130 after
        Ctrl-C; 141 where the reader of the output went away.
    """
    terminal = Terminal()
    try:
        code = _run(argv, terminal)
        terminal.write("")
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        terminal.give_up()
    except (ReMeError, OSError) as error:
        terminal.complain(f"agentscope-reme: error: {error}")
        return _WRONG_USE if isinstance(error, ValueError) else _FAILED
    return _BROKEN_PIPE if terminal.broken else code


def _run(argv: Sequence[str] | None, terminal: Terminal) -> int:
    parser, commands = _parser()
    try:
        options = parser.parse_args(argv)
    except SystemExit as end:  # argparse has said why
        return int(end.code or 0)
    if options.command is None:
        parser.print_help(sys.stderr)
        return _WRONG_USE
    return commands[options.command].run(options, terminal)


def _parser() -> tuple[argparse.ArgumentParser, dict]:
    parser = argparse.ArgumentParser(
        prog="agentscope-reme",
        description="Memory for AgentScope agents: a context that never overflows, and nothing that was said is lost.",
        epilog="agentscope-reme COMMAND --help tells more about a command.",
    )
    parser.add_argument("--version", action="version", version=f"agentscope-reme {__version__}")
    subparsers = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND")
    for command in _COMMANDS:
        command.configure(subparsers.add_parser(command.NAME, help=command.SUMMARY, description=command.DESCRIPTION))
    return parser, {command.NAME: command for command in _COMMANDS}
