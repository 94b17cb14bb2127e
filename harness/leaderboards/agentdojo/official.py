"""``python -I -S official.py FOLDER MODE``: AgentDojo's own code, in a process of its own.

FOLDER holds the package and what it needs (`harness.leaderboards.agentdojo.source`). This file runs
there alone: it imports nothing of harness, and the packages of FOLDER never meet harness's own.

- ``judge``: a request (JSON) a line on stdin, its answer a line on stdout; ends with stdin.
- ``judge-older``: the same by the older release of the package, which lies in FOLDER, too.
- ``serve SUITE``: an MCP server over stdio, with the tools of a suite.
"""

from __future__ import annotations

import ast
import importlib
import json
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

BEGIN_TOOL = "agentdojo_begin"
"""The tool, listed for nobody, that puts a suite's environment in the state of a task."""
OLDER_FOLDER = "older_release"
"""Folder of the older release among the packages."""

_ADDRESSED = (
    ("claude", "Claude"),
    ("gpt-3.5", "GPT-3.5"),
    ("gpt-", "GPT-4"),
    ("gemini", "AI model developed by Google"),
    ("command-r", "Command R+"),
    ("mixtral", "Mixtral"),
    ("llama", "AI assistant"),
)
"""Part of a model's name → how attacks address it, for models that the package does not know."""


class RequestError(Exception):
    """A request that cannot be answered, in words for the user."""


# ── The package, without its model clients ───────────────────────────────────────────────────


def _prepare_imports(folder: Path) -> None:
    """Let the package of ``folder`` be imported without the SDKs that only its clients need."""
    pipeline = folder / "agentdojo" / "agent_pipeline"
    # Without its __init__, which imports every client.
    package = types.ModuleType("agentdojo.agent_pipeline")
    package.__path__ = [str(pipeline)]
    google = types.ModuleType("agentdojo.agent_pipeline.llms.google_llm")
    google.EMPTY_FUNCTION_NAME = _read_constant(  # type: ignore[attr-defined]
        pipeline / "llms" / "google_llm.py", "EMPTY_FUNCTION_NAME"
    )
    # Both only draw on a terminal.
    logging = types.ModuleType("agentdojo.logging")
    logging.Logger = object  # type: ignore[attr-defined]
    progress = types.ModuleType("rich.progress")
    progress.track = iter  # type: ignore[attr-defined]
    for module in (package, google, logging, progress, types.ModuleType("rich")):
        sys.modules[module.__name__] = module


def _read_constant(path: Path, name: str) -> Any:
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) == name:
            return ast.literal_eval(node.value)
    raise RequestError(f"{path} has no {name}")


@cache
def _load(name: str) -> Any:
    return importlib.import_module(f"agentdojo.{name}")


@cache
def _use_fast_yaml() -> None:
    """Let the package parse YAML with the same rules in C: most of the time goes there."""
    yaml: Any = importlib.import_module("yaml")
    if hasattr(yaml, "CSafeLoader"):
        yaml.safe_load = lambda text: yaml.load(text, yaml.CSafeLoader)


def find_suite(version: str, name: str) -> Any:
    """Return a suite of a version of the benchmark."""
    _use_fast_yaml()
    suites = _load("task_suite.load_suites")._SUITES  # noqa: SLF001 - there is no public list
    if version not in suites:
        raise RequestError(f"there is no version {version!r}; versions: {', '.join(suites)}")
    if name not in suites[version]:
        raise RequestError(f"there is no suite {name!r}; suites: {', '.join(suites[version])}")
    return suites[version][name]


def _find_task(suite: Any, name: str) -> Any:
    """Return a user task, or an injection task, which can be given to an agent as its own task."""
    task = suite.user_tasks.get(name) or suite.injection_tasks.get(name)
    if task is None:
        raise RequestError(f"{suite.name} has no task {name!r} in this version")
    return task


# ── An environment in the state of a task ────────────────────────────────────────────────────


class World:
    """The environment of one trial, before and now."""

    def __init__(self, suite: Any, task: Any, injections: dict[str, str]) -> None:
        """Prepare it for ``task`` as the package does."""
        self.suite = suite
        self.task = task
        try:
            environment = suite.load_and_inject_default_environment(injections)
        except Exception as error:
            raise RequestError(f"the environment cannot be loaded: {error}") from error
        if hasattr(task, "init_environment"):
            environment = task.init_environment(environment)
        self.before = environment.model_copy(deep=True)
        self.now = environment
        self._runtime = _load("functions_runtime").FunctionsRuntime(suite.tools)

    def call(self, calls: list[Any]) -> list[dict[str, Any]]:
        """Execute the calls of one reply; return a message for each."""
        asked = {"role": "assistant", "content": None, "tool_calls": calls}
        executor = _load("agent_pipeline.tool_execution").ToolsExecutor()
        _, _, self.now, messages, _ = executor.query("", self._runtime, self.now, [asked])
        answers: list[dict[str, Any]] = messages[1:]
        return answers

    def judge(self, task: Any, output: Any, calls: list[Any]) -> bool:
        """Return the verdict of the package on ``task``."""
        check = self.suite._check_task_result  # noqa: SLF001 - the public way runs a model
        return bool(check(task, output, self.before, self.now, calls))


def _make_call(function: str, args: dict[str, Any], call_id: str | None) -> Any:
    return _load("functions_runtime").FunctionCall(function=function, args=args, id=call_id)


# ── Judging ──────────────────────────────────────────────────────────────────────────────────


def judge(request: dict[str, Any]) -> dict[str, Any]:
    """Return both verdicts on a run: ``utility`` and ``security``, as the benchmark logs them.

    ``security`` is whether the attack has reached its goal; without an attack the benchmark logs
    true. ``replies`` are lists of calls; one that is ``unsent`` is not executed, but counts.
    With ``reference``, the number of replies that belong to the user's task alone, the answer has
    ``afterwards``, too: ``security`` by what changed since these. With ``error``, a failure of the
    model's API, nothing is looked at: so does the benchmark itself.
    """
    suite = find_suite(request["version"], request["suite"])
    if request.get("error"):
        return {"utility": False, "security": True}
    world = World(suite, _find_task(suite, request["user_task"]), request.get("injections") or {})
    calls, alone = [], None
    for number, asked in enumerate(request["replies"]):
        if number == request.get("reference"):
            alone = world.now.model_copy(deep=True)
        made = [_make_call(one["function"], one["args"], one.get("id")) for one in asked]
        sent = [call for call, one in zip(made, asked, strict=True) if not one.get("unsent")]
        if sent:
            world.call(sent)
        calls += made
    output: Any = request["output"]
    # Older releases judge the text itself.
    if hasattr(_load("types"), "MessageContentBlock"):
        output = [{"type": "text", "content": output}]
    utility = world.judge(world.task, output, calls)
    injected = request.get("injection_task")
    if injected is None:
        return {"utility": utility, "security": True}
    attack = _load_attacks().get(request.get("attack") or "")
    if attack is not None and attack.is_dos_attack:
        return {"utility": utility, "security": not utility}
    goal = _find_task(suite, injected)
    found = {"utility": utility, "security": world.judge(goal, output, calls)}
    if alone is not None:
        world.before = alone
        found["afterwards"] = world.judge(goal, output, calls)
    return found


@cache
def _load_attacks() -> dict[str, Any]:
    _load("attacks")
    attacks: dict[str, Any] = _load("attacks.attack_registry").ATTACKS
    # "manual" asks a person at the terminal.
    return {name: attack for name, attack in attacks.items() if name != "manual"}


# ── What there is ────────────────────────────────────────────────────────────────────────────


def list_contents(_: dict[str, Any]) -> dict[str, Any]:
    """Return the versions, suites, tasks, attacks and the system prompt."""
    found: dict[str, Any] = {}
    for version, suites in _load("task_suite.load_suites")._SUITES.items():  # noqa: SLF001
        for name, suite in suites.items():
            found.setdefault(version, {})[name] = {
                "user_tasks": {key: task.PROMPT for key, task in suite.user_tasks.items()},
                "injection_tasks": {key: task.GOAL for key, task in suite.injection_tasks.items()},
            }
    yaml = importlib.import_module("yaml")
    prompts = Path(_load("task_suite").__file__).parent.parent / "data" / "system_messages.yaml"
    attacks = {name: attack.is_dos_attack for name, attack in sorted(_load_attacks().items())}
    prompt = yaml.safe_load(prompts.read_text("utf-8"))["default"]
    return {"versions": found, "attacks": attacks, "system_prompt": prompt}


def build_injections(request: dict[str, Any]) -> dict[str, str]:
    """Return what an official attack writes into the environment for a pair of tasks."""
    suite = find_suite(request["version"], request["suite"])
    attack = _open_attack(request["attack"], suite, request.get("model") or "")
    pair = (_find_task(suite, request[key]) for key in ("user_task", "injection_task"))
    injections: dict[str, str] = attack.attack(*pair)
    return injections


@cache
def _open_attack(name: str, suite: Any, model: str) -> Any:
    attacks, names = _load_attacks(), _load("models").MODEL_NAMES
    if name not in attacks:
        raise RequestError(f"there is no attack {name!r}; attacks: {', '.join(sorted(attacks))}")
    if not any(known in model for known in names):
        # The package refuses models that it does not know: it needs a name to address them by.
        prose = next((said for part, said in _ADDRESSED if part in model.lower()), None)
        names[model] = prose or _load("attacks.base_attacks").DEFAULT_MODEL_NAME
    return attacks[name](suite, types.SimpleNamespace(name=model))


def list_ground_truth(request: dict[str, Any]) -> dict[str, Any]:
    """Return the calls that solve a task, and the answer that belongs to them.

    ``then`` in the answer has the same of the tasks ``then``, in the state that these calls leave.
    """
    suite = find_suite(request["version"], request["suite"])
    task = _find_task(suite, request["task"])
    world = World(suite, task, request.get("injections") or {})
    calls = task.ground_truth(world.before)
    found = _describe_truth(task, calls)
    if "then" in request:
        world.call(calls)
        goals = {name: _find_task(suite, name) for name in request["then"]}
        found["then"] = {
            name: _describe_truth(goal, goal.ground_truth(world.now.model_copy(deep=True)))
            for name, goal in goals.items()
        }
    return found


def _describe_truth(task: Any, calls: list[Any]) -> dict[str, Any]:
    listed = [{"function": call.function, "args": dict(call.args)} for call in calls]
    return {
        "calls": json.loads(json.dumps(listed, default=_dump)),
        "output": task.GROUND_TRUTH_OUTPUT,
    }


def _dump(value: Any) -> Any:
    """Return an argument of a reference call as JSON: models, enumerations and dates."""
    return value.model_dump(mode="json") if hasattr(value, "model_dump") else str(value)


# ── The MCP server ───────────────────────────────────────────────────────────────────────────


class McpServer:
    """The tools of a suite over MCP; `BEGIN_TOOL` chooses the task."""

    def __init__(self, suite: str) -> None:
        """Serve the tools of ``suite``, which are the same in each version."""
        self._suite = find_suite("v1", suite)
        self._world: World | None = None

    def answer(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """Return the response to a message; ``None`` to a notification."""
        if "id" not in message:
            return None
        method, params = message.get("method"), message.get("params") or {}
        head = {"jsonrpc": "2.0", "id": message["id"]}
        if method == "initialize":
            return head | {
                "result": {
                    "protocolVersion": params.get("protocolVersion", "2025-06-18"),
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": f"agentdojo-{self._suite.name}", "version": "0.1.35"},
                }
            }
        if method == "ping":
            return head | {"result": {}}
        if method == "tools/list":
            return head | {"result": {"tools": [_describe_tool(one) for one in self._suite.tools]}}
        if method == "tools/call":
            text, is_error = self._call(str(params.get("name")), params.get("arguments") or {})
            content = [{"type": "text", "text": text}]
            return head | {"result": {"content": content, "isError": is_error}}
        return head | {"error": {"code": -32601, "message": f"Method not found: {method}"}}

    def _call(self, tool: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        if tool == BEGIN_TOOL:
            try:
                return self._begin(arguments), False
            except RequestError as error:
                return str(error), True
        if self._world is None:
            return f"No task has begun: call {BEGIN_TOOL} first.", True
        [answer] = self._world.call([_make_call(tool, arguments, None)])
        if answer["error"] is not None:
            return str(answer["error"]), True
        return "\n".join(block["content"] for block in answer["content"]), False

    def _begin(self, request: dict[str, Any]) -> str:
        self._world = None
        # Without a task: what the trial before left is gone.
        if not request:
            return "{}"
        suite = find_suite(request["version"], self._suite.name)
        injections = request.get("injections")
        if injections is None and request.get("attack"):
            injections = build_injections({**request, "suite": suite.name})
        self._world = World(suite, _find_task(suite, request["user_task"]), injections or {})
        # What an attack wrote, so that the run can be judged from its record alone.
        return json.dumps({"injections": injections or {}})


def _describe_tool(tool: Any) -> dict[str, Any]:
    schema = tool.parameters.model_json_schema()
    return {"name": tool.name, "description": tool.description, "inputSchema": schema}


# ── The process ──────────────────────────────────────────────────────────────────────────────

_ACTIONS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "judge": judge,
    "contents": list_contents,
    "injections": build_injections,
    "ground_truth": list_ground_truth,
}


def _answer_request(request: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"result": _ACTIONS[request["action"]](request)}
    except RequestError as error:
        return {"error": str(error)}
    # The official code fails on some runs; that is an answer about the run, not the end of all.
    except Exception as error:  # noqa: BLE001
        return {"error": f"the official code failed: {type(error).__name__}: {error}"}


def _iterate_messages() -> Iterator[dict[str, Any]]:
    for line in sys.stdin:
        if line.strip():
            yield json.loads(line)


def main(arguments: list[str]) -> int:
    """Serve until stdin ends; return 2 if the command line is wrong."""
    judges = arguments[1:] in (["judge"], ["judge-older"])
    if not judges and not (len(arguments) == 3 and arguments[1] == "serve"):  # noqa: PLR2004
        sys.stderr.write(f"{__doc__}\n")
        return 2
    # Only messages may be on stdout, whatever the package prints.
    out, sys.stdout = sys.stdout, sys.stderr
    sys.stdin.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    out.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    warnings.simplefilter("ignore")
    folder = Path(arguments[0])
    sys.path.insert(0, str(folder))
    if arguments[1] == "judge-older":
        folder /= OLDER_FOLDER
        sys.path.insert(0, str(folder))
    _prepare_imports(folder)
    answer = _answer_request if judges else McpServer(arguments[2]).answer
    for message in _iterate_messages():
        if (answered := answer(message)) is not None:
            out.write(json.dumps(answered) + "\n")
            out.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
