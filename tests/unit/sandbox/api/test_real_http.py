"""The sandbox behind a real port: what only a socket shows."""

import socket
import struct
import threading
from http.client import HTTPConnection, IncompleteRead, RemoteDisconnected

import pytest

from support.orders import ORDER
from support.sandbox_calls import Served


def test_a_connection_is_kept(served: Served) -> None:
    """Several requests, refused ones too, go over one connection."""
    connection = HTTPConnection("127.0.0.1", served.port, timeout=60)
    key = {"Authorization": "Bearer sk_test_sandbox"}
    try:
        connection.connect()
        used = connection.sock
        for method, body in (("GET", None), ("POST", "{"), ("PUT", "x" * 1000), ("GET", None)):
            connection.request(method, "/v1/orders", body, key)
            connection.getresponse().read()
            assert connection.sock is used
    finally:
        connection.close()


@pytest.mark.parametrize("path", ["/v1/orders/%2e%2e/orders", "/v1/%6frders%2f", "/v1/orders/%00",
                                  "/v1/orders/%ff", "/v1/orders/a%2fb"])  # fmt: skip
def test_escaped_paths_find_nothing(served: Served, path: str) -> None:
    """Escapes in a path lead to a 404 in the error shape, nowhere else."""
    answer = served.ask("GET", path)
    assert answer.status == 404
    assert answer.code in ("endpoint_unknown", "resource_missing")


@pytest.mark.parametrize("phase", ["before", "after"])
@pytest.mark.parametrize("connection", ["close", "reset", "truncate"])
def test_broken_connections(served: Served, connection: str, phase: str) -> None:
    """Closed without bytes, reset, cut in half; after the commit the retry replays (R90)."""
    served.ask("DELETE", "/_sandbox/faults")
    before = len(served.ask("GET", "/v1/orders?limit=100").json["data"])
    rule = {"phase": phase, "match": {"method": "POST"}, "effect": {"connection": connection}}
    assert served.ask("POST", "/_sandbox/faults", rule).status == 200
    errors = {
        "close": RemoteDisconnected,
        "reset": ConnectionResetError,
        "truncate": IncompleteRead,
    }
    key = {"Idempotency-Key": f"{connection}-{phase}"}
    with pytest.raises(errors[connection]):
        served.ask("POST", "/v1/orders", ORDER, **key)
    made = len(served.ask("GET", "/v1/orders?limit=100").json["data"]) - before
    assert made == (1 if phase == "after" else 0)
    again = served.ask("POST", "/v1/orders", ORDER, **key)
    assert again.status == 200
    assert ("idempotent-replayed" in again.headers) == (phase == "after")


def test_a_caller_who_hangs_up_does_no_harm(served: Served) -> None:
    """Half a request, then a reset: the next caller is served, nothing was made."""
    before = len(served.ask("GET", "/v1/orders?limit=100").json["data"])
    half_body = (
        b"POST /v1/orders HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        b"Authorization: Bearer sk_test_sandbox\r\nContent-Length: 100\r\n\r\n{"
    )
    for sent in (b"POST /v1/ord", half_body):
        with socket.create_connection(("127.0.0.1", served.port)) as connection:
            connection.sendall(sent)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    assert len(served.ask("GET", "/v1/orders?limit=100").json["data"]) == before


def test_sixteen_callers_with_one_key_make_one_order(served: Served) -> None:
    """Real concurrency: one object, and one answer for everybody who gets one (R81)."""
    before = len(served.ask("GET", "/v1/orders?limit=100").json["data"])
    answers = []

    def ask() -> None:
        answers.append(served.ask("POST", "/v1/orders", ORDER, **{"Idempotency-Key": "sixteen"}))

    threads = [threading.Thread(target=ask) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {answer.status for answer in answers} <= {200, 409}
    assert len({answer.body for answer in answers if answer.status == 200}) == 1
    assert len(served.ask("GET", "/v1/orders?limit=100").json["data"]) == before + 1
