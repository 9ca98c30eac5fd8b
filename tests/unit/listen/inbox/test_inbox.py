"""What an inbox has of an earlier run, and what a sender's retry makes of it."""

from pathlib import Path

import pytest

from support.listening import OK, TargetServer, delivery, event, listening, status_line
from support.serving import free_port
from svc.listen.forward.pump import ForwardOptions
from svc.listen.output_records import Left


def test_what_was_left_is_told_and_not_forwarded_without_resume(tmp_path: Path) -> None:
    """`--no-resume`: old events are listed and stay open; new ones are forwarded."""
    port = free_port()
    with listening(tmp_path, port) as listener:
        for number in range(70):
            listener.send(event(number))
    with TargetServer(port=port) as target:
        with listening(tmp_path, target.port, resume=False) as listener:
            assert listener.send(event(3)) == 200
            assert listener.send(event(100)) == 200
            listener.forwards(1)
            left = listener.told(Left, 70)
            summary = listener.stop()
        assert target.ids == ["evt_100"]
        assert [one.id for one in left] == [f"evt_{number}" for number in range(70)]
        assert left[0].to_dict()["record"] == "left"
        assert (summary.pending, summary.duplicates, summary.forwarded) == (0, 1, 1)
        with listening(tmp_path, target.port) as listener:
            listener.forwards(70)
    assert sorted(target.ids) == sorted({f"evt_{n}" for n in (*range(70), 100)})


@pytest.mark.parametrize("resume", [True, False])
def test_sender_that_waits_for_an_old_event_has_it_forwarded(resume: bool, tmp_path: Path) -> None:
    """R50 under `--ack forwarded`: a retry after a restart gets the target's answer, once."""
    port = free_port()
    with listening(tmp_path, port, ack="received") as listener:
        listener.send(event(1))
        listener.send(event(2))
    with (
        TargetServer(port=port) as target,
        listening(tmp_path, target.port, ack="forwarded", resume=resume) as listener,
    ):
        assert listener.send(event(1)) == 200
        listener.forwards(2 if resume else 1)
        assert listener.send(event(1)) == 200
        listener.events(2)
    assert target.ids.count("evt_1") == 1
    assert target.ids.count("evt_2") == int(resume)


def test_the_newest_of_what_was_left_is_taken_up_too(tmp_path: Path) -> None:
    """`--no-resume --ack forwarded`: it is sent when it comes again, and pending until it ended."""
    port = free_port()
    with listening(tmp_path, port, ack="received") as listener:
        listener.send(event(1))
        listener.send(event(2))
    hang = ForwardOptions(seconds=5)
    with (
        TargetServer(lambda _: None, port=port) as target,
        listening(
            tmp_path, target.port, ack="forwarded", resume=False, forwarding=hang
        ) as listener,
        listener.peer() as sender,
    ):
        sender.sendall(delivery(event(2)))
        listener.until(lambda: target.ids == ["evt_2"])
        assert listener.stop().pending == 1
    with TargetServer(port=port) as target:
        with listening(tmp_path, target.port, ack="forwarded", resume=False) as listener:
            assert listener.send(event(2)) == 200
            assert listener.stop().pending == 0
        assert target.ids == ["evt_2"]


def test_only_the_target_that_failed_is_asked_again(tmp_path: Path) -> None:
    """`--ack forwarded`, two targets: the sender's retry goes to the one that did not take it."""
    with TargetServer() as good, TargetServer(lambda _: status_line(503)) as bad:
        with listening(tmp_path, good.port, bad.port, ack="forwarded") as listener:
            assert listener.send(event()) == 502
            bad.reply = lambda _: OK
            assert listener.send(event()) == 200
        assert (len(good.received), len(bad.received)) == (1, 2)
