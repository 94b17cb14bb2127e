"""Which engine carries out a run, by what a user wrote: ``process``, ``ray`` or ``ray:ADDRESS``."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from importlib.util import find_spec

from harness.base import UsageError, did_you_mean
from harness.runner.engines import Engine, EngineContext, Opening
from harness.runner.engines.one_process import open_one_process

ONE_PROCESS = "process"
"""The engine that is used unless another one is named."""
_RAY = "ray"
_ADDRESS = re.compile(r"auto|[^/\s]+:\d+")


def get_opener(name: str) -> Opening:
    """Return what opens the engine of that name.

    Raises:
        UsageError: there is none, or what it needs is not installed.
    """
    kind, colon, address = name.partition(":")
    if name == ONE_PROCESS:
        return open_one_process
    if kind != _RAY or (colon and not _ADDRESS.fullmatch(address)):
        raise UsageError(
            f"there is no engine {name!r}",
            meant=did_you_mean(kind, (ONE_PROCESS, _RAY))
            if kind not in (ONE_PROCESS, _RAY)
            else "Write ray, which starts Ray on this machine, ray:auto or ray:HOST:PORT.",
        )
    # Found and not imported: only an engine that is opened loads Ray.
    if find_spec("ray") is None:
        raise UsageError(
            f"the engine {name} needs Ray, which is not installed",
            meant='In the checkout: pip install ".[ray]"',
        )
    return partial(_open_on_ray, address=address or None)


@asynccontextmanager
async def _open_on_ray(setting: EngineContext, address: str | None) -> AsyncIterator[Engine]:
    from harness.runner.engines.on_ray.engine import open_on_ray  # loads Ray

    async with open_on_ray(setting, address) as engine:
        yield engine
