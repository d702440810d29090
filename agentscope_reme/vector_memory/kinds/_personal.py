# -*- coding: utf-8 -*-
"""What is known of a person."""

from ._kind import MemoryKind

__all__ = ["PERSONAL"]

PERSONAL = MemoryKind(
    name="personal",
    argument="user_name",
    prompts="memory_personal",
    categories=("fact", "preference", "plan", "event"),
    people_only=True,
    keeps_profile=True,
)
