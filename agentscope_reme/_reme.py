# -*- coding: utf-8 -*-
"""The vector-based memory: what is known of people, of tasks and of tools, found again by meaning and by words."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from agentscope.message import Msg
from typing_extensions import Self

from ._arguments import check_arguments, checked_language, llm_config, zone
from ._embedder_source import EmbedderSource
from ._errors import AmbiguousMemoryId, ConfigError, MemoryNotFound, NotStartedError
from ._events import EventBus, EventKind, Listener
from ._loop_lock import LoopLock
from ._memory_arguments import (
    Names,
    Time,
    count_of,
    field_values,
    limit_of,
    number_of,
    one_owner,
    owner_or_none,
    owners,
    read_records,
    text_of,
    texts_of,
)
from ._model_source import UNSET, ModelSource, Unset, formatter_for
from ._refinement import Refinement
from ._upkeep import Upkeep
from .chat import load_env
from .message import MessageTokens, as_counter, as_msgs
from .record import MemoryNode, ToolCallRecord
from .storage import make_folder
from .text import PromptBook
from .vector_memory import (
    PERSONAL,
    PROCEDURAL,
    TOOL,
    AgentRetriever,
    AuditRow,
    Conversations,
    Filters,
    GuideKeeping,
    MemoryBank,
    MemoryKind,
    MemoryRetriever,
    MemorySummarizer,
    ModelAccess,
    Owner,
    ProfileBook,
    Similarity,
    ToolRecords,
    questions_of,
)
from .vector_store import Progress, VectorStore, build_vector_store
from .workspace import Workspace

if TYPE_CHECKING:
    from agentscope.embedding import EmbeddingModelBase
    from agentscope.formatter import FormatterBase
    from agentscope.model import ChatModelBase
    from agentscope.token import TokenCounterBase

    from .refine import RefinerConfig, TagSchema

__all__ = ["ReMe"]

logger = logging.getLogger("agentscope_reme")

Messages = Sequence["Msg | dict[str, Any]"]


class ReMe(Refinement, Upkeep):
    """Memories of any number of users, tasks and tools, in one store.

    Nothing here needs a model but `summarize_memory`; without an embedding model memories are found by their words.

        async with ReMe(".reme") as reme:
            await reme.add_memory("Prefers tea to coffee.", user_name="alice")
            print(await reme.retrieve_memory("What does she drink?", user_name="alice"))

    Every method starts what it needs. Whoever is named (`user_name`, `task_name`, `tool_name`, each a name or a list)
    limits what a method sees: nothing is found, changed or deleted that belongs to somebody else.

    Args:
        working_dir (`str | Path`):
            The folder of the local store and of the cache of vectors; made when first needed, for its owner alone.
        model (`ChatModelBase | None`):
            Draws memories from conversations. `None` means that no model is asked.
        formatter (`FormatterBase | None`):
            Goes with the model; found by itself for the host's own models.
        token_counter (`Callable[[str], int] | TokenCounterBase | None`):
            Counts tokens. By default the model's own tokenizer where it works offline, else an estimate by script.
        embedding_model (`EmbeddingModelBase | None`), default_embedding_model_config (`Mapping | None`):
            A ready embedding model, or a dictionary to build it from (`agentscope_reme.embedding.build_embedding`).
            With neither, the offline model is used where it is installed; `embedding_model=None` means that memories
            are found by their words alone.
        vector_store (`VectorStore | None`), default_vector_store_config (`Mapping | None`):
            A ready store, or a dictionary to build it from (`agentscope_reme.vector_store.build_vector_store`):
            `backend`, `persist_directory`, `collection_name`, `url`, options of the back end. With neither, a file in
            the folder.
        default_llm_config (`Mapping | None`), default_as_llm_config (`Mapping | None`):
            Two names of one dictionary to build the model from; see `agentscope_reme.chat.build_model`.
        hybrid_weights (`tuple[float, float]`):
            What meaning and words count in a search; `reme.retriever.hybrid_weights` changes it at any time.
        enable_load_env (`bool`):
            Read `.env` of the current folder, never over what is set.
        language (`str | None`):
            `"zh"`, `"en"`, `""` (English), or `None`: that of the conversation.
        timezone (`str | tzinfo | None`):
            Whose clock times without a zone are read on; `None` is this machine's zone.
        redact (`Callable[[str], str] | None`):
            Applied to every text before it is stored or embedded.
        prompts (`PromptBook | None`):
            Other prompts, or more languages.
        kinds (`Iterable[MemoryKind]`):
            The kinds of memory that are drawn from conversations, each with its prompts. Those of a kind of your own
            are drawn by `reme.summarizer.summarize(messages, [KIND.owner(name)])`, and found, listed and changed by
            `reme.retriever` and `reme.bank` with the same owner.
        max_input_length (`int`):
            Tokens that one request for memories and its reply may have together; longer conversations are read in
            parts.
        summarize_mode (`"cheap" | "agentic"`):
            `summarize_memory` asks the model once for each target, or lets an agent with tools work on each.
        max_steps (`int`):
            How often one agent may ask the model, where agents are at work.
        enable_thinking_params (`bool`):
            Each tool of an agent takes a `thinking` argument first, in which the model says why it calls it.
        update_guides_after (`int | None`):
            A tool's guide is brought up to date by itself, in the background, after so many calls that it does not know
            yet; `None` leaves it to `summarize_memory`.
        update_guides_by_model (`bool`):
            The model judges the calls and writes the guide then; else the figures alone are brought up to date.
        refiner (`RefinerConfig | None`):
            When memories are drawn from conversations, condensed and forgotten, and how far feedback reaches. Where it
            is given, what is due is done in the background once something was said (`add_interaction`); without it,
            the defaults hold, and `refine` and `sweep` are called by hand.
        refine_model (`ChatModelBase | Mapping | None`):
            Condenses memories; the `model` unless given.
        filter_model (`ChatModelBase | Mapping | None`):
            A cheap model that says before what is of no use; none unless given.
        schema (`TagSchema | None`):
            The dimensions of tags with the values that each may have, and the categories.

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
        embedding_model: "EmbeddingModelBase | Unset | None" = UNSET,
        vector_store: VectorStore | None = None,
        default_llm_config: Mapping[str, Any] | None = None,
        default_as_llm_config: Mapping[str, Any] | None = None,
        default_embedding_model_config: Mapping[str, Any] | None = None,
        default_vector_store_config: Mapping[str, Any] | None = None,
        hybrid_weights: tuple[float, float] = (0.7, 0.3),
        enable_load_env: bool = False,
        language: str | None = None,
        timezone: str | tzinfo | None = None,
        redact: Callable[[str], str] | None = None,
        prompts: PromptBook | None = None,
        kinds: Iterable[MemoryKind] = (PERSONAL, PROCEDURAL, TOOL),
        max_input_length: int = 24_000,
        summarize_mode: Literal["cheap", "agentic"] = "cheap",
        max_steps: int = 12,
        enable_thinking_params: bool = False,
        update_guides_after: int | None = 10,
        update_guides_by_model: bool = False,
        refiner: "RefinerConfig | None" = None,
        refine_model: "ChatModelBase | Mapping[str, Any] | None" = None,
        filter_model: "ChatModelBase | Mapping[str, Any] | None" = None,
        schema: "TagSchema | None" = None,
    ) -> None:
        config = llm_config(default_llm_config, default_as_llm_config)
        check_arguments(working_dir, redact, prompts)
        count_of("max_input_length", max_input_length)
        if vector_store is not None and default_vector_store_config is not None:
            raise ConfigError("Both vector_store= and default_vector_store_config were given: give one of them.")
        if vector_store is not None and not isinstance(vector_store, VectorStore):
            cure = "give a VectorStore; a dictionary goes to default_vector_store_config"
            raise ConfigError(f"vector_store is {vector_store!r}: {cure}.")
        if not isinstance(default_vector_store_config, (Mapping, type(None))):
            cure = "give a dictionary, such as {'backend': 'local'}"
            raise ConfigError(f"default_vector_store_config is {default_vector_store_config!r}: {cure}.")
        if enable_load_env:
            load_env(Path.cwd())
        self.workspace = Workspace(working_dir)
        self._book = prompts or PromptBook()
        self._language = None if language is None else checked_language(language, self._book)
        self._models = ModelSource(model, formatter, config)
        self._tokens = MessageTokens(as_counter(token_counter, (config or {}).get("model_name") or self._models.name()))
        self._events = EventBus()
        self._embedders = EmbedderSource(
            self.workspace.state_dir / "embeddings.db",
            model=embedding_model,
            config=default_embedding_model_config,
            count=self._tokens.text,
        )
        self.bank = MemoryBank(
            vector_store or build_vector_store(default_vector_store_config or {}, self.workspace.state_dir),
            self._embedders.embedder(),
            events=self._events,
            redact=redact,
            timezone=zone(timezone),
        )
        """The memories, for what goes beyond the methods here: superseding, versions, patches."""
        self.retriever = MemoryRetriever(self.bank, hybrid_weights=hybrid_weights)
        """How memories are found; its settings can be changed at any time."""
        self.profiles = ProfileBook(self.bank)
        """What is known of users in pairs of key and value."""
        self.conversations = Conversations(self.bank)
        """The messages that memories come from."""
        self.tool_records = ToolRecords(self.bank)
        """The calls that guides to tools are learned from."""
        access: dict[str, Any] = {
            "model": lambda: self._models.pair()[0],
            "formatter": lambda: self._models.pair()[1],
            "book": self._book,
            "count": self._tokens.text,
            "max_input_tokens": max_input_length,
            "max_steps": max_steps,
            "enable_thinking_params": enable_thinking_params,
        }
        self.summarizer = MemorySummarizer(
            self.bank, kinds=kinds, mode=summarize_mode, profiles=self.profiles, records=self.tool_records, **access
        )
        """How memories are drawn from conversations and from calls of tools."""
        self.guides = GuideKeeping(
            self.bank, self.summarizer, after=update_guides_after, by_model=update_guides_by_model
        )
        """Keeps the guides to tools up to date, in the background."""
        self._agents = AgentRetriever(
            self.bank, self.retriever, ModelAccess(**access), self.summarizer.kinds, self.profiles, self.conversations
        )
        self._set_up(refiner)
        self._set_up_refinement(
            refiner,
            schema,
            self._tokens.text,
            access["model"] if refine_model is None else _with_formatter(refine_model),
            None if filter_model is None else _with_formatter(filter_model),
            access["formatter"],
        )
        self._changing = LoopLock()
        self._started = False
        self._closed = False

    # ------------------------------------------------------------------ life

    async def start(self) -> None:
        """Open the store. Every method does this by itself at its first use.

        Raises:
            `StorageError`: the folder cannot be made.
            `VectorStoreError`: the store cannot be reached.
        """
        async with self._changing.lock():
            if self._started:
                return
            if self._closed and self.bank.embedder is not None:
                self.bank.embedder = self._embedders.embedder()  # over a cache that is open
            await asyncio.to_thread(make_folder, self.workspace.state_dir)
            await self.bank.open()
            self._closed, self._started = False, True
            name = self._models.name()
            for reason in filter(None, (self._models.missing, self._embedders.missing)):
                self._events.emit(EventKind.MODEL_MISSING, reason=reason)
            self._events.emit(EventKind.STARTED, working_dir=str(self.workspace.root), model=name)

    async def close(self) -> None:
        """Write what is still to be written, and let go of the files. `start` opens them again."""
        async with self._changing.lock():
            was_started, self._started, self._closed = self._started, False, True
            try:
                await self._end_refinement()
                await self.guides.close()
                await self.bank.close()
            finally:
                await self._embedders.close()
            if was_started:
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
    def degraded(self) -> str | None:
        """Why memories are found by their words alone at the moment; None where they are not, or are meant to be."""
        return self.bank.degraded

    # ------------------------------------------------------------------ learning

    async def summarize_memory(
        self,
        messages: Messages,
        user_name: Names = "",
        task_name: Names = "",
        tool_name: Names = "",
        description: str = "",
        language: str | None = None,
    ) -> list[MemoryNode]:
        """Draw memories from a conversation: of people what they said of themselves, of tasks what works and what does
        not, of tools how they are used, from the records of their calls.

        Args:
            messages (`Sequence[Msg | dict]`):
                The conversation, which is stored with what is drawn from it.
            user_name (`str | list`), task_name (`str | list`), tool_name (`str | list`):
                Whose memories, or about what; together at least one. There will be no others.
            description (`str`):
                What the conversation is about.
            language (`str | None`):
                `"zh"`, `"en"`, `""` (English), or `None`: that of the conversation.

        Returns:
            `list[MemoryNode]`: the memories that are new or were changed.

        Raises:
            `ConfigError`: nobody is named.
            `MissingModelError`: there is no model; guides to tools can be drawn without one.
            `ModelReplyError`: no reply of the model could be used; nothing was stored.
        """
        named, description = owners(user_name, task_name, tool_name), text_of("description", description)
        spoken = self._language if language is None else checked_language(language, self._book)
        await self._ensure_started()
        return await self.summarizer.summarize(as_msgs(messages), named, description=description, language=spoken)

    async def record_tool_calls(
        self, records: "ToolCallRecord | Mapping[str, Any] | Iterable[ToolCallRecord | Mapping[str, Any]]"
    ) -> list[ToolCallRecord]:
        """Keep calls of tools. A call is kept once. Guides are drawn from them: by themselves, the figures only, after
        some calls (`update_guides_after`), and with the model by `summarize_memory(tool_name=...)`.

        Args:
            records (`Iterable[ToolCallRecord | Mapping]`):
                The calls, or dictionaries of their fields.

        Returns:
            `list[ToolCallRecord]`: them as they are stored.

        Raises:
            `ConfigError`: no tool's name, or a value that cannot be.
        """
        given = read_records(records)
        await self._ensure_started()
        stored = await self.tool_records.record(given)
        self.guides.note(record.tool_name for record in stored)
        return stored

    # ------------------------------------------------------------------ finding

    async def retrieve_memory(
        self,
        query: str | Sequence[str] = "",
        messages: Messages | None = None,
        user_name: Names = "",
        task_name: Names = "",
        tool_name: Names = "",
        limit: int | None = None,
        hybrid_threshold: float | None = None,
        filters: Filters = None,
        min_score: float | None = None,
        *,
        retrieve_top_k: int | None = None,
        similarity: Similarity | None = None,
        include_inactive: bool = False,
        agentic: bool = False,
    ) -> list[MemoryNode]:
        """Find memories. No model is asked, unless that is wanted.

        Args:
            query (`str | Sequence[str]`):
                What is looked for, in any language; dates in it and names of speakers count. Several are one search for
                what fits them together, as `similarity` says.
            messages (`Sequence[Msg | dict] | None`):
                A conversation that it is looked for in: the query is also asked together with its last turns. Without
                a query its last request is the query.
            user_name (`str | list`), task_name (`str | list`), tool_name (`str | list`):
                Whose memories, or about what; together at least one.
            limit (`int | None`), retrieve_top_k (`int | None`):
                Two names of one number: how many at most, 20 by default.
            hybrid_threshold (`float | None`):
                The least cosine to the queries; see `MemoryRetriever.retrieve`.
            filters (`Mapping[str, Any] | None`):
                By field, what a memory must meet; see `agentscope_reme.record.parse_filters`.
            min_score (`float | None`):
                The least score, 0 to 1.
            similarity (`"mean" | "max" | Sequence[float] | None`):
                How the relevance to several queries becomes one.
            include_inactive (`bool`):
                Also what was superseded or forgotten, or has expired.
            agentic (`bool`):
                Let an agent search, several times where it has to, and read profiles and stored conversations. It takes
                some calls of the model; where that fails, memories are found without it.

        Returns:
            `list[MemoryNode]`: the best first, none twice; `score` is the relevance, 0 to 1, and `str()` of each is
            ready for a prompt. Empty where nothing is relevant.

        Raises:
            `ConfigError`: nobody is named, nothing is asked, or an argument cannot work.
            `MissingModelError`: an agent is to search, and there is no model.
        """
        named, count = owners(user_name, task_name, tool_name), limit_of(limit, retrieve_top_k)
        number_of("hybrid_threshold", hybrid_threshold, -1, 1)
        number_of("min_score", min_score, 0, 1)
        said = as_msgs(messages)
        queries = (
            questions_of(said, query) if isinstance(query, str) else texts_of("query", query, "give a text, or several")
        )
        await self._ensure_started()
        if agentic:
            return await self._agents.retrieve(
                "\n".join(queries) if not isinstance(query, str) else queries[0] if queries else "",
                named,
                messages=said,
                limit=count,
                filters=filters,
                hybrid_threshold=hybrid_threshold,
                min_score=min_score,
                language=self._language,
            )
        return await self.retriever.retrieve(
            queries or query,
            named,
            limit=count,
            filters=filters,
            hybrid_threshold=hybrid_threshold,
            min_score=min_score,
            similarity=similarity,
            include_inactive=include_inactive,
        )

    async def list_memory(
        self,
        user_name: Names = "",
        task_name: Names = "",
        tool_name: Names = "",
        filters: Filters = None,
        limit: int | None = None,
        sort_key: str = "time_created",
        reverse: bool = True,
        *,
        include_inactive: bool = False,
    ) -> list[MemoryNode]:
        """Memories in order.

        Args:
            user_name (`str | list`), task_name (`str | list`), tool_name (`str | list`):
                Whose memories, or about what; together at least one.
            filters (`Mapping[str, Any] | None`):
                By field, what a memory must meet; see `agentscope_reme.record.parse_filters`.
            limit (`int | None`):
                How many at most; `None` for all.
            sort_key (`str`):
                The field that orders them; memories without a value come last.
            reverse (`bool`):
                The greatest, that is the newest, first.
            include_inactive (`bool`):
                Also what was superseded or forgotten.
        """
        named = owners(user_name, task_name, tool_name)
        count_of("limit", limit)
        await self._ensure_started()
        return await self.bank.list(
            named, filters, limit=limit, sort_key=sort_key, reverse=reverse, include_inactive=include_inactive
        )

    # ------------------------------------------------------------------ one memory

    async def add_memory(
        self,
        memory_content: str,
        user_name: Names = "",
        task_name: Names = "",
        tool_name: Names = "",
        when_to_use: str = "",
        message_time: Time = None,
        ref_memory_id: str = "",
        author: str = "",
        score: float = 0.0,
        importance: float | None = None,
        tags: Sequence[str] = (),
        category: str | None = None,
        *,
        entities: Sequence[str] = (),
        expires_at: Time = None,
        **metadata: Any,
    ) -> MemoryNode:
        """Add a memory. One that is there already stays as it is and comes back.

        Args:
            memory_content (`str`):
                What is known.
            user_name (`str`), task_name (`str`), tool_name (`str`):
                Whose memory it is, or about what: exactly one name.
            when_to_use (`str`):
                The situation in which it is of use, as somebody would describe it; where given, meaning is taken from
                this.
            message_time (`str | float | datetime | None`):
                When it was said or happened.
            ref_memory_id (`str`):
                The conversation it comes from. What one conversation holds with author and time is ranked as its turns.
            author (`str`):
                Who said or wrote it.
            score (`float`):
                A number of your own that is kept with it.
            importance (`float | None`):
                0 to 1; 0.5 where nobody has judged it.
            tags (`Sequence[str]`), entities (`Sequence[str]`):
                Labels, and names in it.
            category (`str | None`):
                Such as `"fact"`, `"preference"`, `"plan"`, `"event"`.
            expires_at (`str | float | datetime | None`):
                When it stops being found.
            **metadata:
                Anything else, as JSON values.

        Raises:
            `ConfigError`: an empty content, no name or several, or a value that cannot work.
        """
        fields = {
            "message_time": message_time,
            "score": score,
            "importance": importance,
            "tags": tags,
            "category": category,
            "entities": entities,
            "expires_at": expires_at,
            **metadata,
        }
        owner = one_owner(user_name, task_name, tool_name)
        texts = {"when_to_use": when_to_use, "ref_memory_id": ref_memory_id, "author": author}
        node = self._node(memory_content, owner, **texts, **self._fields(fields, {}))
        await self._ensure_started()
        [added] = await self.bank.add([node])
        return added

    async def add_memories(
        self,
        memory_contents: Sequence[str],
        user_name: Names = "",
        task_name: Names = "",
        tool_name: Names = "",
        **fields: Any,
    ) -> list[MemoryNode]:
        """Add several memories at once, which is faster.

        Args:
            memory_contents (`Sequence[str]`):
                What is known.
            user_name (`str`), task_name (`str`), tool_name (`str`):
                Whose memories they are, or about what: exactly one name.
            **fields:
                What else they have in common, as `add_memory` takes it.

        Returns:
            `list[MemoryNode]`: for each content, the memory that there now is.

        Raises:
            `ConfigError`: as `add_memory`; nothing was added.
        """
        owner = one_owner(user_name, task_name, tool_name)
        contents = texts_of("memory_contents", memory_contents)
        nodes = [self._node(content, owner, **self._fields(fields, {})) for content in contents]
        await self._ensure_started()
        return await self.bank.add(nodes)

    async def get_memory(
        self, memory_id: str, user_name: Names = "", task_name: Names = "", tool_name: Names = ""
    ) -> MemoryNode:
        """A memory by its id, or what an update made of it.

        Args:
            memory_id (`str`):
                The id.
            user_name (`str`), task_name (`str`), tool_name (`str`):
                Whose it has to be; needed only where several have one of this id.

        Raises:
            `MemoryNotFound`: there is none, or it was deleted.
            `AmbiguousMemoryId`: several owners have one of this id.
        """
        owner = owner_or_none(user_name, task_name, tool_name)
        await self._ensure_started()
        return await self.bank.get(memory_id, owner)

    async def get_memories(
        self, memory_ids: Sequence[str], user_name: Names = "", task_name: Names = "", tool_name: Names = ""
    ) -> dict[str, MemoryNode]:
        """Several memories by their ids; an id that names none is left out, and logged."""
        owner, ids = owner_or_none(user_name, task_name, tool_name), texts_of("memory_ids", memory_ids)
        await self._ensure_started()
        return await self.bank.get_many(ids, owner)

    async def update_memory(
        self,
        memory_id: str,
        memory_content: str | None = None,
        when_to_use: str | None = None,
        user_name: Names = "",
        task_name: Names = "",
        tool_name: Names = "",
        **fields: Any,
    ) -> MemoryNode:
        """Change a memory. Its id follows its content; the old id still leads to it, and the old version is kept.

        Args:
            memory_id (`str`):
                The id.
            memory_content (`str | None`), when_to_use (`str | None`):
                The new texts; `None` leaves one as it is.
            user_name (`str`), task_name (`str`), tool_name (`str`):
                Whose it has to be; nothing is moved by that.
            **fields:
                What else changes: `message_time`, `ref_memory_id`, `author`, `score`, `importance`, `tags`, `category`,
                `entities`, `expires_at`, `is_active`; anything else goes to the metadata, beside what is there.

        Returns:
            `MemoryNode`: the memory as it is now.

        Raises:
            `MemoryNotFound`: there is none, or it is not theirs.
            `AmbiguousMemoryId`: several owners have one of this id.
            `ConfigError`: an empty content or a value that cannot work.
        """
        owner = owner_or_none(user_name, task_name, tool_name)
        await self._ensure_started()
        return await self._updated(memory_id, owner, memory_content, when_to_use, **fields)

    async def update_memories(
        self,
        changes: Mapping[str, Mapping[str, Any]],
        user_name: Names = "",
        task_name: Names = "",
        tool_name: Names = "",
    ) -> dict[str, MemoryNode]:
        """Change several. An id that names none, or several owners' memories, keeps no other from being changed.

        Args:
            changes (`Mapping[str, Mapping[str, Any]]`):
                By id, what `update_memory` takes: `memory_content`, `when_to_use`, and the other fields.
            user_name (`str`), task_name (`str`), tool_name (`str`):
                Whose they have to be; nothing is moved by that.

        Returns:
            `dict[str, MemoryNode]`: by id, each memory as it is now; what was not changed is left out, and logged.

        Raises:
            `ConfigError`: as `update_memory`, of the first change that cannot work; those before it were made.
        """
        owner = owner_or_none(user_name, task_name, tool_name)
        if not isinstance(changes, Mapping) or not all(isinstance(each, Mapping) for each in changes.values()):
            raise ConfigError(f"changes is {str(changes)[:200]}: give a dictionary from ids to dictionaries of fields.")
        await self._ensure_started()
        if self.bank.store.space is not None:  # all new texts in one request; each is in the cache then
            given = (each.get("when_to_use") or each.get("memory_content") for each in changes.values())
            await self.bank.vectors.of_texts([self.bank.clean(text) for text in given if isinstance(text, str)])
        changed = {}
        for memory_id, fields in changes.items():
            try:
                changed[memory_id] = await self._updated(memory_id, owner, **fields)
            except (MemoryNotFound, AmbiguousMemoryId) as error:
                logger.warning("%s", error)
        return changed

    async def delete_memory(
        self, memory_id: str, user_name: Names = "", task_name: Names = "", tool_name: Names = ""
    ) -> bool:
        """Delete a memory with its old versions.

        Args:
            memory_id (`str`):
                The id.
            user_name (`str`), task_name (`str`), tool_name (`str`):
                Whose it has to be; needed only where several have one of this id.

        Returns:
            `bool`: False where it was deleted before.

        Raises:
            `MemoryNotFound`: there never was one.
            `AmbiguousMemoryId`: several owners have one of this id.
        """
        owner = owner_or_none(user_name, task_name, tool_name)
        await self._ensure_started()
        was_cold = await self._dropped(memory_id, owner)
        return await self.bank.delete(memory_id, owner) or was_cold

    async def delete_memories(
        self, memory_ids: Sequence[str], user_name: Names = "", task_name: Names = "", tool_name: Names = ""
    ) -> dict[str, bool]:
        """Delete several. An id that names none, or several owners' memories, keeps no other from being deleted.

        Returns:
            `dict[str, bool]`: by id, whether it was deleted now.
        """
        owner, ids = owner_or_none(user_name, task_name, tool_name), texts_of("memory_ids", memory_ids)
        await self._ensure_started()
        cold = set()
        for memory_id in ids:
            with suppress(AmbiguousMemoryId):  # which is logged below
                if await self._dropped(memory_id, owner):
                    cold.add(memory_id)
        done = await self.bank.delete_many(ids, owner)
        return {memory_id: was_there or memory_id in cold for memory_id, was_there in done.items()}

    async def delete_all(
        self,
        user_name: "Names | Unset" = UNSET,
        task_name: "Names | Unset" = UNSET,
        tool_name: "Names | Unset" = UNSET,
        *,
        confirm: bool = False,
    ) -> int:
        """Delete all that is kept of some users, tasks or tools: memories, versions, conversations, profiles, records.

        Args:
            user_name (`str | list`), task_name (`str | list`), tool_name (`str | list`):
                Of whom; a name that is given must not be empty.
            confirm (`bool`):
                Without a name everything of everybody is deleted, with `confirm=True` only.

        Returns:
            `int`: how many memories there were.

        Raises:
            `ConfigError`: nobody is named and it was not confirmed.
        """
        names = {"user_name": user_name, "task_name": task_name, "tool_name": tool_name}
        given = {argument: each for argument, each in names.items() if not isinstance(each, Unset)}
        if empty := [argument for argument, each in given.items() if not each]:
            raise ConfigError(f"{empty[0]} is {given[empty[0]]!r}, which names nobody: leave it out, or give a name.")
        named = owners(**{argument: given.get(argument, "") for argument in names}) if given else None
        if named is None and not confirm:
            raise ConfigError(
                "delete_all() without a name deletes the memories of everybody: name a user, task or tool, or say "
                "delete_all(confirm=True).",
            )
        await self._ensure_started()
        await self._all_dropped(named)
        return await self.bank.delete_all(named)

    # ------------------------------------------------------------------ the record

    async def memory_versions(
        self, memory_id: str, user_name: Names = "", task_name: Names = "", tool_name: Names = ""
    ) -> list[MemoryNode]:
        """The versions that a memory had before, the oldest first."""
        owner = owner_or_none(user_name, task_name, tool_name)
        await self._ensure_started()
        return await self.bank.versions(memory_id, owner)

    async def memory_history(
        self, memory_id: str, user_name: Names = "", task_name: Names = "", tool_name: Names = ""
    ) -> list[AuditRow]:
        """What was done to a memory, by whom and why, the oldest first, also when it was deleted."""
        owner = owner_or_none(user_name, task_name, tool_name)
        await self._ensure_started()
        return await self.bank.history(memory_id, owner)

    async def read_conversation(
        self, ref_memory_id: str, user_name: Names = "", task_name: Names = "", tool_name: Names = ""
    ) -> list[Msg]:
        """The messages that a memory comes from, by its `ref_memory_id`; none where they were not stored."""
        owner = one_owner(user_name, task_name, tool_name)
        await self._ensure_started()
        return await self.conversations.read(ref_memory_id, owner)

    async def reindex(self, progress: Progress | None = None) -> int:
        """Embed all memories with the embedding model in use. Can be called again where it was broken off.

        Args:
            progress (`Callable[[int, int], object] | None`):
                Told how many of how many are done.

        Returns:
            `int`: how many memories were embedded.

        Raises:
            `MissingModelError`: there is no embedding model.
            `EmbeddingError`: it cannot be used.
        """
        await self._ensure_started()
        return await self.bank.reindex(progress)

    # ------------------------------------------------------------------ profiles

    async def retrieve_profile(self, user_name: str, query: str = "") -> dict[str, str]:
        """What is known of a user in pairs of key and value; with a query what has to do with it, the best first."""
        text_of("query", query)
        await self._ensure_started()
        return await self.profiles.read(user_name, query)

    async def update_profile(self, user_name: str, profile: Mapping[str, str]) -> dict[str, str]:
        """Set keys of a user's profile to values. Other keys stay.

        Returns:
            `dict[str, str]`: the profile that there now is.

        Raises:
            `ConfigError`: a key or value that is blank or no text, or more keys than a profile may have.
        """
        if not isinstance(profile, Mapping):
            raise ConfigError(f"profile is {profile!r:.200}: give a dictionary of keys and values.")
        await self._ensure_started()
        return await self.profiles.update(user_name, profile)

    async def delete_profile(self, user_name: str, key: str | None = None) -> int:
        """Delete a key of a user's profile, or all of them; how many there were comes back."""
        await self._ensure_started()
        return await self.profiles.delete(user_name, key)

    # ------------------------------------------------------------------ inside

    def _node(self, content: str, owner: Owner, **values: Any) -> MemoryNode:
        now: datetime = self.bank.clock()
        return MemoryNode(content, owner.memory_type, owner.target, time_created=now, time_modified=now, **values)

    async def _updated(
        self,
        memory_id: str,
        owner: Owner | None,
        memory_content: str | None = None,
        when_to_use: str | None = None,
        **fields: Any,
    ) -> MemoryNode:
        there = await self.bank.get(memory_id, owner)
        values = self._fields(fields, there.metadata)
        whose = Owner(there.memory_type, there.memory_target)
        return await self.bank.update(there.memory_id, whose, content=memory_content, when_to_use=when_to_use, **values)

    def _fields(self, given: Mapping[str, Any], metadata: Mapping[str, Any]) -> dict[str, Any]:
        """Fields of a memory; what is none of them is metadata."""
        fields = {name: value for name, value in given.items() if name in _FIELDS}
        rest = {name: value for name, value in given.items() if name not in _FIELDS}
        return field_values(self.bank.timezone, rest, metadata, fields)

    async def _ensure_started(self) -> None:
        if self._closed:
            raise NotStartedError("ReMe was closed: call start() to use it again.")
        if not self._started:
            await self.start()


def _with_formatter(model: "ChatModelBase | Mapping[str, Any]") -> Any:
    return model if isinstance(model, Mapping) else (model, formatter_for(model))


_FIELDS = frozenset(
    {
        *("when_to_use", "message_time", "ref_memory_id", "author", "score", "importance", "tags", "category"),
        *("entities", "expires_at", "is_active"),
    }
)
