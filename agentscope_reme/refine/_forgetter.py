# -*- coding: utf-8 -*-
"""Forgetting and remembering again: the passive sweep, expiry, what is forgotten on request, and restoring it."""

from __future__ import annotations

__all__: list[str] = []
