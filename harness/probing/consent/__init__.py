"""Consent gates: tools that ask the user before they change something, tried without a model.

`gate_calls` makes the call of each such tool as each identity, with each answer of a user;
`gate_answers` fills in the forms, rightly and wrongly; `gate_findings` judges what the log has.
"""
