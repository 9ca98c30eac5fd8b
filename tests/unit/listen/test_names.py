"""A listener's name says again what it was made of, whatever stands in it."""

import pytest

from svc.listen.names import (
    READER,
    Listening,
    LogUse,
    log_of,
    name_past,
    name_reader,
    name_receiver,
)

STREAM = "SVC_shop_test"
LOG = "nats+tls://log.example.com:4333/shop"


def named(way: str, number: int = 0) -> str:
    return Listening("http://a", "default", "test", way, ("order.paid", "x")).scope(number)


@pytest.mark.parametrize("seq", [None, 17])
@pytest.mark.parametrize(
    ("way", "log"),
    [
        (name_receiver("local", None), None),
        (name_receiver("https://a.example/in|out", None), None),
        (name_receiver("given", LOG), LogUse(LOG, fills=True)),
        (name_receiver("https://a.example/in|out", LOG), LogUse(LOG, fills=True)),
        (name_reader(STREAM, None, None), LogUse(STREAM, fills=False)),
        (name_reader(STREAM, "ci", None), LogUse(STREAM, fills=False)),
        (name_reader(STREAM, None, "anna"), LogUse(STREAM, fills=False)),
    ],
)
def test_a_name_says_which_log_it_reads_or_fills(
    way: str, log: LogUse | None, seq: int | None
) -> None:
    """Also that of the time before a reset; and the database can tell readers by a piece of it."""
    scope = named(way) if seq is None else name_past(named(way), seq)
    assert log_of(scope) == log
    assert (READER in scope) == (log is not None and not log.fills)


def test_names_of_the_time_before_a_reset_begin_alike() -> None:
    assert name_past(named("local"), 17).startswith(name_past(named("local")))
