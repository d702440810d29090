# -*- coding: utf-8 -*-
"""Reports about the vector memory: what is kept, changed and forgotten (J), what models answer (L), whose it is (M)."""

from _report import Report, kept

__all__ = ["MEMORY_REPORTS"]

_BANK = "vector_memory/bank_memories_test.py::"
_RETRIEVER = "vector_memory/retriever_search_test.py::"
_SCORING = "vector_memory/scoring_laws_test.py::"
_SUMMARIZER = "vector_memory/summarizer_reports_test.py::"
_PLAN = "vector_memory/reconcile_plan_test.py::"
_READING = "vector_memory/extraction_reading_test.py::"
_CHEAP = "vector_memory/summarizer_cheap_test.py::"
_ROUTE = "vector_memory/delegation_route_test.py::"
_REME = "reme_test.py::"

MEMORY_REPORTS: dict[str, Report] = {
    "J1": kept(
        "age makes an exact match unreachable",
        _RETRIEVER + "test_an_exact_match_of_300_days_ago_comes_before_a_weak_one_of_today",
        _SCORING + "test_an_exact_match_of_300_days_ago_comes_before_a_weak_one_of_today",
        _SCORING + "test_recency_falls_by_half_in_a_half_life_and_the_future_is_now",
        _SCORING + "test_what_has_no_time_has_no_penalty",
        _SCORING + "test_what_is_less_relevant_by_more_than_the_band_never_comes_first",
    ),
    "J2": kept(
        "what was superseded is still recalled",
        _BANK + "test_a_contradiction_leaves_the_new_memory_and_keeps_the_old_one_on_record",
        _RETRIEVER + "test_what_is_superseded_forgotten_or_expired_takes_no_place",
        _SUMMARIZER + "test_j2_j6_the_new_statement_stays_and_the_old_one_is_not_found",
    ),
    "J3": kept(
        "deleting an unknown id succeeds",
        _BANK + "test_an_id_that_never_was_is_an_error_and_one_that_was_deleted_is_told",
    ),
    "J4": kept(
        "facts that have nothing to do with it are retired",
        _SUMMARIZER + "test_j4_unrelated_facts_stay_active",
        _PLAN + "test_j4_unrelated_facts_are_never_retired",
        _PLAN + "test_j4_what_has_nothing_to_do_with_it_is_not_retired_even_if_it_is_quoted",
    ),
    "J5": kept(
        "a malformed decision loses the whole conversation",
        _SUMMARIZER + "test_j5_malformed_decisions_do_not_lose_facts",
        _READING + "test_j5_a_malformed_action_does_not_lose_the_fact",
    ),
    "J6": kept(
        "a contradiction deletes the old and stores nothing",
        _BANK + "test_a_memory_whose_old_version_is_gone_is_added_all_the_same",
        _SUMMARIZER + "test_j2_j6_the_new_statement_stays_and_the_old_one_is_not_found",
        _PLAN + "test_j6_a_contradiction_leaves_the_new_one",
        _PLAN + "test_j6_within_one_conversation_the_later_statement_holds",
    ),
    "J7": kept(
        "ten results are ten copies",
        _RETRIEVER + "test_results_are_distinct_by_content",
        _SUMMARIZER + "test_j7_j11_the_same_in_other_clothes_is_one",
    ),
    "J8": kept(
        "a model names an id that there is not, and all fails",
        _BANK + "test_an_unknown_id_among_several_touches_no_other",
        _SUMMARIZER + "test_j8_an_unknown_id_is_skipped_with_a_warning_and_the_rest_is_done",
        _SUMMARIZER + "test_j8_an_id_of_somebody_elses_memory_is_unknown",
        _PLAN + "test_j8_an_id_that_is_not_there_is_skipped_and_the_others_are_done",
        _READING + "test_j8_what_cannot_be_is_refused",
        _REME + "test_several_at_once",
    ),
    "J9": kept(
        "a deletion leaves the vector, or gives it another text",
        _BANK + "test_what_was_deleted_is_never_found_and_every_id_keeps_its_text",
        "search/search_dense_test.py::test_each_id_keeps_its_own_vector_after_a_removal",
    ),
    "J10": kept(
        "two texts that begin alike are taken for one",
        _BANK + "test_texts_that_share_a_character_are_two_memories",
        _SUMMARIZER + "test_j10_two_distinct_texts_stay_two",
        _PLAN + "test_j10_two_distinct_texts_stay_two",
    ),
    "J11": kept(
        "adding the same twice deletes it",
        _BANK + "test_adding_the_same_twice_is_one_memory_however_it_is_added",
        _PLAN + "test_j11_the_same_twice_is_one_and_known",
        _SUMMARIZER + "test_j7_j11_the_same_in_other_clothes_is_one",
    ),
    "H4": kept(
        "two adds at once make a duplicate",
        _BANK + "test_two_banks_over_one_file_add_and_change_together",
        _REME + "test_two_processes_use_one_folder",
    ),
    "H8": kept(
        "a second event loop finds locks of the first",
        _REME + "test_a_restart_embeds_nothing_again_and_a_second_loop_works",
    ),
    "L1": kept(
        "an empty reply is reported as something else",
        _SUMMARIZER + "test_l1_an_empty_reply_is_no_output",
        _READING + "test_l1_l3_what_holds_no_memories_is_an_error",
    ),
    "L2": kept("a fence inside a JSON string breaks reading", _READING + "test_l2_a_fence_inside_a_string_stays"),
    "L3": kept(
        "prose or a fence around JSON breaks reading",
        _SUMMARIZER + "test_l2_l3_l4_l5_l6_replies_in_any_dress_are_stored",
        _READING + "test_l3_l4_l5_whatever_it_is_wrapped_in_is_read",
    ),
    "L5": kept(
        "a bare object or list comes in place of the wrapper",
        _READING + "test_l3_l4_l5_whatever_it_is_wrapped_in_is_read",
    ),
    "M1": kept(
        "one user's memories reach another",
        _BANK + "test_names_that_look_alike_are_different_people",
        _RETRIEVER + "test_nobodys_memories_are_found_by_others",
        _RETRIEVER + "test_who_is_an_author_elsewhere_is_a_word_here",
        _SUMMARIZER + "test_m1_users_with_similar_facts_stay_apart",
        _SUMMARIZER + "test_m1_a_target_that_a_model_invents_gets_nothing",
        _ROUTE + "test_a_target_that_is_invented_gets_nothing",
        _ROUTE + "test_only_named_targets_ever_start_and_each_once",
        _REME + "test_nobody_is_everybody",
        _REME + "test_a_name_checks_the_owner_and_moves_nothing",
    ),
    "M2": kept(
        "logs are full of vectors",
        "vector_memory/bank_vectors_test.py::test_no_log_no_event_and_no_text_of_a_memory_shows_its_vector",
    ),
    "M3": kept(
        "a path that a caller gives decides where is written",
        "notes/notes_file_tools_test.py::test_nothing_is_written_or_read_elsewhere",
        "workspace/workspace_paths_test.py::test_whatever_is_resolved_lies_inside",
    ),
    "M4": kept(
        "secrets are stored as they were said",
        _BANK + "test_secrets_are_taken_out_before_anything_is_stored",
        "vector_memory/conversations_keep_test.py::test_secrets_are_not_kept",
        _SUMMARIZER + "test_m4_the_prompts_forbid_secrets",
        _CHEAP + "test_redaction_comes_before_the_store",
    ),
    "M6": kept(
        "a name with dots and slashes leads out",
        _REME + "test_everything_lies_in_one_folder_for_its_owner_alone",
    ),
    "M7": kept(
        "stored text gives orders",
        _SUMMARIZER + "test_m7_text_cannot_leave_its_tags",
        _SUMMARIZER + "test_m7_an_order_in_the_conversation_is_data",
        "vector_memory/tool_guide_living_test.py::test_what_a_tool_returned_cannot_leave_its_tag",
    ),
    "O5": kept(
        "retrieving asks a model, and takes its time",
        _REME + "test_conversations_are_taken_as_they_come",
        _RETRIEVER + "test_several_queries_become_one_relevance",
    ),
}
