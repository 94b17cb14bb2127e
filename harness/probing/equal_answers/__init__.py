"""Answers that are the same for everybody: meant so by the server, or mixed up by it.

A cache that forgets whose answer it holds, or an identity that is kept from the first request,
makes all callers of one process equal, and then nothing contradicts it. So each caller makes such a
call again in a process of its own. What a caller gets less there, it got because of somebody else.
"""
