"""What no option opens: unspecified and link-local addresses, and where clouds keep keys (R53)."""

import ipaddress
import socket
from pathlib import Path
from typing import Any

import pytest

from support.listening import event, listening
from svc.errors import UsageError
from svc.listen.routes import Routes
from svc.listen.targets import Target

SPELLINGS = [
    "169.254.169.254",
    "169.254.170.2",
    "169.254.170.23",
    "100.100.100.200",
    "[fd00:ec2::254]",
    "[fd20:ce::254]",
    "[fd00:ec2::23]",
    "168.63.129.16",
    "192.0.0.192",
    "[64:ff9b:1::a9fe:aa17]",
    "[64:ff9b:1::a9fe:17]",
    "[::ffff:169.254.169.254]",
    "[::ffff:a9fe:a9fe]",
    "[::ffff:0:a9fe:a9fe]",
    "[::a9fe:a9fe]",
    "[::169.254.170.2]",
    "[64:ff9b::a9fe:a9fe]",
    "[64:ff9b::169.254.169.254]",
    "[64:ff9b:1::a9fe:a9fe]",
    "[64:ff9b:1:a9fe:a9:fe00::]",
    "[64:ff9b:1:a9fe:00a9:fe00::]",
    "[2002:a9fe:a9fe::1]",
    "[2001:0:5ef5:79fb:0:0:5601:5601]",
    "[2001:db8::5efe:a9fe:a9fe]",
    "[fe80::a9fe:a9fe]",
    "0.0.0.0",
    "[::]",
    "[::ffff:0.0.0.0]",
    "[64:ff9b::0.0.0.0]",
    "169.254.1.1",
    "169.254.255.255",
    "[::ffff:169.254.1.1]",
    "[::169.254.1.1]",
    "[64:ff9b::a9fe:101]",
    "[2002:a9fe:101::1]",
    "[2001:0:5ef5:79fb:0:0:5601:fefe]",
    "[fe80::1]",
    "[febf::1]",
    "2852039166",
    "0xa9fea9fe",
    "0XA9FEA9FE",
    "0xa9.0xfe.0xa9.0xfe",
    "0251.0376.0251.0376",
    "025177524776",
    "169.254.43518",
    "169.16689662",
]


@pytest.mark.parametrize("host", SPELLINGS)
@pytest.mark.parametrize("allow_remote", [False, True])
def test_address_that_nothing_goes_to_is_refused_in_every_spelling(
    host: str, allow_remote: bool
) -> None:
    """R53: with or without --allow-remote-forward, and never with the hint to allow it."""
    with pytest.raises(UsageError) as caught:
        Target.parse(f"http://{host}/latest/meta-data", allow_remote=allow_remote)
    assert "--allow-remote-forward" not in str(caught.value.hint)


@pytest.mark.parametrize(
    "text", ["10.1.2.3", "169.253.1.1", "93.184.216.34", "2001:db8::1", "64:ff9b::5db8:d822"]
)
def test_other_remote_addresses_are_opened_by_the_option(text: str) -> None:
    """R53: the option opens other machines, and nothing without it."""
    address = ipaddress.ip_address(text)
    host = f"[{text}]" if ":" in text else text
    assert str(Target.parse(f"http://{host}:1", allow_remote=True)) == f"http://{host}:1"
    assert Target.parse("http://example.com", allow_remote=True).allows(address)
    assert not Target.parse("http://example.com").allows(address)


@pytest.mark.parametrize("leads_to", ["169.254.169.254", "64:ff9b::a9fe:a9fe"])
def test_name_that_leads_to_metadata_is_not_followed(
    leads_to: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R53: the address is checked when the connection is made, also with the option."""
    original = socket.getaddrinfo

    def resolve(host: str, *args: Any, **kwargs: Any) -> Any:
        return original(leads_to if host == "app.test" else host, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    routes = Routes.parse(["http://app.test:1"], allow_remote=True)
    with listening(tmp_path, routes=routes) as listener:
        listener.send(event())
        [forward] = listener.forwards(1)
        assert listener.stop().failed == 1
    assert forward.error == f"app.test leads to {leads_to}, which is never allowed"
