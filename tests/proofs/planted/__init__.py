"""A clinic's MCP server with a policy, and more than a hundred ways to get the policy wrong.

Sound by default. ``python -m tests.proofs.planted.server --fault NAME`` serves it with one fault;
``python -m tests.proofs.planted`` plants every fault in turn, probes, and prints what was found.
"""
