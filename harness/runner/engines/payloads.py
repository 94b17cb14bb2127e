"""What travels between processes of a run: packed with its secrets, and sealed.

A parcel may lie in shared memory or on a disk on its way, and its bytes may be written to a log. So
it is encrypted with a key of the run, which is only told as an argument of a call.

A plan's suites, models, servers and values of axes travel once, in the `SharedPayload` of the run.
A trial only says which of them are its own, so that a process has each of them once.
"""

from __future__ import annotations

import io
import os
import pickle
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import FunctionType, MappingProxyType
from typing import Any

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from harness.base import UsageError, may_be_reference
from harness.runner.planning.plan import RunPlan
from harness.types import ModelSpec, Secret, Suite, dataclass

_NONCE_BYTES = 12


class PayloadCodec:
    """Packs for, and unpacks from, the other processes of a run."""

    def __init__(self, key: bytes, luggage: Sequence[object] = ()) -> None:
        """``luggage`` is what the other side has already, in the same order."""
        self._cipher = AESGCM(key)
        self._luggage = luggage
        self._places = {id(one): place for place, one in enumerate(luggage)}

    @staticmethod
    def new_key() -> bytes:
        """Return a key for one run."""
        return AESGCM.generate_key(bit_length=256)

    def pack(self, value: object) -> bytes:
        """Return ``value`` as bytes that only the key opens.

        Raises:
            ForeignCode: it holds code that is not harness's own.
        """
        # A new one each time: two texts under one key and nonce would betray each other.
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, pack_plain(value, self._places), None)

    def unpack(self, data: bytes) -> Any:
        """Return what `pack` packed."""
        plain = self._cipher.decrypt(data[:_NONCE_BYTES], data[_NONCE_BYTES:], None)
        return _Unpacker(io.BytesIO(plain), self._luggage).load()


class ForeignCode(Exception):
    """Code of a user or a plugin, which another process may not have."""


def pack_plain(value: object, places: Mapping[int, int] = MappingProxyType({})) -> bytes:
    """Return ``value`` as plain bytes, without what stands in ``places``, by its id.

    Raises:
        ForeignCode: it holds code that is not harness's own.
    """
    stream = io.BytesIO()
    _Packer(stream, places).dump(value)
    return stream.getvalue()


class _Packer(pickle.Pickler):
    def __init__(self, stream: io.BytesIO, places: Mapping[int, int]) -> None:
        super().__init__(stream, protocol=pickle.HIGHEST_PROTOCOL)
        self._places = places

    def persistent_id(self, obj: Any) -> int | None:
        return self._places.get(id(obj))

    def reducer_override(self, obj: Any) -> Any:
        # It refuses to be pickled; here the bytes are encrypted before they leave.
        if isinstance(obj, Secret):
            return Secret, (obj.reveal(),)
        if isinstance(obj, FunctionType | type):
            room = (obj.__module__ or "").partition(".")[0]
            # Pickle would send only the name, and the other side might have something else by it.
            # A `<lambda>` or a `<locals>` in the name cannot be found by it.
            is_everywhere = room == "harness" or room in sys.stdlib_module_names
            if not is_everywhere or "<" in obj.__qualname__:
                raise ForeignCode(f"{obj.__module__}.{obj.__qualname__}")
        return NotImplemented


class _Unpacker(pickle.Unpickler):
    def __init__(self, stream: io.BytesIO, luggage: Sequence[object]) -> None:
        super().__init__(stream)
        self._luggage = luggage

    def persistent_load(self, pid: Any) -> Any:
        return self._luggage[pid]


@dataclass(frozen=True, slots=True)
class SharedPayload:
    """The suites, models, servers and values of axes of a plan, once each."""

    own: tuple[object, ...]
    """As the plan has them."""
    sent: tuple[object, ...]
    """As they travel: suites without their cases, which come with their trials."""

    @classmethod
    def from_plan(cls, plan: RunPlan) -> SharedPayload:
        """Return that of ``plan``."""
        # By id, as `persistent_id` looks parts up.
        own: dict[int, object] = {}
        for job in plan.jobs:
            for part in (job.suite, job.model, job.server, job.player, *job.point.values()):
                if part is not None:
                    own[id(part)] = part
        return cls(tuple(own.values()), tuple(map(_strip_part, own.values())))


def _strip_part(part: object) -> object:
    if isinstance(part, Suite):
        return replace(
            part, cases=(), left_out=(), variants=(), faults=(), alterations=(), server=None
        )
    if isinstance(part, ModelSpec) and part.function is not None:
        return replace(part, function=None)  # imported there, by its name
    return part


def refuse_code(plan: RunPlan) -> None:
    """Check that ``plan`` can travel to other processes.

    Raises:
        UsageError: a suite or a case holds code in Python, or a model is a function without a name.
    """
    for model in plan.models:
        if model.function is not None and not may_be_reference(model.model_id):
            raise UsageError(
                f"the function {model.model_id} is in no module, so no other process finds it",
                meant="Define it in a module, outside of other functions.",
            )
    # Each case once, however often it is repeated.
    cases = {id(job.trial.case): (job.trial.case, job.suite) for job in plan.jobs}
    for case, suite in cases.values():
        try:
            pack_plain((case, _strip_part(suite)))
        except (ForeignCode, pickle.PicklingError, AttributeError, TypeError) as error:
            raise UsageError(
                f"{case.at or suite.name}: case {case.name!r} of suite {suite.name} has code in "
                f"Python ({error}), which is not sent to other processes",
                meant="Run it without --engine; --shard splits it over machines.",
            ) from error
