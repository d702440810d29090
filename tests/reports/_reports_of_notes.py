# -*- coding: utf-8 -*-
"""Reports about files and notes (G), and what is taken from a conversation and to whom it is ascribed (I)."""

from _report import Report, kept

__all__ = ["NOTE_REPORTS"]

_REPORTED = "reports/reported_notes_test.py::"
_WRITER = "notes/notes_writer_test.py::"
_QUEUE = "notes/notes_queue_test.py::"
_FILES = "notes/notes_file_tools_test.py::"
_LINES = "notes/notes_lines_test.py::"
_HISTORIES = "notes/notes_histories_test.py::"
_ORIGIN = "notes/notes_provenance_test.py::"
_RECALL = "recall_test.py::"
_ARCHIVE = "dialog/dialog_archive_test.py::"
_JOURNAL = "storage/storage_journal_test.py::"
_TURNS = "note_index/note_index_turns_test.py::"
_SYNC = "note_index/note_index_sync_test.py::"
_SUMMARIZER = "vector_memory/summarizer_reports_test.py::"
_SOURCES = "vector_memory/extraction_sources_test.py::"
_CHEAP = "vector_memory/summarizer_cheap_test.py::"
_RETRIEVER = "vector_memory/retriever_search_test.py::"

NOTE_REPORTS: dict[str, Report] = {
    # files
    "G1": kept(
        "a note lands on the wrong day: another clock, or a date that a model made up",
        _REPORTED + "test_a_day_is_the_speaker_s_in_notes_and_archive",
        _WRITER + "test_a_clock_after_midnight_in_shanghai",
        _WRITER + "test_the_zone_of_the_workspace_counts_not_the_machines",
        _ARCHIVE + "test_days_follow_the_zone_that_is_asked_for",
    ),
    "G2": kept(
        "half a line at the end makes the whole history unreadable",
        _REPORTED + "test_an_archive_that_ends_in_half_a_line_can_be_read_searched_and_added_to",
        _ARCHIVE + "test_a_torn_last_line_leaves_the_rest_readable",
        _JOURNAL + "test_a_torn_tail_costs_only_itself",
        _TURNS + "test_a_torn_last_line_is_waited_for",
    ),
    "G3": kept(
        "messages of two days are noted under one date",
        _WRITER + "test_two_days_go_to_two_files",
        _WRITER + "test_every_message_is_noted_on_its_own_day",
    ),
    "G4": kept(
        "the note writer gets what compaction left, not what was said",
        _REPORTED + "test_what_every_compaction_takes_reaches_the_note_writer_once_and_whole",
        _WRITER + "test_input_of_any_size_reaches_the_model_whole",
    ),
    "G5": kept(
        "compaction by itself does not reach the note writer, or every second time",
        _REPORTED + "test_what_every_compaction_takes_reaches_the_note_writer_once_and_whole",
        _QUEUE + "test_every_batch_is_done_once_and_in_the_order_of_its_session",
    ),
    "G6": kept(
        "of two notes appended at once one is lost",
        _REPORTED + "test_many_notes_of_one_day_at_once_are_all_there_once",
        _FILES + "test_twenty_appends_at_once_are_all_there",
        _WRITER + "test_twenty_writers_at_once",
        _HISTORIES + "test_several_processes_lose_no_line_and_tear_none",
    ),
    "G7": kept(
        "what was condensed before the nightly note is in none",
        _REPORTED + "test_what_every_compaction_takes_reaches_the_note_writer_once_and_whole",
        _RECALL + "test_what_a_dead_process_left_unread_is_noted_at_the_next_start_and_once",
    ),
    "G8": kept(
        "a second note of the day repeats the first",
        _WRITER + "test_a_second_flush_of_the_same_day_adds_only_what_is_new",
        _WRITER + "test_extracting_the_same_messages_again_adds_nothing",
        _FILES + "test_the_whole_note_written_again_stands_once",
    ),
    "G9": kept(
        "what is added while a model thinks is overwritten by what it was shown",
        _REPORTED + "test_a_person_s_text_is_there_byte_for_byte_whatever_is_noted",
        _WRITER + "test_what_a_person_removes_during_a_run_stays_removed",
        _FILES + "test_a_file_that_changed_is_not_overwritten",
    ),
    "G10": kept(
        "a session's file is corrupted, or updates are lost, when several save",
        _JOURNAL + "test_a_checkpoint_replaces_and_the_past_stays",
        _JOURNAL + "test_one_owner_at_a_time",
        "end_to_end/kill_test.py::test_killed_at_each_write",
        "storage/storage_atomic_test.py::test_a_failure_leaves_the_old_file_and_no_temporary_one",
        _ARCHIVE + "test_several_processes_write_beside_each_other",
    ),
    "G11": kept(
        "an edit that fails is tried for ever",
        _FILES + "test_a_failing_edit_ends_in_append",
        _WRITER + "test_a_model_that_loops_on_failing_edits_is_stopped_and_its_notes_are_extracted",
    ),
    "G12": kept(
        "the day's file is overwritten, with what a person wrote in it",
        _REPORTED + "test_a_person_s_text_is_there_byte_for_byte_whatever_is_noted",
        _WRITER + "test_a_model_that_overwrites_the_file_cannot",
        _WRITER + "test_no_model_can_take_a_hand_written_line_or_give_itself_rules",
    ),
    "G13": kept(
        "one byte that is not UTF-8 disables memory",
        _SYNC + "test_bad_files_do_not_stop_the_others_and_are_told",
        _FILES + "test_gbk_bytes_and_line_ends_stay",
        "text/text_decode_test.py::test_bytes_of_any_editor_become_text",
        "lasting_notes_test.py::test_no_bytes_of_a_file_keep_a_request_from_being_sent",
    ),
    "G14": kept(
        "lines that a parser does not know are dropped",
        _REPORTED + "test_a_person_s_text_is_there_byte_for_byte_whatever_is_noted",
        _LINES + "test_bytes_come_back",
        _HISTORIES + "test_no_history_loses_or_doubles_what_a_person_wrote",
    ),
    # at the same time
    "H1": kept(
        "a failed batch of yesterday blocks the queue; a day is an hour off",
        _QUEUE + "test_what_cannot_be_written_is_kept_and_holds_back_its_session_only",
        _QUEUE + "test_a_model_that_always_fails_neither_loses_nor_blocks",
        _REPORTED + "test_a_day_is_the_speaker_s_in_notes_and_archive",
        _ARCHIVE + "test_days_follow_the_zone_that_is_asked_for",
    ),
    "H2": kept(
        "work is ticked off before it is done",
        _REPORTED + "test_what_a_failing_writer_did_not_note_is_noted_later",
        _QUEUE + "test_a_failure_is_tried_again_with_the_same_messages",
    ),
    "H5": kept(
        "closing waits for ever for a model that does not answer",
        _REPORTED + "test_nobody_waits_for_the_notes",
        _QUEUE + "test_closing_is_bounded_while_the_model_hangs",
    ),
    "H6": kept(
        "a background task that nobody holds vanishes",
        _QUEUE + "test_nobody_needs_to_hold_the_queue",
        _QUEUE + "test_a_cursor_that_cannot_be_put_down_is_logged",
    ),
    "H7": kept(
        "the hook waits for the note task",
        _REPORTED + "test_nobody_waits_for_the_notes",
        _QUEUE + "test_submitting_never_waits",
    ),
    # what is taken, and whose it is
    "I1": kept(
        "where there is nothing of worth, something is noted",
        _WRITER + "test_nothing_to_note_leaves_the_files_untouched",
        _SUMMARIZER + "test_i1_an_answer_that_there_is_nothing_leaves_the_store_untouched",
    ),
    "I2": kept(
        "prompts, injected and recalled memories are learned again",
        _WRITER + "test_recalled_memories_hints_and_system_prompts_are_not_noted_again",
        _RECALL + "test_a_new_session_is_shown_what_was_noted_and_what_is_found",
        _TURNS + "test_what_was_recalled_summarized_or_injected_is_not_found_again",
        _SUMMARIZER + "test_i2_what_was_injected_is_never_learned_again",
        _SOURCES + "test_i2_summaries_prompts_and_recalled_memories_are_left_out",
        _CHEAP + "test_recalled_messages_are_neither_shown_nor_kept",
    ),
    "I3": kept(
        "what is false gains weight each time it is told or found",
        _SUMMARIZER + "test_i3_what_is_told_again_or_looked_up_gains_nothing",
        _RETRIEVER + "test_a_search_changes_neither_score_nor_importance_and_notes_that_something_was_found",
    ),
    "I4": kept(
        "who asks for somebody becomes that person",
        _REPORTED + "test_what_the_agent_said_or_did_is_no_fact_about_the_user",
        _ORIGIN + "test_what_does_not_is_not",
        _WRITER + "test_a_tools_order_in_chinese_neither",
        _SUMMARIZER + "test_i4_asking_for_somebody_does_not_make_one_that_person",
        _SOURCES + "test_i4_a_name_is_ones_own_only_if_it_was_given_as_such",
        _SOURCES + "test_i4_other_values_have_to_be_said_by_people",
    ),
    "I5": kept(
        "a request that leans on the last turn recalls something else",
        _RECALL + "test_a_question_that_leans_on_the_last_turn_finds_what_it_leans_on",
        _RETRIEVER + "test_a_request_is_asked_with_the_turns_that_it_leans_on",
        "reme_test.py::test_conversations_are_taken_as_they_come",
    ),
    "I6": kept(
        "the agent's solution is noted as the user's",
        _REPORTED + "test_what_the_agent_said_or_did_is_no_fact_about_the_user",
        _WRITER + "test_only_users_make_the_extractive_memory_md",
        _ORIGIN + "test_what_a_tool_or_the_agent_said_is_foreign",
        _SUMMARIZER + "test_i6_the_agents_solution_is_no_fact_about_the_user",
        _SOURCES + "test_i6_what_the_agent_explained_is_nothing_that_a_person_did",
        _SOURCES + "test_i6_in_chinese",
        "vector_memory/summarizer_agentic_test.py::test_what_the_agent_explained_is_refused_by_the_tools_too",
    ),
    "I7": kept(
        "who said it and when is lost; what passes is kept for ever",
        _WRITER + "test_the_agent_sees_who_said_what_and_when_and_both_files",
        _ORIGIN + "test_what_does_not_is_not",
        _SUMMARIZER + "test_i7_who_said_it_and_when_reach_the_model_and_the_memory",
        _SOURCES + "test_i7_names_roles_and_times_are_shown",
    ),
    "I8": kept(
        "a message is taken twice, or not at all",
        _REPORTED + "test_what_every_compaction_takes_reaches_the_note_writer_once_and_whole",
        _RECALL + "test_a_resumed_session_is_noted_once_although_its_notes_were_waiting",
        _SUMMARIZER + "test_i8_one_conversation_handed_over_twice_is_stored_once",
    ),
    "I9": kept(
        "names are translated",
        _REPORTED + "test_names_and_words_of_a_language_are_noted_as_they_are",
        _WRITER + "test_the_language_follows_the_conversation",
        _SUMMARIZER + "test_i9_names_stay_in_their_script",
        _CHEAP + "test_i9_the_prompt_says_which_language_and_the_text_stays_as_it_is",
    ),
    "I10": kept(
        "small talk becomes a memory, or the prompt does",
        _REPORTED + "test_small_talk_leaves_no_note",
        _ORIGIN + "test_courtesies",
        _SUMMARIZER + "test_i10_small_talk_asks_no_model",
        _SUMMARIZER + "test_i10_the_prompt_is_never_a_memory",
        _SOURCES + "test_i10_small_talk_is_not_worth_a_call",
    ),
    # cost
    "O2": kept(
        "so much is recalled that the agent no longer calls its tools",
        _RECALL + "test_an_edit_of_memory_md_is_seen_at_the_next_reply_and_a_long_one_is_bounded",
    ),
    "O6": kept(
        "the same conversation is summed up again and again",
        _REPORTED + "test_what_every_compaction_takes_reaches_the_note_writer_once_and_whole",
        _RECALL + "test_what_a_dead_process_left_unread_is_noted_at_the_next_start_and_once",
    ),
}
