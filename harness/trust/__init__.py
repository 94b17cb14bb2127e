"""Asks before commands of somebody else's folder run.

`harness.trust.folders` finds out whose a folder is; `harness.trust.gate` asks and remembers. All
code that starts a process, sends a key or imports Python because of a project's files goes through
`GATE`.
"""

from harness.trust.gate import GATE, Deed, Gate

__all__ = ["GATE", "Deed", "Gate"]
