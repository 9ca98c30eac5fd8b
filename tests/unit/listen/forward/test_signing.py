"""Late events are signed anew: what came while a handler was away verifies when it is back."""

import pytest

from simulation.listener_world import SECRET, START, ListenerWorld, Try, in_memory
from support.clocks import ManualClock
from svc.errors import SignatureError
from svc.listen.forward.signing import LateSigner, parse_signed_at
from svc.signature import header_value, verify

BODY = b'{"id":"evt_1"}'


def headers(signed: int, secret: str = SECRET) -> bytes:
    value = header_value(BODY, [secret], signed)
    return f"Content-Type: application/json\r\nsvc-signature: {value}\r\n".encode()


def values(lines: bytes, name: bytes) -> list[bytes]:
    pairs = [line.partition(b": ") for line in lines.splitlines()]
    return [value for key, _, value in pairs if key.lower() == name]


@pytest.mark.parametrize(
    ("age", "anew"),
    [(0, False), (240, False), (241, True), (40_000, True), (-240, False), (-86_400, True)],
)
def test_late_event_is_signed_anew_and_says_so(age: int, anew: bool) -> None:
    """R123: after four minutes, with all secrets of the endpoint; the first signature is beside.

    So is one of tomorrow, after the clock was put back by a day: a target refuses that as well.
    """
    clock = ManualClock(START)
    came = headers(int(START) - age)
    lines, says = LateSigner((SECRET, "whsec_test_old"), clock)(came, BODY)
    assert says is anew
    if not anew:
        assert lines == came
        return
    [fresh] = values(lines, b"svc-signature")
    for secret in (SECRET, "whsec_test_old"):
        verify(BODY, [fresh], [secret], int(START))
    assert values(lines, b"svc-original-signature") == values(came, b"svc-signature")
    assert parse_signed_at(lines) == START


def test_header_without_a_time_is_left_as_it_is() -> None:
    """What a log holds may have been signed by nobody."""
    lines = b"Content-Type: application/json\r\n"
    assert LateSigner((SECRET,), ManualClock(START))(lines, BODY) == (lines, False)


def is_taken_by_a_handler(one: Try) -> bool:
    lines, _, body = one.request.partition(b"\r\n\r\n")
    try:
        verify(body, values(lines, b"svc-signature"), [SECRET], int(START + one.at))
    except SignatureError:
        return False
    return True


@pytest.mark.parametrize("signs", ["late", "original"])
def test_what_came_over_night_verifies_in_the_morning(signs: str) -> None:
    """R123: README's handler refuses what is older than five minutes, and takes all of it."""
    state = in_memory()
    world = ListenerWorld(state)
    target = world.target(3001)
    target.up = False
    listener = world.listener()
    object.__setattr__(listener.plan, "signs", signs)
    listener.start()
    events = [world.event(number) for number in range(20)]
    world.send(listener, *events, then=5)
    world.loop.do(listener.stop())
    listener.start()
    world.loop.run_for(1200)  # four times as long as a handler takes it
    target.up = True
    world.loop.run_for(60)
    good = [one for one in target.tries if is_taken_by_a_handler(one)]
    assert (len(target.tries), len(good)) == (20, 20 if signs == "late" else 0)
    world.close()
    state.close()
