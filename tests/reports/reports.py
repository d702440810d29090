# -*- coding: utf-8 -*-
"""Which test re-enacts which report.

Reports are what users of agent memories complained of, collected from public threads and named by a letter (the group)
and a number; faults are what was found wrong in an existing package of this kind, numbered. Each is a kind of thing
that can go wrong, told here in a line, with the tests that would go wrong then. `reports_test.py` checks that the tests
exist and that no report of the groups is missing.
"""

from _faults import MEMORY_FAULTS, NOTE_FAULTS
from _report import Report, joined
from _report import elsewhere as _elsewhere
from _report import kept as _kept
from _reports_of_memories import MEMORY_REPORTS
from _reports_of_notes import NOTE_REPORTS
from _reports_of_search import SEARCH_REPORTS

__all__ = ["FAULTS", "GROUPS", "LAST_FAULT", "REPORTS", "Report"]

GROUPS = {"A": 11, "B": 19, "C": 8, "D": 8, "E": 14, "F": 15, "G": 14, "H": 8, "I": 10, "J": 11, "K": 8, "L": 6, "M": 7}
"""The groups of reports of which each has a test, and how many there are."""

LAST_FAULT = 86
"""The faults are numbered from 1."""


_CONTEXT = "reports/reported_context_test.py::"
_SUMMARIES = "reports/reported_summaries_test.py::"
_PAIRS = "reports/reported_pairs_test.py::"
_RESULTS = "reports/reported_results_test.py::"
_MEMORY = "reports/reported_memory_test.py::"
_TOKENS = "message/message_tokens_test.py::"
_LEDGER = "message/message_ledger_test.py::"
_VIEW = "message/message_view_test.py::"
_UNITS = "message/message_pairs_test.py::"
_COMPACTOR = "working_memory/compactor_test.py::"
_CHECK = "working_memory/summary_check_test.py::"
_CUT = "working_memory/tool_results_test.py::"
_OFFLOAD = "working_memory/offload_test.py::"
_RELOAD = "working_memory/reload_tools_test.py::"
_LAWS = "working_memory/keeper_laws_test.py::"
_SPLIT = "working_memory/split_test.py::"
_HOST = "working_memory/memory_host_test.py::"
_EXTRACTIVE = "working_memory/extractive_test.py::"
_ARCHIVE = "dialog/dialog_archive_test.py::"
_JSON = "chat/chat_json_test.py::"
_REPLY = "chat/chat_reply_test.py::"
_THINKING = "chat/chat_thinking_test.py::"
_SERVER = "end_to_end/bad_server_test.py::"
_LONG = "end_to_end/long_tasks_test.py::"
_INTERRUPTED = "end_to_end/interruption_test.py::"
_KILLED = "end_to_end/kill_test.py::"

_WORKING_MEMORY: dict[str, Report] = {
    # counting, and what stays in a context
    "A1": _kept(
        "special tokens in a text stop the count",
        _CONTEXT + "test_spellings_of_special_tokens_are_counted",
        _TOKENS + "test_hostile_texts_are_counted_by_every_counter",
    ),
    "A2": _kept(
        "prompt, tools and summary are outside the budget",
        _CONTEXT + "test_the_whole_request_is_budgeted",
        _LONG + "test_one_request_of_sixty_rounds",
    ),
    "A3": _kept(
        "Chinese, digits and JSON are underestimated",
        _CONTEXT + "test_chinese_and_digits_reach_the_threshold",
        _TOKENS + "test_sessions_of_chinese_digits_and_json_are_not_underestimated",
    ),
    "A4": _kept(
        "images count by their bytes, or not at all",
        _CONTEXT + "test_an_image_costs_by_rule_and_is_not_evicted",
        _LEDGER + "test_an_image_costs_the_same_however_many_bytes_it_has",
    ),
    "A5": _kept(
        "arguments and thoughts are not counted",
        _LEDGER + "test_arguments_results_and_thoughts_are_counted_in_full",
    ),
    "A6": _kept(
        "a persona above the reserve leaves no message",
        _CONTEXT + "test_a_persona_above_the_reserve_leaves_the_last_request",
    ),
    "A7": _kept(
        "a result above the reserve empties the context",
        _CONTEXT + "test_a_result_above_the_reserve_stays_with_its_call_and_the_request",
        _LONG + "test_a_round_that_fills_the_window_by_itself",
    ),
    "A8": _kept(
        "what was added since the last count is not seen",
        _CONTEXT + "test_what_was_added_since_the_last_check_counts",
        _LEDGER + "test_what_was_appended_since_is_counted",
    ),
    "A9": _kept(
        "compaction runs again with nothing new",
        _CONTEXT + "test_the_hook_after_a_compaction_does_nothing",
        _LAWS + "test_the_hook_keeps_the_laws",
    ),
    "A10": _kept(
        "one tokenizer is built in and decides for all models",
        _CONTEXT + "test_the_counter_that_is_given_decides",
        _TOKENS + "test_the_injected_counter_decides",
    ),
    "A11": _kept(
        "parallel calls with results in several messages leave nothing",
        _CONTEXT + "test_parallel_calls_with_results_in_several_messages_stay_together",
        _UNITS + "test_three_parallel_calls_with_three_result_messages_are_one_unit",
    ),
    # condensing
    "B1": _kept(
        "the summary is in another language than the conversation",
        _SUMMARIES + "test_a_chinese_conversation_is_summarized_in_chinese",
        _COMPACTOR + "test_the_language_is_the_conversations_unless_forced",
    ),
    "B2": _kept(
        "a finished task is taken up again",
        _SUMMARIES + "test_the_current_request_is_kept_word_for_word_and_quoted_to_the_writer",
        _EXTRACTIVE + "test_the_open_request_is_the_current_one_and_an_answered_one_is_not",
    ),
    "B3": _kept(
        "one giant result makes the summary's own request overflow",
        _COMPACTOR + "test_a_giant_result_is_split_and_nothing_of_it_is_lost",
        _COMPACTOR + "test_every_character_reaches_the_model_and_every_request_fits",
    ),
    "B4": _kept(
        "compaction without progress is repeated",
        _SUMMARIES + "test_a_summary_longer_than_its_input_costs_few_calls_and_leads_on",
        _COMPACTOR + "test_a_summary_longer_than_what_it_replaces_is_refused",
    ),
    "B5": _kept(
        "a failed summary is reported as a success",
        _SUMMARIES + "test_a_failing_writer_is_visible_and_nothing_is_lost",
        _SERVER + "test_a_bad_summary_is_never_the_summary",
    ),
    "B6": _kept(
        "what was trimmed from the request is dropped unsummarized",
        _SUMMARIES + "test_what_leaves_was_in_a_request_that_succeeded_or_was_extracted",
        _COMPACTOR + "test_a_failing_part_leaves_the_rest_to_extraction",
    ),
    "B7": _kept(
        "the current request is folded and an old greeting stays",
        _CONTEXT + "test_the_current_request_is_not_folded_however_small_it_is",
        _LONG + "test_thirty_requests",
    ),
    "B8": _kept(
        "no message can be protected",
        _SUMMARIES + "test_a_pinned_message_is_never_folded",
        _LAWS + "test_what_is_added_deleted_or_pinned_while_the_model_is_asked_survives",
    ),
    "B9": _kept(
        "success is judged by the number of messages",
        _SUMMARIES + "test_fewer_tokens_in_as_many_messages_are_progress",
    ),
    "B10": _kept(
        "a strict check fails once and the messages are gone",
        _COMPACTOR + "test_one_retry_names_the_problem",
        _SERVER + "test_a_summary_in_the_end",
    ),
    "B11": _kept(
        "a response format is asked for that the provider lacks",
        _SUMMARIES + "test_no_structured_output_is_asked_for",
    ),
    "B12": _kept(
        "parts are sized by the whole text and then cut to a preview",
        _SUMMARIES + "test_a_fact_in_the_fourth_of_five_long_messages_is_asked_about",
        _COMPACTOR + "test_every_character_reaches_the_model_and_every_request_fits",
    ),
    "B13": _kept(
        "the summary is made of text that was cut for display",
        _SUMMARIES + "test_the_end_of_a_shortened_result_is_asked_about",
        _EXTRACTIVE + "test_a_fact_at_the_end_of_a_long_output_is_quoted_where_it_was_used",
    ),
    "B14": _kept(
        "a malformed block fails compaction and the error becomes the summary",
        _SUMMARIES + "test_malformed_blocks_neither_stop_compaction_nor_become_its_outcome",
        _COMPACTOR + "test_malformed_blocks_are_passed_over",
        _CHECK + "test_errors_refusals_and_greetings_are_none",
    ),
    "B15": _kept(
        "a summary without one section stops the reply",
        _SUMMARIES + "test_a_summary_without_one_section_will_do",
        _CHECK + "test_three_of_six_headings_are_enough",
    ),
    "B16": _kept(
        "a greeting becomes the summary",
        _SUMMARIES + "test_a_greeting_never_stands_for_messages",
        _CHECK + "test_errors_refusals_and_greetings_are_none",
        _SERVER + "test_a_bad_summary_is_never_the_summary",
    ),
    "B17": _kept(
        "compressed messages still reach the model",
        _SUMMARIES + "test_compressed_messages_do_not_reach_the_model",
    ),
    "B18": _kept(
        "the model is asked to summarize nothing",
        _SUMMARIES + "test_nothing_to_condense_asks_nobody",
        _COMPACTOR + "test_nothing_to_summarize_asks_nobody",
    ),
    "B19": _kept(
        "an update repeats items and leaves finished work open",
        _SUMMARIES + "test_an_update_replaces_the_summary_and_says_how",
        _EXTRACTIVE + "test_work_that_is_now_done_is_no_longer_in_progress",
        _EXTRACTIVE + "test_fifty_folds_keep_the_first_goal_and_the_rules_and_repeat_nothing",
    ),
    # calls and results
    "C1": _kept(
        "a call without its result makes a provider refuse the session",
        _UNITS + "test_a_cut_between_units_changes_no_pair",
        "traces/trace_splits_test.py::test_every_split_is_sound",
        _LONG + "test_one_request_of_sixty_rounds",
    ),
    "C2": _kept(
        "a stream that broke off leaves torn arguments",
        _PAIRS + "test_a_call_whose_stream_broke_off_does_not_lock_the_session",
        _VIEW + "test_arguments_of_a_broken_stream_become_a_dictionary",
    ),
    "C3": _kept(
        "results are doubled",
        _PAIRS + "test_the_hook_run_twice_doubles_no_result",
        _VIEW + "test_a_doubled_result_is_left_out",
    ),
    "C4": _kept(
        "an interrupted call is hidden by later talk",
        _PAIRS + "test_an_interrupted_call_hidden_by_later_talk",
        _UNITS + "test_an_interrupted_call_behind_later_talk_is_seen",
        _INTERRUPTED + "test_during_one_of_three_tools",
    ),
    "C5": _kept(
        "a split by messages parts many parallel calls from their results",
        _PAIRS + "test_no_cut_through_eighteen_parallel_calls",
        _PAIRS + "test_a_cut_anywhere_in_a_live_session_is_accepted_by_the_provider",
        _UNITS + "test_eighteen_parallel_calls_at_every_cut",
    ),
    "C6": _kept(
        "thinking is taken out of kept messages",
        _PAIRS + "test_kept_messages_are_returned_as_they_are",
        _VIEW + "test_thinking_of_a_mended_message_is_kept",
    ),
    "C7": _kept(
        "a result is neither kept nor summarized",
        _SUMMARIES + "test_results_at_the_cut_are_kept_or_asked_about",
        _VIEW + "test_what_was_said_is_all_there",
    ),
    "C8": _kept(
        "parallel calls with results of very different size",
        _PAIRS + "test_parallel_calls_with_results_of_very_different_size",
    ),
    # long results
    "D1": _kept(
        "shortening drops the other fields of a result",
        _RESULTS + "test_what_is_not_the_text_of_a_result_stays",
        _CUT + "test_all_else_of_message_and_block_stays",
    ),
    "D2": _kept(
        "the notice does not say where to read on",
        _RESULTS + "test_the_notice_says_where_to_read_on_and_reading_on_leaves_no_gap",
        _RELOAD + "test_reading_on_gives_the_hidden_text_without_gap_or_overlap",
    ),
    "D3": _kept(
        "a limit in bytes cuts a character in half",
        _RESULTS + "test_no_character_is_cut_in_half",
        _CUT + "test_cut_to_the_limit_and_whole_again",
    ),
    "D4": _kept(
        "the head is shown and the answer was at the end",
        _RESULTS + "test_the_end_of_a_result_is_shown_and_all_of_it_is_in_the_file",
        "traces/trace_truncation_test.py::test_truncation_loses_nothing",
    ),
    "D5": _kept(
        "the newest result goes in whole",
        _RESULTS + "test_the_newest_result_is_capped_before_the_model_is_called",
    ),
    "D6": _kept(
        "the agent does not notice that there is more",
        _RESULTS + "test_the_notice_tells_that_there_is_more_and_how_to_get_it",
        _CUT + "test_the_notice_speaks_the_language_of_the_conversation",
    ),
    "D7": _kept(
        "files grow for ever, or are deleted while something refers to them",
        _RESULTS + "test_only_files_that_are_old_and_unused_expire",
        _OFFLOAD + "test_only_what_is_old_and_unused_expires",
        _OFFLOAD + "test_nothing_else_is_touched",
        _RELOAD + "test_an_expired_file_says_so",
    ),
    "D8": _kept(
        "escape sequences of a terminal inflate a result",
        _RESULTS + "test_terminal_noise_is_capped_and_its_end_is_found",
        _CUT + "test_terminal_noise_is_capped_and_the_end_is_kept",
    ),
    # at the same time
    "H2": _kept(
        "work is ticked off before it is done",
        _MEMORY + "test_what_was_folded_is_pending_for_its_readers_until_they_have_read_it",
    ),
    "H3": _kept(
        "what is added during compaction is destroyed",
        _MEMORY + "test_what_is_said_while_the_summary_is_written_survives",
        _LAWS + "test_what_is_added_deleted_or_pinned_while_the_model_is_asked_survives",
        _INTERRUPTED + "test_what_is_added_while_the_summary_is_asked",
    ),
    "H4": _kept(
        "two adds at once make a duplicate",
        _MEMORY + "test_the_same_message_added_twice_at_once_is_there_once",
    ),
    "H5": _kept(
        "closing waits for ever for a model that does not answer",
        _MEMORY + "test_a_writer_that_never_answers_holds_up_neither_interruption_nor_closing",
        _INTERRUPTED + "test_while_the_summary_is_asked",
    ),
    "H8": _kept(
        "a second event loop finds locks of the first",
        _MEMORY + "test_one_manager_in_two_event_loops",
        _INTERRUPTED + "test_two_event_loops_one_after_the_other",
    ),
    # what models answer
    "L1": _kept("an empty reply is reported as something else", _REPLY + "test_no_output_is_an_empty_text"),
    "L2": _kept("a fence inside a JSON string breaks reading", _JSON + "test_pointed_examples"),
    "L3": _kept(
        "prose or a fence around JSON breaks reading",
        _JSON + "test_what_was_written_is_read",
        _JSON + "test_nothing_is_said_to_be_nothing",
    ),
    "L4": _kept(
        "thoughts before the answer are read as the answer",
        _JSON + "test_what_was_written_is_read",
        _THINKING + "test_any_opening_is_closed_by_any_closing",
        _COMPACTOR + "test_a_good_reply_is_the_summary",
    ),
    "L5": _kept("a bare object or list comes in place of the wrapper", _JSON + "test_what_was_written_is_read"),
    "L6": _kept("code with braces and quotes stands in JSON strings", _JSON + "test_pointed_examples"),
    # from other groups, and what was asked for most
    "request 4": _kept(
        "what was condensed cannot be searched or read again",
        _RESULTS + "test_the_condensed_part_of_a_conversation_can_be_searched_and_read",
        _RELOAD + "test_matches_name_file_line_and_speaker",
    ),
    "M4": _kept(
        "secrets are stored as they were said",
        _MEMORY + "test_a_secret_reaches_no_file",
        "message/message_redaction_test.py::test_the_secret_is_gone_from_everywhere_that_was_written",
    ),
    "M5": _kept(
        "a sibling folder or a link counts as inside",
        "workspace/workspace_paths_test.py::test_a_sibling_with_the_same_prefix_is_outside",
        "workspace/workspace_paths_test.py::test_links_that_lead_out_are_refused",
    ),
    "M6": _kept(
        "a name with dots and slashes leads out",
        _MEMORY + "test_a_session_s_name_is_no_path",
        "workspace/workspace_names_test.py::test_safe_and_reversible",
    ),
    "M7": _kept(
        "stored text gives orders",
        _SUMMARIES + "test_a_summary_cannot_break_out_of_its_place",
        _COMPACTOR + "test_hostile_text_is_escaped_data",
        _COMPACTOR + "test_an_order_from_a_tool_does_not_become_a_goal",
    ),
    "N5": _kept(
        "a tokenizer is downloaded, and offline nothing is counted",
        _TOKENS + "test_openai_models_without_a_vocabulary_are_estimated_in_their_own_way",
        _TOKENS + "test_the_hosts_openai_counter_never_downloads",
    ),
}

REPORTS = joined(_WORKING_MEMORY, SEARCH_REPORTS, NOTE_REPORTS, MEMORY_REPORTS)

_FAULTS: dict[int, Report] = {
    1: _kept(
        "a model's error becomes the summary",
        _SUMMARIES + "test_a_failing_writer_is_visible_and_nothing_is_lost",
        _SERVER + "test_a_bad_summary_is_never_the_summary",
    ),
    2: _kept(
        "errors come back as values",
        _MEMORY + "test_what_goes_wrong_is_raised_and_never_returned",
        _CONTEXT + "test_what_is_no_message_is_an_error_that_names_its_place",
    ),
    3: _kept(
        "a small window with the default reserve never compacts",
        _CONTEXT + "test_a_small_window_compacts_with_the_default_reserve",
    ),
    4: _kept(
        "a last message above the reserve vanishes",
        _CONTEXT + "test_a_last_request_above_the_reserve_stays",
        _SPLIT + "test_a_cut_keeps_the_laws",
    ),
    5: _kept(
        "a large image is evicted for its bytes",
        _CONTEXT + "test_an_image_costs_by_rule_and_is_not_evicted",
        _LEDGER + "test_an_image_costs_by_its_pixels",
    ),
    6: _kept(
        "two parallel calls, one of them huge, are never compacted",
        _CONTEXT + "test_two_parallel_calls_of_which_one_is_huge_are_compacted",
    ),
    7: _kept(
        "half a pair in the tail blocks compaction for ever",
        _CONTEXT + "test_half_a_pair_at_the_end_does_not_block_compaction",
    ),
    8: _kept(
        "ids that repeat hide an orphan",
        _PAIRS + "test_ids_that_repeat_in_every_round_are_told_apart_by_position",
        _UNITS + "test_repeated_ids_are_paired_by_position",
    ),
    9: _kept(
        "a turn is split and nothing is done about it",
        _COMPACTOR + "test_a_split_turn_is_two_summaries_joined",
        _SPLIT + "test_a_split_turn_begins_at_its_request_or_right_behind_it",
    ),
    10: _kept(
        "what is kept has holes",
        _SPLIT + "test_a_cut_keeps_the_laws",
        "traces/trace_splits_test.py::test_every_split_is_sound",
    ),
    11: _kept("a leading system message is compacted away", _CONTEXT + "test_a_leading_system_message_stays"),
    12: _kept(
        "an unknown block of any size costs nothing, and so does a letter",
        _LEDGER + "test_what_is_malformed_costs_what_it_holds",
        _TOKENS + "test_a_text_costs_at_least_one_and_at_most_a_few_tokens_a_character",
    ),
    13: _kept(
        "blocks are cut to a preview and the oldest are skipped before summarizing",
        _COMPACTOR + "test_every_character_reaches_the_model_and_every_request_fits",
        _SUMMARIES + "test_a_fact_in_the_fourth_of_five_long_messages_is_asked_about",
    ),
    14: _kept(
        "keeping none switches truncation off",
        _CONTEXT + "test_keeping_no_result_recent_cuts_them_all",
        _CUT + "test_what_is_recent",
    ),
    15: _kept(
        "the summary is condensed and archived as dialog",
        _SUMMARIES + "test_the_summary_is_neither_condensed_nor_archived",
    ),
    16: _kept(
        "the outcome is applied in several steps, and half-way something is lost",
        _LAWS + "test_interruption_leaves_the_old_state_or_the_new",
        _INTERRUPTED + "test_in_the_middle_of_a_fold",
        _KILLED + "test_killed_at_each_write",
    ),
    17: _kept(
        "the caller's messages are changed, and passes over copies fill the disk",
        _RESULTS + "test_five_passes_over_copies_leave_one_file_and_the_caller_s_messages",
        _CUT + "test_a_history_that_grows_points_to_one_copy_each",
    ),
    18: _kept(
        "prompts are Chinese whatever is spoken",
        _COMPACTOR + "test_the_language_is_the_conversations_unless_forced",
        _SUMMARIES + "test_a_chinese_conversation_is_summarized_in_chinese",
    ),
    19: _kept(
        "one long line is cut without a notice",
        _RESULTS + "test_one_line_of_json_gets_a_notice_and_every_byte_of_it_can_be_reached",
        _CUT + "test_one_line_of_json_gets_a_notice_with_the_byte",
    ),
    20: _kept(
        "a second pass stores the cut text as the full one",
        _RESULTS + "test_a_second_pass_with_a_lower_limit_points_to_the_whole",
        _CUT + "test_cut_again_is_as_if_cut_once_and_points_to_the_first_copy",
    ),
    21: _kept(
        "output that quotes the marker is never cut",
        _RESULTS + "test_output_that_quotes_a_notice_is_cut_all_the_same",
        _CUT + "test_output_that_quotes_the_notice_is_cut_like_any_other",
    ),
    22: _kept(
        "start and close delete what the call said to keep",
        _RESULTS + "test_the_retention_of_a_call_outlives_start_and_close",
        _RESULTS + "test_only_files_that_are_old_and_unused_expire",
    ),
    23: _kept(
        "the rest of a long line cannot be reached",
        _RESULTS + "test_one_line_of_json_gets_a_notice_and_every_byte_of_it_can_be_reached",
        _RELOAD + "test_a_match_in_a_long_line_shows_where_to_read",
    ),
    24: _kept(
        "messages are removed although the archive failed",
        _MEMORY + "test_where_the_archive_cannot_be_written_nothing_leaves",
        _ARCHIVE + "test_a_refusing_disk_is_told",
    ),
    25: _kept(
        "marked twice, or after a crash: duplicates",
        _MEMORY + "test_folded_twice_or_added_again_is_archived_once",
        _ARCHIVE + "test_each_message_once_and_nothing_missing",
        _KILLED + "test_killed_at_random",
    ),
    26: _kept(
        "a timestamp becomes a path, or a file a message",
        _MEMORY + "test_a_timestamp_gives_a_file_a_day_and_never_a_path",
        _ARCHIVE + "test_a_hostile_timestamp_is_no_path",
    ),
    27: _kept(
        "marks are ignored",
        _MEMORY + "test_marks_select_as_the_host_does",
        _HOST + "test_every_operation_does_what_the_hosts_does",
    ),
    28: _kept("the host's clear bypasses the archive", _MEMORY + "test_clearing_archives"),
    29: _kept(
        "the saved state loses text",
        _MEMORY + "test_a_state_keeps_every_block_and_loads_into_the_host",
        _HOST + "test_a_session_saved_by_either_loads_into_the_other",
    ),
    30: _kept(
        "messages that share an id: two removed, one kept",
        _MEMORY + "test_messages_that_share_an_id_are_neither_mixed_up_nor_lost",
    ),
}

_SERVICES = {number: _elsewhere("services", "There is no service yet.") for number in range(83, LAST_FAULT + 1)}

FAULTS = joined(_FAULTS, NOTE_FAULTS, MEMORY_FAULTS, _SERVICES)
