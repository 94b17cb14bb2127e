"""Which part of a probe is asked: tools, identities and kinds of calls.

The regular calls of the suite's identities are made in any case, as far as their tools are chosen:
what is withheld from one of them shows only beside what another one gets.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Literal, TypeAlias

from harness.base import UsageError, did_you_mean
from harness.types import Tool, dataclass

Kind: TypeAlias = Literal[
    "values", "identities", "processes", "tokens", "arguments", "cursors", "altered", "consent"
]
KINDS: Mapping[Kind, str] = {
    "values": "values of other tools and of the identities' own records",
    "identities": "altered attributes of identities",
    "processes": "calls in processes of their own",
    "tokens": "flawed, aged and swapped tokens",
    "arguments": "forged calls: another's identity, altered arguments, unlisted requests",
    "cursors": "cursors of other callers",
    "altered": "altered values",
    "consent": "calls behind consent gates, with each answer of a user",
}
"""The kinds of calls besides the regular ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowing:
    """What is asked; an empty choice leaves out nothing."""

    tools: tuple[str, ...] = ()
    """Names of tools, or patterns such as ``get_*``."""
    identities: tuple[str, ...] = ()
    """Names of the identities that try to get more than they should."""
    kinds: tuple[Kind, ...] = ()
    """Kinds of calls."""

    @property
    def options(self) -> tuple[str, ...]:
        """The choice, as options of the command."""
        chosen = {"--tool": self.tools, "--identity": self.identities, "--kind": self.kinds}
        return tuple(f"{option} {value}" for option, values in chosen.items() for value in values)

    def has_kind(self, kind: Kind) -> bool:
        """Whether calls of this kind are made."""
        return not self.kinds or kind in self.kinds

    def has_tool(self, name: str) -> bool:
        """Whether a tool is called."""
        return not self.tools or any(fnmatchcase(name, pattern) for pattern in self.tools)

    def has_identity(self, name: str) -> bool:
        """Whether an identity tries to get more than it should."""
        return not self.identities or name in self.identities

    def check_tools(self, tools: Mapping[str, Tool]) -> None:
        """Check that each name or pattern has a tool.

        Raises:
            UsageError: there is no such tool.
        """
        for pattern in self.tools:
            if not any(fnmatchcase(name, pattern) for name in tools):
                raise UsageError(
                    f"the server has no tool {pattern!r}",
                    meant=did_you_mean(pattern, tools) or f"Tools: {', '.join(tools)}.",
                )
