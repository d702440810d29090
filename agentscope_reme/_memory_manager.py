# -*- coding: utf-8 -*-
"""The memory that attaches itself to agents."""

import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from agentscope.agent import ReActAgent
from agentscope.memory import InMemoryMemory
from agentscope.message import Msg

from ._config import ContextConfig, RecallConfig
from ._errors import AttachError, ConfigError, SessionNotFoundError, StorageError
from ._events import EventKind
from ._guide_shelf import GuideShelf, GuideSource, Shelving
from ._listening import Listening
from ._model_source import UNSET, Lender, Pair, Unset
from ._note_search import Folders
from ._owners import Names, Owners
from ._recall import Recall
from ._recall_sources import NoteSource, RecallSource, Remembering, StandingSource, VectorSource
from ._reme_light import NOTES_TIMEOUT, ReMeLight
from ._session_purge import together
from ._session_users import SessionUsers
from ._tool_caller import Caller, message_of, tools_of
from ._tool_recording import Recording, ToolRecording
from .message import MessageTokens, as_counter, as_msgs
from .notes import NoteWriter
from .record import MemoryNode
from .text import PromptBook
from .working_memory import ReloadTools, ReMeInMemoryMemory, Summary, ToolResultPolicy, Turn

if TYPE_CHECKING:
    from agentscope.embedding import EmbeddingModelBase
    from agentscope.formatter import FormatterBase
    from agentscope.model import ChatModelBase
    from agentscope.token import TokenCounterBase
    from agentscope.tool import Toolkit

    from .refine import Purged

__all__ = ["MemoryManager"]

logger = logging.getLogger("agentscope_reme")

HOOK_NAME = "agentscope_reme"

EVERY_TOOL = "*"

_COMMANDS = ("/compact", "/new", "/clear", "/history", "/status")


@dataclass
class Attachment:
    """An agent, and what was given to it."""

    agent: ReActAgent
    memory: ReMeInMemoryMemory
    owners: Owners = field(default_factory=Owners)
    every_tool: bool = True
    """Whether the memories of all the agent's tools are meant, also of those it gets later."""
    given: list[MemoryNode] = field(default_factory=list)
    """The memories that its next reply is given."""


class Remembers(Remembering, Recording, Shelving, Protocol):
    """What is needed of a `ReMe`."""


class MemoryManager(ReMeLight):
    """Gives agents a memory that never overflows their context.

        manager = MemoryManager(working_dir="memory")
        await manager.start()
        manager.attach(agent)

    Before each reasoning step of an attached agent long tool results are put into files, and where the context has
    grown above its threshold the older messages are condensed into a summary and archived. An agent's own model writes
    the summaries unless another is given.

    Args:
        working_dir, model, formatter, token_counter, default_llm_config, default_as_llm_config, embedding_model,
        default_embedding_model_config, default_file_store_config, vector_weight, candidate_multiplier, extra_folders,
        enable_load_env, language, timezone, redact, prompts, enable_notes:
            As in `ReMeLight`. Without a model the agent's own is borrowed; `model=None` given on purpose means
            extractive summaries.
        max_input_length (`int`):
            The agents' input window in tokens.
        compact_ratio (`float`):
            The share of it that may be used; the threshold is `int(max_input_length * compact_ratio * 0.95)`.
        memory_compact_reserve (`int | None`):
            Tokens that a compaction keeps of the latest messages; 10,000 unless the window is too small for that.
        warn_ratio (`float`):
            The share of the threshold at which a usage warning is emitted.
        enable_tool_result_compact (`bool`):
            Whether long tool results are put into files.
        tool_result_compact_keep_n (`int`), recent_max_bytes (`int`), old_max_bytes (`int`), retention_days:
            How many of the latest results are recent; the most bytes that stay of a recent and of an older one; days
            after which a file expires that nothing refers to, `None` for never.
        recall (`RecallConfig | bool | None`):
            Whether notes and archive are searched before each reply, and how much of what is found is shown. `None`
            leaves them alone; `False` leaves the memories of `recall_from` alone too. MEMORY.md is shown in any case,
            unless a configuration says otherwise.
        recall_from (`ReMe | None`):
            A vector memory that is searched as well, for the person, tasks and tools that `attach` names: what it and
            the notes hold is shown in one order. What it knows of the tools is shown whatever is asked, as far as there
            is room. It stays yours to start and to close.
        recall_names (`Mapping[str, str | Sequence[str]] | None`):
            `user_name`, `task_name` and `tool_name` of every agent for which `attach` does not say it.
        record_tool_calls (`bool`):
            Whether the calls that attached agents make of their tools are recorded in `recall_from`, in the background.
        capture (`bool`):
            Whether what is said is handed to `recall_from`, which draws memories of the users that `attach` names: see
            `ReMe.add_interaction`. Leave it out where a `ReMeLongTermMemory` records the same conversation.
        enable_search_tools (`bool`):
            Whether agents get `memory_search` and `memory_get`, whose schemas take some 800 tokens of each request.

    Raises:
        `ConfigError`: an argument cannot work.
    """

    def __init__(
        self,
        working_dir: str | Path = ".reme",
        *,
        model: "ChatModelBase | Unset | None" = UNSET,
        formatter: "FormatterBase | None" = None,
        token_counter: "Callable[[str], int] | TokenCounterBase | None" = None,
        default_llm_config: Mapping[str, Any] | None = None,
        default_as_llm_config: Mapping[str, Any] | None = None,
        embedding_model: "EmbeddingModelBase | None" = None,
        default_embedding_model_config: Mapping[str, Any] | None = None,
        default_file_store_config: Mapping[str, Any] | None = None,
        vector_weight: float = 0.7,
        candidate_multiplier: float = 3.0,
        extra_folders: Folders = (),
        enable_load_env: bool = False,
        language: str | None = None,
        timezone: str | tzinfo | None = None,
        redact: Callable[[str], str] | None = None,
        prompts: PromptBook | None = None,
        enable_notes: bool = True,
        max_input_length: int = 131_072,
        compact_ratio: float = 0.7,
        memory_compact_reserve: int | None = None,
        warn_ratio: float = 0.85,
        enable_tool_result_compact: bool = True,
        tool_result_compact_keep_n: int = 3,
        recent_max_bytes: int = 102_400,
        old_max_bytes: int = 3_000,
        retention_days: float | None = 3,
        recall: RecallConfig | bool | None = None,
        recall_from: Remembers | None = None,
        recall_names: Mapping[str, Names] | None = None,
        record_tool_calls: bool = True,
        capture: bool = False,
        enable_search_tools: bool = True,
    ) -> None:
        super().__init__(
            working_dir,
            model=model,
            formatter=formatter,
            token_counter=token_counter,
            default_llm_config=default_llm_config,
            default_as_llm_config=default_as_llm_config,
            embedding_model=embedding_model,
            default_embedding_model_config=default_embedding_model_config,
            default_file_store_config=default_file_store_config,
            vector_weight=vector_weight,
            candidate_multiplier=candidate_multiplier,
            extra_folders=extra_folders,
            enable_load_env=enable_load_env,
            language=language,
            timezone=timezone,
            redact=redact,
            prompts=prompts,
            enable_notes=enable_notes,
            retention_days=retention_days,
        )
        self._services = replace(
            self._services,
            context=ContextConfig(max_input_length, compact_ratio, memory_compact_reserve, warn_ratio),
            policy=ToolResultPolicy(tool_result_compact_keep_n, recent_max_bytes, old_max_bytes, retention_days),
        )
        self._truncate = enable_tool_result_compact
        reload = ReloadTools(self.workspace, book=self._services.book, language=self._services.language or "en")
        self._tools: tuple[Callable[..., Any], ...] = (
            reload.grep_working_memory,
            reload.read_working_memory,
            *(self._search_tools.functions() if enable_search_tools else ()),
        )
        config = recall if isinstance(recall, RecallConfig) else RecallConfig(enabled=bool(recall))
        self._recall = Recall(self._services, config)
        self._note_sources: tuple[RecallSource, ...] = (NoteSource(self._search.search),) if config.enabled else ()
        self._vector_memory = recall_from
        self._session_users = SessionUsers(self.workspace.state_dir)
        self._recall_from = recall_from if recall is None or config.enabled else None
        self._recall_names = _checked_names(recall_names, recall_from)
        self._guides = None if self._recall_from is None else GuideShelf(self._recall_from)
        self._recording: ToolRecording | None = None
        if recall_from is not None and record_tool_calls:
            self._recording = ToolRecording(recall_from, self._services, self._caller)
        if capture and not hasattr(recall_from, "add_interaction"):
            raise ConfigError("capture=True needs a vector memory to draw memories for: give recall_from= a ReMe.")
        self._listening = Listening(recall_from, self._services) if capture else None  # type: ignore[arg-type]
        self._attached: dict[int, Attachment] = {}

    # ------------------------------------------------------------------ agents

    def attach(
        self,
        agent: ReActAgent,
        session_id: str | None = None,
        *,
        user_name: Names = "",
        task_name: Names = "",
        tool_name: Names = "",
    ) -> ReMeInMemoryMemory:
        """Give an agent a memory of ours, the hook, and the tools to reload what was folded away.

        Its messages, marks and summary move into the new memory.

        Args:
            agent (`ReActAgent`):
                The agent. Several may be attached, each with a memory and a session of its own.
            session_id (`str | None`):
                The id of the new session; a fresh one if left out.
            user_name (`str | Sequence[str]`), task_name (`str | Sequence[str]`):
                Whose memories, and of which tasks, are recalled from `recall_from`; nobody's if left out.
            tool_name (`str | Sequence[str]`):
                Of which tools; `"*"`, or left out: of all that the agent has, without ours. An empty list: of none.

        Returns:
            `ReMeInMemoryMemory`: the agent's memory from now on.

        Raises:
            `ConfigError`: something that is no name.
            `AttachError`: it is attached already, here or elsewhere; its own compression is on; its memory is of a kind
            that cannot be moved; or its toolkit has a tool of one of our names. Nothing has changed then.
        """
        self._refuse_closed()
        self._check_agent(agent)
        owners, every_tool = self._owners(user_name=user_name, task_name=task_name, tool_name=tool_name)
        if self._counter_is_open:  # nothing has been counted yet: count as the first agent's model does
            counter = as_counter(None, getattr(agent.model, "model_name", None))
            self._services = replace(self._services, tokens=MessageTokens(counter))
        memory = self._adopted(agent, session_id)
        self._session_users.note(memory.session_id or "", owners.user_name)
        for tool in self._tools:
            if tool.__name__ not in agent.toolkit.tools:
                agent.toolkit.register_tool_function(tool)
        self._count_overhead(memory, agent)
        agent.memory = memory
        self._listen(memory, owners)
        agent.register_instance_hook("pre_reply", HOOK_NAME, self._before_reply)
        agent.register_instance_hook("pre_reasoning", HOOK_NAME, self._before_reasoning)
        agent.register_instance_hook("post_reply", HOOK_NAME, self._after_reply)
        self._attached[id(agent)] = Attachment(agent, memory, owners, every_tool)
        self._watch_tools()
        self._events.emit(EventKind.ATTACHED, session_id=memory.session_id, agent=agent.name, moved=len(memory.content))
        return memory

    def detach(self, agent: ReActAgent) -> InMemoryMemory:
        """Take back what `attach` gave, and hand the live messages, marks and summary to the agent in a plain memory of
        the host.

        Raises:
            `AttachError`: the agent is not attached here.
        """
        attachment = self._attachment(agent)
        with suppress(RuntimeError):  # no loop runs
            self._hear(attachment)
        memory = attachment.memory
        del self._attached[id(agent)]
        self._watch_tools()
        agent.remove_instance_hook("pre_reply", HOOK_NAME)
        agent.remove_instance_hook("pre_reasoning", HOOK_NAME)
        agent.remove_instance_hook("post_reply", HOOK_NAME)
        if not any(each.agent.toolkit is agent.toolkit for each in self._attached.values()):
            for tool in self._tools:
                agent.toolkit.remove_tool_function(tool.__name__)
        plain = InMemoryMemory()
        plain.content, plain._compressed_summary = memory.hand_over()
        if agent.memory is memory:
            agent.memory = plain
        self._events.emit(
            EventKind.DETACHED, session_id=memory.session_id, agent=agent.name, messages=len(plain.content)
        )
        return plain

    async def resume(self, session_id: str, agent: ReActAgent | None = None) -> ReMeInMemoryMemory:
        """Go on with a session from its journal, also after its process was killed.

        Args:
            session_id (`str`):
                The session.
            agent (`ReActAgent | None`):
                The attached agent that goes on with it; the only attached one if left out. With none attached the
                memory comes back by itself: set it as an agent's memory before `attach`.

        Raises:
            `SessionNotFoundError`: there is no such session.
            `SessionInUseError`: somebody has it open.
        """
        attachment = self._attachment(agent) if agent is not None or len(self._attached) == 1 else None
        if attachment is not None and attachment.memory.session_id == session_id:
            return attachment.memory
        memory = await super().resume(session_id)
        if attachment is not None:
            attachment.memory.close()
            self._count_overhead(memory, attachment.agent)
            attachment.agent.memory = attachment.memory = memory
            self._session_users.note(session_id, attachment.owners.user_name)
            self._listen(memory, attachment.owners)
            self._hear(attachment)
        return memory

    # ------------------------------------------------------------------ for good

    async def purge_user(self, user_name: str, *, confirm: bool = False) -> "Purged":
        """Remove for good, to the last byte on this machine, all that a user said and all that is remembered of them.

        That is each session for which `attach` named them, also with others: journal, archive, texts of tool results,
        index and cache (`purge_session`); and what `recall_from` holds of them: memories, versions, conversations,
        profile, records, and the tool calls of those sessions (`ReMe.purge_all`). Notes stay; they are yours to edit.

        Agents that are attached for them go on with an empty session. To be called while none of these replies.

        Args:
            user_name (`str`):
                The user.
            confirm (`bool`):
                Must be `True`.

        Returns:
            `Purged`: how much was removed of what.

        Raises:
            `ConfigError`: no name, it was not confirmed, or `recall_from` cannot purge.
            `SessionInUseError`: somebody else has one of the sessions open.
            `StorageError`: the disk refused. After either the next call goes on.
        """
        if not isinstance(user_name, str) or not user_name.strip():
            raise ConfigError(f"user_name is {user_name!r}, which names nobody: give the user's name.")
        if not confirm:
            raise ConfigError(f"purge_user({user_name!r}) removes everything of this user: say confirm=True.")
        purge_all = getattr(self._vector_memory, "purge_all", None)
        if self._vector_memory is not None and purge_all is None:
            raise ConfigError(f"recall_from is {self._vector_memory!r}, which has no purge_all: give a ReMe.")
        await self._ensure_started()
        await self._handed_over()
        sessions = self._session_users.sessions_of(user_name)
        for attachment in self._attached.values():
            if user_name in attachment.owners.user_name:
                self._begin_anew(attachment)
        purged = [] if purge_all is None else [await purge_all(user_name=user_name, session_ids=sessions)]
        for session_id in sessions:
            try:
                purged.append(await self.purge_session(session_id))
            except SessionNotFoundError:
                self._session_users.forget(session_id)
        return together(purged)

    # ------------------------------------------------------------------ feedback

    async def feedback(self, reply: Msg | str, verdict: int, *, actor: str = "", cause: str = "") -> list[MemoryNode]:
        """Judge a reply of an attached agent: the memories that it was given become a little more important, or less;
        see `ReMe.feedback`.

        Args:
            reply (`Msg | str`):
                The reply, or the id of its message.
            verdict (`int`):
                1 for a good reply, -1 for a bad one.
            actor (`str`), cause (`str`):
                For the record: who judges, and why.

        Returns:
            `list[MemoryNode]`: the memories that changed; none where the reply was given none.

        Raises:
            `ConfigError`: another verdict, or no vector memory was given as `recall_from`.
        """
        if self._recall_from is None or not hasattr(self._recall_from, "feedback"):
            raise ConfigError("There is no vector memory whose memories could be judged: give recall_from= a ReMe.")
        judged: list[MemoryNode] = await self._recall_from.feedback(reply, verdict, actor=actor, cause=cause)
        return judged

    # ------------------------------------------------------------------ commands

    async def compact(self, instruction: str = "", agent: ReActAgent | None = None) -> str:
        """Condense now all but the last request and the last unit, and return the summary.

        Args:
            instruction (`str`):
                What the summary is to pay attention to.
            agent (`ReActAgent | None`):
                Whose memory; may be left out where one agent is attached.

        Raises:
            `StorageError`: the archive or the journal refused; nothing was condensed.
        """
        return (await self._compacted(instruction, agent)).memory.get_compressed_summary()

    async def new(self, agent: ReActAgent | None = None) -> int:
        """Begin anew: archive all messages, pass them on to the notes, forget the summary. Returns how many left."""
        return await self._empty(agent, noted=True)

    async def clear(self, agent: ReActAgent | None = None) -> int:
        """Archive all messages and forget the summary, without notes. Returns how many left."""
        return await self._empty(agent, noted=False)

    async def history(self, agent: ReActAgent | None = None) -> str:
        """The session for a person to read."""
        return await self._attachment(agent).memory.get_history_str()

    def status(self, agent: ReActAgent | None = None) -> dict[str, Any]:
        """What is in use and how full it is.

        Returns:
            `dict[str, Any]`: `session_id`, `model` (a name, or `None`: extractive), `model_missing` (why, if one was
            described), `tokens` (system prompt, tools and summary as of the last step, and messages), `threshold`,
            `window`, `reserve`, `usage_percent` of the threshold, `messages`, `journal` ("ok" or "degraded"),
            `last_summary` (`source`, `attempts`, `error`; `None` before the first), `notes` (batches `pending`, `done`,
            `failed`, and the `last_error`; `None` before the start), `working_dir`.
        """
        attachment = self._attachment(agent)
        memory, context = attachment.memory, self._services.context
        tokens = memory.overhead + memory.total_tokens()
        return {
            "session_id": memory.session_id,
            "model": self._models.name(lambda: _lent(attachment.agent)),
            "model_missing": self._models.missing,
            "tokens": tokens,
            "threshold": context.threshold,
            "window": context.max_input_length,
            "reserve": context.reserve,
            "usage_percent": 100 * tokens / context.threshold,
            "messages": len(memory.content),
            "journal": memory.journal_state,
            "last_summary": _told(self._keeper.summaries.get(memory.session_id)),
            "notes": self._notes.status() if self._notes is not None else None,
            "working_dir": str(self.workspace.root),
        }

    async def command(self, text: str, agent: ReActAgent | None = None) -> str | None:
        """Carry out what a person typed, if it is one of `/compact ...`, `/new`, `/clear`, `/history`, `/status`.

        Args:
            text (`str`):
                The line, before it goes to the agent.
            agent (`ReActAgent | None`):
                Whose memory; may be left out where one agent is attached.

        Returns:
            `str | None`: the answer for the person; `None` where it is no command and the agent should get it.
        """
        name, *rest = text.split(maxsplit=1)[:2] or [""]
        if name not in _COMMANDS:
            return None
        memory = self._attachment(agent).memory
        spoken = memory.language  # before the memory may be emptied
        say = lambda entry, **values: self._services.book.text(spoken, f"manager.{entry}", **values)  # noqa: E731
        if name == "/compact":
            before = memory.total_tokens()
            turn = await self._compacted("".join(rest).strip(), agent)
            if not turn.folded:
                return say("nothing")
            summary = memory.get_compressed_summary()
            return say("compacted", before=before, after=memory.total_tokens(), summary=summary)
        if name in ("/new", "/clear"):
            count = await (self.new(agent) if name == "/new" else self.clear(agent))
            return say(name[1:], count=count)
        if name == "/history":
            return await self.history(agent)
        status = self.status(agent)
        status["model"] = status["model"] or say("extractive")
        status["usage_percent"] = f"{status['usage_percent']:.1f}"
        notes = status["notes"] or {"pending": 0, "done": 0, "failed": 0, "last_error": None}
        status["notes"] = say("notes", **{**notes, "last_error": notes["last_error"] or "-"})
        last = status["last_summary"]
        status["last_summary"] = say("summary", **{**last, "error": last["error"] or "-"}) if last else "-"
        hidden = ("model_missing", "window", "reserve")
        return say("status", **{key: value for key, value in status.items() if key not in hidden})

    async def close(self) -> None:
        """Finish the notes or keep them for the next start, store the tool calls that wait, close the journals and let
        go of the files. Attached agents keep their messages."""
        await self._handed_over()
        await super().close()

    # ------------------------------------------------------------------ inside

    async def _handed_over(self) -> None:
        """Wait until the vector memory has what is on its way to it."""
        if self._recording is not None:
            await self._recording.close(NOTES_TIMEOUT)
        if self._listening is not None:
            await self._listening.close(NOTES_TIMEOUT)

    async def purge_session(self, session_id: str) -> "Purged":
        if self._listening is not None:
            await self._listening.drop(session_id)
        return await super().purge_session(session_id)

    # ------------------------------------------------------------------ inside

    def _begin_anew(self, attachment: Attachment) -> None:
        """Have an agent go on with an empty session."""
        attachment.memory.close()
        memory = self.get_in_memory_memory()
        self._session_users.note(memory.session_id or "", attachment.owners.user_name)
        self._count_overhead(memory, attachment.agent)
        attachment.agent.memory = attachment.memory = memory
        attachment.given = []

    async def _start(self) -> None:
        await super()._start()
        if self._listening is not None:
            await self._listening.take_left_behind(self._left_behind)

    async def _before_reply(self, agent: ReActAgent, kwargs: dict[str, Any]) -> None:
        """The hook that recalls. Whatever goes wrong in here is told, and the reply goes on without."""
        try:
            await self._ensure_started()
            attachment = self._attachment(agent)
            self._watch_tools()
            sources, standing = self._sources(attachment)
            asked = as_msgs(kwargs.get("msg"))
            attachment.given = []
            attachment.given = await self._recall.show(attachment.memory, asked, sources, standing)
        except Exception as error:
            logger.exception("Nothing could be recalled for agent %s.", agent.name)
            self._events.emit(EventKind.HOOK_FAILED, error=error, agent=agent.name)

    async def _after_reply(self, agent: ReActAgent, _kwargs: dict[str, Any], reply: Any) -> None:
        """The hook that puts down which memories the reply was given, for `feedback`."""
        try:
            attachment = self._attachment(agent)
            self._hear(attachment)
            given, attachment.given = attachment.given, []
            if not isinstance(reply, Msg):
                return
            if given and (note := getattr(self._recall_from, "note_reply", None)):
                await note(reply.id, given)
            if note := getattr(agent.long_term_memory, "note_reply", None):
                await note(reply)
        except Exception as error:
            logger.exception("It is not known which memories the last reply of agent %s was given.", agent.name)
            self._events.emit(EventKind.HOOK_FAILED, error=error, agent=agent.name)

    async def _before_reasoning(self, agent: ReActAgent, _kwargs: dict[str, Any]) -> None:
        """The hook. Whatever goes wrong in here is told, and the agent goes on with the memory as it is."""
        try:
            await self._ensure_started()
            attachment = self._attachment(agent)
            if agent.memory is not attachment.memory:
                raise AttachError(
                    f"The memory of agent {agent.name!r} was replaced after attach(): detach() first, or use resume().",
                )
            turn = await self._keeper.pipeline(self._turn(attachment))
            self._note(attachment.memory)
            if turn.folded:
                self._hear(attachment)
            await self._expiry.run_in_passing(now=bool(turn.folded))
        except Exception as error:
            logger.exception("The memory hook of agent %s failed; its memory is unchanged.", agent.name)
            self._events.emit(EventKind.HOOK_FAILED, error=error, agent=agent.name)

    def _listen(self, memory: ReMeInMemoryMemory, owners: Owners) -> None:
        if self._listening is not None:
            self._listening.listen(memory, owners)

    def _hear(self, attachment: Attachment, *, ended: bool = False) -> None:
        if self._listening is not None:
            self._listening.hear(attachment.memory, attachment.owners, ended=ended)

    def _sources(self, attachment: Attachment) -> tuple[list[RecallSource], list[StandingSource]]:
        """What is searched for an agent and what is shown in any case, without what its own long-term memory shows."""
        agent = attachment.agent
        other = agent.long_term_memory if agent._static_control else None
        sources = list(self._note_sources) if getattr(other, "notes", None) is not self else []
        if self._recall_from is None or self._guides is None:
            return sources, []
        owners = attachment.owners
        if attachment.every_tool:
            owners = replace(owners, tool_name=tools_of(agent, self._tools))
        if getattr(other, "reme", None) is self._recall_from:
            shown = getattr(other, "owners", Owners())
            owners = Owners(tool_name=[name for name in owners.tool_name if name not in shown.tool_name])
        elif owners:
            sources.append(VectorSource(self._recall_from, owners))
        return sources, [GuideSource(self._guides, owners.tool_name)] if owners.tool_name else []

    def _owners(self, **given: Names) -> tuple[Owners, bool]:
        """Who is meant, and whether the tools are all that the agent has."""
        named = {kind: self._recall_names.get(kind, "") if names == "" else names for kind, names in given.items()}
        every_tool = named["tool_name"] in ("", EVERY_TOOL)
        return Owners(**{**named, "tool_name": () if every_tool else named["tool_name"]}), every_tool

    def _watch_tools(self) -> None:
        """See the calls of all attached agents' toolkits: an agent may have got another one."""
        if self._recording is not None:
            self._recording.watch([each.agent.toolkit for each in self._attached.values()])

    def _caller(self, toolkit: "Toolkit", call: Mapping[str, Any]) -> Caller | None:
        """The attached agent that makes a call, if it is one and the tool is its own."""
        tool = toolkit.tools.get(call["name"])
        if tool is None or tool.async_execution:  # of what goes on in the background nobody knows yet how it ends
            return None
        for attachment in self._attached.values():
            agent, memory = attachment.agent, attachment.memory
            if agent.toolkit is not toolkit or agent.memory is not memory:
                continue
            if asked := message_of(call, memory.content):
                is_own = call["name"] in tools_of(agent, self._tools)
                return Caller(agent.name, memory.session_id, asked) if is_own else None
        return None

    def _note_writer(self, lender: Lender | None = None) -> NoteWriter:
        return super()._note_writer(lender or self._any_lender)

    def _any_lender(self) -> Pair:
        attachment = next(iter(self._attached.values()), None)
        return _lent(attachment.agent) if attachment else (None, None)

    def _count_overhead(self, memory: ReMeInMemoryMemory, agent: ReActAgent) -> None:
        """Count what a request holds besides the messages, for the memory may be read before the first hook."""
        tokens, summary = memory.services.tokens, memory.summary_message()
        memory.overhead = tokens.text(agent.sys_prompt) + tokens.tools(agent.toolkit.get_json_schemas())
        memory.overhead += tokens.message(summary) if summary else 0

    def _turn(self, attachment: Attachment, **options: Any) -> Turn:
        agent = attachment.agent
        lender = lambda: _lent(agent)  # noqa: E731
        return Turn(
            attachment.memory,
            self._compactor(self._services.context, lender),
            system_prompt=agent.sys_prompt,
            tools=agent.toolkit.get_json_schemas(),
            language=self._services.language,
            truncate=self._truncate,
            **options,
        )

    async def _compacted(self, instruction: str, agent: ReActAgent | None) -> Turn:
        await self._ensure_started()
        attachment = self._attachment(agent)
        turn = await self._keeper.pipeline(self._turn(attachment, force=True, instruction=instruction))
        self._note(attachment.memory)
        self._hear(attachment)
        if isinstance(turn.error, StorageError):
            raise turn.error
        return turn

    async def _empty(self, agent: ReActAgent | None, *, noted: bool) -> int:
        await self._ensure_started()
        attachment = self._attachment(agent)
        memory = attachment.memory
        left = memory.leave([msg for msg, _ in memory.content], op="clear", summary="", noted=noted)
        if memory.get_compressed_summary():  # there was no message
            memory.clear_compressed_summary()
        self._note(attachment.memory)
        self._hear(attachment, ended=True)
        self._events.emit(EventKind.CLEARED, session_id=memory.session_id, messages=len(left))
        return len(left)

    def _check_agent(self, agent: ReActAgent) -> None:
        if not isinstance(agent, ReActAgent):
            raise AttachError(f"{type(agent).__name__} cannot be attached: give a ReActAgent.")
        if id(agent) in self._attached:
            raise AttachError(f"Agent {agent.name!r} is attached already: detach() it first to attach it anew.")
        if HOOK_NAME in agent._instance_pre_reasoning_hooks:
            raise AttachError(f"Agent {agent.name!r} is attached to another manager: detach() it there first.")
        if agent.compression_config is not None and agent.compression_config.enable:
            raise AttachError(
                f"Agent {agent.name!r} has its own compression switched on, which would compress twice: make it with "
                "compression_config=None.",
            )
        limit = getattr(agent.formatter, "max_tokens", None)
        if limit is not None and limit < self._services.context.max_input_length:
            logger.warning(
                "The formatter of agent %s drops messages above %d tokens, below max_input_length %d: the summary goes "
                "first. Make the formatter without max_tokens, or max_input_length as small.",
                agent.name,
                limit,
                self._services.context.max_input_length,
            )
        for tool in self._tools:
            registered = agent.toolkit.tools.get(tool.__name__)
            if registered is not None and registered.original_func != tool:
                raise AttachError(
                    f"The toolkit of agent {agent.name!r} has another tool named {tool.__name__!r}: rename it.",
                )

    def _adopted(self, agent: ReActAgent, session_id: str | None) -> ReMeInMemoryMemory:
        """The agent's memory from now on: its own where that is one of ours, else a new one with what it holds."""
        old = agent.memory
        if isinstance(old, ReMeInMemoryMemory):
            if old.services.workspace is not self.workspace or session_id not in (None, old.session_id):
                raise AttachError(
                    f"The memory of agent {agent.name!r} is session {old.session_id!r} of another manager or under "
                    "another id: give the agent a plain InMemoryMemory, or attach it there.",
                )
            if any(each.memory is old for each in self._attached.values()):
                raise AttachError(f"Session {old.session_id!r} belongs to another attached agent.")
            return old
        if type(old) is not InMemoryMemory and not isinstance(old, InMemoryMemory):
            raise AttachError(
                f"A {type(old).__name__} cannot be moved: give agent {agent.name!r} an InMemoryMemory with the "
                "messages it is to go on with.",
            )
        memory = self.get_in_memory_memory(session_id)
        if old.content or old._compressed_summary:
            memory.load_state_dict(old.state_dict())
        return memory

    def _attachment(self, agent: ReActAgent | None) -> Attachment:
        if agent is None:
            if not self._attached:
                raise AttachError("No agent is attached: attach(agent) first.")
            if len(self._attached) > 1:
                raise ConfigError(f"{len(self._attached)} agents are attached: say which one by agent=.")
            return next(iter(self._attached.values()))
        if id(agent) not in self._attached:
            raise AttachError(f"Agent {getattr(agent, 'name', agent)!r} is not attached to this manager.")
        return self._attached[id(agent)]


def _checked_names(names: Mapping[str, Names] | None, recall_from: Remembers | None) -> dict[str, Names]:
    if recall_from is None and names:
        raise ConfigError(f"recall_names is {names!r} without recall_from: give the ReMe that holds their memories.")
    unknown = sorted(set(names or {}) - {"user_name", "task_name", "tool_name"})
    if unknown:
        raise ConfigError(f"recall_names does not know {', '.join(unknown)}: it has user_name, task_name, tool_name.")
    needed = ("recall", "list_memory", "record_tool_calls", "subscribe")
    missing = [name for name in needed if not hasattr(recall_from, name)]
    if recall_from is not None and missing:
        raise ConfigError(f"recall_from is {recall_from!r}, which has no {' and no '.join(missing)}: give a ReMe.")
    Owners(**dict(names or {}))
    return dict(names or {})


def _told(summary: Summary | None) -> dict[str, Any] | None:
    if summary is None:
        return None
    return {"source": summary.source, "attempts": summary.attempts, "error": summary.error}


def _lent(agent: ReActAgent) -> Pair:
    return agent.model, agent.formatter
