# -*- coding: utf-8 -*-
"""Cold storage: a JSONL file of memories that were let go, from which each can be had back."""

from __future__ import annotations

__all__: list[str] = []
