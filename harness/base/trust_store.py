"""The TLS trust store: the certificates of the machine, or those that the environment names."""

from __future__ import annotations

import os
import ssl
from functools import cache

import httpx2

from harness.base.errors import UsageError

_NAMES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
"""Environment variables that name certificates; the first that is set counts."""


@cache
def load_tls_context(*, trust_env: bool = True) -> ssl.SSLContext:
    """Return the TLS trust store; read once, since that takes longer than a whole trial.

    With ``trust_env``, the environment may name other certificates, as for all OpenSSL programs.

    Raises:
        UsageError: what the environment names cannot be read.
    """
    try:
        if trust_env:
            _require_folders()
        return httpx2.create_ssl_context(trust_env=trust_env)
    except OSError as error:  # among them ssl.SSLError
        name = _naming_variable()
        where = f"${name} ({os.environ[name]})" if name else "this machine"
        message = f"the certificates of {where} cannot be read: {error.strerror or error}"
        meant = (
            f"Name certificates in PEM, or unset {name}." if name else "Install ca-certificates."
        )
        raise UsageError(message, meant=meant) from error


def named_certificates() -> str | None:
    """Return the file or folder of certificates that the environment names; ``None`` without."""
    name = _naming_variable()
    return os.environ[name] if name else None


def _naming_variable() -> str | None:
    return next((name for name in _NAMES if os.environ.get(name)), None)


def _require_folders() -> None:
    """Refuse folders that do not exist, which OpenSSL takes for empty ones."""
    if _naming_variable() == "SSL_CERT_DIR":
        for folder in os.environ["SSL_CERT_DIR"].split(os.pathsep):
            # Opened and not only looked at: one that cannot be read has no certificates either.
            os.scandir(folder).close()
