"""Can an LLM actually use your MCP server, correctly and safely?

The public API: `run` runs suites and returns their report, `load_suite` reads a suite, and the
types describe the data. All else may change from one version to the next.

Names are imported when they are first used: the command line must start in an instant, and most of
its commands need no SDK.
"""

from __future__ import annotations

from harness.base import REFUSAL as _REFUSAL
from harness.base import is_supported as _is_supported
from harness.version import __version__ as __version__

# Type checkers know this name. Importing `typing` would take most of this module's load time.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from harness.api import load_suite as load_suite
    from harness.api import run as run
    from harness.api import run_async as run_async
    from harness.base import HarnessError as HarnessError
    from harness.judging import PythonRun as PythonRun
    from harness.suites import PythonCase as PythonCase
    from harness.types import Caller as Caller
    from harness.types import Case as Case
    from harness.types import CaseFacts as CaseFacts
    from harness.types import CaseResult as CaseResult
    from harness.types import Check as Check
    from harness.types import CheckResult as CheckResult
    from harness.types import Counts as Counts
    from harness.types import Decoys as Decoys
    from harness.types import Elicitation as Elicitation
    from harness.types import GuardRails as GuardRails
    from harness.types import InstructionsEdit as InstructionsEdit
    from harness.types import Limits as Limits
    from harness.types import Message as Message
    from harness.types import ParameterEdit as ParameterEdit
    from harness.types import Repeats as Repeats
    from harness.types import Report as Report
    from harness.types import ScriptedCall as ScriptedCall
    from harness.types import ServerSpec as ServerSpec
    from harness.types import SimulatedUser as SimulatedUser
    from harness.types import Suite as Suite
    from harness.types import ToolCall as ToolCall
    from harness.types import ToolEdit as ToolEdit
    from harness.types import ToolSearch as ToolSearch
    from harness.types import Transcript as Transcript
    from harness.types import TransportSpec as TransportSpec
    from harness.types import TrialResult as TrialResult
    from harness.types import Turn as Turn
    from harness.types import Variant as Variant

_HOMES = {
    "harness.api": ("load_suite", "run", "run_async"),
    "harness.judging.checks.python_run": ("PythonRun",),
    "harness.base.errors": ("HarnessError",),
    "harness.suites.in_python.case": ("PythonCase",),
    "harness.types": (
        "Caller",
        "Case",
        "CaseFacts",
        "CaseResult",
        "Check",
        "CheckResult",
        "Counts",
        "Decoys",
        "Elicitation",
        "GuardRails",
        "InstructionsEdit",
        "Limits",
        "Message",
        "ParameterEdit",
        "Repeats",
        "Report",
        "TrialResult",
        "ScriptedCall",
        "ServerSpec",
        "SimulatedUser",
        "Suite",
        "ToolCall",
        "ToolEdit",
        "ToolSearch",
        "Transcript",
        "TransportSpec",
        "Turn",
        "Variant",
    ),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF)  # noqa: PLE0605 - one list of names is enough


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'harness' has no attribute {name!r}")
    from importlib import import_module

    if not _is_supported():
        raise ImportError(_REFUSAL)
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return __all__
