"""A cluster of Ray: started on this machine for one run, or joined.

A cluster that we start is ours alone: it listens on loopback, has no dashboard and reports no
usage, keeps its files in a private folder, and its environment lacks the variables that may hold
secrets. The kernel ends its processes if ours is killed (on Linux).
"""

from __future__ import annotations

import logging
import os
import secrets
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ray
from ray._private import ray_constants
from ray._private import utils as ray_utils

from harness.base import KNOWN, UsageError, may_name_secret

_OBJECT_STORE_BYTES = 200_000_000
"""Shared memory for what is too large for a call: few results are."""
_LONGEST_FOLDER = 40
"""Characters of a folder in which Ray's sockets still have paths that the kernel takes."""
_TITLE = "harness"
_CONNECT_S = 10.0


@contextmanager
def connect_cluster(address: str | None, most: int) -> Iterator[None]:
    """Be connected to the cluster at ``address``, or to one that is started for the block.

    One that is started has at most ``most`` processors: it starts a process for each of them.

    It needs the main thread: the processes of a cluster end with the thread that started them.

    Raises:
        UsageError: there is no such cluster, or it does not take us.
    """
    logging.getLogger("ray").setLevel(logging.ERROR)
    # Without Ray's hook for exceptions, which sends their text to the cluster, and without our
    # command line, in which there may be secrets.
    hook, sys.excepthook = sys.excepthook, sys.__excepthook__
    before, ray_utils.get_entrypoint_name = ray_utils.get_entrypoint_name, lambda: _TITLE
    try:
        with _own_cluster(most) if address is None else _joined_cluster(address):
            yield
    finally:
        sys.excepthook = hook
        ray_utils.get_entrypoint_name = before


@contextmanager
def _own_cluster(most: int) -> Iterator[None]:
    usual = tempfile.gettempdir()
    short = usual if len(usual) <= _LONGEST_FOLDER else "/tmp"  # noqa: S108 - mkdtemp is private
    folder = Path(tempfile.mkdtemp(prefix="harness-ray-", dir=short))
    token = folder / "token"
    # Private before the token is in it.
    token.touch(0o600)
    token.write_text(secrets.token_hex(32))
    ray_constants.ENABLE_RAY_CLUSTER = False  # then its processes listen on loopback alone
    settings = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_TOKEN_PATH": str(token)}
    # Ray's processes inherit our environment as it is when they start.
    before = dict(os.environ)
    for name in (
        *select_secret_variables(os.environ),
        *(name for name in before if name.startswith("RAY_")),
    ):
        os.environ.pop(name, None)
    os.environ.update(settings)
    try:
        try:
            _init_ray(
                address="local",
                num_cpus=min(most, ray_utils.get_num_cpus()),
                include_dashboard=False,
                object_store_memory=_OBJECT_STORE_BYTES,
                _temp_dir=str(folder),
            )
        except Exception as error:  # a machine that is too busy: Ray raises no class of its own
            raise UsageError(
                f"Ray cannot be started on this machine: {KNOWN.redact_text(str(error)).strip()}"
            ) from error
        finally:
            os.environ.update(
                # Ours again at once; Ray's own settings stay until it has ended.
                {name: text for name, text in before.items() if not name.startswith("RAY_")}
            )
        yield
    finally:
        # Before the folder is removed in which their sockets are.
        ray.shutdown(wait_for_processes=True)
        for name in [name for name in os.environ if name.startswith("RAY_")]:
            del os.environ[name]
        os.environ.update(before)
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _joined_cluster(address: str) -> Iterator[None]:
    try:
        place = os.environ.get("RAY_ADDRESS", "") if address == "auto" else address
        host, colon, port = place.rpartition(":")
        # If nobody listens there, Ray would try for minutes.
        if colon and port.isdecimal() and "://" not in place:
            socket.create_connection((host.strip("[]"), int(port)), _CONNECT_S).close()
        _init_ray(address=address)
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        ray.shutdown()
        raise UsageError(
            f"the Ray cluster {address} cannot be joined: {KNOWN.redact_text(str(error)).strip()}",
            meant="'ray status' says what runs; --engine ray starts a cluster on this machine.",
        ) from error
    try:
        yield
    finally:
        ray.shutdown()


def count_processors() -> int:
    """Return how many processors the nodes of the cluster have together."""
    return int(ray.cluster_resources().get("CPU", 0))  # type: ignore[no-untyped-call]


def select_secret_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that may hold secrets: by their name, or by what is known to be one."""
    return {
        name: value
        for name, value in environ.items()
        if may_name_secret(name) or KNOWN.redact_text(value) != value
    }


def _init_ray(**options: Any) -> None:
    """Connect, and keep our own handler of SIGTERM: Ray's would end the run without its footer."""
    handler = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(**options, log_to_driver=False, configure_logging=False)
    finally:
        signal.signal(signal.SIGTERM, handler)
