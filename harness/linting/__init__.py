"""Finds problems in a server's tools that make LLMs fail, without a model and without a call.

`harness.linting.lint.lint` applies every rule; each family of rules is a file in
`harness.linting.rules`, which also explains why each rule matters.
"""
