"""A proxy that stands in the way is named where a person looks for it (promise R26)."""

import socket

from support.running import Svc


def test_a_proxy_that_cannot_be_reached_is_named(svc: Svc) -> None:
    """In the error, and in what `whoami` prints beside it; its password nowhere."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # nothing listens there
        place = f"127.0.0.1:{taken.getsockname()[1]}"
        env = {
            "SVC_BASE_URL": "https://api.example.com",
            "SVC_API_KEY": "sk_test_4eC39HqLyjWDarjtT1zdp7dc",
            "HTTPS_PROXY": f"http://me:hidden@{place}",
        }
        refused = svc("whoami", "--max-time", "1", env=env)
    assert (refused.code, refused.json["proxy"], refused.json["reachable"]) == (8, place, False)
    message = refused.error["message"]
    assert f"the proxy cannot be reached ({place}: connection refused)" in message.lower()
    assert "SVC_PROXY, HTTPS_PROXY" in message
    assert "hidden" not in refused.out + refused.err
