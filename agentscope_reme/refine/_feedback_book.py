# -*- coding: utf-8 -*-
"""Which memories each reply was given, and what a judgement of the reply does to their importance."""

from __future__ import annotations

__all__: list[str] = []
