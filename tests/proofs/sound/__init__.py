"""Sound servers over other data, seed after seed: is anything called wrong?

``python -m tests.proofs.sound`` probes the clinic of `tests.proofs.planted` without a fault, and
the servers of the documentation, each with people made from a number. Whatever is found is a
false alarm, for policy and server are always the same, and right.
"""
