"""Every published vector: against the verifier, and over HTTP through the receiver."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from support.clocks import ManualClock
from support.listening import PATH, SECRET, RunningListener, TargetServer, listening, status, talk
from svc.errors import SignatureError
from svc.listen.verify.verify import Intake
from svc.signature import verify

# A header with a v1 of a later scheme beside a good one, and with bytes that no header of ours has.
GOOD = "83cbea49657b6159be20818ba5559e83961f6ad43f90798bf6a6a05d2508818c"
WRONG = "0" * 64
LATER = "v1=" + "A-_b64" * 12
MORE = [
    (f"t=1700000000,{LATER},v1={GOOD}", "ok"),
    (f"t=1700000000,v1={GOOD},{LATER}", "ok"),
    (f"t=1700000000,v1=,v1={GOOD}", "ok"),
    (f"t=1700000000,v1={GOOD}0,v1={GOOD}", "ok"),
    (f"t=1700000000,{','.join([LATER] * 15)},v1={GOOD}", "ok"),
    (f"t=1700000000,{','.join([LATER] * 16)},v1={GOOD}", "signature_malformed"),
    (f"t=1700000000,{LATER}", "signature_malformed"),
    (f"t=1700000000,{LATER},v1={WRONG}", "signature_mismatch"),
    (f"t=1700000000,v1={GOOD},note=\x1b[2J", "signature_malformed"),
    (f"t=1700000000,v1={GOOD},note=\x7f", "signature_malformed"),
    (f"t=1700000000,v1={GOOD},note=\xe9", "signature_malformed"),
    (f"t=1700000000,v1={GOOD},note=\x00", "signature_malformed"),
    (f"t=1700000000,v1={GOOD},note=a b!~", "ok"),
    (f"t=1700000000,\tv1={GOOD}", "ok"),
]

FILE = Path(__file__).parent / "vectors" / "signature.json"
VECTORS = json.loads(FILE.read_text())["vectors"]
OVER_HTTP = [one for one in VECTORS if one["expect"] != "secret_invalid"]


def name(vector: dict[str, Any]) -> str:
    return f"{vector['n']}-{vector['name']}"


def body_of(vector: dict[str, Any]) -> bytes:
    body = vector["body"]
    if "b64" in body:
        return base64.b64decode(body["b64"])
    return bytes(body["repeat"].encode() * int(body["n"]))


@pytest.mark.parametrize("vector", VECTORS, ids=name)
def test_verify_agrees_with_the_vector(vector: dict[str, Any]) -> None:
    """R46, R47: the verdict is the published one, and it raises one class of error only."""
    headers = [value.encode("latin-1") for value in vector["headers_latin1"]]
    try:
        verify(body_of(vector), headers, vector["secrets"], vector["now"])
        verdict = "ok"
    except SignatureError as error:
        verdict = error.reason
    assert verdict == vector["expect"]


@pytest.mark.parametrize(("header", "expect"), MORE)
def test_verify_passes_over_later_schemes_and_takes_no_odd_byte(header: str, expect: str) -> None:
    """R111: whoever adds a scheme breaks no receiver; whoever adds an escape reaches no log."""
    [valid] = [one for one in VECTORS if one["n"] == 1]
    try:
        verify(body_of(valid), [header.encode("latin-1")], valid["secrets"], valid["now"])
        verdict = "ok"
    except SignatureError as error:
        verdict = error.reason
    assert verdict == expect


def request_of(vector: dict[str, Any], body: bytes) -> bytes:
    lines = [f"POST {PATH} HTTP/1.1", "Host: localhost", f"Content-Length: {len(body)}"]
    lines += [f"Svc-Signature: {value}" for value in vector["headers_latin1"]]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


@pytest.mark.parametrize("vector", OVER_HTTP, ids=name)
def test_receiver_agrees_with_the_vector(vector: dict[str, Any], tmp_path: Path) -> None:
    """R46, R49: ok is answered 200 and forwarded once; all else 400 or 413 and nothing."""
    body = body_of(vector)
    secrets = tuple(vector["secrets"])
    with (
        TargetServer() as target,
        listening(
            tmp_path, target.port, secrets=secrets, clock=ManualClock(vector["now"])
        ) as listener,
    ):
        answer = talk(listener.port, request_of(vector, body))
        if vector["expect"] == "ok":
            assert status(answer) == 200
            listener.forwards(1)
            assert [one.body for one in target.received] == [body]
        else:
            assert status(answer) == (413 if vector["expect"] == "body_too_large" else 400)
            assert answer.endswith(b"Content-Length: 0\r\n\r\n") or b"Connection: close" in answer
            check_rejected(listener, vector)
            assert target.received == []


def check_rejected(listener: RunningListener, vector: dict[str, Any]) -> None:
    """A refused vector is told with its reason, unless the HTTP layer had to refuse it first."""
    if any("\r" in value for value in vector["headers_latin1"]):
        assert listener.rejected() == []
        return
    assert [one.reason for one in listener.rejected(1)] == [vector["expect"]]
    assert listener.events() == []


@pytest.mark.parametrize(
    "secrets", [(), ("",), ("sk_test_abc",), (f"{SECRET}\n",), (SECRET, SECRET, SECRET)]
)
def test_bad_secrets_are_refused_at_start(secrets: tuple[str, ...]) -> None:
    """R48: empty, padded and other keys are refused before anything listens; two are the most."""
    with pytest.raises(SignatureError) as caught:
        Intake(secrets)
    assert caught.value.reason == "secret_invalid"
