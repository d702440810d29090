# -*- coding: utf-8 -*-
"""Refinement: what to capture, keep, merge, correct, strengthen and let go, always traceable and reversible."""

from ._capture import Capture
from ._category import CATEGORIES, category_of, is_small_talk, reason_to_drop
from ._cold_storage import ColdMemory, ColdStorage
from ._comparison import Comparison, compare, says_the_same
from ._config import ConflictPolicy, GroupBy, RefinerConfig
from ._conflict import Neighbour, Resolution, resolve
from ._due import due_for
from ._entities import entities_of
from ._expiry import expiry_of, last_day_named, with_expiry
from ._explanation import Explanation, explained
from ._extractive import Extract, extract
from ._feedback import adjusted
from ._feedback_book import FeedbackBook
from ._fidelity import CHECKED_CLASSES, Fault, check_fidelity, missing_statements, must_keep, repaired
from ._forgetter import Forgetter, is_forgotten
from ._forgetting import Fate, Verdict, fate_of, is_protected, over_capacity, retention, strength_days
from ._grounds import Grounds, Source, sources_of
from ._grouping import Group, Member, group_memories
from ._importance import Judgement, Signals, judge_importance, read_signals, usual_importance
from ._keeping import keeping_rules
from ._keywords import WordWeights, keywords_of
from ._lexicon import Lexicon
from ._meant import memory_meant
from ._purge import Purge, Purged
from ._recall import Knowledge, Passage, Recall
from ._recall_models import Rerank, WriteQueries, query_writer, reranker
from ._recall_plan import RecallPlan, WeightedQuery, chained_queries, is_specific, plan_recall
from ._refined import Condensed, is_refined, refined_node
from ._refined_retriever import Expand, RefinedRetriever
from ._refiner import Refiner
from ._requests import asks_to_forget, asks_to_remember
from ._review import Review, review
from ._run_report import RunReport
from ._schedule import RefineSchedule
from ._schema import TagSchema, TagValues
from ._sweeper import Swept
from ._triggers import DEFAULT_TRIGGERS, CaptureState, Trigger, TriggerRule, due, parse_triggers, to_store_at_once

__all__ = [
    "Refiner",
    "RunReport",
    "RefineSchedule",
    "keeping_rules",
    "due_for",
    "Review",
    "review",
    "RefinerConfig",
    "GroupBy",
    "ConflictPolicy",
    "Lexicon",
    # what is captured
    "DEFAULT_TRIGGERS",
    "Capture",
    "CaptureState",
    "Trigger",
    "TriggerRule",
    "due",
    "parse_triggers",
    "to_store_at_once",
    "asks_to_forget",
    "asks_to_remember",
    # what it is worth
    "CATEGORIES",
    "category_of",
    "is_small_talk",
    "reason_to_drop",
    "Judgement",
    "Signals",
    "judge_importance",
    "read_signals",
    "usual_importance",
    "adjusted",
    "FeedbackBook",
    "TagSchema",
    "TagValues",
    "entities_of",
    # what is condensed together
    "Group",
    "Member",
    "group_memories",
    "Condensed",
    "refined_node",
    "is_refined",
    "Extract",
    "extract",
    "WordWeights",
    "keywords_of",
    # what a refined text may say
    "CHECKED_CLASSES",
    "Fault",
    "Grounds",
    "Source",
    "sources_of",
    "check_fidelity",
    "missing_statements",
    "must_keep",
    "repaired",
    # what it is beside others
    "Comparison",
    "compare",
    "says_the_same",
    "Neighbour",
    "Resolution",
    "resolve",
    # what fades
    "Forgetter",
    "Swept",
    "ColdStorage",
    "ColdMemory",
    "memory_meant",
    "is_forgotten",
    "Purge",
    "Purged",
    "Fate",
    "Verdict",
    "fate_of",
    "is_protected",
    "over_capacity",
    "retention",
    "strength_days",
    "expiry_of",
    "last_day_named",
    "with_expiry",
    # how it is asked
    "RefinedRetriever",
    "Expand",
    "Rerank",
    "WriteQueries",
    "reranker",
    "query_writer",
    "Recall",
    "Passage",
    "Knowledge",
    "RecallPlan",
    "WeightedQuery",
    "plan_recall",
    "chained_queries",
    "is_specific",
    "Explanation",
    "explained",
]
