"""From what happened to verdicts: the only place where a status is decided.

- `trial.judge_trial`: transcript, check results and error → one `TrialResult`, judged by itself.
- `run_judge.RunJudge`: takes results one by one, returns each once, compared across identities.
- `from_log.judge_log`: a run log → all its results, settled, in the order of its suites.
- `cases.case_results`: settled results → the verdict on each case.
- `exit_codes.exit_code`: a report → the exit code of the process.

The other modules supply what these decide by: limits, empty answers, calls that a server never
answered, and what each identity saw compared with the others (`policy`).
"""
