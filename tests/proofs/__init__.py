"""What shows that the policy checks find faults and raise no false alarms.

`planted` is a server with faults that can be planted one at a time, `unseen` another one by an
author who had not read the probe, `sound` asks correct servers over many seeds of data, and
`false_alarms` a correct one under many policies. Each is a program: ``python -m
tests.proofs.NAME``.
"""
