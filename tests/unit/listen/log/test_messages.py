"""An event as a message of the log and back: what is written, what is believed, what is refused."""

from dataclasses import replace

import pytest

from support.listening import NOW, SECRET, arrival, event
from support.team.log import KEY, inbound
from svc.listen.log import messages
from svc.listen.log.messages import Trust, Unreadable
from unit.listen.log.fake_log import ADDRESS, STREAM, message

OTHER = "logkey_" + "z" * 43
TRUST = Trust(STREAM, (OTHER, KEY))


def test_message_holds_what_was_received_and_says_whether_it_may_be_known() -> None:
    """R124: the body as it came, the lines of its headers, when it came, and the receiver's proof."""
    sent = inbound(1).delivery
    first = message(1)
    assert first.headers.keys() == {
        *("Nats-Msg-Id", "Nats-Expected-Stream", "Svc-Received-At", "Svc-Lines"),
        "Svc-Receiver-Proof",
    }
    read = messages.delivery_of(first, NOW + 60, TRUST)
    assert (read.body, read.facts.id, read.end_to_end) == (sent.body, "evt_1", False)
    assert (read.received_at, read.came_at) == (NOW + 60, NOW)
    assert read.headers.lower() == sent.headers.lower()
    assert messages.count_published_again(first) == 0
    again = messages.headers_of(sent, ADDRESS, "test", KEY, again=True)
    assert messages.count_published_again(replace(first, headers=again)) == 1
    assert again["Svc-Receiver-Proof"] != first.headers["Svc-Receiver-Proof"]
    lines = "".join(f"{name}: {value}\r\n" for name, value in again.items())
    assert messages.size_of(again, sent.body) == len(f"NATS/1.0\r\n{lines}\r\n") + len(sent.body)


def test_event_that_is_given_again_is_for_its_group_and_under_an_id_of_its_own() -> None:
    """The log would not take the same id; the proof is made anew, so a reader believes it."""
    put = messages.put_again(message(1), STREAM, KEY, "ci", 7)
    one = replace(message(1), headers=put)
    assert (messages.id_of(one), messages.group_of(one)) == ("evt_1 ci 7", "ci")
    assert messages.count_published_again(one) == 1
    assert messages.delivery_of(one, NOW, TRUST).came_at == NOW
    twice = messages.put_again(one, STREAM, KEY, "e2e", 8)
    assert (twice["Nats-Msg-Id"], messages.group_of(message(1))) == ("evt_1 e2e 8", "")
    assert messages.id_of(replace(message(1), headers={})) == "evt_1"


@pytest.mark.parametrize(
    ("header", "value", "reason", "words"),
    [
        ("Svc-Receiver-Proof", None, "proof_missing", "no receiver of the team put it in"),
        ("Svc-Receiver-Proof", "0" * 64, "proof_invalid", "not made with the log's key"),
        ("Nats-Msg-Id", "evt_2", "proof_invalid", "not made with the log's key"),
        ("Svc-Received-At", "1.5", "proof_invalid", "not made with the log's key"),
        ("Svc-Lines", "QTogYg==", "proof_invalid", "not made with the log's key"),
        ("Svc-Published-Again", "1", "proof_invalid", "not made with the log's key"),
        ("Svc-For-Group", "ci", "proof_invalid", "not made with the log's key"),
        *(
            (name, value, "header_invalid", f"Its {name} {words}.")
            for name, values, words in (
                (
                    "Svc-Received-At",
                    ("", "x", "nan", "-1", "253402300800", "0" * 21),
                    "is not a time",
                ),
                ("Svc-Lines", ("QQ", "Q Q=", "é", "A" * 61444), "cannot be read"),
            )
            for value in values
        ),
    ],
)
def test_what_no_receiver_has_written_so_is_refused(
    header: str, value: str | None, reason: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R128: of each header that a receiver writes; a malformed one also where the proof is right."""
    changed = {name: told for name, told in message(1).headers.items() if name != header}
    changed |= {} if value is None else {header: value}
    if reason == "header_invalid":
        monkeypatch.setattr(messages, "check_proof", lambda *_: None)
    with pytest.raises(Unreadable) as caught:
        messages.delivery_of(replace(message(1), headers=changed), NOW, TRUST)
    assert caught.value.reason == reason
    assert words in caught.value.message
    assert caught.value.by == ("key" if reason == "proof_invalid" else None)


@pytest.mark.parametrize("value", ["0", "253402300799", "0" * 20])
def test_any_time_that_has_a_date_is_read(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "check_proof", lambda *_: None)
    read = messages.delivery_of(message(1, Svc_Received_At=value), NOW, TRUST)
    assert read.came_at == float(value)


def test_end_to_end_is_what_a_given_or_a_known_secret_has_signed() -> None:
    """R49: what a given secret did not sign is refused; where one is only known, it is not said."""
    wrong = "whsec_test_0000000000000000000000000"
    trusts = (
        replace(TRUST, given=(SECRET,)),
        replace(TRUST, known=(SECRET,)),
        replace(TRUST, known=(wrong,)),
    )
    read = [messages.delivery_of(message(1), NOW + 9999, one).end_to_end for one in trusts]
    assert read == [True, True, False]
    with pytest.raises(Unreadable, match="not made with the given secret: No signature") as caught:
        messages.delivery_of(message(1), NOW, replace(TRUST, given=(wrong,), known=(SECRET,)))
    assert (caught.value.reason, caught.value.by) == ("signature_mismatch", "secret")


@pytest.mark.parametrize(
    ("lines", "created", "is_later"),
    [
        (b"Svc-Delivery-Attempt: 1\r\n", NOW, False),
        (b"svc-delivery-attempt: 2\r\n", NOW, True),
        (b"Svc-Delivery-Attempt: 1%s\r\n" % (b"0" * 5000), NOW, True),
        (b"Svc-Delivery-Attempt: x\r\nSvc-Signature: t=%d\r\n" % (NOW + 60), NOW, False),
        (b"Svc-Signature: t=%d\r\n" % (NOW + 61), NOW, True),
        (b"Svc-Signature: none\r\n", NOW, True),
        (b"Svc-Signature: t=%d\r\n" % NOW, None, True),
    ],
)
def test_a_later_attempt_is_known_by_its_number_or_its_time(
    lines: bytes, created: int | None, is_later: bool
) -> None:
    """R124: the log may have forgotten the id of such an event, so it is marked."""
    body = event(1, created="2023-11-14T22:13:20Z" if created else "yesterday")
    assert messages.is_later_attempt(arrival(body, lines).delivery) is is_later


@pytest.mark.parametrize(
    ("reply", "wanted"),
    [
        ("$JS.ACK.shop.g_ci.2.17.4.0.0", (17, 2)),
        ("$JS.ACK.domain.account.shop.g_ci.2.17.4.0.0", (17, 2)),
        ("$JS.ACK.domain.account.shop.g_ci.2.17.4.0.0.token", (17, 2)),
        ("$JS.ACK.shop.g_ci.2.17.4.0", None),
        ("$JS.ACK.shop.g_ci.2.x.4.0.0", None),
        ("", None),
    ],
)
def test_a_receipt_says_which_message_it_is_and_how_often_it_was_given(
    reply: str, wanted: tuple[int, int] | None
) -> None:
    assert messages.read_metadata(reply) == wanted
