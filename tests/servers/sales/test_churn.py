from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from servers.sales.churn import Order, assess

TODAY = date(2025, 12, 31)

orders_of_somebody = st.lists(
    st.tuples(st.integers(0, 729), st.floats(1, 10_000)),
    min_size=1,
    max_size=30,
    unique_by=lambda order: order[0],
).map(
    lambda rows: [
        (TODAY - timedelta(days=ago), dollars) for ago, dollars in sorted(rows, reverse=True)
    ]
)


def every(days: int, until: int, dollars: float = 100.0) -> list[Order]:
    """Return orders at this pace, from two years ago to ``until`` days ago."""
    return [(TODAY - timedelta(days=ago), dollars) for ago in range(720, until - 1, -days)]


@given(orders_of_somebody)
def test_a_score_is_a_number_from_0_to_100_and_the_level_follows_it(orders: list[Order]) -> None:
    risk = assess(orders, TODAY)
    assert 0 <= risk.score <= 100
    assert risk.level == ("high" if risk.score >= 65 else "medium" if risk.score >= 35 else "low")


def test_a_customer_who_orders_as_ever_is_no_risk() -> None:
    risk = assess(every(30, until=0), TODAY)
    assert (risk.score, risk.level, risk.usual_gap, risk.days_since_last_order) == (
        0,
        "low",
        30.0,
        0,
    )


def test_a_customer_who_stopped_long_ago_is_as_good_as_gone() -> None:
    risk = assess(every(30, until=390), TODAY)
    assert (risk.score, risk.level, risk.orders, risk.revenue) == (100, "high", (0, 0), (0.0, 0.0))


def test_silence_counts_by_the_customers_own_pace() -> None:
    assert assess(every(15, until=90), TODAY).score > assess(every(60, until=60), TODAY).score


def test_fewer_and_smaller_orders_make_a_higher_risk() -> None:
    steady = every(20, until=0)
    smaller = [
        (day, dollars if day < TODAY - timedelta(days=182) else dollars / 4)
        for day, dollars in steady
    ]
    fewer = [
        order
        for place, order in enumerate(smaller)
        if order[0] < TODAY - timedelta(days=182) or place % 2
    ]
    scores = [assess(orders, TODAY).score for orders in (steady, smaller, fewer)]
    assert scores == sorted(scores)
    assert len(set(scores)) == 3


def test_a_single_order_is_judged_by_a_usual_pace() -> None:
    assert assess([(TODAY, 10.0)], TODAY).usual_gap == 60.0
