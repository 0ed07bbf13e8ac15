"""Which memories a shared index may not show yet."""

from keeproom.engines.opensearch.fresh import Fresh

NONE: frozenset[str] = frozenset()


class Seconds:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def fresh_by(seconds: Seconds) -> Fresh:
    """Which has looked at an empty queue."""
    fresh = Fresh(seconds=seconds, shown=60.0)
    fresh.queue(NONE)
    return fresh


def test_a_change_is_fresh_until_it_has_been_off_the_queue_for_a_minute() -> None:
    seconds = Seconds()
    fresh = fresh_by(seconds)
    fresh.add(["mem_a"])
    seconds.now += 600
    fresh.queue(NONE)  # it may have left the queue just now
    assert fresh.ids == {"mem_a"}
    seconds.now += 59
    fresh.queue(NONE)
    assert fresh.ids == {"mem_a"}
    seconds.now += 1
    fresh.queue(NONE)
    assert fresh.ids == NONE


def test_what_waits_on_the_queue_is_fresh_however_long() -> None:
    seconds = Seconds()
    fresh = fresh_by(seconds)
    for _ in range(5):
        seconds.now += 600
        fresh.queue(frozenset({"mem_a"}))
        assert fresh.ids == {"mem_a"}


def test_what_changes_again_is_fresh_again() -> None:
    seconds = Seconds()
    fresh = fresh_by(seconds)
    fresh.add(["mem_a"])
    fresh.queue(NONE)
    seconds.now += 50
    fresh.add(["mem_a"])
    seconds.now += 50
    fresh.queue(NONE)
    assert fresh.ids == {"mem_a"}


def test_what_is_gone_is_not_fresh() -> None:
    fresh = fresh_by(Seconds())
    fresh.add(["mem_a", "mem_b"])
    fresh.remove(["mem_a", "mem_unknown"])
    assert fresh.ids == {"mem_b"}


def test_the_queue_is_looked_at_first_and_then_once_a_minute_while_something_is_fresh() -> None:
    seconds = Seconds()
    fresh = Fresh(seconds=seconds, shown=60.0)
    assert fresh.wants_queue
    fresh.queue(NONE)
    seconds.now += 600
    assert not fresh.wants_queue
    fresh.add(["mem_a"])
    assert fresh.wants_queue
    fresh.queue(NONE)
    assert not fresh.wants_queue
    seconds.now += 60
    assert fresh.wants_queue
    fresh.forget()
    assert fresh.wants_queue
    assert fresh.ids == NONE
