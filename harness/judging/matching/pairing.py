"""The best pairing of two sets, with the highest total score."""

from __future__ import annotations

from collections.abc import Sequence


def best_pairs(scores: Sequence[Sequence[float]]) -> list[int | None]:
    """Return the column paired with each row of ``scores``; ``None`` if there are too few columns.

    No other pairing has a higher total. Takes time in proportion to rows × rows × columns (or
    columns × columns × rows where those are fewer).
    """
    if not scores or not scores[0]:
        return [None] * len(scores)
    if len(scores) <= len(scores[0]):
        return list(_assign_columns(scores))
    rows: list[int | None] = [None] * len(scores)
    for column, row in enumerate(_assign_columns(list(zip(*scores, strict=True)))):
        rows[row] = column
    return rows


def _assign_columns(scores: Sequence[Sequence[float]]) -> list[int]:
    """Return a column for every row; there are at least as many columns as rows.

    The Hungarian method with potentials, row by row along shortest augmenting paths (Jonker and
    Volgenant 1987). Inside, rows and columns count from 1; 0 means none.
    """
    count, width = len(scores), len(scores[0])
    row_potential, column_potential = [0.0] * (count + 1), [0.0] * (width + 1)
    row_of = [0] * (width + 1)
    for row in range(1, count + 1):
        # Column 0 stands for the row that is to be placed.
        row_of[0] = row
        distance, before = [float("inf")] * (width + 1), [0] * (width + 1)
        seen: list[bool] = [False] * (width + 1)
        column = 0
        while row_of[column]:
            seen[column] = True
            current, step, nearest = row_of[column], float("inf"), 0
            for other in range(1, width + 1):
                if seen[other]:
                    continue
                reduced = (
                    # The method looks for the lowest cost, so a score is a negative cost.
                    -scores[current - 1][other - 1]
                    - row_potential[current]
                    - column_potential[other]
                )
                if reduced < distance[other]:
                    distance[other], before[other] = reduced, column
                if distance[other] < step:
                    step, nearest = distance[other], other
            for other in range(width + 1):
                if seen[other]:
                    row_potential[row_of[other]] += step
                    column_potential[other] -= step
                else:
                    distance[other] -= step
            column = nearest
        while column:
            row_of[column] = row_of[before[column]]
            column = before[column]
    columns = [0] * count
    for column, row in enumerate(row_of[1:]):
        if row:
            columns[row - 1] = column
    return columns
