"""A mask leaves too much of the value to be read."""

from __future__ import annotations

from typing import Any

from tests.proofs.planted.calls import Call
from tests.proofs.planted.clinic import Clinic


class _Mask(Clinic):
    """Masks what is withheld, in place of leaving it out."""

    def fields(self, kind: str, record: Any, call: Call) -> dict[str, Any]:
        shown = super().fields(kind, record, call)
        for name, value in record.items():
            if shown.get(name) != value and isinstance(value, str):
                shown[name] = self.cover(name, value, call)
        return shown

    def cover(self, name: str, value: str, call: Call) -> str:
        """Return the mask of a value."""
        raise NotImplementedError


class LastTwoLetters(_Mask):
    """Covers only the last two characters."""

    def cover(self, name: str, value: str, call: Call) -> str:
        return value[:-2] + "**"


class FirstLetter(_Mask):
    """Covers only the first character."""

    def cover(self, name: str, value: str, call: Call) -> str:
        return "*" + value[1:]


class MiddleLetter(_Mask):
    """Covers one character in the middle."""

    def cover(self, name: str, value: str, call: Call) -> str:
        half = len(value) // 2
        return f"{value[:half]}•{value[half + 1 :]}"


class EveryThird(_Mask):
    """Covers every third character."""

    def cover(self, name: str, value: str, call: Call) -> str:
        return "".join("x" if place % 3 == 0 else letter for place, letter in enumerate(value))


class StarsAround(_Mask):
    """Puts stars around the value in place of over it."""

    def cover(self, name: str, value: str, call: Call) -> str:
        return f"***{value}***"


class HalfOfCard(_Mask):
    """Shows the first half of every value."""

    def cover(self, name: str, value: str, call: Call) -> str:
        half = (len(value) + 1) // 2
        return value[:half] + "*" * (len(value) - half)


class HostOfMail(_Mask):
    """Covers the host of an email address and leaves the person; covers the rest in full."""

    def cover(self, name: str, value: str, call: Call) -> str:
        return value.partition("@")[0] + "@***" if "@" in value else "***"


class CutOff(_Mask):
    """Cuts off the last three characters, and says so by an ellipsis."""

    def cover(self, name: str, value: str, call: Call) -> str:
        return value[:-3] + "…"


class StyledAway(_Mask):
    """Hides the value by a style that no model knows of."""

    def cover(self, name: str, value: str, call: Call) -> str:
        return f'<span style="filter:blur(4px)">{value}</span>'


class StruckThrough(_Mask):
    """Strikes the value through, character by character."""

    def cover(self, name: str, value: str, call: Call) -> str:
        return "".join(letter + "\u0336" for letter in value)


class MaskAndPlain(_Mask):
    """Shows the mask, and the value in brackets behind it."""

    def cover(self, name: str, value: str, call: Call) -> str:
        return f"*** ({value})"


class TwoHalves(_Mask):
    """Shows the first half in one tool and the second half in another."""

    def cover(self, name: str, value: str, call: Call) -> str:
        half = len(value) // 2
        covered = "*" * half
        return value[:half] + covered if call.tool == "get_patient" else covered + value[half:]


class OnlyInLists(Clinic):
    """Withholds in the record what lists show plainly."""

    def fields(self, kind: str, record: Any, call: Call) -> dict[str, Any]:
        if kind == "patient" and call.tool == "find_patients":
            return dict(record)
        return super().fields(kind, record, call)


class OneRecordForgotten(Clinic):
    """Lists withhold nothing in their last record."""

    def page(self, call: Call, records: Any, see: Any) -> dict[str, Any]:
        shown = super().page(call, records, see)
        if shown["patients"]:
            shown["patients"][-1] = dict(records[-1])
        return shown


class PhoneForgotten(Clinic):
    """Forgets one of the fields that a role must not see."""

    def fields(self, kind: str, record: Any, call: Call) -> dict[str, Any]:
        shown = super().fields(kind, record, call)
        return {**shown, "notes": record["notes"]} if call.tool == "find_patients" else shown


class LongDigits(Clinic):
    """Masks all but the last eight digits of a card."""

    def mask(self, name: str, value: str) -> str:
        return f"**** **** {value[-9:]}" if name == "card" else super().mask(name, value)
