"""``variants:`` of a suite: every edit, and mistakes with their line."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.base.errors import InvalidInput
from harness.suites.variants import read_variants_file
from harness.types import Decoys, ParameterEdit, ToolEdit, ToolSearch, Variant

WHOLE = """
variants:
  clearer_search:
    description: Says what the search does not do.
    tools:
      search_orders:
        name: find_orders
        description: Find orders.
        without_sentences: 2
        parameters:
          status: {description: State, enum: [open, shipped], examples: [open], default: null}
          internal_flag: null
      legacy_lookup: null
    order: {seed: 7}
    add: {from: "decoys:builtin", count: 32, seed: 7, kind: near}
    prompts: {open_orders: What is still open for C001?}
  like_a_client:
    {prefix: mcp__crm__, max_result_tokens: 2000, tool_search: {beyond: 20, names: true}}
  first:
    order: [get_order]
    add:
      - {from: bfcl}
      - {from: "server:mail", count: 2}
      - {from: "copy:get_order", count: 3, description: Return an order.}
"""


def read(text: str, tmp_path: Path) -> tuple[Variant, ...]:
    path = tmp_path / "variants.yml"
    path.write_text(text, encoding="utf-8")
    return read_variants_file(path)


def test_every_edit_is_read(tmp_path: Path) -> None:
    clearer, client, first = read(WHOLE, tmp_path)
    status = ParameterEdit(
        description="State", enum=("open", "shipped"), examples=("open",), default=()
    )
    assert clearer == Variant(
        name="clearer_search",
        description="Says what the search does not do.",
        tools={
            "search_orders": ToolEdit(
                name="find_orders",
                description="Find orders.",
                without_sentences=(2,),
                parameters={"status": status, "internal_flag": None},
            ),
            "legacy_lookup": None,
        },
        order=7,
        add=(Decoys(source="builtin", count=32, kind="near", seed=7),),
        prompts={"open_orders": "What is still open for C001?"},
    )
    assert clearer.at is not None
    assert clearer.at.line == 3
    assert client == Variant(
        name="like_a_client",
        prefix="mcp__crm__",
        max_result_tokens=2_000,
        tool_search=ToolSearch(beyond=20, names=True),
    )
    assert first.order == ("get_order",)
    assert first.add == (
        Decoys(source="bfcl"),
        Decoys(source="server:mail", count=2),
        Decoys(source="copy:get_order", count=3, description="Return an order."),
    )


MISTAKES = {
    "variants: {}": "there are no variants in the file",
    "variants: {a: {}}": "variant 'a' changes nothing",
    "variants: {a: 3}": "variant 'a' is not a mapping",
    "variants: {a: {decoys: 3}}": "Did you mean 'add'?",
    "variants: {a: {tools: {x: yes please}}}": "Write 'null' to take the tool out",
    "variants: {a: {tools: {x: {descripton: y}}}}": "Did you mean 'description'?",
    "variants: {a: {tools: {x: {parameters: {p: {type: string}}}}}}": "not what the server takes",
    "variants: {a: {tools: {x: {without_sentences: [0]}}}}": "a whole number from 1 up",
    "variants: {a: {order: 7}}": "Write 'order: {seed: 7}'",
    "variants: {a: {prompts: {}}}": "no test is named",
    "variants: {a: {tools: {x: {errors: {}}}}}": "no error is named",
    "variants: {a: {prompts: {one: 7}}}": "expected the words of a prompt, found 7",
    "variants: {a: {prompts: {one: ' '}}}": "expected the words of a prompt",
    "variants: {a: {prompt: {one: x}}}": "Did you mean 'prompts'?",
    "variants: {a: {add: {from: nowhere}}}": "Write 'builtin', 'bfcl', 'server:NAME'",
    "variants: {a: {add: {from: 'copy:'}}}": "or 'copy:TOOL'",
    "variants: {a: {add: {from: 'copy:x', count: 26}}}": "at most 25 copies of one tool",
    "variants: {a: {add: {from: 'copy:x', kind: near}}}": "no copies have 'kind'",
    "variants: {a: {add: {description: x}}}": "only copies have 'description'",
    "variants: {a: {add: [3]}}": "expected a mapping, found 3",
    "variants: {a: {add: {count: 5000}}}": "at most 1,000 decoys",
    "variants: {a: {prefix: 'my tools '}}": "for example 'mcp__crm__'",
    "variants: {a: {prefix: ''}}": "expected at most 40 letters",
    "variants: {a: {prefix: 7}}": "digits, '_' and '-', found 7",
    "variants: {a: {max_result_tokens: 0}}": "a whole number from 1 up, found 0",
    "variants: {a: {max_result_tokens: some}}": 'a whole number from 1 up, found "some"',
    "variants: {a: {tool_search: 20}}": "expected a mapping (lines of 'key: value'), found 20",
    "variants: {a: {tool_search: {threshold: 20}}}": "Did you mean 'beyond'?",
    "variants: {a: {tool_search: {results: 0}}}": "a whole number from 1 up, found 0",
    "variants: {a: {tool_search: {name: find tools}}}": "for example 'ToolSearch'",
    "variants: {a: {search: {}}}": "Did you mean 'tool_search'?",
    "variants: {a: {mark_results: loud}}": "expected one of delimiting, datamarking, encoding",
    "variants: {a: {tool_filter: words}}": "expected 'model' or a number of tools",
    "variants: {a: {tool_filter: 0}}": "a whole number from 1 up, found 0",
    "variants: {a: {tool_filter: 1, tool_search: {}}}": "which both choose its tools",
    "variants: {a: {block: [3]}}": "found 3",
    "tests: []": "A file of variants has no tests",
    "{": "YAML syntax",
}


@pytest.mark.parametrize(("text", "words"), MISTAKES.items(), ids=list(MISTAKES))
def test_a_mistake_is_told_with_its_place_and_what_was_meant(
    text: str, words: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput) as refused:
        read(text, tmp_path)
    assert words in str(refused.value)
    assert "variants.yml:" in str(refused.value)
