# -*- coding: utf-8 -*-
"""The vector-based memory: what is known of people, of tasks and of tools, found again by meaning and by words."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from agentscope.message import Msg
from typing_extensions import Self

from ._arguments import check_arguments, checked_language, llm_config, zone
from ._curation import Curation
from ._embedder_source import EmbedderSource
from ._errors import ConfigError, NotStartedError
from ._events import EventBus, EventKind, Listener
from ._loop_lock import LoopLock
from ._memory_arguments import (
    Names,
    count_of,
    flag_of,
    limit_of,
    number_of,
    owners,
    read_records,
    step_of,
    text_of,
    texts_of,
)
from ._model_source import UNSET, ModelSource, Own, Unset, own_model
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
    Conversations,
    Filters,
    GuideKeeping,
    MemoryBank,
    MemoryKind,
    MemoryRetriever,
    MemorySummarizer,
    ModelAccess,
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


class ReMe(Refinement, Upkeep, Curation):
    """Memories of any number of users, tasks and tools, in one store.

    Nothing here needs a model but `summarize_memory`; without an embedding model memories are found by their words.

        async with ReMe(".reme") as reme:
            await reme.add_memory("Prefers tea to coffee.", user_name="alice")
            print(await reme.retrieve_memory("What does she drink?", user_name="alice"))

    Every method starts what it needs. Whoever is named (`user_name`, `task_name`, `tool_name`, each a name or a list)
    limits what a method sees: nothing is found, changed or deleted that belongs to somebody else. In the place of a
    name an `Owner` can stand, of any kind of memory.

    Args:
        working_dir (`str | Path`):
            The folder of the local store and of the cache of vectors; made when first needed, for its owner alone.
        model (`ChatModelBase | None`):
            Draws memories from conversations. `None` means that no model is asked.
        formatter (`FormatterBase | None`):
            Goes with the models; found by itself for the host's own.
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
            The kinds of memory that are drawn from conversations, each with its prompts. For a kind of your own, give
            `KIND.owner(name)` in the place of a name: `await reme.retrieve_memory(query, user_name=KIND.owner(name))`.
        max_input_length (`int`):
            Tokens of the model's window. One request for memories and its reply are no longer together, and longer
            conversations are read in parts; condensing takes 70 % of it (`RefinerConfig.window_share`), or of
            `RefinerConfig.max_input_length` where that is given.
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
            is given, what is due is done in the background from `start` on; without it, the defaults hold, and `refine`
            and `sweep` are called by hand.
        extract_model (`ChatModelBase | tuple | Mapping | None`):
            Draws memories from conversations, in place of the `model`: ready, as `(model, formatter)`, or a dictionary.
        refine_model (`ChatModelBase | tuple | Mapping | None`):
            Condenses memories, in place of the `model`.
        filter_model (`ChatModelBase | tuple | Mapping | None`):
            A cheap model that says before what is of no use, also where no model condenses; none unless given.
        schema (`TagSchema | Mapping[str, Sequence[str]] | None`):
            The dimensions of tags with the values that each may have, and the categories (`"type"` in a mapping). A
            model is asked to fill them in; what it fills in, and what is added by hand, is checked.

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
        extract_model: Own = None,
        refine_model: Own = None,
        filter_model: Own = None,
        schema: "TagSchema | Mapping[str, Sequence[str]] | None" = None,
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
        extract, refine, sift = (
            own_model(name, each, formatter)
            for name, each in (
                ("extract_model", extract_model),
                ("refine_model", refine_model),
                ("filter_model", filter_model),
            )
        )
        others = any(each is not None for each in (extract, refine, sift))
        alone = others and (model is None or isinstance(model, Unset))
        self._models = ModelSource(model, None if alone else formatter, config)
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
            self.bank,
            kinds=kinds,
            mode=summarize_mode,
            profiles=self.profiles,
            records=self.tool_records,
            **(access if extract is None else {**access, "model": extract[0], "formatter": extract[1]}),
        )
        """How memories are drawn from conversations and from calls of tools."""
        self.guides = GuideKeeping(
            self.bank, self.summarizer, after=update_guides_after, by_model=update_guides_by_model
        )
        """Keeps the guides to tools up to date, in the background."""
        self._agents = AgentRetriever(
            self.bank, self.retriever, ModelAccess(**access), self.summarizer.kinds, self.profiles, self.conversations
        )
        self._check_refinement(refiner, schema, self.summarizer.kinds)
        self._set_up(refiner)
        self._set_up_refinement(
            refiner,
            schema,
            self._tokens.text,
            max_input_length,
            (access["model"], access["formatter"]) if refine is None else refine,
            sift,
        )
        self._changing = LoopLock()
        self._started = False
        self._closed = False

    # ------------------------------------------------------------------ life

    async def start(self) -> None:
        """Open the store and, where a `refiner` was given, look from now on for work that is due. Every method does
        this by itself at its first use.

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
            await self._resume_capture()
            name = self._models.name()
            for reason in filter(None, (self._models.missing, self._embedders.missing)):
                self._events.emit(EventKind.MODEL_MISSING, reason=reason)
            self._events.emit(EventKind.STARTED, working_dir=str(self.workspace.root), model=name)
        self._look()

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
        return await self.summarizer.summarize(
            as_msgs(messages), named, description=description, language=spoken, rules=self._rules
        )

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
        flag_of("include_inactive", include_inactive)
        flag_of("agentic", agentic)
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
        step_of("progress", progress)
        await self._ensure_started()
        return await self.bank.reindex(progress)

    # ------------------------------------------------------------------ inside

    async def _ensure_started(self) -> None:
        if self._closed:
            raise NotStartedError("ReMe was closed: call start() to use it again.")
        if not self._started:
            await self.start()
        self._look()
