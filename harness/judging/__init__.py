"""Judge transcripts: the only package that decides a status.

- `trial.judge_trial`: transcript, check results and error → one `TrialResult`, judged by itself.
- `run_judge.RunJudge`: takes results one by one, returns each once, compared across identities.
- `from_log.judge_log`: a run log → all its results, settled, in the order of its suites.
- `cases.case_results`: settled results → the verdict on each case.
- `exit_codes.exit_code`: a report → the exit code of the process.

The other modules supply the criteria: limits, empty answers, calls without an answer from the
server, and the comparison of what each identity saw (`policy`).
"""
