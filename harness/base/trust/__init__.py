"""Asks before commands from another owner's folder run.

`harness.base.trust.folders` determines the owner of a folder; `harness.base.trust.gate` asks and
remembers. All code that starts a process, sends a key or imports Python because of a project's
files goes through `GATE`.
"""

from harness.base.trust.gate import GATE, Gate, RequestedAction

__all__ = ["GATE", "Gate", "RequestedAction"]
