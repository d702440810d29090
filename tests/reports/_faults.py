# -*- coding: utf-8 -*-
"""Faults of the notes and the search of an existing package (31 to 59), and of its vector memory (60 to 82)."""

from _report import Report, kept

__all__ = ["MEMORY_FAULTS", "NOTE_FAULTS"]

_SEARCHED = "reports/reported_search_test.py::"
_NOTED = "reports/reported_notes_test.py::"
_FILES = "notes/notes_file_tools_test.py::"
_WRITER = "notes/notes_writer_test.py::"
_QUEUE = "notes/notes_queue_test.py::"
_SYNC = "note_index/note_index_sync_test.py::"
_VECTORS = "note_index/note_index_embedding_test.py::"
_WATCHER = "note_index/note_index_watcher_test.py::"
_TURNS = "note_index/note_index_turns_test.py::"
_CHUNKS = "note_index/note_index_chunks_test.py::"
_HYBRID = "search/search_hybrid_test.py::"
_BM25 = "search/search_bm25_test.py::"
_BATCH = "embedding/embedding_batch_test.py::"
_CACHE = "embedding/embedding_cache_test.py::"
_BANK = "vector_memory/bank_memories_test.py::"
_RETRIEVER = "vector_memory/retriever_search_test.py::"
_PROFILES = "vector_memory/profile_book_test.py::"
_AGENTS = "vector_memory/summarizer_agentic_test.py::"
_LAWS = "vector_memory/summarizer_laws_test.py::"
_REME = "reme_test.py::"

NOTE_FAULTS: dict[int, Report] = {
    31: kept("tools read and write anywhere on the disk", _FILES + "test_nothing_is_written_or_read_elsewhere"),
    32: kept("an edit of nothing writes between all characters", _FILES + "test_an_edit_needs_exactly_one_place"),
    33: kept(
        "an edit changes every place and does not say so",
        _FILES + "test_an_edit_needs_exactly_one_place",
        _FILES + "test_overlapping_places_count",
    ),
    34: kept("half a character empties the file", _FILES + "test_a_lone_surrogate_harms_nothing"),
    35: kept("bytes that are no UTF-8 are dropped, line ends rewritten", _FILES + "test_gbk_bytes_and_line_ends_stay"),
    36: kept("a folder that is not there is not made", _FILES + "test_unicode_names_and_missing_folders"),
    37: kept(
        "of two facts that two writers add one survives",
        _NOTED + "test_many_notes_of_one_day_at_once_are_all_there_once",
        _FILES + "test_a_file_that_changed_is_not_overwritten",
        "notes/notes_histories_test.py::test_several_processes_lose_no_line_and_tear_none",
    ),
    38: kept(
        "closing drops note tasks that run",
        _NOTED + "test_nobody_waits_for_the_notes",
        _NOTED + "test_what_a_failing_writer_did_not_note_is_noted_later",
        _QUEUE + "test_closing_finishes_what_it_can_and_says_which",
    ),
    39: kept(
        "a failure is reported as done",
        _NOTED + "test_what_a_failing_writer_did_not_note_is_noted_later",
        _QUEUE + "test_a_failure_is_tried_again_with_the_same_messages",
    ),
    40: kept(
        "the prompt names tools that there are not", _WRITER + "test_the_tools_in_the_prompt_are_those_that_there_are"
    ),
    41: kept(
        "the date is today's, not the message's",
        _NOTED + "test_a_day_is_the_speaker_s_in_notes_and_archive",
        _WRITER + "test_every_message_is_noted_on_its_own_day",
    ),
    42: kept(
        "MEMORY.md that is made later is never seen",
        _SEARCHED + "test_search_without_start_or_embedding_finds_what_lay_there_before",
        _WATCHER + "test_new_changed_replaced_and_removed_files_are_seen",
    ),
    43: kept(
        "one file that is no UTF-8 ends the watcher, and closing raises",
        _WATCHER + "test_new_changed_replaced_and_removed_files_are_seen",
        _SYNC + "test_bad_files_do_not_stop_the_others_and_are_told",
    ),
    44: kept(
        "a search right after the start finds nothing",
        _SEARCHED + "test_search_without_start_or_embedding_finds_what_lay_there_before",
        _SYNC + "test_a_note_is_found_right_after_it_was_written",
    ),
    45: kept(
        "everything is embedded again at each start",
        _SEARCHED + "test_after_a_restart_nothing_unchanged_is_embedded_and_the_same_is_found",
    ),
    46: kept(
        "one failure disables vectors until the next start, and stores zeros",
        _VECTORS + "test_a_failing_model_leaves_search_by_words_and_is_tried_again",
        _SEARCHED + "test_a_vector_that_is_no_number_costs_its_own_text_only_and_for_a_while",
    ),
    47: kept(
        "Chinese questions find nothing",
        _SEARCHED + "test_words_of_a_mixed_sentence_find_it_however_they_are_joined",
    ),
    48: kept(
        "the best match is ranked last, or dropped",
        _HYBRID + "test_the_right_note_comes_first",
        _BM25 + "test_scores_are_those_of_rank_bm25",
    ),
    49: kept("chunks of the old text stay", _SYNC + "test_an_edit_of_one_file_leaves_the_others_alone"),
    50: kept(
        "a long line is kept twice, in chunks that are too long",
        _CHUNKS + "test_a_long_line_is_cut_without_doubling_or_loss",
        _CHUNKS + "test_chunks_are_about_as_long_as_allowed",
    ),
    51: kept(
        "chunks that share their lines overwrite each other",
        _SEARCHED + "test_both_halves_of_a_line_that_was_cut_are_found_and_neither_twice",
    ),
    52: kept(
        "what is unrelated scores half, and an exact code is not among the first",
        _HYBRID + "test_an_unrelated_text_of_the_nearest_is_not_sure",
        _HYBRID + "test_an_exact_code_goes_before_all_that_is_merely_near",
        _VECTORS + "test_a_cosine_below_the_models_floor_is_no_match",
    ),
    53: kept(
        "a query whose embedding fails finds something at random",
        _VECTORS + "test_a_failing_model_leaves_search_by_words_and_is_tried_again",
        _VECTORS + "test_a_query_that_is_refused_costs_a_new_note_nothing",
    ),
    54: kept(
        "an edit of a file that has grown is taken for an addition",
        _TURNS + "test_a_line_taken_out_in_the_middle_is_gone_even_where_the_file_has_grown",
        _SYNC + "test_an_edit_cuts_only_the_words_of_what_changed",
    ),
    55: kept(
        "closing while files are read raises", _SYNC + "test_close_while_files_are_read_ends_at_once_and_loses_nothing"
    ),
    56: kept(
        "the cache drops the newest after a restart",
        _CACHE + "test_the_bound_drops_what_was_not_used_for_longest_and_never_the_newest",
        _CACHE + "test_uses_are_remembered_over_a_restart_without_a_write",
    ),
    57: kept(
        "vectors of another length are cut or padded",
        _BATCH + "test_another_dimension_is_an_error_with_both_numbers_and_never_cut_or_padded",
    ),
    58: kept("folders of folders are not indexed", _SYNC + "test_files_of_sub_folders_and_extra_folders_are_found"),
    59: kept(
        "what takes long runs on the event loop",
        _SYNC + "test_words_are_cut_and_files_read_off_the_event_loop",
        "embedding/embedding_local_test.py::test_the_loop_goes_on_while_it_computes",
        _HYBRID + "test_the_garbage_collector_has_no_object_for_each_text_or_word",
    ),
}

MEMORY_FAULTS: dict[int, Report] = {
    60: kept("a sentence of two users is one memory", _BANK + "test_the_same_sentence_of_two_users_is_two_memories"),
    61: kept(
        "an update keeps the old vector",
        _BANK + "test_an_update_moves_id_vector_and_time_together",
        _BANK + "test_a_vector_that_a_caller_left_on_a_memory_is_not_believed",
    ),
    62: kept(
        "an unknown id among several puts a text on another memory",
        _BANK + "test_an_unknown_id_among_several_touches_no_other",
    ),
    63: kept("an update moves a memory to another user", _BANK + "test_an_owner_is_checked_and_never_changed"),
    64: kept("metadata can name another owner", _BANK + "test_metadata_names_no_owner"),
    65: kept(
        "an id that is missing is an attribute error",
        _BANK + "test_an_id_that_never_was_is_an_error_and_one_that_was_deleted_is_told",
    ),
    66: kept(
        "a search overwrites the stored score",
        _RETRIEVER + "test_a_search_changes_neither_score_nor_importance_and_notes_that_something_was_found",
    ),
    67: kept(
        "nothing is on disk before closing",
        "vector_memory/bank_kill_test.py::test_a_death_leaves_the_old_state_or_the_new_one",
    ),
    68: kept("two instances erase each other", _BANK + "test_two_banks_over_one_file_add_and_change_together"),
    69: kept("a write that failed corrupts what was saved", _BANK + "test_a_store_that_refuses_leaves_what_there_was"),
    70: kept(
        "an empty content is a memory without an id",
        _BANK + "test_nothing_is_added_of_an_empty_content_or_metadata_that_is_no_json",
    ),
    71: kept("of two keys with equal values one is lost", _PROFILES + "test_equal_values_of_two_keys_are_two_entries"),
    72: kept(
        "profiles that are written at once cannot be read",
        _PROFILES + "test_writers_at_the_same_time_lose_nothing_also_in_two_processes",
    ),
    73: kept(
        "names lead out of the folder, or two of them are one",
        _BANK + "test_names_that_look_alike_are_different_people",
        _REME + "test_everything_lies_in_one_folder_for_its_owner_alone",
    ),
    74: kept("memories of others are read", _RETRIEVER + "test_nobodys_memories_are_found_by_others"),
    75: kept(
        "what a user said stays when the user is deleted",
        "vector_memory/conversations_keep_test.py::test_a_conversation_goes_with_its_owner_and_stays_with_others",
        "vector_memory/bank_record_test.py::test_a_deleted_text_is_in_no_file_any_more",
    ),
    76: kept(
        "deleting one user's memories deletes everybody's",
        _BANK + "test_deleting_all_of_somebody_leaves_nothing_of_theirs_and_all_of_others",
        _REME + "test_nobody_is_everybody",
        _LAWS + "test_whatever_an_agent_calls",
    ),
    77: kept(
        "the host's messages are refused",
        _REME + "test_conversations_are_taken_as_they_come",
        "vector_memory/summarizer_cheap_test.py::test_fault_77_messages_may_be_dictionaries",
    ),
    78: kept(
        "a model that calls no tool stores nothing, and that is a success",
        _AGENTS + "test_fault_78_without_a_call_nothing_is_stored_and_it_says_so",
        "vector_memory/delegation_route_test.py::test_fault_78_a_router_that_calls_no_tool_stores_nothing_and_says_so",
    ),
    79: kept("a tool's error reaches the model as nothing", _AGENTS + "test_fault_79_errors_are_told_in_words"),
    80: kept(
        "what was added by hand has no time and is filtered out",
        _RETRIEVER + "test_memories_added_by_hand_are_found_by_the_time_they_are_of",
        "vector_memory/agent_retriever_find_test.py::test_a_time_filter_does_not_miss_what_was_added_by_hand",
    ),
    81: kept(
        "values of two types cannot be sorted, and three cannot be filtered by",
        _BANK + "test_memories_are_listed_in_order_with_filters",
        "vector_store/filters_test.py::test_filters_mean_what_matches_says",
    ),
    82: kept("one call a second", _REME + "test_several_at_once"),
}
