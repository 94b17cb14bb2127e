"""Ratios from statement figures; a meaningless ratio is ``None``, with the reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from . import results as r

_MILLION = 1_000_000


def ratios_of(statement: Mapping[str, Any], price: float) -> r.Ratios:
    """Return the ratios of a company.

    ``statement`` holds its figures in millions of dollars and of shares; ``price`` is dollars a
    share.
    """
    s = statement
    capital = price * s["shares"]
    profit, equity = s["net_income"], s["shareholders_equity"]
    earning = profit if profit > 0 else None
    solvent = equity if equity > 0 else None
    quick = s["current_assets"] - (s["inventory"] or 0) if s["current_assets"] is not None else None
    return r.Ratios(
        market_cap=round(capital * _MILLION),
        earnings_per_share=round(profit / s["shares"], 2),
        pe_ratio=_ratio(capital, earning),
        price_to_book=_ratio(capital, solvent),
        price_to_sales=_ratio(capital, s["revenue"]),
        dividend_yield_percent=round(100 * s["dividend_per_share"] / price, 2),
        gross_margin_percent=_percent(s["gross_profit"], s["revenue"]),
        operating_margin_percent=_percent(s["operating_income"], s["revenue"]),
        net_margin_percent=cast("float", _percent(profit, s["revenue"])),
        return_on_equity_percent=_percent(profit, solvent),
        return_on_assets_percent=cast("float", _percent(profit, s["total_assets"])),
        asset_turnover=cast("float", _ratio(s["revenue"], s["total_assets"])),
        current_ratio=_ratio(s["current_assets"], s["current_liabilities"]),
        quick_ratio=_ratio(quick, s["current_liabilities"]),
        debt_to_equity=_ratio(s["total_debt"], solvent),
        interest_coverage=_ratio(s["operating_income"], s["interest_expense"]),
    )


def remarks_on(ratios: r.Ratios) -> list[str]:
    """Return why ratios are null, for people who do not expect it."""
    reasons: dict[str, list[str]] = {}
    for name, value in ratios.items():
        if value is None:
            reasons.setdefault(_why_null(name), []).append(name)
    return [f"{' and '.join(names)}: null, because {reason}." for reason, names in reasons.items()]


def _why_null(ratio: str) -> str:
    if ratio == "pe_ratio":
        return "the company made a loss"
    if ratio in ("price_to_book", "return_on_equity_percent", "debt_to_equity"):
        return "shareholders' equity is negative"
    return "the company states no such figures"


def _ratio(part: float | None, whole: float | None) -> float | None:
    return None if part is None or not whole else round(part / whole, 2)


def _percent(part: float | None, whole: float | None) -> float | None:
    return None if part is None or not whole else round(100 * part / whole, 2)
