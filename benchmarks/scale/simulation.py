"""A run on many workers, simulated event by event: which part is busy first, and how fast it goes.

A trial goes round: the driver hands it out, its worker carries it out, the driver takes its result.
On the worker it waits for a slot at the limiter before each request, then for the answer. Driver,
limiter and each worker are busy with one thing at a time, in the order in which things come; what
is waited for from outside (the model's answer) keeps nobody busy.

::

    driver ──► worker ──┬─► limiter ─► answer ─► worker ─┐──► driver
                        └──────── each request ──────────┘
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import count
from typing import TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What is simulated; times in seconds."""

    workers: int
    """Workers, each with one processor."""
    seats: int
    """Trials at the same time on each."""
    trials: int
    """Trials of the run."""
    requests: int
    """Requests of a trial, one after the other."""
    answer_s: float
    """Mean time of an answer, from outside."""
    hand_out_s: float
    """Driver, for each trial: what it does to hand it out."""
    take_s: float
    """Driver, for each trial: what it does with its result."""
    work_s: float
    """Worker, for each request."""
    limit_s: float
    """Limiter, for each request: lending the slot and taking it back."""
    fixed: bool = False
    """Whether answers take exactly so long; else they are exponential."""
    warm_up: float = 0.2
    """Share of the trials after which shares, waits and the rate are measured; until the last one
    has been handed out."""


@dataclass(slots=True)
class Station:
    """Something that is busy with one thing at a time, first come first served."""

    free_at: float = 0.0
    """When it has done all that came until now."""
    busy_s: float = 0.0
    """How long all takes that came until now."""
    waited_s: float = 0.0
    """How long things waited for it, in sum."""
    served: int = 0
    """How many things came."""

    def serve(self, now: float, seconds: float) -> float:
        """Take something that comes now, and return when it is done."""
        began = max(now, self.free_at)
        self.free_at = began + seconds
        self.busy_s += seconds
        self.waited_s += began - now
        self.served += 1
        return self.free_at

    def busy_until(self, now: float) -> float:
        """Return how long it has worked until ``now``, without what it has still to do."""
        return self.busy_s - max(0.0, self.free_at - now)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of it."""

    elapsed_s: float
    """Seconds of the whole run."""
    trials: int
    """Trials that ended."""
    rate: float
    """Trials a second, while all seats were taken."""
    driver: float
    """Share of the time in which the driver was busy."""
    limiter: float
    """The same of the limiter."""
    worker: float
    """The same of a worker, in the mean."""
    driver_wait_s: float
    """Mean wait for the driver, each time."""
    limiter_wait_s: float
    """Mean wait for the limiter, each time."""

    @property
    def busiest(self) -> str:
        """The part that was busy longest."""
        shares = {"driver": self.driver, "limiter": self.limiter, "workers": self.worker}
        return max(shares, key=lambda name: shares[name])


_BEGINS, _ANSWERED = 0, 1
_Seen: TypeAlias = tuple[float, int, float, float, float, float, int, float, int]


def simulate(setup: Setup, seed: int = 1) -> Outcome:
    """Carry out the run; equal seeds give equal runs."""
    draw = random.Random(seed).expovariate  # noqa: S311 - no secret
    driver, limiter = Station(), Station()
    workers = [Station() for _ in range(setup.workers)]
    order = count()
    # When, in which order, on which worker, what, and how many requests are still to come after it.
    events: list[tuple[float, int, int, int, int]] = []
    seen: list[_Seen] = []

    def look() -> None:
        busy = sum(one.busy_until(now) for one in workers) / len(workers)
        parts = driver.busy_until(now), limiter.busy_until(now), busy
        waits = driver.waited_s, driver.served, limiter.waited_s, limiter.served
        seen.append((now, ended, *parts, *waits))

    left = setup.trials
    for seat in range(min(setup.workers * setup.seats, left)):
        begins = driver.serve(0.0, setup.hand_out_s)
        events.append((begins, next(order), seat % setup.workers, _BEGINS, setup.requests - 1))
        left -= 1
    heapify(events)
    ended, now = 0, 0.0
    mean, fixed = setup.answer_s, setup.fixed
    while events:
        now, _, worker, what, more = heappop(events)
        if what == _BEGINS:
            lent = limiter.serve(now, setup.limit_s) if setup.limit_s else now
            answer = mean if fixed or not mean else draw(1 / mean)
            heappush(events, (lent + answer, next(order), worker, _ANSWERED, more))
        elif more >= 0:
            done = workers[worker].serve(now, setup.work_s)
            what, more = (_BEGINS, more - 1) if more else (_ANSWERED, -1)
            heappush(events, (done, next(order), worker, what, more))
        else:  # the result is ready: the driver takes it, and hands out the next trial
            if ended == int(setup.warm_up * setup.trials) or (left == 0 and len(seen) == 1):
                look()
            ended += 1
            now = driver.serve(now, setup.take_s)
            if left:
                left -= 1
                begins = driver.serve(now, setup.hand_out_s)
                event = (begins, next(order), worker, _BEGINS, setup.requests - 1)
                heappush(events, event)
    if len(seen) == 1:
        look()
    (began, before, *first), (until, after, *last) = seen
    window = until - began
    drove, limited, worked, waited_d, served_d, waited_l, served_l = (
        one - other for one, other in zip(last, first, strict=True)
    )
    return Outcome(
        elapsed_s=max(now, driver.free_at),
        trials=ended,
        rate=(after - before) / window,
        driver=drove / window,
        limiter=limited / window,
        worker=worked / window,
        driver_wait_s=waited_d / max(1, served_d),
        limiter_wait_s=waited_l / max(1, served_l),
    )
