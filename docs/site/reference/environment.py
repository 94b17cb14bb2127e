"""Exit codes and environment variables, from the code that uses them."""

from __future__ import annotations

import ast
from itertools import pairwise
from pathlib import Path

import harness
from docs.site.reference.markdown import as_code, fenced, plain, table
from harness.judging import exit_codes
from harness.models.model import list_built_in_providers

VARIABLES = {
    "HARNESS_CONFIG": "a configuration file of the user's own, in place of the one in the home",
    "HARNESS_TRUST": "`1`: commands of a folder that is not your own may run, as by `--trust`",
    "HARNESS_CACHE": "the folder of fetched data, in place of the user's cache folder",
    "HARNESS_SERVE_TOKEN": "the token that `harness serve` asks for on an address beyond loopback",
    "HARNESS_MCP_URL": "set for a program that is recorded, and for agents: the proxy's address",
    "HARNESS_MCP_CONFIG": "set for the same: a file with `mcpServers`, as clients read it",
    "HARNESS_ISSUER": "set for a server under test: who issues the tokens of its callers",
    "HARNESS_JWKS_URL": "set for a server under test: where the keys of that issuer are",
    "HARNESS_AUDIENCE": "set for a server under test: the audience that its tokens must name",
    "HARNESS_RECORDED_USER": "set for a recording that answers as a server: who asks, as JSON",
    "_HARNESS_COMPLETE": "set by the shell while it completes a command line",
}
"""Variable → its meaning; a test compares the names with those in the code."""

HEAD = """# Exit codes and environment

{example}
"""


def environment_page() -> str:
    """Return the page."""
    services = [known.service for known in list_built_in_providers().values() if known.service]
    keys = [
        row
        for service in services
        for row in (
            (as_code(service.key_variable), f"the key for {service.url}"),
            (as_code(service.base_url_variable), "another endpoint in place of that one"),
        )
    ]
    ours = [(as_code(name), said) for name, said in VARIABLES.items()]
    codes = ((as_code(str(code)), plain(said)) for code, said in codes_of(exit_codes.__file__))
    return "\n".join(
        [
            HEAD.format(example=fenced("sh", 'harness evals data_governance; echo "exit code $?"')),
            "## Exit codes\n",
            table(("code", "meaning"), codes),
            "## Keys and endpoints of models\n",
            "A key alone never starts a paid run: a model has to be named.\n",
            table(("variable", "meaning"), keys),
            "## Variables of harness\n",
            table(("variable", "meaning"), ours),
        ]
    )


def codes_of(module: str) -> list[tuple[int, str]]:
    """Return each exit code that ``module`` defines, with the text below it."""
    body = ast.parse(Path(module).read_text("utf-8")).body
    return [
        (node.value.value, said.value.value)
        for node, said in pairwise(body)
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, int)
        and isinstance(said, ast.Expr)
        and isinstance(said.value, ast.Constant)
        and isinstance(said.value.value, str)
    ]


def variables_in_code() -> set[str]:
    """Return the names of variables of harness that stand as a text in its code."""
    found: set[str] = set()
    for path in Path(harness.__file__).parent.rglob("*.py"):
        text = path.read_text("utf-8")
        for node in ast.walk(ast.parse(text)) if "HARNESS_" in text else ():
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                name = node.value
                if name.lstrip("_").startswith("HARNESS_") and name.replace("_", "").isalpha():
                    found.add(name)
    return found
