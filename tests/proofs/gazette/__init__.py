"""Faults in a newsroom's access policy, of kinds that change in time or take another road.

``python -m tests.proofs.gazette`` plants each of them and says which ones ``harness probe`` finds.
"""
