"""Variants: the tool list rewritten between the MCP session and the model, and calls mapped back.

The server is not changed, so a variant works on any server and needs no deployment. Checks,
policies and the record use the server's names; only the model sees the variant's names.
"""
