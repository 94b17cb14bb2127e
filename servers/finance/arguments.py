"""The arguments of the tools: types, and descriptions for the model."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final, TypeAlias, get_args

from pydantic import BeforeValidator, Field, WithJsonSchema

from .results import Period

PERIODS: Final[tuple[Period, ...]] = get_args(Period)
_LENGTH: Final = re.compile(
    r"(?:the |last |past )*(?P<number>\d{0,4})\s*(?P<unit>[a-z]+)", re.IGNORECASE
)
_UNITS: Final = {"d": 1, "w": 7, "m": 30, "q": 91, "y": 365}
_DAYS: Final[dict[Period, int]] = {
    "1d": 1,
    "5d": 5,
    "1mo": 30,
    "3mo": 91,
    "6mo": 182,
    "1y": 365,
    "2y": 730,
}


def _period(value: Any) -> Any:
    """Return one of `PERIODS`, however it is capitalised; guide whoever writes another."""
    if not isinstance(value, str):
        return value
    text = value.strip().lower()
    if text in PERIODS:
        return text
    raise ValueError(f"this is not a period; {_advice(text)} Periods are {', '.join(PERIODS)}")


def _advice(text: str) -> str:
    """Say which period comes nearest to ``6 months``, ``5y`` or ``ytd``."""
    length = _LENGTH.fullmatch(text)
    days = int(length["number"] or 1) * _UNITS.get(length["unit"][0], 0) if length else 0
    if text in ("max", "all", "ever") or days > _DAYS["2y"]:
        return "prices go back two years, did you mean 2y?"
    if text == "ytd" or not days:
        return "did you mean 1y?"
    return f"did you mean {min(PERIODS, key=lambda period: abs(_DAYS[period] - days))}?"


Ticker: TypeAlias = Annotated[
    str,
    Field(
        min_length=1,
        max_length=60,
        description="Ticker symbol of the company, such as AAPL, MSFT or BRK.B. Case does not "
        "matter.",
        examples=["AAPL"],
    ),
]
PeriodOfHistory: TypeAlias = Annotated[
    Annotated[
        Period, BeforeValidator(_period), WithJsonSchema({"type": "string", "enum": list(PERIODS)})
    ]
    | None,
    Field(
        description="How far back the price history goes: 1d, 5d, 1mo, 3mo, 6mo, 1y or 2y. Leave "
        "out for the current price alone."
    ),
]
WithInfo: TypeAlias = Annotated[
    bool,
    Field(
        description="Set to true to add sector, market capitalisation, P/E ratio, dividend yield "
        "and 52-week range."
    ),
]
Principal: TypeAlias = Annotated[
    float,
    Field(
        ge=0,
        le=1e12,
        allow_inf_nan=False,
        description="Amount invested at the start, in US dollars.",
    ),
]
AnnualRate: TypeAlias = Annotated[
    float,
    Field(
        ge=-50,
        le=100,
        allow_inf_nan=False,
        description="Annual interest rate or return in percent: 7 means 7 % a year, not 0.07.",
    ),
]
Years: TypeAlias = Annotated[
    float,
    Field(
        ge=0,
        le=100,
        allow_inf_nan=False,
        description="How many years the money stays invested. Counted in whole months: 2.5 is 30 "
        "months.",
    ),
]
MonthlyContribution: TypeAlias = Annotated[
    float,
    Field(
        ge=0,
        le=1e9,
        allow_inf_nan=False,
        description="Amount added at the end of every month, in US dollars. Leave out if nothing "
        "is added.",
    ),
]
