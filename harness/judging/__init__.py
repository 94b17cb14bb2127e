"""From what happened to verdicts: the only place where a status is decided.

- `trial.judge_trial`: transcript, results of checks and error → one `TrialResult`, by itself.
- `run_judge.RunJudge`: results one by one → each once, settled by what the other identities saw.
- `from_log.judge_log`: a run log → all its results, settled, in the order of its suites.
- `cases.case_results`: settled results → what the trials of each case come to.
- `exit_codes.exit_code`: a report → what the process exits with.

The rest finds what these decide by: limits, empty answers, calls that a server never answered,
views of identities and what they say of each other (`policy`).
"""
