"""Statistics of pass rates: pure functions of plain numbers, without scipy.

- `intervals`: confidence intervals of a pass rate or a difference;
- `repeats`: several trials of a case, pass@k and pass^k;
- `paired_tests`: exact tests of two runs on the same cases;
- `corrections`: many tests at once;
- `power`: cases needed to show a difference, and the smallest difference that cases can show;
- `student`: the t distribution.

``None`` stands for what the data does not determine; it is never replaced by 0.
"""

from __future__ import annotations

from harness.base.stats.intervals import (
    Z95,
    compute_mean,
    effective_trials,
    newcombe_interval,
    newcombe_paired,
    paired_interval,
    pass_at_k,
    pass_hat_k,
    rate_interval,
    standard_error,
    wilson_interval,
)
from harness.base.stats.paired_tests import PairedTest, compute_mcnemar_p, paired_t, sign_flip
from harness.base.stats.power import cases_needed, smallest_difference
from harness.base.stats.sequences import adjust_by_holm, benjamini_hochberg

__all__ = [
    "Z95",
    "PairedTest",
    "adjust_by_holm",
    "benjamini_hochberg",
    "cases_needed",
    "compute_mcnemar_p",
    "compute_mean",
    "effective_trials",
    "newcombe_interval",
    "newcombe_paired",
    "paired_interval",
    "paired_t",
    "pass_at_k",
    "pass_hat_k",
    "rate_interval",
    "sign_flip",
    "smallest_difference",
    "standard_error",
    "wilson_interval",
]
