"""Compound interest, worked out in decimals: what monthly compounding does to savings."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal, localcontext

_MONTHS = 12
_CENT = Decimal("0.01")
# Digits for growth far beyond any sum of money, with enough left for the cents of it.
_CONTEXT = Context(prec=80, rounding=ROUND_HALF_UP)


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """What becomes of an investment, in dollars."""

    future_value: Decimal
    """Everything at the end, rounded to cents."""
    total_invested: Decimal
    """What was paid in: the principal and all contributions."""
    effective_rate: Decimal
    """Percent a year that the monthly compounding amounts to, rounded to four decimals."""

    @property
    def interest(self) -> Decimal:
        """What was not paid in."""
        return self.future_value - self.total_invested


def grow(principal: Decimal, annual_rate: Decimal, months: int, contribution: Decimal) -> Growth:
    """Return what ``principal`` grows to at ``annual_rate`` percent a year, compounded monthly.

    ``contribution`` is paid in at the end of every month.
    """
    with localcontext(_CONTEXT):
        monthly = annual_rate / (100 * _MONTHS)
        factor = (1 + monthly) ** months
        payments = (factor - 1) / monthly if monthly else Decimal(months)
        value = principal * factor + contribution * payments
        return Growth(
            future_value=value.quantize(_CENT),
            total_invested=(principal + contribution * months).quantize(_CENT),
            effective_rate=(100 * ((1 + monthly) ** _MONTHS - 1)).quantize(Decimal("0.0001")),
        )
