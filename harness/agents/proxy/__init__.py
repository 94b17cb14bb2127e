"""A recording proxy: an MCP server on loopback in front of a session.

An external agent connects to it as to any server. Its requests are sent by a
`harness.sessions.Session`, which has the identity of the case, applies the guard rails and records
each call; the server's answers are forwarded unchanged.

`harness.agents.proxy.listener.open_listener` listens; `Listener.serve` gives one session an address
of its own, and `harness.agents.proxy.recording.Recording` has its calls.
"""
