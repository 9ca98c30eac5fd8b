"""What a listener reads of an event that it has verified."""

import pytest

from support.listening import event
from svc.listen.verify.verify import Facts, read_facts


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_an_event_in_another_encoding_of_json_is_read_all_the_same(encoding: str) -> None:
    """R46: a gateway may have written it anew; the service signs what it sends."""
    body = event(1, note="Zoë")
    assert read_facts(body.decode().encode(encoding)) == read_facts(body)
    assert read_facts(body).id == "evt_1"


@pytest.mark.parametrize("body", [b"[]", b'{"data":7}', b'{"data":{"object":[]}}', b"\xff\xfe\x00"])
def test_of_any_other_body_nothing_is_known_but_its_digest(body: bytes) -> None:
    """R46: whatever was signed is an event, and the same bytes are the same event."""
    facts = read_facts(body)
    assert facts == Facts(facts.id, "", "", None, "", None, None)
    assert facts.id.startswith("body_")
    assert facts.id == read_facts(body).id != read_facts(body + b" ").id
