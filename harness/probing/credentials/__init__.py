"""Credentials of others: forged tokens, tokens in exchange, and what servers do with them."""
