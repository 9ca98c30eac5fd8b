"""The table of registered endpoints: each one's rows, whoever asks, the newest first."""

from collections.abc import Iterator

import pytest

from simulation.listener_world import in_memory
from svc.listen.endpoints import (
    EndpointTable,
    RegisteredEndpoint,
    every_endpoint,
    forget_test_data,
    list_signing_secrets,
)
from svc.state import Database

HOST, OTHER = "http://a.example", "http://b.example"
PATH = "/hook/0123"


@pytest.fixture
def state() -> Iterator[Database]:
    made = in_memory()
    yield made
    made.close()


def fill(state: Database) -> EndpointTable:
    """Three endpoints of one listener's place, and one each of another service and mode."""
    ours = EndpointTable(state, HOST, "default", "test")
    ours.keep("we_2", f"https://x{PATH}", ["order.paid", "payout.paid"], "whsec_2", 20.0)
    ours.keep("we_1", f"https://x{PATH}", ["order.paid"], None, 10.5)
    ours.keep("we_1", "https://y/hook/0_23", ["order.paid"], None, 9.0)
    EndpointTable(state, OTHER, "default", "test").keep("we_1", "https://x", ["a.b"], "whsec_3", 5)
    EndpointTable(state, HOST, "default", "live").keep("we_9", f"https://x{PATH}", ["a.b"], None, 1)
    return ours


def called(found: list[RegisteredEndpoint]) -> list[tuple[str, str]]:
    return [(one.id, one.url) for one in found]


def test_an_endpoint_is_found_by_what_it_is_sent_to_and_of_its_own_place(state: Database) -> None:
    """A path is a path: an underscore in it stands for no other letter."""
    ours = fill(state)
    assert ours.at(f"https://x{PATH}", ["order.paid"]) == RegisteredEndpoint(
        HOST, "default", "test", f"https://x{PATH}", ("order.paid",), "we_1", None
    )
    assert ours.at(f"https://x{PATH}", ["order.paid", "payout.paid"]) is not None
    assert ours.at(f"https://x{PATH}", ["payout.paid"]) is None
    assert called(ours.at_path(PATH, ["order.paid"])) == [("we_1", f"https://x{PATH}")]
    both = [("we_1", f"https://x{PATH}"), ("we_1", "https://y/hook/0_23")]
    assert called(ours.list_called("we_1")) == both
    assert ours.types() == {"order.paid", "payout.paid"}
    assert ours.first_time() == 9.0
    nobody = EndpointTable(state, HOST, "other", "test")
    assert (nobody.types(), nobody.first_time()) == (frozenset(), None)


def test_an_endpoint_that_is_kept_again_has_its_new_secret_and_one_that_is_gone_none(
    state: Database,
) -> None:
    ours = fill(state)
    ours.keep("we_5", f"https://x{PATH}", ["order.paid"], None, 30.0)
    found = ours.at(f"https://x{PATH}", ["order.paid"])
    assert found is not None
    assert found.id == "we_5"
    ours.forget("we_1", "https://y/hook/0_23")
    assert called(ours.list_called("we_1")) == []
    assert [one.id for one in every_endpoint(state)] == ["we_5", "we_2", "we_1", "we_9"]


def test_secrets_are_listed_by_place_with_their_first_day_and_test_data_goes(
    state: Database,
) -> None:
    """R40: their names and ages alone; an endpoint has one secret, however often it is listed."""
    ours = fill(state)
    listed = [
        (one.name, one.origin, one.mode, one.since, one.test_data, one.kept)
        for one in list_signing_secrets(state)
    ]
    assert [one[:5] for one in listed] == [
        ("we_9", HOST, "live", 1, False),
        ("we_1", HOST, "test", 9.0, False),
        ("we_2", HOST, "test", 20.0, True),
        ("we_1", OTHER, "test", 5, True),
    ]
    assert [one[5] for one in listed] == [listed[0][5]] * 2 + [listed[2][5]] * 2
    assert listed[0][5] != listed[2][5]
    forget_test_data(state, HOST)
    assert [one.id for one in every_endpoint(state)] == ["we_1", "we_1", "we_1", "we_9"]
    assert ours.types() == {"order.paid"}
