# -*- coding: utf-8 -*-
"""Why a memory was found: the parts of its score, in words."""

from __future__ import annotations

__all__: list[str] = []
