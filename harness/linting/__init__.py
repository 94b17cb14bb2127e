"""What in a server's tool list makes LLMs fail, found without a model and without a call.

`harness.linting.lint.lint` goes through every rule; each family of rules is a file in
`harness.linting.rules`, which also says why each rule matters.
"""
