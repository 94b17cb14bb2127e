"""What is the address of something in the web."""

from __future__ import annotations

import re
from urllib.parse import urlsplit


def is_web_address(url: str) -> bool:
    """Whether requests can be sent to ``url``: it has a scheme, a host and a port that can be."""
    try:
        parts = urlsplit(url.strip())
        port = parts.port  # a port is at most 65,535
    except ValueError:
        return False
    # `urlsplit` accepts white space in a host.
    whole = bool(parts.hostname) and not re.search(r"\s", parts.netloc)
    return whole and parts.scheme in ("http", "https") and port != 0
