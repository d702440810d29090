# -*- coding: utf-8 -*-
"""The one way this package asks a host chat model, and reads what it wrote."""

from ._build import build_model, check_config, load_env
from ._json import parse_json
from ._parts import pack_parts, split_to_fit
from ._reply import Reply, ask
from ._thinking import split_thinking, strip_thinking

__all__ = [
    "Reply",
    "ask",
    "build_model",
    "check_config",
    "load_env",
    "pack_parts",
    "parse_json",
    "split_thinking",
    "split_to_fit",
    "strip_thinking",
]
