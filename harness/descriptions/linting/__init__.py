"""Finds problems in a server's tools that make LLMs fail; it needs no model and calls no tool.

`harness.descriptions.linting.findings.lint_tools` applies every rule; each family of rules is a
file in `harness.descriptions.linting.rules`, which also says why each rule matters and what to
write instead.
"""
