"""Where a delivery is sent again to, and why it is authentic, for the inspector's page."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from support.clocks import ManualClock
from support.listening import NOW, SECRET, event, plan_for
from svc.errors import UsageError
from svc.listen.inspector.history import Whole
from svc.listen.inspector.replay import Replayer
from svc.signature import header_value

BODY = event()
OTHER = "whsec_of_another_endpoint_0001"


def whole(**facts: Any) -> Whole:
    """A delivery of the endpoint we_1 as the inbox has it; `facts` replaces what it is."""
    entry: dict[str, Any] = {
        "id": "evt_1",
        "type": "order.paid",
        "state": "failed",
        "endpoint_id": "we_1",
    }
    entry |= {"received_at": NOW + 0.5, "targets": (), **facts}
    lines = f"Svc-Signature: {facts.pop('signature', '')}\r\n".encode()
    content = SimpleNamespace(headers=lines, body=BODY)
    forwards = entry.pop("forwards", [])
    parts = {"entry": SimpleNamespace(**entry), "content": content, "forwards": forwards}
    return cast("Whole", SimpleNamespace(**parts))


def replayer(*forward_to: str, endpoint: str = "we_1") -> Replayer:
    plan, nothing = plan_for(*forward_to), cast("Any", None)
    known = {"we_2": (OTHER,)}
    return Replayer(
        *(nothing, ManualClock(NOW + 60), plan, lambda: (endpoint, (SECRET,))),
        *(lambda other: known.get(other, ()), nothing),
    )


def sent(*urls: str, replay: int = 0) -> list[dict[str, Any]]:
    return [{"url": url, "replay": replay} for url in urls]


HERE, THERE, NOW_HERE = (f"http://localhost:{port}" for port in (1, 2, 3))


@pytest.mark.parametrize(
    ("facts", "to", "expected"),
    [
        ({"forwards": sent(HERE, THERE, HERE)}, "", [HERE, THERE]),
        ({"forwards": sent(HERE)}, "4/x", ["http://localhost:4/x"]),
        ({"forwards": sent(HERE, replay=1)}, "", [NOW_HERE]),
        ({"targets": (HERE,)}, "", [NOW_HERE]),
        ({"type": "payout.paid", "targets": (HERE,)}, "", [HERE]),
        ({"state": "withheld"}, "4", ["http://localhost:4"]),
        ({"state": "withheld"}, "", "It belongs to the other mode: say where to."),
        ({"type": "payout.paid"}, "", "It was not forwarded anywhere: say where to."),
        (
            {},
            "http://10.0.0.1/",
            "Cannot forward to 'http://10.0.0.1/': it is not on this machine.",
        ),
    ],
)
def test_delivery_goes_again_to_where_it_went(
    facts: dict[str, Any], to: str, expected: list[str] | str
) -> None:
    """Else to the targets of its type now, else to those of the run that received it."""
    again = replayer(f"order.*={NOW_HERE}")
    if isinstance(expected, str):
        with pytest.raises(UsageError) as caught:
            again.targets(whole(**facts), to)
        assert caught.value.message == expected
    else:
        assert [str(one) for one in again.targets(whole(**facts), to)] == expected


@pytest.mark.parametrize(
    ("endpoint", "secret"), [("we_1", SECRET), ("we_2", OTHER), ("we_3", None), (None, None)]
)
def test_delivery_is_signed_as_its_endpoint_signs(endpoint: str | None, secret: str | None) -> None:
    """Of now, unless the old signature is wanted; without the secret nothing is sent."""
    one, again = whole(endpoint_id=endpoint, signature="old"), replayer()
    assert again.headers(one, original=True) == b"Svc-Signature: old\r\n"
    if secret is None:
        with pytest.raises(UsageError, match="signing secret of evt_1 is not known here: keep the"):
            again.headers(one, original=False)
    else:
        anew = header_value(BODY, [secret], NOW + 60).encode()
        assert b"Svc-Signature: %s\r\n" % anew in again.headers(one, original=False)


@pytest.mark.parametrize(
    ("at", "said"),
    [(-42, "42 s before it came"), (0, "0 s before it came"), (3, "3 s after it came")],
)
def test_verdict_says_when_and_with_what_a_delivery_was_signed(at: int, said: str) -> None:
    """Masked; where the secret is another's, or is gone, that it was verified when it came."""
    one = whole(signature=header_value(BODY, [SECRET], NOW + at))
    assert replayer().verdict(one) == f"Verified: signed with whsec_…hWm3, {said}."
    assert replayer(endpoint="we_2").verdict(one) == (
        "Verified when it came; its secret is not at hand now."
    )
