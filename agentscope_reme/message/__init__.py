# -*- coding: utf-8 -*-
"""Messages: reading them in any state, pairing calls with results, counting, cutting."""

from ._blocks import MEDIA_TYPES, blocks_of, call_input, copied, output_text, raw_blocks, tool_results, tool_uses
from ._convert import UNTIMED_ID, as_msgs, msg_to_dict
from ._cut import Cut, CutText, cut_text
from ._estimate import estimate_tokens
from ._halves import without_halves
from ._ledger import MessageTokens, content_signature
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
from ._pairs import CallRef, Pairing, ResultRef, Unit, pair_calls, units
from ._redaction import redacted
from ._render import delimited, escape_data, render, transcript
from ._timestamp import host_timestamp, local_day, parsed_time
from ._tokenizers import CountText, as_counter, tokenizer_for
from ._view import REPAIR_TEXT, needs_view, provider_view

__all__ = [
    # what callers hand in
    "UNTIMED_ID",
    "as_msgs",
    "msg_to_dict",
    "redacted",
    # reading a message
    "MEDIA_TYPES",
    "blocks_of",
    "call_input",
    "copied",
    "output_text",
    "raw_blocks",
    "tool_results",
    "tool_uses",
    # whose it is, and when it was said
    "MARK_KEY",
    "host_timestamp",
    "is_ours",
    "is_recalled",
    "is_repair",
    "is_summary",
    "is_system_prompt",
    "is_user_request",
    "local_day",
    "offloads_of",
    "parsed_time",
    "with_offloads",
    # calls and their results
    "CallRef",
    "Pairing",
    "REPAIR_TEXT",
    "ResultRef",
    "Unit",
    "needs_view",
    "pair_calls",
    "provider_view",
    "without_halves",
    "units",
    # tokens
    "CountText",
    "MessageTokens",
    "as_counter",
    "content_signature",
    "estimate_tokens",
    "tokenizer_for",
    # as text
    "Cut",
    "CutText",
    "cut_text",
    "delimited",
    "escape_data",
    "render",
    "transcript",
]
