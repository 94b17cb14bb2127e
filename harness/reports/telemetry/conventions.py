"""All names of spans, events, attributes and metrics, in one place.

They follow the semantic conventions for generative AI and MCP, which have a repository and releases
of their own (github.com/open-telemetry/semantic-conventions-genai, v0.1.0), and OpenTelemetry's
general ones for tests and the rest. All of them are still called "development": names will
change, and then change here. `INPUT_VALUE` and its like are OpenInference's. Names that neither has
are ours and start with ``harness.``.
"""

from __future__ import annotations

VERSION = "3"
"""Version of this table: raised when a name in it changes, and sent along as `TABLE_VERSION`."""

SCHEMA_URL = "https://opentelemetry.io/schemas/1.44.0"
"""The release of the general conventions that this table follows."""

# Operations, and the spans that are called after them.
INVOKE_AGENT = "invoke_agent"
CHAT = "chat"
EXECUTE_TOOL = "execute_tool"
EVALUATION = "gen_ai.evaluation.result"

# The model and what it took.
OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
AGENT_NAME = "gen_ai.agent.name"
CONVERSATION = "gen_ai.conversation.id"
REQUEST_MODEL = "gen_ai.request.model"
RESPONSE_MODEL = "gen_ai.response.model"
FINISH_REASONS = "gen_ai.response.finish_reasons"
INPUT_TOKENS = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
CACHE_READ_TOKENS = "gen_ai.usage.cache_read.input_tokens"
CACHE_WRITE_TOKENS = "gen_ai.usage.cache_write.input_tokens"

# Tools.
TOOL_NAME = "gen_ai.tool.name"
TOOL_TYPE = "gen_ai.tool.type"
TOOL_CALL = "gen_ai.tool.call.id"
MCP_METHOD = "mcp.method.name"
MCP_SESSION = "mcp.session.id"
MCP_PROTOCOL = "mcp.protocol.version"
TRANSPORT = "network.transport"
RPC_ID = "jsonrpc.request.id"
RPC_STATUS = "rpc.response.status_code"
ERROR_TYPE = "error.type"

# Content: sent only if asked for.
INPUT_MESSAGES = "gen_ai.input.messages"
OUTPUT_MESSAGES = "gen_ai.output.messages"
TOOL_ARGUMENTS = "gen_ai.tool.call.arguments"
TOOL_RESULT = "gen_ai.tool.call.result"
EXPLANATION = "gen_ai.evaluation.explanation"
INPUT_VALUE = "input.value"
OUTPUT_VALUE = "output.value"
CHECK_LABEL = "harness.check.label"
USER_CONTEXT = "harness.user_context"
ERROR_MESSAGE = "harness.error.message"

# Verdicts.
EVALUATION_NAME = "gen_ai.evaluation.name"
SCORE = "gen_ai.evaluation.score.value"
SCORE_LABEL = "gen_ai.evaluation.score.label"
SUITE = "test.suite.name"
CASE = "test.case.name"
CASE_STATUS = "test.case.result.status"
FILE = "code.file.path"
LINE = "code.line.number"

VERDICT = "verdict"
"""The name of the evaluation that is the trial's own; all others are called after their checks."""

# OpenInference: what a span is, for those who show it.
SPAN_KIND = "openinference.span.kind"

# Ours.
TABLE_VERSION = "harness.conventions.version"
RUN_ID = "harness.run.id"
TRIAL = "harness.trial"
STATUS = "harness.status"
STOP = "harness.stop"
COST = "harness.cost_usd"
TAGS = "harness.tags"
OUTCOME = "harness.tool.outcome"
FAULT = "harness.tool.fault"
FAULT_SHOWN = "harness.tool.fault.shown"
REPLY = "harness.reply"
PHASE = "harness.phase"
SEVERITY = "harness.check.severity"

# Metrics, and the attribute that only they have.
INPUT_TOKENS_USED = "gen_ai.client.inference.usage.input_tokens"
OUTPUT_TOKENS_USED = "gen_ai.client.inference.usage.output_tokens"
CACHE_READ_USED = "gen_ai.client.inference.usage.cache_read.input_tokens"
CACHE_WRITE_USED = "gen_ai.client.inference.usage.cache_write.input_tokens"
INPUT_TOKENS_OF_REPLY = "gen_ai.client.inference.operation.input_tokens"
OUTPUT_TOKENS_OF_REPLY = "gen_ai.client.inference.operation.output_tokens"
MODALITY = "gen_ai.token.modality"
AGENT_DURATION = "gen_ai.invoke_agent.duration"
AGENT_REPLIES = "gen_ai.invoke_agent.inference_calls"
AGENT_CALLS = "gen_ai.invoke_agent.tool_calls"
TOOL_DURATION = "gen_ai.execute_tool.duration"
CALL_DURATION = "mcp.client.operation.duration"
TRIALS = "harness.trials"
TRIAL_DURATION = "harness.trial.duration"
RUN_COST = "harness.cost"

_MESSAGES = {INPUT_MESSAGES, OUTPUT_MESSAGES, INPUT_VALUE, OUTPUT_VALUE, USER_CONTEXT}
_DETAILS = {TOOL_ARGUMENTS, TOOL_RESULT, FAULT_SHOWN, EXPLANATION, CHECK_LABEL, ERROR_MESSAGE}
CONTENT = frozenset(_MESSAGES | _DETAILS)
"""Attributes that may hold text of users, models, servers and suites."""

OF_TRIAL = {
    CONVERSATION: "key",
    INPUT_TOKENS: "tokens_in",
    OUTPUT_TOKENS: "tokens_out",
    COST: "cost_usd",
    SUITE: "suite",
    CASE: "case",
    STATUS: "status",
    STOP: "stop",
    TRIAL: "trial",
    ERROR_TYPE: "error_kind",
    ERROR_MESSAGE: "error",
    FILE: "file",
    LINE: "line",
}
"""Attribute of a trial's span → the field of its record."""

TEST_STATUS = {"passed": "pass", "failed": "fail"}
"""`harness.types.Status` → the convention's; the others have no counterpart there, and are no
verdict."""

FINISH = {
    "end": "stop",
    "tool_calls": "tool_call",
    "max_tokens": "length",
    "refusal": "content_filter",
    "malformed_call": "error",
    "context_limit": "length",
}
"""`harness.types.ReplyStop` → the convention's."""
