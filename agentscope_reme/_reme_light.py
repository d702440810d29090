# -*- coding: utf-8 -*-
"""The file-based memory: each of its parts by itself, over one working directory."""

import logging
from collections.abc import Callable, Mapping
from collections.abc import Sequence as SequenceOf
from dataclasses import replace
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4
from weakref import WeakSet

import anyio
from agentscope.message import Msg
from agentscope.tool import ToolResponse
from typing_extensions import Self

from ._arguments import check_arguments, checked_language, llm_config, zone
from ._config import ContextConfig, fitted_reserve
from ._errors import ConfigError, NotStartedError, SessionInUseError
from ._events import EventBus, EventKind, Listener
from ._expiry import Expiry
from ._left_behind import LeftBehind
from ._loop_lock import LoopLock
from ._model_source import UNSET, Lender, ModelSource, Unset
from ._note_keeping import CONSUMER, NoteKeeping
from ._note_search import Folders, NoteSearch
from ._session_purge import purge_session, purge_workspace
from .chat import load_env
from .dialog import DialogArchive
from .flow import Sequence
from .message import MessageTokens, as_counter, as_msgs, is_system_prompt, is_user_request, units, without_halves
from .notes import NoteWriter, SearchTools
from .storage import remove_leftovers
from .text import PromptBook
from .working_memory import (
    Compactor,
    ContextKeeper,
    MemoryServices,
    OffloadStore,
    ReMeInMemoryMemory,
    ToolResultCompactor,
    ToolResultPolicy,
    Turn,
    create_memory,
    plan_split,
    resume_memory,
    session_ids,
    standalone_memory,
)
from .workspace import Workspace

if TYPE_CHECKING:
    from agentscope.embedding import EmbeddingModelBase
    from agentscope.formatter import FormatterBase
    from agentscope.model import ChatModelBase
    from agentscope.token import TokenCounterBase

    from .refine import Purged

__all__ = ["ReMeLight"]

logger = logging.getLogger("agentscope_reme")

Messages = SequenceOf["Msg | dict[str, Any]"]

NOTES_TIMEOUT = 10.0
"""Seconds that `close` waits for notes."""


class ReMeLight:
    """Working memory and file-based memory over one folder, without an agent.

    Everything works without a model: summaries are then extracted from the conversation's own sentences.

    Args:
        working_dir (`str | Path`):
            The folder; made when first needed, for its owner alone.
        model (`ChatModelBase | None`):
            Writes summaries. `None` means that no model is asked.
        formatter (`FormatterBase | None`):
            Goes with the model; found by itself for the host's own models.
        token_counter (`Callable[[str], int] | TokenCounterBase | None`):
            Counts tokens. By default the model's own tokenizer where it works offline, else an estimate by script.
        default_llm_config (`Mapping | None`), default_as_llm_config (`Mapping | None`):
            Two names of one dictionary to build the model from; see `agentscope_reme.chat.build_model`.
        embedding_model (`EmbeddingModelBase | None`), default_embedding_model_config (`Mapping | None`):
            A ready embedding model, or a dictionary to build it from (`agentscope_reme.embedding.build_embedding`).
            With neither, the offline model is used where it is installed, and search is by words where it is not.
        default_file_store_config (`Mapping | None`):
            `fts_enabled` and `vector_enabled`: whether notes are searched by words and by meaning; both by default.
        vector_weight (`float`):
            The share of meaning against words in the order of notes, 0 to 1.
        candidate_multiplier (`float`):
            How many candidates of each source are compared for each result.
        extra_folders (`Iterable | Mapping`):
            More folders of Markdown or text to search.
        enable_load_env (`bool`):
            Read `.env` of the current folder, never over what is set.
        language (`str | None`):
            `"zh"`, `"en"`, `""` (English), or `None`: that of the conversation.
        timezone (`str | tzinfo | None`):
            Whose days the dated files follow; `None` is this machine's zone.
        redact (`Callable[[str], str] | None`):
            Applied to every text before it is stored anywhere.
        prompts (`PromptBook | None`):
            Other prompts, or more languages.
        enable_notes (`bool`):
            Whether what leaves a memory is noted down in the background.
        retention_days (`float | None`):
            Days after which the full text of a tool result expires that nothing refers to; `None` for never.

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
        retention_days: float | None = 3,
    ) -> None:
        config = llm_config(default_llm_config, default_as_llm_config)
        check_arguments(working_dir, redact, prompts)
        if enable_load_env:
            load_env(Path.cwd())
        self.workspace = Workspace(working_dir)
        self._models = ModelSource(model, formatter, config)
        self._services = self._make_services(token_counter, config, language, timezone, redact, prompts)
        self._services = replace(
            self._services,
            consumers=(CONSUMER,) if enable_notes else (),
            policy=replace(self._services.policy, retention_days=retention_days),
        )
        self._keeper = ContextKeeper()
        self._search = NoteSearch(
            self._services,
            embedding_model=embedding_model,
            embedding_config=default_embedding_model_config,
            store_config=default_file_store_config,
            vector_weight=vector_weight,
            candidate_multiplier=candidate_multiplier,
            extra_folders=extra_folders,
        )
        spoken = self._services.language or "en"
        self._search_tools = SearchTools(self._search, book=self._services.book, language=spoken)
        self._notes: NoteKeeping | None = None
        self._left_behind = LeftBehind(self._services)
        self._changing = LoopLock()
        self._memories: WeakSet[ReMeInMemoryMemory] = WeakSet()
        self._expiry = Expiry(self._services)
        self._started = False
        self._closed = False

    # ------------------------------------------------------------------ life

    async def start(self) -> None:
        """Make the folders and remove what has expired. Every method does this by itself at its first use.

        Raises:
            `StorageError`: the folders cannot be made.
        """
        self._closed = False
        async with self._changing.lock():
            if not self._started:
                await self._start()
                self._started = True

    async def _start(self) -> None:
        self.workspace.create()
        at = self.workspace
        folders = (at.root, at.notes_dir, at.dialog_dir, at.tool_result_dir, at.state_dir, at.sessions_dir)
        await anyio.to_thread.run_sync(remove_leftovers, folders)
        name = self._models.name()
        if self._models.missing:
            self._events.emit(EventKind.MODEL_MISSING, reason=self._models.missing)
        self._events.emit(EventKind.STARTED, working_dir=str(self.workspace.root), model=name)
        await anyio.to_thread.run_sync(self._services.tokens.text, "a tokenizer loads at its first use")
        self._left_behind = LeftBehind(self._services)
        self._notes = NoteKeeping(self._services, self._note_writer(), self._left_behind)
        await self._notes.take_left_behind()
        await self._search.start()
        if self._search.missing:
            self._events.emit(EventKind.MODEL_MISSING, reason=self._search.missing)
        await self._expiry.run()

    async def close(self) -> None:
        """Finish the notes, also of what is live in open sessions, within ten seconds or keep them for the next start;
        remove what has expired, and let go of the files. Memories that were handed out keep their messages."""
        async with self._changing.lock():
            self._closed = True
            try:
                if self._started:
                    await self._stop()
            finally:
                self._started = False
                for memory in list(self._memories):
                    memory.close()
                self._services.archive.close()

    async def _stop(self) -> None:
        if self._notes is not None:
            self._note_all(live=True)
            await self._notes.close(NOTES_TIMEOUT)
            self._left_behind.close()
        await self._search.close()
        await self._expiry.run()
        self._events.emit(EventKind.CLOSED)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def subscribe(self, callback: Listener) -> Callable[[], None]:
        """Be told each event, at once. The function that comes back ends that."""
        return self._events.subscribe(callback)

    @property
    def pipeline(self) -> Sequence:
        """The steps of the hook, `truncate >> check >> fold >> fit`; set it to insert or replace one. Each step is an
        async function that takes a `Turn` and returns it."""
        return self._keeper.pipeline

    @pipeline.setter
    def pipeline(self, pipeline: Sequence) -> None:
        self._keeper.pipeline = pipeline

    # ------------------------------------------------------------------ the parts

    async def check_context(
        self,
        messages: Messages,
        memory_compact_threshold: int,
        memory_compact_reserve: int = 10_000,
    ) -> tuple[list[Msg], list[Msg], bool]:
        """Decide what to condense where messages are above a threshold.

        Args:
            messages (`Sequence[Msg | dict]`):
                The history.
            memory_compact_threshold (`int`):
                Tokens above which something is to be condensed.
            memory_compact_reserve (`int`):
                Tokens to keep of the latest messages; halved where it does not fit below the threshold.

        Returns:
            `tuple[list[Msg], list[Msg], bool]`: what to condense, what to keep, and whether every tool call in the
            input had its result. Both lists together are the input. A call or result without its other half is not
            kept: a message that is nothing else is among those to condense, another is kept without it.
        """
        if memory_compact_threshold < 1 or memory_compact_reserve < 1:
            raise ConfigError(
                f"memory_compact_threshold {memory_compact_threshold} and memory_compact_reserve "
                f"{memory_compact_reserve} must be positive numbers of tokens.",
            )
        given = as_msgs(messages)
        msgs, halves, pairing = without_halves(given)
        sizes = self._services.tokens.sizes(msgs)
        is_over = sizes.exceed(memory_compact_threshold)
        if not is_over and not halves:
            return [], msgs, pairing.is_valid
        plan = plan_split(
            sizes,
            units(given, pairing),
            [at for at, msg in enumerate(msgs) if is_user_request(msg)],
            budget=fitted_reserve(memory_compact_reserve, memory_compact_threshold)
            if is_over
            else memory_compact_threshold,
            always={0} if msgs and is_system_prompt(msgs[0]) else (),
            never=halves,
        )
        return [given[at] for at in plan.fold], [msgs[at] for at in plan.keep], pairing.is_valid

    async def compact_memory(
        self,
        messages: Messages,
        previous_summary: str = "",
        language: str | None = None,
        max_input_length: int = 131_072,
        compact_ratio: float = 0.7,
        extra_instruction: str = "",
        add_thinking_block: bool = True,
        return_dict: bool = False,
    ) -> str | dict[str, Any]:
        """Condense messages into a structured checkpoint that continues the previous one.

        Args:
            messages (`Sequence[Msg | dict]`):
                What to condense, of any size.
            previous_summary (`str`):
                The checkpoint so far.
            language (`str | None`):
                `"zh"`, `"en"`, `""` (English), or `None`: that of the conversation.
            max_input_length (`int`), compact_ratio (`float`):
                The summarizing model's window in tokens and the share of it that a prompt may take.
            extra_instruction (`str`):
                Added to the prompt.
            add_thinking_block (`bool`):
                Let the model reason first; the reasoning is not stored.
            return_dict (`bool`):
                Return a dictionary: `summary`, `source` ("model" or "extractive"), `attempts`, `error`,
                `tokens_before`, `tokens_after`, `duration` (seconds).

        Returns:
            `str | dict`: the checkpoint. A model that fails twice is replaced by the extractive summary, which `source`
            and `error` say.
        """
        await self._ensure_started()
        context = self._context(max_input_length, compact_ratio, None)
        summary = await self._compactor(context).summarize(
            as_msgs(messages),
            previous_summary,
            language=self._language(language),
            instruction=extra_instruction,
            think=add_thinking_block,
        )
        if not return_dict:
            return summary.text
        return {
            "summary": summary.text,
            **{name: getattr(summary, name) for name in ("source", "attempts", "error", "duration")},
            **{name: getattr(summary, name) for name in ("tokens_before", "tokens_after")},
        }

    async def compact_tool_result(
        self,
        messages: Messages,
        recent_n: int = 1,
        recent_max_bytes: int = 102_400,
        old_max_bytes: int = 3_000,
        retention_days: float | None = 3,
    ) -> list[Msg]:
        """Put long tool results into files and keep their head and tail.

        Args:
            messages (`Sequence[Msg | dict]`):
                The history; it is not changed.
            recent_n (`int`):
                How many of the latest results are recent; the trailing run of results is in any case.
            recent_max_bytes (`int`), old_max_bytes (`int`):
                The most bytes of UTF-8 that stay of a recent and of an older result.
            retention_days (`float | None`):
                Days after which a file expires that nothing refers to; `None` for never.

        Returns:
            `list[Msg]`: the messages; new objects where something was cut.
        """
        await self._ensure_started()
        policy = ToolResultPolicy(recent_n, recent_max_bytes, old_max_bytes, retention_days)
        await self._expiry.ask(retention_days)
        msgs = as_msgs(messages)
        compact = self._services.results.compact
        language = self._services.language
        result = await anyio.to_thread.run_sync(lambda: compact(msgs, policy=policy, language=language))
        await self._expiry.run(also=result)
        return result

    def get_in_memory_memory(self, session_id: str | None = None) -> ReMeInMemoryMemory:
        """A new, empty memory, whose messages are journaled as they come.

        Args:
            session_id (`str | None`):
                The id of the new session; a fresh one if left out.

        Raises:
            `SessionExistsError`: there is a session of this id; it is resumed, not made again.
        """
        self._refuse_closed()
        self._counter_is_open = False
        memory = create_memory(session_id or uuid4().hex, self._services)
        self._memories.add(memory)
        return memory

    async def pre_reasoning_hook(
        self,
        messages: Messages,
        system_prompt: str = "",
        compressed_summary: str = "",
        language: str | None = None,
        max_input_length: int = 131_072,
        compact_ratio: float = 0.7,
        memory_compact_reserve: int = 10_000,
        enable_tool_result_compact: bool = True,
        tool_result_compact_keep_n: int = 3,
        tools: list[dict[str, Any]] | None = None,
    ) -> tuple[list[Msg], str]:
        """The whole hook over a list of messages: truncate, check, fold, archive.

        Args:
            messages (`Sequence[Msg | dict]`):
                The history; it is not changed.
            system_prompt (`str`), tools (`list[dict] | None`):
                Counted with the context; tools as JSON schemas.
            compressed_summary (`str`):
                The summary so far.
            language (`str | None`):
                As in `compact_memory`.
            max_input_length (`int`), compact_ratio (`float`), memory_compact_reserve (`int`):
                The window, the share of it that may be used, and what to keep of the latest messages, in tokens.
            enable_tool_result_compact (`bool`):
                Whether long tool results are put into files.
            tool_result_compact_keep_n (`int`):
                How many of the latest results are recent.

        Returns:
            `tuple[list[Msg], str]`: the messages to go on with, as a model accepts them, and the new summary.
        """
        await self._ensure_started()
        context = self._context(max_input_length, compact_ratio, memory_compact_reserve)
        services = replace(
            self._services,
            context=context,
            policy=replace(self._services.policy, recent_n=tool_result_compact_keep_n),
            language=self._language(language),
        )
        memory = standalone_memory(services, as_msgs(messages), compressed_summary)
        turn = Turn(
            memory,
            self._compactor(context),
            system_prompt=system_prompt,
            tools=tools,
            language=services.language,
            truncate=enable_tool_result_compact,
        )
        turn = await self._keeper.pipeline(turn)
        if turn.folded and self._notes is not None and self._services.consumers:
            self._notes.take_messages(turn.folded, services.language)
        return await memory.get_memory(prepend_summary=False), memory.get_compressed_summary()

    # ------------------------------------------------------------------ notes

    async def summary_memory(self, messages: Messages, language: str | None = None) -> str:
        """Write down what is worth remembering of messages, now: in `memory/YYYY-MM-DD.md` of their own days, and what
        stays true in `MEMORY.md`. One writer is at work in a folder at a time; others wait for it.

        Args:
            messages (`Sequence[Msg | dict]`):
                The messages in their original form.
            language (`str | None`):
                `"zh"`, `"en"`, `""` (English), or `None`: that of the conversation.

        Returns:
            `str`: what the note writer answered, or the notes it extracted; empty where there was nothing to note.
        """
        notes = await self._noting()
        return (await notes.write(as_msgs(messages), self._language(language))).text

    def add_async_summary_task(self, messages: Messages, language: str | None = None) -> None:
        """`summary_memory` in the background, one after another, and at the next start where this process ends before.
        Returns at once."""
        self._refuse_closed()
        if self._notes is None:
            raise NotStartedError(f"{type(self).__name__} was not started: await start() before adding note tasks.")
        self._notes.take_messages(as_msgs(messages), self._language(language))

    async def await_summary_tasks(self) -> str:
        """Wait for the note tasks, and return what was written since the last call."""
        notes = await self._noting()
        self._note_all()
        results = await notes.drain()
        return "\n\n".join(result.text for result in results if result.text)

    # ------------------------------------------------------------------ search

    async def memory_search(
        self,
        query: str,
        max_results: int = 5,
        min_score: float = 0.1,
        source: str = "",
        path: str = "",
        since: str = "",
        until: str = "",
    ) -> ToolResponse:
        """Search MEMORY.md, the notes and the dialog archive.

        Args:
            query (`str`):
                A question or a few words, in any language; dates in it and names of speakers count.
            max_results (`int`):
                The most hits, 1 to 100.
            min_score (`float`):
                The least score, 0.001 to 0.999.
            source (`str`):
                `"notes"`, `"dialog"` or the name of an extra folder; all if empty.
            path (`str`):
                Only this file, or the files in this folder.
            since (`str`), until (`str`):
                The first and the last day, `YYYY-MM-DD`.

        Returns:
            `ToolResponse`: a JSON list of hits (path, start_line, end_line, score, snippet, source, time; of a dialog
            turn also id and name), or a sentence that says that nothing was found.
        """
        await self._ensure_started()
        return await self._search_tools.memory_search(query, max_results, min_score, source, path, since, until)

    async def sync(self) -> None:
        """Make the search index hold what the files hold now."""
        await self._ensure_started()
        await self._search.sync()

    # ------------------------------------------------------------------ sessions

    async def resume(self, session_id: str) -> ReMeInMemoryMemory:
        """Go on with a session from its journal, also after its process was killed.

        Raises:
            `SessionNotFoundError`: there is no such session.
            `SessionInUseError`: somebody has it open.
        """
        await self._ensure_started()
        self._counter_is_open = False
        memory = self._left_behind.given_back(session_id)
        if memory is None:
            memory = await anyio.to_thread.run_sync(resume_memory, session_id, self._services)
        self._memories.add(memory)
        self._note(memory)
        self._events.emit(EventKind.RESUMED, session_id=session_id, messages=len(memory.content))
        return memory

    def sessions(self) -> list[str]:
        """The ids of the sessions that have a journal: those that `resume` takes."""
        return sorted(session_ids(self.workspace.sessions_dir))

    async def purge_session(self, session_id: str) -> "Purged":
        """Remove a session for good, to the last byte on this machine: its journal with what was not noted yet, its
        lines in the archive, full texts of tool results that nothing else refers to, and what index and cache hold of
        them. What was noted from it stands in the notes, which are yours to edit.

        Args:
            session_id (`str`):
                The session, which must not be open.

        Returns:
            `Purged`: how much was removed of what: `journals`, `messages`, `tool_results`, `vectors`.

        Raises:
            `SessionNotFoundError`: there is nothing of it.
            `SessionInUseError`: somebody has it open.
            `StorageError`: the disk refused; the next call goes on.
        """
        await self._ensure_started()
        if self._notes is not None:
            await self._notes.drain(NOTES_TIMEOUT)  # a note that is being written would still be written afterwards
        if (left := self._left_behind.given_back(session_id)) is not None:
            left.close()
        return await purge_session(session_id, self._services, self._search)

    async def purge_workspace(self, *, confirm: bool = False, keep_notes: bool = False) -> "Purged":
        """Remove everything of this folder for good: sessions, archive, texts, index, cache, and the notes with
        MEMORY.md. A vector memory in the same folder keeps its memories: see `ReMe.delete_all` and `ReMe.purge_all`.

        It is closed first, and can be started again.

        Args:
            confirm (`bool`):
                Must be `True`.
            keep_notes (`bool`):
                Leave MEMORY.md and `memory/`.

        Returns:
            `Purged`: how many files went, by folder.

        Raises:
            `ConfigError`: it was not confirmed.
            `SessionInUseError`: somebody has a session open.
            `StorageError`: the disk refused; the next call goes on.
        """
        if not confirm:
            raise ConfigError("purge_workspace() removes everything of the folder: say purge_workspace(confirm=True).")
        for memory in list(self._memories):
            if memory.is_open:
                raise SessionInUseError(f"Session {memory.session_id!r} is open: close its memory first.")
        await self.close()
        return await purge_workspace(self._services, keep_notes=keep_notes)

    # ------------------------------------------------------------------ inside

    @property
    def _events(self) -> EventBus:
        return self._services.events

    def _make_services(
        self,
        token_counter: "Callable[[str], int] | TokenCounterBase | None",
        config: Mapping[str, Any] | None,
        language: str | None,
        timezone: str | tzinfo | None,
        redact: Callable[[str], str] | None,
        prompts: PromptBook | None,
    ) -> MemoryServices:
        book = prompts or PromptBook()
        store = OffloadStore(self.workspace.tool_result_dir, redact=redact)
        name = (config or {}).get("model_name") or self._models.name()
        self._counter_is_open = token_counter is None and name is None
        return MemoryServices(
            workspace=self.workspace,
            archive=DialogArchive(
                self.workspace.dialog_dir, self.workspace.state_dir / "dialog.lock", timezone=zone(timezone)
            ),
            results=ToolResultCompactor(store, book=book),
            book=book,
            tokens=MessageTokens(as_counter(token_counter, name)),
            language=None if language is None else checked_language(language, book),
            redact=redact,
        )

    def _note_writer(self, lender: Lender | None = None) -> NoteWriter:
        return NoteWriter(
            self.workspace,
            model=lambda: self._models.pair(lender)[0],
            formatter=lambda: self._models.pair(lender)[1],
            book=self._services.book,
            language=self._services.language,
            timezone=self._services.archive.timezone,
            count=self._services.tokens.text,
            max_input_tokens=self._services.context.max_input_length,
            redact=self._services.redact,
        )

    def _note(self, memory: ReMeInMemoryMemory) -> None:
        if self._notes is not None and self._services.consumers:
            self._notes.take(memory)

    def _note_all(self, *, live: bool = False) -> None:
        """Also what a memory folded that nobody's hook looks after, and what is `live` in it."""
        for memory in [each for each in self._memories if each.is_open]:
            if live and self._services.consumers:
                memory.give_ahead()
            self._note(memory)

    def _language(self, language: str | None) -> str | None:
        """The language of one call; as the constructor said where it does not say."""
        return self._services.language if language is None else checked_language(language, self._services.book)

    def _context(self, max_input_length: int, compact_ratio: float, reserve: int | None) -> ContextConfig:
        context = ContextConfig(max_input_length, compact_ratio)
        fitted = None if reserve is None else fitted_reserve(reserve, context.threshold)
        return replace(context, memory_compact_reserve=fitted)

    def _compactor(self, context: ContextConfig, lender: Lender | None = None) -> Compactor:
        return Compactor(
            model=lambda: self._models.pair(lender)[0],
            formatter=lambda: self._models.pair(lender)[1],
            tokens=self._services.tokens,
            book=self._services.book,
            budget=context.summary_budget,
            max_input_tokens=context.threshold,
        )

    async def _noting(self) -> NoteKeeping:
        await self._ensure_started()
        assert self._notes is not None
        return self._notes

    async def _ensure_started(self) -> None:
        self._refuse_closed()
        if not self._started:
            await self.start()

    def _refuse_closed(self) -> None:
        if self._closed:
            raise NotStartedError(f"{type(self).__name__} was closed: call start() to use it again.")
