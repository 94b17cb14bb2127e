"""Faults in the access policy of a law firm's server, written without knowledge of the prober.

``python -m tests.proofs.unseen`` plants each of them and says which ones ``harness probe`` finds.
"""
