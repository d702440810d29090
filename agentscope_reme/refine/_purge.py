# -*- coding: utf-8 -*-
"""What is removed for good, everywhere it lies, and a count for each place."""

from __future__ import annotations

__all__: list[str] = []
