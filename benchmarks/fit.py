"""A straight line through measured points, drawn as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_WIDTH = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """Cost as a straight line over the number of cases."""

    points: Sequence[tuple[int, float]]
    """Cases and what they cost."""
    slope: float
    """What each further case costs."""
    intercept: float
    """What a run costs without any."""

    def residual(self, point: tuple[int, float]) -> float:
        """Return how far a point is from the line, as a share of what the line says."""
        expected = self.intercept + self.slope * point[0]
        return (point[1] - expected) / expected

    @property
    def worst(self) -> float:
        """The largest distance of a point from the line, as a share."""
        return max(abs(self.residual(point)) for point in self.points)

    def plot(self, unit: str) -> Iterator[str]:
        """Yield a line for each point: its position on the scale, its distance from the fit."""
        largest = max(cost for _, cost in self.points)
        for cases, cost in self.points:
            bar = "█" * max(1, round(_WIDTH * cost / largest))
            yield f"{cases:>7,} {cost:9.2f} {unit} {self.residual((cases, cost)):+6.1%} {bar}"


def fit(points: Sequence[tuple[int, float]]) -> Fit:
    """Return the line from which the points are least far, each as a share of its own cost.

    Every size counts the same: with plain least squares the largest alone would decide.
    """
    # y ≈ a + b·x with weights 1/y² is 1 ≈ a·(1/y) + b·(x/y): two unknowns, solved by hand.
    u = [1 / cost for _, cost in points]
    v = [cases / cost for cases, cost in points]
    uu, vv, uv = (
        sum(p * q for p, q in zip(left, right, strict=True))
        for left, right in ((u, u), (v, v), (u, v))
    )
    determinant = uu * vv - uv * uv
    intercept = (sum(u) * vv - sum(v) * uv) / determinant
    slope = (sum(v) * uu - sum(u) * uv) / determinant
    return Fit(points=points, slope=slope, intercept=intercept)
