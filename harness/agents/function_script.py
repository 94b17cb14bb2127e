"""Calls a Python function as an agent: ``python function_script.py MODULE:FUNCTION``.

It imports no module of harness, so that any interpreter can run it. stdin is
``{"prompt": …, "mcp_url": …}``; the one line on stdout is ``{"answer": …}``, with ``input_tokens``,
``output_tokens`` and ``cost_usd`` if the function returns a mapping with them. The function's own
output goes to stderr.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import sys
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_KEYS = ("answer", "input_tokens", "output_tokens", "cost_usd")


def main() -> None:
    """Call the function that the first argument names, and write what it returns."""
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as out:
        os.dup2(2, 1)
        asked = json.load(sys.stdin)
        # Python adds this script's folder, whose `agent` or `program` would hide the user's.
        sys.path[:] = [one for one in sys.path if one != os.path.dirname(__file__)]  # noqa: PTH120
        module, _, name = sys.argv[1].partition(":")
        function = getattr(import_module(module), name)
        returned = function(asked["prompt"], asked["mcp_url"])
        if inspect.isawaitable(returned):
            # `asyncio.run` takes only coroutines, and a function may return any awaitable.
            returned = asyncio.run(_await_result(returned))
        json.dump(_build_answer(returned), out)


async def _await_result(returned: Any) -> Any:
    return await returned


def _build_answer(returned: Any) -> dict[str, Any]:
    if isinstance(returned, dict):
        return {key: returned[key] for key in _KEYS if key in returned}
    if isinstance(returned, str):
        return {"answer": returned}
    raise TypeError(f"the function returned {type(returned).__name__}, not a text")


if __name__ == "__main__":
    main()
