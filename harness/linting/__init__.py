"""What in a server's tool list makes LLMs fail, found without a model and without a call.

`harness.linting.lint.lint` goes through every rule; `harness.linting.findings.RULES` says why each
matters.
"""
