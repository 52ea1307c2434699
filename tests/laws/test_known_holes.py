"""Rules that close known holes, and the tests that hold them.

| rule | what is held | tests |
|---|---|---|
| 1 | a role of today's directory; one that is asserted counts on a demonstration only | `tests.cli.test_identity::test_as_counts_for_nothing_on_a_store_that_is_no_demonstration` `tests.cli.test_identity::test_whoever_the_directory_does_not_know_is_refused` `tests.runtime.test_runs::test_an_unknown_principal_is_refused_before_anything_happens` `tests.runtime.test_approvals::test_roles_are_those_of_the_day_when_the_call_runs` |
| 2 | a confirmation is the requester's own, an approval another person's | `tests.gate.test_approver::test_a_confirmation_is_no_approval_and_an_approval_no_confirmation` `tests.gate.test_approver::test_only_the_requester_confirms` `tests.runtime.test_approvals::test_nobody_but_an_approver_approves` |
| 3 | a token is stored only as a hash, never listed, and without an approver opens nothing | `tests.runtime.test_approvals::test_a_token_is_stored_only_as_a_hash` `tests.runtime.test_approvals::test_a_list_shows_no_token` `tests.runtime.test_approvals::test_a_wrong_token_opens_nothing` `tests.runtime.test_public_failures_approval::test_nothing_but_a_known_person_says_yes` `tests.cli.test_approvals::test_a_list_shows_what_waits_and_no_secret_even_to_an_approver` |
| 4 | an approver sees every argument and nothing hidden; all others see it redacted | `tests.cli.test_approvals::test_whoever_may_decide_sees_every_argument_and_nothing_hidden` `tests.cli.test_approvals::test_everybody_else_sees_it_redacted` `tests.runtime.test_attacks::test_what_an_approver_reads_shows_what_hides_and_the_call_runs_as_it_was_sent` `tests.runtime.test_provenance::test_a_destination_from_untrusted_output_waits_for_the_person_who_sees_where_it_came_from` |
| 5 | what is unknown blocks its like until a person settles it | `tests.runtime.test_calls::test_a_write_that_fails_by_surprise_is_unknown_and_blocks_its_like_everywhere` `tests.cli.test_runs::test_what_nobody_knows_blocks_its_like_until_a_person_settles_it` `tests.runtime.test_calls::test_the_same_key_gives_the_recorded_result_and_another_call_under_it_a_conflict` |
| 6 | a write at a door without turns needs a key | `tests.runtime.test_calls::test_a_write_without_a_key_is_refused_at_the_direct_door` `tests.cli.test_tools::test_a_write_needs_a_key_and_runs_once_under_it` |
| 7 | a worker that was taken over starts nothing; an open write is unknown | `tests.runtime.test_takeover::test_a_worker_that_was_taken_over_starts_no_write` `tests.runtime.test_takeover::test_an_approved_read_that_crashed_runs_again_on_its_yes` `tests.runtime.test_takeover::test_a_write_that_was_running_when_its_worker_died_is_unknown_and_not_run_again` `tests.crash.test_crash_matrix::test_who_wakes_when_others_have_gone_on_begins_nothing_again` `tests.cli.test_runs::test_a_run_whose_worker_was_killed_is_owned_until_its_lease_ends_and_then_goes_on` |
| 8 | what has changed since the question is asked anew | `tests.runtime.test_approvals::test_what_changed_since_the_preview_is_asked_anew` `tests.runtime.test_transaction::test_a_condition_that_fails_undoes_all_and_is_told_to_the_model` |
| 9 | of a mixed batch all that may run does, and the rest waits | `tests.runtime.test_approvals::test_a_mixed_batch_runs_its_reads_and_waits_for_the_rest` `tests.runtime.test_attacks_on_approvals::test_of_a_mixed_batch_the_read_runs_and_the_rest_waits` |
| 10 | a tool that is entered again is answered from the ledger | `tests.runtime.test_nested_runs::test_what_has_ended_is_answered_from_the_book_when_the_tool_is_entered_again` `tests.runtime.test_nested_runs::test_a_pause_two_levels_deep_pauses_the_outermost_run_and_goes_on_there` |
| 11 | a stored intent is awaited whatever becomes of its siblings | `tests.runtime.test_fatal::test_a_fatal_tool_ends_the_run_and_a_siblings_stored_intent_is_awaited` |
| 12 | what was rejected is not asked again, after a worker's death neither | `tests.runtime.test_approvals::test_a_rejection_is_final_and_its_like_is_not_asked_again` `tests.runtime.test_approvals::test_a_no_to_an_edited_call_is_a_no_to_what_the_model_wished` `tests.agent.test_snapshot::test_what_a_person_has_rejected_stays_rejected_when_a_worker_dies_before_the_next_snapshot` `tests.runtime.test_nested_runs::test_a_rejection_inside_reaches_the_inner_model` `tests.runtime.test_nested_runs::test_a_no_inside_holds_for_every_run_of_the_tree` |
| 13 | secrets are sealed in the store and purged; spans hold no arguments | `tests.stores.test_encrypted::test_no_secret_stands_in_the_file` `tests.runtime.test_purge::test_a_repeated_call_runs_no_second_time_although_its_result_is_gone` `tests.runtime.test_telemetry::test_arguments_results_and_the_texts_of_exceptions_stand_in_no_span` `tests.runtime.test_recording::test_no_digest_of_arguments_leaves_in_a_record_or_a_report` |
| 14 | a result without a record stays inside; an intent comes first | `tests.runtime.test_recording::test_a_reads_result_that_cannot_be_recorded_is_withheld_and_counted` `tests.runtime.test_recording::test_a_write_whose_intent_cannot_be_stored_does_not_run` `tests.runtime.test_recording::test_a_read_that_calls_out_stores_its_intent_first` `tests.stores.test_sqlite::test_durable_claims_share_a_commit_and_a_sync_that_is_never_the_loops` |
| 15 | windows are exact; loading and execution have a time-out | `tests.tools.test_tool::test_each_loading_preview_and_execution_has_five_seconds_unless_the_tool_says_otherwise` `tests.runtime.test_attacks::test_three_of_twenty_at_once_run` `tests.runtime.test_attacks::test_a_look_up_past_its_timeout_keeps_nobody_waiting` `tests.runtime.test_attacks::test_a_tool_past_its_timeout_keeps_nobody_waiting` |
| 16 | processes share a file; a forked child opens it anew; none on a network file system | `tests.stores.test_sqlite_processes::test_fifty_claims_of_five_processes_on_a_limit_of_ten_take_ten` `tests.stores.test_sqlite_processes::test_a_forked_child_writes_a_chain_of_its_own_and_leaves_its_parents_queue` `tests.stores.test_local_disk::test_a_store_on_a_network_file_system_is_not_opened_and_no_file_is_made` |
| 17 | only a whole value in the person's words is theirs; each result has a marker | `tests.agent.test_provenance::test_only_the_whole_value_in_the_persons_own_words_is_theirs` `tests.agent.test_provenance::test_what_stands_nowhere_is_the_models_only_where_nothing_untrusted_was_read` `tests.agent.test_fence::test_a_result_is_fenced_with_its_own_marker` |
| 18 | a value is escaped and never read as a template | `tests.words.test_template::test_values_are_escaped_and_stand_on_one_line` `tests.words.test_template::test_a_value_is_never_read_as_a_template_nor_as_a_format` |
| 19 | a check that breaks refuses, and its words are for the audit log | `tests.gate.test_gate::test_a_check_that_breaks_is_a_refusal_and_its_text_is_for_the_audit_log_alone` `tests.runtime.test_attacks::test_it_does_so_wherever_the_developers_code_stands` |
"""  # noqa: E501 - a table

import importlib
import re

ROW = re.compile(r"^\| (\d+) \|.*\| (.*) \|$", re.MULTILINE)


def test_every_rule_has_its_tests_and_they_are_there() -> None:
    rows = {int(number): re.findall(r"`([^`]+)`", tests) for number, tests in ROW.findall(__doc__ or "")}

    assert sorted(rows) == list(range(1, 20))
    for number, tests in rows.items():
        assert tests, number
        for named in tests:
            module, _, name = named.partition("::")
            found = importlib.import_module(module)
            assert callable(getattr(found, name, None)), f"rule {number} names {named}, which is not there"
