"""Redirects of servers and models: followed only if they stay on the same origin.

No server may redirect a user's identity, a key or a conversation to another server.
"""

from __future__ import annotations

import httpx2

MAX_REDIRECTS = 3
"""Maximum number of redirects of one request; one is enough for a missing slash."""


def same_origin(one: httpx2.URL, other: httpx2.URL) -> bool:
    """Whether both URLs are on one server."""
    return (one.scheme, one.host, one.port) == (other.scheme, other.host, other.port)


def same_request_elsewhere(response: httpx2.Response) -> httpx2.Request | None:
    """Return the request that follows a redirect to the same origin with the same method."""
    following, sent = response.next_request, response.request
    # A POST that becomes a GET loses its body; a user in the URL is a login that is not ours.
    if following is None or following.method != sent.method or following.url.userinfo:
        return None
    return following if same_origin(sent.url, following.url) else None


def url_text(url: httpx2.URL) -> str:
    """Return ``url`` as messages show it: without what may be a secret."""
    return str(url.copy_with(userinfo=b"", query=None, fragment=None))
