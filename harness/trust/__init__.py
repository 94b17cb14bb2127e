"""Whether the commands of a folder may be run: those of a folder that is not one's own are asked about first.

`harness.trust.folders` tells whose a folder is, `harness.trust.gate` asks and remembers. Everything
that starts a process, sends a key or imports Python from a project's files goes through `GATE`.
"""

from harness.trust.gate import GATE, Deed, Gate

__all__ = ["GATE", "Deed", "Gate"]
