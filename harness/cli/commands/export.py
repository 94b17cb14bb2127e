"""Send a past run to an observability system, as OpenTelemetry traces."""

from __future__ import annotations

import click

from harness.base import HarnessError
from harness.cli.options import complete_runs
from harness.cli.run_lookup import open_run
from harness.reports import TelemetryRequest, export_log
from harness.runlog import LATEST

DEADLINE_S = 120.0
"""Seconds to send the traces. Generous: nothing else waits for it, and a log may be long."""


@click.command("export")
@click.argument("form", metavar="otel", type=click.Choice(["otel"]), expose_value=False)
@click.argument("run", default=LATEST, metavar="[RUN]", shell_complete=complete_runs)
@click.option(
    "--endpoint", metavar="URL", help="The collector.  [default: $OTEL_EXPORTER_OTLP_ENDPOINT]"
)
@click.option("--content", is_flag=True, help="Include all messages, arguments and results.")
def command(run: str, endpoint: str | None, *, content: bool) -> None:
    """Send a past run to an observability system, as traces and metrics over OTLP/HTTP.

    RUN is the name of a run, its beginning, a path, or "latest". Trials keep their ids, so that
    sending a run again does not duplicate it.
    """
    exported = export_log(
        open_run(run), TelemetryRequest(endpoint=endpoint, content=content), DEADLINE_S
    )
    if not exported.sent:
        raise HarnessError(exported.sentence)
    click.echo(exported.sentence)
