"""What came and went in a list of tools."""

from __future__ import annotations

from harness.types.shared_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ListChange:
    """One change of the tools that a user is offered, which the model sees with its next reply."""

    reply: int
    """The model's replies before it."""
    added: tuple[str, ...] = ()
    """The tools that came."""
    removed: tuple[str, ...] = ()
    """The tools that went."""
    changed: tuple[str, ...] = ()
    """The tools with other words, another schema or other hints."""
    unread: str | None = None
    """Why the new list is not known, in words; the former one was still offered then."""

    def __str__(self) -> str:
        """The change in one line."""
        parts = [
            f"{sign}{name}"
            for sign, names in (("+", self.added), ("-", self.removed), ("~", self.changed))
            for name in names
        ]
        return f"the list of tools {self.unread or 'changed: ' + ' '.join(parts)}"
