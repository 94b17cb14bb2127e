"""List configured models and the source of each setting."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import click

from harness.config import Config, load_config
from harness.config.models import ResolvedModel
from harness.models import unknown_provider
from harness.models.settings import unsent
from harness.safe_text import printable


@click.command("models")
@click.option("--json-output", is_flag=True, help="One JSON document on stdout.")
def command(json_output: bool) -> None:
    """List configured models, where each setting comes from, and whether a key is present.

    Keys themselves are never shown. PROVIDER:MODEL, for example anthropic:claude-sonnet-4-6, needs
    no configuration; its key comes from the provider's usual variable.
    """
    config = load_config(Path.cwd(), os.environ)
    models = config.models()
    if json_output:
        click.echo(
            json.dumps(
                {"default": config.default_model, "models": [_document(model) for model in models]}
            )
        )
        return
    for model in models:
        click.echo(printable("\n".join(_lines(model, config))))
    click.echo(
        "Without configuration: PROVIDER:MODEL, for example anthropic:claude-sonnet-4-6 or "
        "openai:gpt-4o."
    )


def _lines(model: ResolvedModel, config: Config) -> list[str]:
    spec = model.spec
    default = " (default)" if spec.name == config.default_model else ""
    lines = [
        f"{spec.name}{default}",
        f"    {spec.provider}: {spec.model_id}",
        f"    key: {_key(model)}",
    ]
    lines += [
        f"    {setting}: {_value(model, setting)}  [{source}]"
        for setting, source in spec.sources.items()
    ]
    lines += [f"    {note}" for note in (*spec.notes, *unsent(spec))]
    if wrong := _error(model):
        lines += [f"    ! {line.strip()}" for line in wrong.splitlines()]
    return lines


def _error(model: ResolvedModel) -> str | None:
    wrong = model.error or unknown_provider(model.spec)
    return None if wrong is None else str(wrong)


def _key(model: ResolvedModel) -> str:
    variable = model.spec.api_key_variable
    if model.key == "present":
        return f"present (${variable})" if variable else "present"
    if model.key == "missing":
        return f"missing: set {variable}" if variable else "missing"
    return "not needed"


def _value(model: ResolvedModel, setting: str) -> Any:
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


def _document(model: ResolvedModel) -> dict[str, Any]:
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
        "notes": [*spec.notes, *unsent(spec)],
        "error": _error(model),
    }
