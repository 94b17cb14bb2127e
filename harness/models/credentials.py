"""Credentials of clouds, which their packages find where people log in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

import httpx2

from harness.models.http_failures import ConnectionFailed, ModelFault, quote_text
from harness.types import ModelSpec


def is_installed(module: str) -> bool:
    """Return whether ``module`` could be imported; nothing of it is loaded but its parents."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


@contextmanager
def report_credentials(spec: ModelSpec, cloud: str, answered: type[Exception]) -> Iterator[None]:
    """Turn any error of a package that looks for credentials into a fault of the configuration.

    ``answered`` is the SDK's error for what came of a request: that one passes.
    """
    try:
        yield
    except (answered, ConnectionFailed, httpx2.HTTPError):
        raise
    # The packages of clouds raise errors of many kinds, which share no class.
    except Exception as error:  # noqa: BLE001  # see above
        words = quote_text(str(error) or type(error).__name__, spec)
        raise ModelFault(
            f"no credentials for {cloud}: {words}",
            advice=f"Log in to {cloud} on this machine, or set {spec.api_key_variable}.",
            event="auth",
        ) from None
