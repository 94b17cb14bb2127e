"""The TLS trust store: the certificates of the machine, or those that the environment names."""

from __future__ import annotations

import os
import ssl
from functools import cache

import httpx2

from harness.errors import UsageError

_NAMES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
"""Environment variables that name certificates; the first that is set counts."""


@cache
def trusted(*, trust_env: bool = True) -> ssl.SSLContext:
    """Return the TLS trust store; read once, since that takes longer than a whole trial.

    With ``trust_env``, the environment may name other certificates, as for all OpenSSL programs.

    Raises:
        UsageError: what the environment names cannot be read.
    """
    try:
        return httpx2.create_ssl_context(trust_env=trust_env)
    except OSError as error:  # among them ssl.SSLError
        name = next((name for name in _NAMES if os.environ.get(name)), None)
        where = f"${name} ({os.environ[name]})" if name else "this machine"
        raise UsageError(
            f"the certificates of {where} cannot be read: {error.strerror or error}",
            meant=f"Name certificates in PEM, or unset {name}."
            if name
            else "Install ca-certificates.",
        ) from error
