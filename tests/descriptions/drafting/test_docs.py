"""The page on ``harness init`` says what is true."""

from __future__ import annotations

import re
from pathlib import Path

from harness.descriptions.drafting.draft import MOST_TOOLS, draft_suite
from harness.descriptions.drafting.render import suite_text
from harness.judging.checks import VOCABULARY
from harness.suites.readers import read_suite
from harness.types import (
    ServerSpec,
    ToolList,
    TransportSpec,
)
from tests.descriptions.drafting.toolsets import tool

PAGE = (Path(__file__).parents[3] / "docs" / "init.md").read_text(encoding="utf-8")
ORDER_ID = {"order_id": {"type": "string", "description": "Id of the order, such as ORD_1042."}}


def test_the_drafted_suite_that_it_shows_is_what_is_drafted(tmp_path: Path) -> None:
    tools = ToolList(
        tools=(
            tool(
                "get_order", "Show one order by id.", ORDER_ID, required="order_id", read_only=True
            ),
            tool(
                "delete_order", "Delete one order.", ORDER_ID, required="order_id", destructive=True
            ),
        )
    )
    drafted = draft_suite(
        "shop",
        ServerSpec(name="shop", transport=TransportSpec(command="python", args=("shop.py",))),
        tools,
    )
    (tmp_path / "drafted.yml").write_text(suite_text(drafted), encoding="utf-8")
    example = re.search(r"^```yaml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert example is not None
    (tmp_path / "shown.yml").write_text(example[1], encoding="utf-8")
    made, shown = (read_suite(tmp_path / name, VOCABULARY) for name in ("drafted.yml", "shown.yml"))
    facts = [
        {case.name: (case.prompt, case.description, case.tags) for case in suite.cases}
        for suite in (made, shown)
    ]
    assert facts[0] == facts[1]
    assert isinstance(made.server, ServerSpec)
    assert isinstance(shown.server, ServerSpec)
    assert (made.server.transport.args, made.server.guard.block) == (
        shown.server.transport.args,
        shown.server.guard.block,
    )


def test_the_bound_is_the_one_that_is_used() -> None:
    assert f"the first {MOST_TOOLS}" in PAGE
