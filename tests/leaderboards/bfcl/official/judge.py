"""Judge outputs by the official package.

Run by the Python of an environment that has ``bfcl-eval``.

Reads lines ``{"model", "id", "result"}``, ``model`` being a name in the package's table of models,
and prints for each ``{"valid", "error_type"}``, or ``{"crashed"}`` where an official function
raises. Decoding and judging are the package's own. Clients of services, which it imports and which
nothing here calls, are empty modules where they are not installed. Each output is judged as in a
process of its own: what the package keeps between outputs is dropped.
"""

from __future__ import annotations

import copy
import importlib
import importlib.abc
import importlib.machinery
import json
import os
import sys
import types
from collections.abc import Iterator
from functools import cache
from typing import Any
from unittest.mock import MagicMock

CLIENTS = frozenset(
    (
        "anthropic", "boto3", "bs4", "cohere", "datamodel_code_generator", "dotenv", "faiss",
        "google", "html2text", "httpx", "mistralai", "numpy", "openai", "pandas", "qwen_agent",
        "rank_bm25", "requests", "sentence_transformers", "serpapi", "tqdm", "writerai",
    )
)  # fmt: skip


class _Empty(types.ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return MagicMock(name=name)


class _Clients(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds an empty module for a client that is not installed; asked last."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if fullname.partition(".")[0] not in CLIENTS:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: Any) -> Any:
        return _Empty(spec.name)

    def exec_module(self, module: Any) -> None:
        module.__path__ = []


class Official:
    """The official functions."""

    def __init__(self) -> None:
        sys.meta_path.append(_Clients())
        os.environ.update(
            dict.fromkeys(("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY"), "none")
        )
        self._runner = importlib.import_module("bfcl_eval.eval_checker.eval_runner")
        self._enums = importlib.import_module("bfcl_eval.constants.enums")
        self._states = importlib.import_module(
            "bfcl_eval.eval_checker.multi_turn_eval.multi_turn_utils"
        )
        posts = importlib.import_module(
            "bfcl_eval.eval_checker.multi_turn_eval.func_source_code.posting_api"
        )
        self._defaults = posts.TwitterAPI.post_tweet.__defaults__
        self.handler = cache(self._runner.get_handler)
        self.cases = cache(self._cases)

    def judge(self, model: str, case: str, result: Any) -> dict[str, Any]:
        """Return the verdict on one output."""
        category = case.rpartition("_")[0]
        entry, answer = copy.deepcopy(self.cases(category)[case])
        self._forget()
        try:
            found = self._judged(model, category, case, result, entry, answer)
        except Exception as problem:  # noqa: BLE001 - whatever it is, the official run ends here
            return {"crashed": f"{type(problem).__name__}: {problem}"[:200]}
        if found["valid"]:
            return {"valid": True, "error_type": None}
        error = found.get("error")
        return {"valid": False, "error_type": found.get("error_type") or error["error_type"]}

    def _judged(
        self, model: str, category: str, case: str, result: Any, entry: Any, answer: Any
    ) -> Any:
        runner, handler = self._runner, self.handler(model)
        if runner.is_relevance_or_irrelevance(category):
            return runner._evaluate_single_relevance_entry(
                handler, case, result, entry, model, category
            )
        if runner.is_multi_turn(category):
            return runner._evaluate_single_multi_turn_entry(
                handler, case, result, answer, entry, model, category
            )
        if runner.is_agentic(category):
            return runner._evaluate_single_agentic_entry(
                handler, case, result, answer, entry, model, category
            )
        language = (
            "JAVA"
            if runner.is_java(category)
            else "JAVASCRIPT"
            if runner.is_js(category)
            else "PYTHON"
        )
        return runner._evaluate_single_ast_entry(
            *(handler, case, result, answer, entry, model, category),
            language=self._enums.Language[language],
            return_format=self._enums.ReturnFormat[language],
        )

    def _forget(self) -> None:
        kept = vars(self._states)
        for name in [name for name in kept if name.endswith("_instance")]:
            del kept[name]
        for default in self._defaults:
            default.clear()

    def _cases(self, category: str) -> dict[str, tuple[Any, Any]]:
        loaded = self._runner.load_dataset_entry(
            category, include_prereq=False, include_language_specific_hint=False
        )
        if self._runner.is_relevance_or_irrelevance(category):
            return {entry["id"]: (entry, None) for entry in loaded}
        answers = self._runner.load_ground_truth_entry(category)
        return {
            entry["id"]: (entry, answer["ground_truth"])
            for entry, answer in zip(loaded, answers, strict=True)
        }


def _verdicts(official: Official) -> Iterator[dict[str, Any]]:
    for line in sys.stdin:
        row = json.loads(line)
        yield official.judge(row["model"], row["id"], row["result"])


def main() -> None:
    """Judge what is read, with everything that the package itself prints kept from the output."""
    out, sys.stdout = sys.stdout, sys.stderr
    for verdict in _verdicts(Official()):
        print(json.dumps(verdict), file=out, flush=True)


if __name__ == "__main__":
    main()
