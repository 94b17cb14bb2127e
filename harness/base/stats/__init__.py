"""Statistics of pass rates: pure functions of plain numbers, without scipy.

- `intervals`: confidence intervals of a pass rate or a difference; repeats, pass@k and pass^k;
- `paired_tests`: exact tests of two runs on the same cases;
- `effects`: what a change made of the same cases, with a verdict;
- `sequences`: many looks and many tests at once;
- `power`: cases needed to show a difference, and the smallest difference that cases can show;
- `slopes`, `choice_shares`: accuracy by length of a list, and which option is chosen.
- `units`: what counts as one: a test, in however many ways it is asked.

``None`` stands for what the data does not determine; it is never replaced by 0.
"""
