"""An MCP server that sends its own spans to the collector at $COLLECTOR, as any instrumented one.

The SDK makes a span for each request, and takes its parent from the request's ``_meta``.
"""

from __future__ import annotations

import os

from mcp.server.mcpserver import MCPServer
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

server = MCPServer("instrumented")


@server.tool()
def echo(text: str) -> str:
    """Echo a text."""
    with trace.get_tracer("shop").start_as_current_span("look it up"):
        return text


if __name__ == "__main__":
    provider = TracerProvider(resource=Resource({"service.name": "shop"}))
    exporter = OTLPSpanExporter(endpoint=f"{os.environ['COLLECTOR']}/v1/traces")
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    server.run()
