"""Answers that are equal for all callers: intended, or a mix-up of identities.

A cache whose key lacks the caller, or an identity that is kept from the first request, makes all
callers of one process equal, so comparing them shows nothing. Each caller therefore repeats such a
call in a separate process. Data that is missing there came from another caller's identity.
"""
