"""Sentences that are not fed from here: those that another test shows, and those that tell of
something else than what harness is given."""

from __future__ import annotations

from collections.abc import Mapping

SHOWN: Mapping[str, str] = {
    # Attacks, and the recordings of a benchmark of them.
    "whose calls are refused and never sent": (
        "tests/end_to_end/attacks/test_defences.py::"
        "test_what_each_defence_buys_and_costs_stands_side_by_side"
    ),
    "or if the model made a write that they are refused": (
        "tests/end_to_end/attacks/test_deputies.py::test_each_planted_hole_is_found"
    ),
    "and is refused what its reader may do, is a *confused deputy*": (
        "tests/probing/attacks/test_hijacks.py::test_what_the_policy_stops_is_told_by_identity"
    ),
    "one without messages is an error": (
        "tests/leaderboards/agentdojo/test_recordings.py::"
        "test_a_run_without_messages_is_an_error_and_never_judged"
    ),
    # What a server asks its user.
    "cannot be asked": (
        "tests/consent/test_gates.py::test_a_sound_gate_keeps_consent_whatever_the_user_answers"
    ),
    "A question that cannot be shown": (
        "tests/consent/test_gates.py::test_each_broken_gate_is_found_and_named"
    ),
    "it is then not accepted": (
        "tests/consent/test_gates.py::test_each_broken_gate_is_found_and_named"
    ),
    # Resources.
    "Without this check, a `context` that is refused is an error": (
        "tests/runner/content/test_context.py::"
        "test_the_resources_of_a_test_are_read_as_its_user_and_judged"
    ),
    "Resource was not read: …": (
        "tests/runner/content/test_context.py::"
        "test_a_resource_that_the_test_does_not_name_was_not_read"
    ),
    "A resource that cannot be read makes the trial an error": (
        "tests/runner/content/test_context.py::"
        "test_the_resources_of_a_test_are_read_as_its_user_and_judged"
    ),
    "`context` and `use_prompt` are refused": (
        "tests/suites/pages/test_attachments.py::"
        "test_a_test_with_content_of_the_server_is_refused_for_an_agent"
    ),
    "A tool of the server with such a name is an error": (
        "tests/runner/variants/test_host_resources.py::test_a_tool_of_that_name_stands_in_the_way"
    ),
    "A name or argument that the server does not list is an error": (
        "tests/runner/content/test_prompts.py::"
        "test_a_prompt_that_cannot_be_used_ends_the_trial_before_a_model_is_asked"
    ),
    # A recording in place of a server, and suites without a model.
    "Any other call is an error that names the nearest recorded one": (
        "tests/end_to_end/servers/test_recordings.py::"
        "test_a_call_that_was_not_recorded_has_no_verdict_and_names_the_nearest"
    ),
    "they are given in their order, once each in a process": (
        "tests/end_to_end/servers/test_recordings.py::"
        "test_answers_that_differ_come_in_their_order_and_a_part_of_one_is_no_answer"
    ),
    "**What the log holds.**": (
        "tests/end_to_end/servers/test_recordings.py::"
        "test_answers_that_differ_come_in_their_order_and_a_part_of_one_is_no_answer"
    ),
    "A check of what a model chose or said": (
        "tests/suites/evidence/test_direct_calls.py::"
        "test_a_check_of_a_model_is_a_mistake_at_its_line_once_for_all_identities"
    ),
    # Suites of other tools, and conversations that were recorded elsewhere.
    "A test without one is an error, and so is a check of more than messages and calls": (
        "tests/runner/recordings/test_conversation_files.py::"
        "test_a_check_that_a_file_cannot_show_is_not_judged"
    ),
    "Every key is either carried over": (
        "tests/suites/foreign/test_promptfoo.py::test_no_key_of_the_schema_vanishes"
    ),
    "A `<!DOCTYPE>`, attributes and other elements are errors": (
        "tests/suites/foreign/test_mcp_builder.py::"
        "test_what_has_no_form_here_is_refused_with_its_line"
    ),
    "what the other format cannot express is named": (
        "tests/suites/foreign/test_mcp_builder.py::test_what_an_evaluation_cannot_express_is_named"
    ),
    "Leave out what the other format cannot express": (
        "tests/suites/foreign/test_mcp_builder.py::"
        "test_leniently_a_pair_says_what_it_no_longer_checks"
    ),
    # Logins, and what a coding agent may do.
    "an account that is not logged in is an error": (
        "tests/sessions/identity/test_oauth.py::"
        "test_an_account_that_is_not_logged_in_is_told_the_command"
    ),
    "only a command that could not do its work is an error": (
        "tests/cli/programs/test_mcp.py::test_what_cannot_be_done_is_an_error_in_words"
    ),
    "A folder that is not trusted is refused, as everywhere": "tests/base/trust/test_gate.py",
    # What an agent, a server, a judge or another machine does during a run.
    "Requests without them are refused with HTTP 401": (
        "tests/agents/proxy/test_listener.py::test_whoever_does_not_know_the_token_reaches_no_session"
    ),
    "Requests without the token are refused with HTTP 401": (
        "tests/agents/proxy/test_listener.py::test_whoever_does_not_know_the_token_reaches_no_session"
    ),
    "the server's questions during these calls are refused": ("tests/agents/test_questions.py"),
    "a question to the user or the model is refused": (
        "tests/sessions/test_server_messages.py::"
        "test_requests_of_a_server_that_reads_no_answer_pile_up_nowhere_and_its_own_arrives"
    ),
    "queued for a client that does not read": "tests/agents/proxy",
    "Such a trial is an error and has no verdict": "tests/agents/test_verdicts.py",
    "If the state cannot be read, the trial is an error": (
        "tests/judging/checks/kinds/test_end_state.py::"
        "test_a_state_that_could_not_be_read_is_no_verdict_and_says_why"
    ),
    "If the judge gives no verdict, the row is an error": (
        "tests/end_to_end/test_judged_runs.py::"
        "test_a_judge_without_a_verdict_makes_every_case_an_error"
    ),
    "Any other text is ignored": (
        "tests/judging/checks/judge/test_judge.py::"
        "test_a_verdict_in_words_counts_for_nothing_and_is_asked_for_again"
    ),
    "the test is an error until you name a judge": (
        "tests/end_to_end/test_judged_runs.py::test_a_regrade_of_a_changed_question_needs_a_judge"
    ),
    "without one the check is not judged, which is an error of the case": (
        "tests/judging/checks/kinds/test_answer_judge.py"
    ),
    "the run is refused if something differs": (
        "tests/end_to_end/engines/test_on_ray.py::"
        "test_a_node_with_another_version_is_refused_before_the_first_trial"
    ),
    "Two runs at the same time cannot share a port": (
        "tests/sessions/identity/test_issuer.py::"
        "test_a_port_has_one_issuer_and_a_taken_port_is_told"
    ),
    "If the command fails, the trial is an error": (
        "tests/sessions/identity/test_bearer.py::"
        "test_a_command_that_gives_no_token_is_told_without_what_it_printed"
    ),
    "Over HTTP only a verified token establishes": (
        "tests/sessions/test_verified.py::"
        "test_each_user_is_known_by_a_verified_token_and_flawed_ones_are_kept_out"
    ),
    "If a caller is refused and the test does not expect it": (
        "tests/runner/preflight/test_credentials.py"
    ),
    "A text that does not fit is refused": (
        "tests/servers/memory/test_tools.py::test_a_text_that_is_too_long_is_not_cut_but_refused"
    ),
    "everything else in it is ignored": (
        "tests/suites/config/test_files.py::test_a_file_of_mxcp_is_read_as_it_is"
    ),
    "A setup call that fails ends the setup": (
        "tests/runner/test_scripted_calls.py::"
        "test_a_setup_that_fails_is_an_error_of_the_server_and_what_follows_it_is_not_made"
    ),
    "If one fails, the trial is an error": (
        "tests/runner/test_scripted_calls.py::"
        "test_a_setup_that_fails_is_an_error_of_the_server_and_what_follows_it_is_not_made"
    ),
    "if one fails, the trial is an error": (
        "tests/runner/test_scripted_calls.py::"
        "test_a_setup_that_fails_is_an_error_of_the_server_and_what_follows_it_is_not_made"
    ),
    "only in a later user's tools": "tests/runner/preflight/test_preflight.py",
    "offers this user no tool": "tests/runner/preflight/test_no_tools.py",
    "any other redirect is an error": "tests/sessions/over_http/test_http_calling.py",
    "A check that depends on a part that was not read": "tests/base/test_json_bounds.py",
    "Why a part of the result was not read": "tests/base/test_json_bounds.py",
    # What providers answer.
    "What the model did wrong fails the trial": "tests/models/test_failure_events.py",
    # Recordings, runs and their logs.
    "tasks of telecom in another form are refused": "tests/leaderboards/tau2/test_source.py",
    "is an error of the trial, since it is not the agent's fault": (
        "tests/leaderboards/tau2/test_result_files.py::test_an_end_is_told_in_our_words"
    ),
    "what stood in the repository before it are not read": "tests/test_runlog.py",
    "it cannot be enforced for a model with an unknown price": (
        "tests/runner/test_control.py::test_a_cost_that_is_unknown_stops_a_run_that_has_a_budget"
    ),
    "**A gate that no loss could fire is refused**": (
        "tests/end_to_end/test_compare.py::"
        "test_a_gate_that_no_loss_could_fire_is_refused_before_anything_is_run"
    ),
    "a [gate](compare.md#in-ci) is refused": (
        "tests/end_to_end/test_compare.py::"
        "test_a_gate_that_no_loss_could_fire_is_refused_before_anything_is_run"
    ),
    "with such a model this gate is refused": (
        "tests/end_to_end/test_compare.py::"
        "test_a_gate_that_no_loss_could_fire_is_refused_before_anything_is_run"
    ),
    # Entrances.
    "A value that an option does not take is a `UsageError`": "tests/test_api.py",
    "the same are refused as on the command line": "tests/test_api.py",
    "All other files are ignored silently": (
        "tests/pytest_plugin/test_suite_detection.py::"
        "test_files_of_other_tools_are_left_alone_below_evals_too"
    ),
    "is an error: the trials run while the test is set up": (
        "tests/pytest_plugin/test_cases_as_tests.py"
    ),
    "where nobody can answer, it is an error with exit code 3": (
        "tests/base/trust/test_gate.py::"
        "test_where_nobody_can_be_asked_it_is_an_error_that_says_what_and_how"
    ),
    "A file that cannot be run is answered with 422": "tests/web/test_security.py",
    "An uploaded suite can name configured servers": (
        "tests/web/test_security.py::test_a_suite_that_was_uploaded_starts_no_program"
    ),
    "Models and judges that are not configured": (
        "tests/web/test_vetting.py::test_an_upload_names_only_what_is_configured"
    ),
    "The page takes only models, judges and servers that are configured": (
        "tests/web/test_vetting.py::test_an_upload_names_only_what_is_configured"
    ),
    "Suites in Python are not accepted": (
        "tests/web/test_security.py::test_python_and_other_files_are_not_read"
    ),
    "If no case is left, the comparison is refused": (
        "tests/end_to_end/workbench/test_against.py::"
        "test_what_cannot_be_compared_is_refused_before_a_model_is_asked"
    ),
    "A recorded or replayed model is refused": (
        "tests/end_to_end/workbench/test_against.py::"
        "test_what_cannot_be_compared_is_refused_before_a_model_is_asked"
    ),
    # The probe.
    "cannot be sent with a flaw": "tests/probing/test_token_swaps.py",
    "If no identity sees a change, the alteration had no effect": "tests/probing/interference",
}
"""Words of a sentence → the test, the file or the folder of tests that shows it."""

NO_LIMITS: Mapping[str, tuple[str, ...]] = {
    "of an agent, a server or a policy that is tested": (
        "although it must be refused: …",
        "it executed the call, and fields were left out or masked",
        "it received the call and refused it",
        "if the value cannot be there by coincidence",
        "if a named identity is refused the value",
        "A token that expired ten minutes ago must be refused",
        "of each identity that is refused the call",
        "a token that must be refused was accepted",
        "gives what its owner is refused in a session of their own",
        "`readOnlyHint: false` and `destructiveHint: true` do not read",
        "An unknown verb (*push*",
        "because the server takes no more requests",
    ),
    "of what a tool's schema says, for the baseline and for lint": (
        "a pattern with look-around or back-references is ignored",
        "so that an invalid call cannot be expressed",
        "a request with such a tool is refused with status 400",
        "What the text asks for cannot be sent under that name",
    ),
    "of how a verdict is found": (
        "Only the top level of `args` is partial",
        "Only the order of keys does not count",
        "Only the first eight users are checked before the run",
        "Only the name of one parameter carries weight",
        "A check whose outcome cannot be known is *not judged*",
        "it passes, fails, or cannot be judged",
        "Whatever cannot be decided is accepted",
        'forbids `"tomorrow"` cannot be known',
        "additional fields are ignored",
        "a case that could not be judged is an error there",
        "At a limit the trial fails; a fault of a model or a server is an error",
        "Whether the case is an error or a failure depends on",
        "The case is an error (exit code 4), never a failure",
        "its usage is not in the figures, since it cannot be known",
        "because the budget is used up, stays failed",
        "the effect of a wording cannot be told from chance",
        "The exit code is 0 if no finding is worse than a note",
        "The exit code is 1 if there are errors or warnings",
    ),
    "of what is offered to the user, and taken": (
        "Keys that begin with `x-` are ignored",
        "or its log cannot be followed",
    ),
}
"""What a sentence tells of, in place of an input that is not taken → words of such sentences."""
