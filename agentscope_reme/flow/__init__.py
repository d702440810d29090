# -*- coding: utf-8 -*-
"""Steps composed with ``>>`` (one after another) and ``|`` (at the same time)."""

from ._step import Parallel, Sequence, Step, step

__all__ = ["Step", "Sequence", "Parallel", "step"]
