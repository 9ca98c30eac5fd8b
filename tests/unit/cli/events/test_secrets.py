"""Which signing secrets are read of a keyring that may ask for each."""

from types import SimpleNamespace
from typing import Any

import pytest

from svc.cli.events.secrets import find_known_elsewhere
from svc.listen.endpoints import RegisteredEndpoint

PLACE = ("https://api.example.com", "default", "test")


@pytest.mark.parametrize(("secret", "asked"), [("whsec_x", 4), (None, 1)])
def test_few_secrets_of_other_endpoints_are_read_and_none_behind_one_that_is_not_given(
    secret: str | None, asked: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R38: four at the most; a keyring that hangs is not asked again."""
    known = [RegisteredEndpoint(*PLACE, "", (), f"we_{number}", None) for number in range(7)]
    elsewhere = RegisteredEndpoint("https://b.example", *PLACE[1:], "", (), "we_9", "whsec_9")
    read: list[str] = []

    class Stored:
        """As much of the keyring as is asked."""

        def __init__(self, *_: object) -> None: ...

        def get(self, name: str) -> str | None:
            read.append(name)
            return secret

    monkeypatch.setattr("svc.cli.events.secrets.StoredSecrets", Stored)
    monkeypatch.setattr("svc.cli.events.secrets.every_endpoint", lambda _: [*known, elsewhere])
    session: Any = SimpleNamespace(
        paths=SimpleNamespace(has_state=True),
        state=lambda: None,
        settings=SimpleNamespace(
            address=SimpleNamespace(origin=PLACE[0]), profile=PLACE[1], mode=PLACE[2]
        ),
    )
    found = find_known_elsewhere(session, "we_0")
    assert [one.secret for one in found] == ["whsec_9", *([secret] * 4 if secret else [])]
    assert read == [f"we_{number}" for number in range(1, asked + 1)]
