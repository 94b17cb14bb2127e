"""Which data of tau2-bench are meant: the ones that its published figures were made with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from harness.canonical import digest

SHA256: Final[Mapping[str, str]] = {
    "airline/db.json": "41d98dcef21db2b17e811c8bde0aa3482f10e0045e8654f6905a5040aaf2c6c8",
    "airline/policy.md": "10dc0525421521208be39cee235bba84a16e2bcba9899eb93d92cd81d2f62fc4",
    "airline/tasks.json": "ccd8ba737b4cc371415af70151187788f728d6108d0916e73bb4317b40542052",
    "retail/db.json": "413a65160adbdb5fde0ffc0015c49b6d70250b10c18128de169b597af7766765",
    "retail/policy.md": "2c9652afbce57d6e087768d37cda64d31c53d50b3e3225cfdb791bac66466467",
    "retail/tasks.json": "8e03ebce7901bd6218e7a7dc3105faa9324091a68058f7fe61c65262868812e8",
}
"""Of the benchmark's own files, unpacked."""

TOOLS: Final[Mapping[str, str]] = {
    "airline": "4537d8c30310e49a96d1e49a2b0d994d38bc4c497f3e0b84b09c41485b8355bb",
    "retail": "f8795de730cf8c1594a197ff905474131b6b321675c3274cb747af47acea4874",
}
"""`harness.canonical.digest` of the schemas of a domain's tools, whoever made them."""

TREE: Final = digest({"files": dict(SHA256), "tools": dict(TOOLS)})
"""Tells these data from any others."""
