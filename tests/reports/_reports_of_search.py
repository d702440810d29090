# -*- coding: utf-8 -*-
"""Reports about words and search (E), what the index holds (F), embedding (K), and what they cost (N, O)."""

from _report import Report, kept

__all__ = ["SEARCH_REPORTS"]

_REPORTED = "reports/reported_search_test.py::"
_SEARCH = "note_index/note_index_search_test.py::"
_SYNC = "note_index/note_index_sync_test.py::"
_VECTORS = "note_index/note_index_embedding_test.py::"
_WATCHER = "note_index/note_index_watcher_test.py::"
_CHUNKS = "note_index/note_index_chunks_test.py::"
_HYBRID = "search/search_hybrid_test.py::"
_DENSE = "search/search_dense_test.py::"
_BM25 = "search/search_bm25_test.py::"
_WORDS = "text/text_words_test.py::"
_BATCH = "embedding/embedding_batch_test.py::"
_LOCAL = "embedding/embedding_local_test.py::"
_TOOL = "notes/search_tool_test.py::"
_RETRIEVER = "vector_memory/retriever_search_test.py::"
_BANK_VECTORS = "vector_memory/bank_vectors_test.py::"
_BANK = "vector_memory/bank_memories_test.py::"
_REME = "reme_test.py::"
_CHROMA = "vector_store/chroma_store_test.py::"

SEARCH_REPORTS: dict[str, Report] = {
    # words
    "E1": kept(
        "a word inside a Chinese sentence is not found",
        _REPORTED + "test_words_of_a_mixed_sentence_find_it_however_they_are_joined",
        _SEARCH + "test_words_of_any_script_are_found_at_default_settings",
        _WORDS + "test_a_chinese_word_is_found_between_particles",
    ),
    "E2": kept(
        "identifiers are torn, or found in one spelling only",
        _REPORTED + "test_a_code_is_found_where_vectors_know_nothing_of_it_and_scores_tell_matches_apart",
        _WORDS + "test_identifiers_stay_whole_as_well",
        _WORDS + "test_case_and_width_do_not_count",
        _RETRIEVER + "test_an_identifier_is_found_at_default_settings",
    ),
    "E3": kept(
        "lengths are counted in characters, and one wide text fails its whole batch",
        _REPORTED + "test_one_hard_text_never_keeps_the_others_from_being_embedded",
        _BATCH + "test_nine_thousand_wide_characters_in_one_line_are_accepted_tail_and_all",
        "embedding/embedding_text_test.py::test_the_estimate_is_not_below_real_tokenizers",
    ),
    "E4": kept(
        "Latin words that stand glued to Chinese ones score nothing",
        _REPORTED + "test_words_of_a_mixed_sentence_find_it_however_they_are_joined",
        _WORDS + "test_a_query_shares_a_word_with_what_answers_it",
    ),
    "E5": kept(
        "a query without a word matches everything",
        _REPORTED + "test_what_shares_no_word_with_a_query_is_not_found_for_it",
        _WORDS + "test_nothing_to_search_for",
        _HYBRID + "test_stop_words_find_nothing",
        _RETRIEVER + "test_more_is_asked_for_than_there_is",
    ),
    "E6": kept(
        "a particle between two words hides both",
        _REPORTED + "test_words_of_a_mixed_sentence_find_it_however_they_are_joined",
        _WORDS + "test_a_chinese_word_is_found_between_particles",
    ),
    "E7": kept(
        "every word of the query has to be in the note",
        _REPORTED + "test_one_word_of_several_is_enough",
        _HYBRID + "test_each_of_three_words_is_enough",
    ),
    "E8": kept(
        "Chinese, Latin, Chinese in one query score nothing",
        _REPORTED + "test_words_of_a_mixed_sentence_find_it_however_they_are_joined",
        _SEARCH + "test_words_of_any_script_are_found_at_default_settings",
    ),
    "E9": kept(
        "half of an emoji stops indexing",
        _REPORTED + "test_one_hard_text_never_keeps_the_others_from_being_embedded",
        _BATCH + "test_half_surrogates_and_control_characters_are_replaced_and_whole_pairs_mended",
        _CHUNKS + "test_a_long_line_is_cut_at_its_sentences_and_not_inside_an_emoji",
        _WORDS + "test_any_text_can_be_cut",
    ),
    "E10": kept(
        "texts that score nothing are returned all the same",
        _REPORTED + "test_what_shares_no_word_with_a_query_is_not_found_for_it",
        _HYBRID + "test_no_shared_word_finds_nothing",
        _RETRIEVER + "test_more_is_asked_for_than_there_is",
    ),
    "E11": kept(
        "what only words find can never pass the least score, or all of it scores the same",
        _REPORTED + "test_a_code_is_found_where_vectors_know_nothing_of_it_and_scores_tell_matches_apart",
        _HYBRID + "test_a_keyword_hit_survives_orthogonal_vectors_and_scores_differ",
        _SEARCH + "test_scores_are_absolute_and_differ",
        _RETRIEVER + "test_an_identifier_is_found_at_default_settings",
    ),
    "E12": kept(
        "kana and hangul are not words",
        _REPORTED + "test_kana_and_hangul_are_words",
        _SEARCH + "test_words_of_any_script_are_found_at_default_settings",
    ),
    "E13": kept(
        "a word in half of few notes scores nothing, in most of them less",
        _REPORTED + "test_few_notes_are_told_apart_although_all_have_the_word",
        _BM25 + "test_half_of_two_notes_still_tells_them_apart",
        _BM25 + "test_a_corpus_of_none_and_one",
        _SEARCH + "test_a_corpus_of_one_or_two_works",
    ),
    "E14": kept(
        "a sign behind a word makes it another word",
        _REPORTED + "test_a_sign_behind_a_word_is_no_part_of_it",
    ),
    # what the index holds
    "F1": kept(
        "the watcher is lost, and the index calls itself clean",
        _REPORTED + "test_where_nobody_watches_any_more_a_search_still_sees_what_changed",
        _WATCHER + "test_a_watcher_that_fails_is_started_again_and_searches_stay_right",
        _WATCHER + "test_folders_that_come_later_go_and_are_replaced",
    ),
    "F2": kept(
        "an atomic save is taken for a deletion",
        _REPORTED + "test_where_nobody_watches_any_more_a_search_still_sees_what_changed",
        _SYNC + "test_an_atomic_save_is_an_edit_and_a_rename_is_a_move",
        _WATCHER + "test_new_changed_replaced_and_removed_files_are_seen",
    ),
    "F3": kept(
        "what was not started fails with an attribute error",
        _SYNC + "test_before_start_it_works_and_after_close_it_says_so",
        "sessions_test.py::test_what_cannot_work_is_refused_where_it_is_given",
    ),
    "F4": kept(
        "a note that is deleted while it is embedded comes back",
        _VECTORS + "test_a_note_deleted_while_it_is_embedded_never_comes_back",
    ),
    "F5": kept(
        "the index is not kept, and a restart finds nothing or embeds everything",
        _REPORTED + "test_after_a_restart_nothing_unchanged_is_embedded_and_the_same_is_found",
        _SYNC + "test_an_index_finds_the_same_after_a_restart_and_what_changed_meanwhile",
        _VECTORS + "test_unchanged_notes_are_embedded_once_and_searches_embed_only_queries",
        _REME + "test_a_restart_embeds_nothing_again_and_a_second_loop_works",
    ),
    "F6": kept(
        "what is deleted stays in one of two indexes and takes a place",
        _REPORTED + "test_what_is_deleted_leaves_its_place_in_every_way_of_searching",
        _VECTORS + "test_deleting_the_better_note_gives_its_place_to_the_other",
        _DENSE + "test_the_second_best_takes_the_place_of_the_deleted_best",
    ),
    "F7": kept("closed and started again, nobody watches", _WATCHER + "test_close_and_start_watch_again"),
    "F8": kept(
        "what is new reaches one of two indexes only",
        _VECTORS + "test_a_new_note_and_the_query_that_finds_it_are_one_call",
        _SYNC + "test_a_note_is_found_right_after_it_was_written",
        _HYBRID + "test_an_index_with_a_past_answers_like_a_new_one",
    ),
    "F9": kept(
        "notes in folders of folders are not indexed",
        _REPORTED + "test_search_without_start_or_embedding_finds_what_lay_there_before",
        _SYNC + "test_files_of_sub_folders_and_extra_folders_are_found",
    ),
    "F10": kept(
        "nobody called start, and every search is empty",
        _REPORTED + "test_search_without_start_or_embedding_finds_what_lay_there_before",
        _SYNC + "test_before_start_it_works_and_after_close_it_says_so",
    ),
    "F11": kept(
        "without an embedding nothing is ever found",
        _REPORTED + "test_search_without_start_or_embedding_finds_what_lay_there_before",
        _BANK_VECTORS + "test_memories_of_a_time_without_a_model_get_their_vectors_when_there_is_one",
        _REME + "test_without_key_and_model_it_works_and_says_what_is_missing",
    ),
    "F12": kept(
        "a change of one file clears all others from the index",
        _SYNC + "test_an_edit_of_one_file_leaves_the_others_alone",
        _SYNC + "test_an_edit_cuts_only_the_words_of_what_changed",
    ),
    "F13": kept(
        "a file or folder that is missing at the start ends the watcher",
        _WATCHER + "test_folders_that_come_later_go_and_are_replaced",
        _WATCHER + "test_new_changed_replaced_and_removed_files_are_seen",
    ),
    "F14": kept(
        "the first search after a write does not see it",
        _REPORTED + "test_search_without_start_or_embedding_finds_what_lay_there_before",
        _SYNC + "test_a_note_is_found_right_after_it_was_written",
        _SYNC + "test_changes_within_one_tick_of_a_coarse_clock_are_seen",
    ),
    "F15": kept(
        "what was there before the start is not indexed",
        _REPORTED + "test_search_without_start_or_embedding_finds_what_lay_there_before",
    ),
    # embedding and vectors
    "K1": kept(
        "one blank text fails its batch for ever",
        _REPORTED + "test_one_hard_text_never_keeps_the_others_from_being_embedded",
        _BATCH + "test_blank_chunks_are_never_sent_and_match_nothing",
        _VECTORS + "test_blanks_are_never_sent",
        _BANK + "test_nothing_is_added_of_an_empty_content_or_metadata_that_is_no_json",
    ),
    "K2": kept(
        "a vector that is no number shifts the others, or is remembered",
        _REPORTED + "test_a_vector_that_is_no_number_costs_its_own_text_only_and_for_a_while",
        _BATCH + "test_a_vector_that_is_not_a_number_costs_its_own_row_only_and_is_not_cached",
        "embedding/embedding_cache_test.py::test_what_is_no_vector_is_refused_with_all_that_came_with_it",
        _BANK_VECTORS + "test_a_vector_that_is_no_number_takes_no_other_memorys_place",
        _BANK_VECTORS + "test_while_the_model_fails_memories_are_stored_and_found_by_words",
    ),
    "K3": kept(
        "another dimension or model fails, or silently finds nothing",
        _REPORTED + "test_another_model_is_noticed_and_words_answer_until_it_has_embedded",
        _VECTORS + "test_another_model_or_dimension_embeds_again_while_words_are_searched",
        _BATCH + "test_another_dimension_is_an_error_with_both_numbers_and_never_cut_or_padded",
        _BANK_VECTORS + "test_another_model_is_noticed_and_reindex_cures_it",
        _BANK_VECTORS + "test_a_bank_goes_on_when_another_process_has_embedded_its_store_again",
    ),
    "K4": kept(
        "a store takes so many rows at once and no more, or fails at one huge value",
        _CHROMA + "test_writes_are_cut_to_what_the_server_takes",
        _CHROMA + "test_a_huge_list_and_a_huge_dictionary_break_nothing",
        "vector_store/store_contract_test.py::test_ten_thousand_keys_are_deleted_at_once",
    ),
    "K5": kept(
        "a folder of another alphabet cannot be written to, or a healthy file is set aside",
        _REPORTED + "test_more_results_are_asked_for_than_there_are_notes",
        _DENSE + "test_bytes_keep_everything",
        _SYNC + "test_words_are_cut_and_files_read_off_the_event_loop",
        _SYNC + "test_a_lost_or_damaged_database_is_made_again",
    ),
    "K6": kept(
        "a service takes ten texts a call and gets more",
        _REPORTED + "test_one_hard_text_never_keeps_the_others_from_being_embedded",
        _BATCH + "test_dashscope_gets_ten_texts_a_call",
        _BATCH + "test_a_batch_that_is_too_large_is_halved_and_the_size_is_remembered",
        _BANK_VECTORS + "test_many_memories_are_embedded_in_batches_that_the_provider_takes",
    ),
    "K7": kept(
        "more results are asked for than there are, and the last one fills up",
        _REPORTED + "test_more_results_are_asked_for_than_there_are_notes",
        _DENSE + "test_more_wanted_than_there_is_and_nothing_at_all",
        _RETRIEVER + "test_more_is_asked_for_than_there_is",
    ),
    "K8": kept(
        "removal needs ids of one exact type",
        _DENSE + "test_each_id_keeps_its_own_vector_after_a_removal",
        "vector_memory/bank_memories_test.py::test_what_was_deleted_is_never_found_and_every_id_keeps_its_text",
    ),
    # install, performance and cost
    "N1": kept(
        "no embedding configured, and the error says nothing",
        _REPORTED + "test_search_without_start_or_embedding_finds_what_lay_there_before",
        _LOCAL + "test_without_the_package_it_says_what_to_install",
        _REME + "test_without_key_and_model_it_works_and_says_what_is_missing",
    ),
    "N6": kept(
        "the word segmenter warns, writes files, or is missing",
        _WORDS + "test_without_jieba_pairs_do",
        _WORDS + "test_jieba_loads_without_a_sound_or_a_file",
    ),
    "O1": kept(
        "each search indexes everything again",
        _REPORTED + "test_searches_embed_their_questions_and_nothing_again",
        _VECTORS + "test_unchanged_notes_are_embedded_once_and_searches_embed_only_queries",
        _REME + "test_a_restart_embeds_nothing_again_and_a_second_loop_works",
    ),
    "request 8": kept(
        "a search cannot be limited to days, files or kinds",
        _SEARCH + "test_sources_paths_and_days_limit_what_is_found",
        _TOOL + "test_a_search_can_be_limited",
        _RETRIEVER + "test_filters_thresholds_and_scores",
    ),
    "request 14": kept(
        "nothing relevant is shown as something, or as nothing without a word",
        _TOOL + "test_nothing_found_says_so_and_what_to_do",
        _TOOL + "test_an_answer_is_bounded",
    ),
}
