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

_SHOWN = {"base_url", "timeout_s", "max_retries", "max_reply_mb", "api", "temperature", "takes"}
_SHOWN |= {"max_tokens", "model_id", "provider", "input_price", "output_price"}
"""Settings of a model that hold no secret."""


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


def _format_model(model: ResolvedModel, config: Config) -> Iterator[str]:
    spec = model.spec
    yield f"{spec.name}{' (default)' if spec.name == config.default_model else ''}"
    yield f"    {spec.provider}: {spec.model_id}"
    key: str = "not needed" if model.key not in ("present", "missing") else model.key
    if spec.api_key_variable and key == model.key:
        variable = spec.api_key_variable
        key += f" (${variable})" if key == "present" else f": set {variable}"
    yield f"    key: {key}"
    for setting, source in spec.sources.items():
        yield f"    {setting}: {_setting_value(model, setting)}  [{source}]"
    yield from (f"    {note}" for note in (*spec.notes, *list_unsent(spec)))
    if wrong := model.error or unknown_provider(spec):
        yield from (f"    ! {line.strip()}" for line in str(wrong).splitlines())


def _setting_value(model: ResolvedModel, setting: str) -> Any:
    """Return a setting's value, unless it may hold a secret."""
    name = {"timeout": "timeout_s", "model": "model_id", "type": "provider"}.get(setting, setting)
    return getattr(model.spec, name) if name in _SHOWN else "(not shown)"


def _build_document(model: ResolvedModel) -> dict[str, Any]:
    spec, wrong = model.spec, model.error or unknown_provider(model.spec)
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
        "error": wrong and str(wrong),
    }


def _agent_lines(agent: KnownAgent) -> Iterator[str]:
    """Yield an agent's name, its settings and what is missing. Values of variables are not shown.

    Nor are the arguments of its command: either may hold a secret.
    """
    yield agent.name
    source = f"[{agent.source}]" if agent.source else "(needs no configuration)"
    yield f"    {agent.kind}{f': {agent.program}' if agent.program else ''}  {source}"
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
    if agent.error is not None or not agent.found:
        wrong = str(agent.error or _format_missing(agent))
        yield from (f"    ! {line.strip()}" for line in wrong.splitlines())


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


def _format_missing(agent: KnownAgent) -> str:
    install = KINDS.get(agent.kind).install
    how = f" Install it: {install}" if install else ""
    return f"there is no program {agent.program!r}.{how}"
