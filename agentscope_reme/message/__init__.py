# -*- coding: utf-8 -*-
"""Messages: reading them in any state, pairing calls with results, counting, cutting."""

from ._blocks import MEDIA_TYPES, blocks_of, call_input, copied, output_text, tool_results, tool_uses
from ._convert import as_msgs, msg_to_dict
from ._marks import (
    MARK_KEY,
    is_ours,
    is_recalled,
    is_repair,
    is_summary,
    is_system_prompt,
    is_user_request,
    offloads_of,
    with_offloads,
)
from ._redaction import redacted
from ._timestamp import host_timestamp, local_day, parsed_time

__all__ = [
    "MARK_KEY",
    "MEDIA_TYPES",
    "as_msgs",
    "blocks_of",
    "call_input",
    "copied",
    "host_timestamp",
    "is_ours",
    "is_recalled",
    "is_repair",
    "is_summary",
    "is_system_prompt",
    "is_user_request",
    "local_day",
    "msg_to_dict",
    "offloads_of",
    "output_text",
    "parsed_time",
    "redacted",
    "tool_results",
    "tool_uses",
    "with_offloads",
]
