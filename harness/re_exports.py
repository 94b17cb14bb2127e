"""What a room offers to others: the names in its ``__init__.pyi``, each imported on first use.

A command must not load what it does not need, so a room's ``__init__`` imports nothing. Type
checkers read the same stub.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module


def re_export(package: str, file: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of the ``package`` whose ``__init__`` is ``file``.

    Each line of the stub beside it is ``from .module import name as name``.
    """
    modules = _parse_stub(f"{file}i")

    def get(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(modules[name], package), name)

    return get, lambda: sorted(modules)


def _parse_stub(stub: str) -> dict[str, str]:
    """Return name → module of every line of the stub."""
    with open(stub, encoding="utf-8") as file:  # noqa: PTH123 - `pathlib` takes longer to import
        lines = [line.split() for line in file if line.startswith("from .")]
    return {name: module for _, module, _, name, *_ in lines}
