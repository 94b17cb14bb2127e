"""List configured models and agents, and the source of each setting."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from harness.agents import KINDS
from harness.base import make_printable
from harness.models import list_unsent, unknown_provider
from harness.suites import Config, KnownAgent, ResolvedModel, load_config


@click.command("models")
@click.option("--json-output", is_flag=True, help="One JSON document on stdout.")
def command(json_output: bool) -> None:
    """List configured models, where each setting comes from, and whether a key is present.

    Keys themselves are never shown. PROVIDER:MODEL, for example anthropic:claude-sonnet-4-6, needs
    no configuration; its key comes from the provider's usual variable.

    Below them are the agents that --agent may name: those of agents: in the configuration, and
    those that need none.
    """
    config = load_config(Path.cwd(), os.environ)
    models, agents = config.list_models(), config.list_agents(Path.cwd())
    if json_output:
        click.echo(
            json.dumps(
                {
                    "default": config.default_model,
                    "models": [_build_document(model) for model in models],
                    "agents": [_agent_document(agent) for agent in agents],
                }
            )
        )
        return
    for model in models:
        click.echo(make_printable("\n".join(_format_model(model, config))))
    click.echo(
        "Without configuration: PROVIDER:MODEL, for example anthropic:claude-sonnet-4-6 or "
        "openai:gpt-4o."
    )
    click.echo("\nAgents, for --agent:")
    for agent in agents:
        click.echo(make_printable("\n".join(_agent_lines(agent))))
    click.echo("Without configuration also a command: --agent 'python agent.py {prompt}'.")


def _format_model(model: ResolvedModel, config: Config) -> list[str]:
    spec = model.spec
    default = " (default)" if spec.name == config.default_model else ""
    lines = [
        f"{spec.name}{default}",
        f"    {spec.provider}: {spec.model_id}",
        f"    key: {_format_key(model)}",
    ]
    lines += [
        f"    {setting}: {_setting_value(model, setting)}  [{source}]"
        for setting, source in spec.sources.items()
    ]
    lines += [f"    {note}" for note in (*spec.notes, *list_unsent(spec))]
    if wrong := _find_error(model):
        lines += [f"    ! {line.strip()}" for line in wrong.splitlines()]
    return lines


def _find_error(model: ResolvedModel) -> str | None:
    wrong = model.error or unknown_provider(model.spec)
    return None if wrong is None else str(wrong)


def _format_key(model: ResolvedModel) -> str:
    variable = model.spec.api_key_variable
    if model.key == "present":
        return f"present (${variable})" if variable else "present"
    if model.key == "missing":
        return f"missing: set {variable}" if variable else "missing"
    return "not needed"


def _setting_value(model: ResolvedModel, setting: str) -> Any:
    """Return a setting's value, unless it may hold a secret."""
    shown = {
        "base_url": model.spec.base_url,
        "timeout": model.spec.timeout_s,
        "max_retries": model.spec.max_retries,
        "max_reply_mb": model.spec.max_reply_mb,
        "api": model.spec.api,
        "temperature": model.spec.temperature,
        "max_tokens": model.spec.max_tokens,
        "model": model.spec.model_id,
        "type": model.spec.provider,
        "input_price": model.spec.input_price,
        "output_price": model.spec.output_price,
    }
    return shown.get(setting, "(not shown)")


def _build_document(model: ResolvedModel) -> dict[str, Any]:
    spec = model.spec
    return {
        "name": spec.name,
        "provider": spec.provider,
        "model": spec.model_id,
        "base_url": spec.base_url,
        "key": model.key,
        "key_variable": spec.api_key_variable,
        "source": model.source,
        "sources": dict(spec.sources),
        "notes": [*spec.notes, *list_unsent(spec)],
        "error": _find_error(model),
    }


def _agent_lines(agent: KnownAgent) -> Iterator[str]:
    """Yield an agent's name, its settings and what is missing. Values of variables are not shown.

    Nor are the arguments of its command: either may hold a secret.
    """
    yield agent.name
    yield f"    {agent.kind}{f': {agent.program}' if agent.program else ''}{_format_source(agent)}"
    if spec := agent.spec:
        shown = {
            "function": spec.function,
            "model": spec.model,
            "tools of its own": ", ".join(spec.tools),
            "variables": ", ".join(sorted(spec.env)),
            "files": spec.files,
            "home": spec.home,
        }
        yield from (f"    {name}: {value}" for name, value in shown.items() if value)
    if agent.error is not None:
        yield from (f"    ! {line.strip()}" for line in str(agent.error).splitlines())
    elif not agent.found:
        yield f"    ! {_format_missing(agent)}"


def _agent_document(agent: KnownAgent) -> dict[str, Any]:
    """Return the same as JSON."""
    spec = agent.spec
    wrong = _format_missing(agent) if not agent.found else None
    return {
        "name": agent.name,
        "type": agent.kind,
        "program": agent.program,
        "found": agent.found,
        "function": spec and spec.function,
        "model": spec and spec.model,
        "tools": list(spec.tools) if spec else [],
        "variables": sorted(spec.env) if spec else [],
        "files": spec and spec.files,
        "home": spec and spec.home,
        "source": agent.source,
        "error": wrong if agent.error is None else str(agent.error),
    }


def _format_source(agent: KnownAgent) -> str:
    return f"  [{agent.source}]" if agent.source else "  (needs no configuration)"


def _format_missing(agent: KnownAgent) -> str:
    install = KINDS.get(agent.kind).install
    how = f" Install it: {install}" if install else ""
    return f"there is no program {agent.program!r}.{how}"
