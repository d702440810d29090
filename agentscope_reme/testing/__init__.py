# -*- coding: utf-8 -*-
"""Stand-ins for the paid parts, for your own tests: no key, no network, no test framework.

A whole agent without a model behind it::

    model = ScriptedChatModel([call("read_file", path="a.py"), "Done."])
    agent = ReActAgent("coder", "You code.", model, OpenAIChatFormatter(), toolkit)
    await agent(Msg("user", "Look at a.py", "user"))
    assert len(model.requests) == 2
"""

from ._embedding import HashEmbedding
from ._model import ChatRequest, ScriptedChatModel
from ._reply import Reply, ToolCall, call

__all__ = ["ScriptedChatModel", "ChatRequest", "Reply", "ToolCall", "call", "HashEmbedding"]
