"""A recording proxy: an MCP server on loopback in front of a session.

An agent that others wrote connects to it as to any server. What it asks is sent by a
`harness.sessions.Session`, which holds the identity of the case, applies the guard rails and
records each call; what the server answers is passed on as it came.

`harness.proxy.listener.open_listener` listens; `Listener.serve` gives one session an address of its
own, and `harness.proxy.recording.Recording` holds what crossed.
"""
