# -*- coding: utf-8 -*-
"""The command `agentscope-reme`, and the demo behind it (`agentscope_reme.cli.demo`)."""

from ._main import main

__all__ = ["main"]
