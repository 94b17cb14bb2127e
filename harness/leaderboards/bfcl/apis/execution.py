"""Makes the instances of a case, and executes calls on them as the official checker does."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from copy import deepcopy
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any, TypeAlias

from harness.base import UsageError, did_you_mean
from harness.leaderboards.bfcl.apis.common import Api, ApiCall, Tables
from harness.leaderboards.bfcl.apis.file_system import GorillaFileSystem
from harness.leaderboards.bfcl.apis.maths import MathAPI
from harness.leaderboards.bfcl.apis.messages import MessageAPI
from harness.leaderboards.bfcl.apis.posts import TwitterAPI
from harness.leaderboards.bfcl.apis.tables import read_tables
from harness.leaderboards.bfcl.apis.tickets import TicketAPI
from harness.leaderboards.bfcl.apis.trading import TradingBot
from harness.leaderboards.bfcl.apis.travel import TravelAPI
from harness.leaderboards.bfcl.apis.vehicle import VehicleControlAPI

CLASSES: Mapping[str, type[Api]] = {
    api.__name__: api
    for api in (
        *(GorillaFileSystem, MathAPI, MessageAPI, TicketAPI),
        *(TradingBot, TravelAPI, TwitterAPI, VehicleControlAPI),
    )
}
"""Name in a case's ``involved_classes`` → the class."""

Instances: TypeAlias = dict[str, Api]
"""The APIs of one run of a case, by class name."""

Data: TypeAlias = Path | Mapping[str, Mapping[str, Any]]
"""The folder of the fetched release (`harness.leaderboards.bfcl.data.data_folder`), or tables by
class name."""


def make_instance(
    class_name: str, initial_config: Mapping[str, Any], *, long_context: bool, data: Data
) -> Api:
    """Return a new instance of ``class_name`` in the state of ``initial_config``, left unchanged.

    Raises:
        UsageError: there is no such class, or ``data`` lacks its tables.
    """
    if class_name not in CLASSES:
        meant = did_you_mean(class_name, CLASSES) or f"There are {', '.join(CLASSES)}."
        raise UsageError(f"BFCL has no API {class_name!r} here", meant=meant)
    tables: Tables
    if isinstance(data, Path):
        tables = read_tables(data, class_name, long_context=long_context)
    else:
        tables = data.get(class_name, {})
    scenario = deepcopy(initial_config.get(class_name, {}))
    return CLASSES[class_name](scenario, tables, long_context=long_context)


def make_instances(
    class_names: Iterable[str], initial_config: Mapping[str, Any], *, long_context: bool, data: Data
) -> Instances:
    """Return new instances of all the classes of a case (see `make_instance`)."""
    return {
        name: make_instance(name, initial_config, long_context=long_context, data=data)
        for name in class_names
    }


@cache
def list_method_names(class_name: str) -> tuple[str, ...]:
    """Return the names of the tools of a class."""
    # Only what the class defines itself: methods of `Api` are no tools.
    members = vars(CLASSES[class_name]).items()
    functions = (name for name, member in members if isinstance(member, FunctionType))
    return tuple(name for name in functions if not name.startswith("_"))


def execute_call(instances: Instances, call: ApiCall) -> str:
    """Execute ``call`` on the instance that has such a tool, and return its result as text.

    A call that cannot be executed also has a text, ``Error during execution: …``, which the model
    gets as its result.
    """
    try:
        return _format_result(_call_method(instances, call))
    except UsageError:
        # A table that was not fetched is no mistake of the model.
        raise
    except Exception as problem:  # noqa: BLE001 -- what a model's arguments may set off is a result, as upstream
        return format_failure(str(problem))


def _call_method(instances: Instances, call: ApiCall) -> Any:
    owner = next(
        (api for name, api in instances.items() if call.name in list_method_names(name)), None
    )
    if owner is None:
        raise NameError(f"name '{call.name}' is not defined")
    positional = [_resolve_argument(instances, value) for value in call.positional]
    named = {name: _resolve_argument(instances, value) for name, value in call.arguments.items()}
    return getattr(owner, call.name)(*positional, **named)


def _resolve_argument(instances: Instances, value: Any) -> Any:
    # A method may keep what it is given, and the recorded call must not change with it.
    return _call_method(instances, value) if isinstance(value, ApiCall) else deepcopy(value)


def format_failure(reason: str) -> str:
    """Return the result of a call that could not be executed."""
    return f"Error during execution: {reason}"


def _format_result(result: Any) -> str:
    """Return a string unchanged, an object as JSON if possible, else Python's notation."""
    if isinstance(result, dict):
        try:
            return json.dumps(result)
        except (TypeError, ValueError):
            return str(result)
    return str(result)
