# -*- coding: utf-8 -*-
"""The package's warnings, into the picture."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from ._witness import Spectacle

__all__ = ["warnings_to"]


class _Telling(logging.Handler):
    def __init__(self, view: Spectacle) -> None:
        super().__init__(logging.WARNING)
        self._view = view

    def emit(self, record: logging.LogRecord) -> None:
        self._view.warned(record.getMessage())


@contextmanager
def warnings_to(view: Spectacle) -> Iterator[None]:
    """Warnings of the package go into the picture, not across it."""
    logger, handler = logging.getLogger("agentscope_reme"), _Telling(view)
    propagated, logger.propagate = logger.propagate, False
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagated
