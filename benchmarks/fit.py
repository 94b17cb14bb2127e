"""A straight line through measured points, drawn as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_WIDTH = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """Cost as a straight line over the number of cases."""

    points: Sequence[tuple[int, float]]
    """Number of cases, and their cost."""
    slope: float
    """Cost of each further case."""
    intercept: float
    """Cost of a run without cases."""

    def residual(self, point: tuple[int, float]) -> float:
        """Return the distance of a point from the line, relative to the line."""
        expected = self.intercept + self.slope * point[0]
        return (point[1] - expected) / expected

    @property
    def worst(self) -> float:
        """The largest relative distance of a point from the line."""
        return max(abs(self.residual(point)) for point in self.points)

    def plot(self, unit: str) -> Iterator[str]:
        """Yield a line for each point: its position on the scale, its distance from the fit."""
        largest = max(cost for _, cost in self.points)
        for cases, cost in self.points:
            bar = "█" * max(1, round(_WIDTH * cost / largest))
            yield f"{cases:>7,} {cost:9.2f} {unit} {self.residual((cases, cost)):+6.1%} {bar}"


def fit(points: Sequence[tuple[int, float]]) -> Fit:
    """Return the line with the smallest relative distances from the points.

    Every size has the same weight: with plain least squares, the largest alone would decide.
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
