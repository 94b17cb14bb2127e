"""A suite in Python whose tools the tests call through a real session."""

from __future__ import annotations

import os
from typing import Any, Literal

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def forecast(city: str, days: int = 1, unit: Literal["C", "F"] = "C") -> dict[str, Any]:
    """Return the forecast.

    One line a day.
    """
    print("this must not disturb the protocol")  # noqa: T201 - which is the point
    return {"city": city, "days": days, "unit": unit}


async def slowly(text: str) -> str:
    """Repeat a text."""
    return text * 2


def refuse(reason: str) -> str:
    """Refuse."""
    raise PermissionError(f"access denied: {reason}")


def everything(arguments: dict[str, Any]) -> list[Any]:
    return [arguments]


def by_name(city: str) -> str:
    return f"{city}!"


async def process_id() -> int:
    return os.getpid()


class Shop:
    """A shop with counters."""

    def __init__(self) -> None:
        self.sold = 0

    def sell(self, amount: int) -> int:
        """Sell things, and return how many were sold in all."""
        self.sold += amount
        return self.sold


class Served:
    name = "served"

    def default_tools(self) -> list[Any]:
        return [
            forecast,
            slowly,
            refuse,
            Shop().sell,
            {
                "name": "all",
                "description": "Take it all.",
                "input_schema": CITY,
                "handler": everything,
            },
            {"name": "by-name", "parameters": CITY, "handler": by_name},
        ]

    def cases(self) -> list[dict[str, Any]]:
        return [
            {"id": "default", "input": "x"},
            {"id": "own", "input": "x", "tools": [slowly]},
        ]

    def check(self, case: Any, run: Any) -> bool:
        return True


def no_tool(what: Impossible) -> str:  # type: ignore[name-defined]  # noqa: F821 - which is the point
    return str(what)


class Broken(Served):
    name = "broken"

    def default_tools(self) -> list[Any]:
        return [no_tool]
