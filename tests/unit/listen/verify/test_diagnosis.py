"""What is told of a delivery that does not verify: which of the usual reasons it is."""

import base64
import hmac
import json
from collections.abc import Sequence

import pytest

from support.listening import NOW, SECRET, event
from svc.errors import SignatureError
from svc.listen.http.requests import HttpHead, HttpRequest
from svc.listen.output_records import Rejected
from svc.listen.verify.diagnosis import Diagnosis, KnownSecret, diagnose
from svc.listen.verify.verify import Intake
from svc.signature import header_value, sign, verify


def find(
    body: bytes, header: str, secret: str = SECRET, known: Sequence[KnownSecret] = ()
) -> Diagnosis:
    with pytest.raises(SignatureError) as caught:
        verify(body, [header], [secret], NOW)
    return diagnose(caught.value, body, [header.encode()], [secret], known)


def explain(body: bytes, header: str, secret: str = SECRET) -> str:
    return find(body, header, secret).message


OBJECT = {
    "id": "evt_1",
    "empty": {},
    "list": [],
    "name": "Jané <b> & 'co' 漢 \U0001f600",
    "url": "https://shop.example/a",
    "rate": 1.50,
    "deep": [{"a": [1, 2, {"b": None}]}, True],
}
RAW = json.dumps(OBJECT, ensure_ascii=False, separators=(",", ":")).encode()


def nested(depth: int) -> object:
    """Lists in lists."""
    return [nested(depth - 1)] if depth else 1


def like_php(text: str) -> str:
    return text.replace("/", "\\/")


def like_go(text: str) -> str:
    for char in "<>&":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


WRITERS = [
    pytest.param(json.dumps(OBJECT), id="python"),
    pytest.param(json.dumps(OBJECT, indent=2), id="python-indented"),
    pytest.param(json.dumps(OBJECT, indent=2, ensure_ascii=False), id="javascript-pretty"),
    pytest.param(json.dumps(OBJECT, separators=(",", ":")), id="escaped"),
    pytest.param(like_php(json.dumps(OBJECT, separators=(",", ":"))), id="php"),
    pytest.param(like_php(json.dumps(OBJECT, indent=4)), id="php-pretty"),
    pytest.param(
        like_go(json.dumps(OBJECT, separators=(",", ":"), ensure_ascii=False)) + "\n", id="go"
    ),
    pytest.param(json.dumps(OBJECT, indent="\t", ensure_ascii=False), id="tabs"),
]


@pytest.mark.parametrize("text", WRITERS)
def test_json_written_anew_is_recognised_in_either_direction(text: str) -> None:
    """The service's compact form and what common encoders make of it; numbers stay as spelled."""
    other = text.encode()
    for signed, arrived in ((RAW, other), (other, RAW)):
        found = find(arrived, header_value(signed, [SECRET], NOW))
        assert found.cause == "body_altered"
        assert "its JSON was written anew" in found.message
        assert "raw bytes" in found.message
    assert (
        "it was signed without spaces"
        in find(
            json.dumps(OBJECT, indent=2, ensure_ascii=False).encode(),
            header_value(RAW, [SECRET], NOW),
        ).message
    )


PRETTY = json.dumps(json.loads(event()), indent=2).encode()
ALTERED = [
    pytest.param(PRETTY, event(), "its JSON was written anew", id="pretty-to-compact"),
    pytest.param(event(), PRETTY, "its JSON was written anew", id="compact-to-pretty"),
    pytest.param(event() + b"\n", event(), "its last line feed was taken off", id="stripped"),
    pytest.param(event(), event() + b"\n", "a line feed was added at its end", id="added"),
    pytest.param(
        b'{\r\n"a":1\r\n}', b'{\n"a":1\n}', "its CRLF line ends were turned into LF", id="crlf"
    ),
    pytest.param(
        b'{\n"a":1\n}', b'{\r\n"a":1\r\n}', "its line ends were turned into CRLF", id="lf"
    ),
    pytest.param(
        '{"a":"e\u0301"}'.encode(),
        '{"a":"\u00e9"}'.encode(),
        "its accents were encoded anew",
        id="nfc",
    ),
]


@pytest.mark.parametrize(("signed", "arrived", "words"), ALTERED)
def test_altered_body_is_recognised(signed: bytes, arrived: bytes, words: str) -> None:
    """A body that was changed on the way is told as such, with what was done to it."""
    assert words in explain(arrived, header_value(signed, [SECRET], NOW))


def test_wrong_key_reading_is_recognised() -> None:
    """A sender that signs with another reading of the same secret is told as such."""
    body = event()

    def header(key: bytes) -> str:
        mac = hmac.new(key, f"{NOW}.".encode() + body, "sha256").hexdigest()
        return f"t={NOW},v1={mac}"

    base64_secret = "whsec_" + "c2VjcmV0LXNlY3JldA=="
    assert "without whsec_" in explain(body, header(SECRET.removeprefix("whsec_").encode()))
    assert "line feed behind it" in explain(body, header(f"{SECRET}\n".encode()))
    assert "base64-decoded" in explain(body, header(b"secret-secret"), base64_secret)


def test_diagnosis_never_quotes_the_payload() -> None:
    """R49: what is told of a rejected delivery holds nothing of it."""
    text = explain(b'{"secret":"4242"}', f"t={NOW},v1={sign(b'x', SECRET, NOW)}")
    assert "4242" not in text
    assert "another endpoint or mode" in explain(event(), header_value(event(), ["whsec_x"], NOW))


def test_secret_of_another_endpoint_is_named() -> None:
    """Whose secret it was signed with, where that is known; the secret itself is never shown."""
    known = [
        KnownSecret("the endpoint we_1", "whsec_a"),
        KnownSecret("we_9 of live mode", "whsec_other"),
    ]
    found = find(event(), header_value(event(), ["whsec_other"], NOW), known=known)
    assert found.cause == "other_secret"
    assert found.message.endswith("signed with the secret of we_9 of live mode.")
    assert "whsec" not in found.message + repr(known)


@pytest.mark.parametrize(
    ("arrived", "words"),
    [
        (b"", "the body is empty"),
        (event()[:-3], "is no JSON object"),
        (base64.b64encode(event()), "encoded in base64"),
        (json.dumps(event().decode()).encode(), "put into a JSON string"),
        (b"\xef\xbb\xbf" + event(), "byte order mark"),
        (b"  " + event(), "white space was added"),
        (json.dumps(json.loads(event()), sort_keys=True).encode(), "alphabetical order"),
    ],
)
def test_what_frameworks_do_to_a_body_is_recognised(arrived: bytes, words: str) -> None:
    """Bodies that were wrapped, cut, or parsed and sorted before they were verified."""
    text = explain(arrived, header_value(event(), [SECRET], NOW))
    assert words in text
    assert "raw bytes" in text


def test_text_that_was_encoded_twice_is_recognised() -> None:
    """UTF-8 that was read as Latin-1 and encoded again."""
    signed = '{"a":"é"}'.encode()
    arrived = signed.decode("latin-1").encode()
    assert "encoded once more" in explain(arrived, header_value(signed, [SECRET], NOW))


@pytest.mark.parametrize(
    ("seconds", "units"),
    [
        (301, ""),
        (3599, ""),
        (3600, " (1 h)"),
        (3660, " (1 h 1 min)"),
        (7199, " (1 h 59 min)"),
        (86_399, " (23 h 59 min)"),
        (86_400, " (1 d)"),
        (86_460, " (1 d 1 min)"),
        (180_060, " (2 d 2 h)"),
    ],
)
def test_large_distances_are_told_in_units(seconds: int, units: str) -> None:
    """A delivery of days ago is not told in seconds alone; two units are enough."""
    late = find(event(), header_value(event(), [SECRET], NOW - seconds))
    assert late == Diagnosis(
        "timestamp_too_old",
        f"It was signed {seconds} s{units} ago; the limit is 300 s. It is a replay, came late, or "
        "this machine's clock is ahead.",
    )
    early = find(event(), header_value(event(), [SECRET], NOW + seconds))
    assert early == Diagnosis(
        "timestamp_in_future",
        f"It was signed {seconds} s{units} in the future; the limit is 300 s. This machine's clock "
        "is behind, or the sender's is ahead.",
    )


@pytest.mark.parametrize(
    ("signed", "arrived", "cause"),
    [
        (b"x" * 65_535 + b"\n", b"x" * 65_535, "body_altered"),
        (b"x" * 65_536 + b"\n", b"x" * 65_536, "body_altered"),
        (b"x" * 65_537 + b"\n", b"x" * 65_537, "signature_mismatch"),
        (
            json.dumps(nested(64), indent=2).encode(),
            json.dumps(nested(64)).encode(),
            "body_altered",
        ),
        (
            json.dumps(nested(65), indent=2).encode(),
            json.dumps(nested(65)).encode(),
            "signature_mismatch",
        ),
    ],
    ids=["small", "64KiB", "larger", "deep", "deeper"],
)
def test_a_cause_is_looked_for_within_limits(signed: bytes, arrived: bytes, cause: str) -> None:
    """R58: whoever forges does not choose how long it takes: 64 KiB, or 64 levels, and no more."""
    assert find(arrived, header_value(signed, [SECRET], NOW)).cause == cause


@pytest.mark.parametrize("body", [b'{"b":1}', event(), b'{"id":1,"a":2}'])
def test_what_cannot_be_proven_is_left_open(body: bytes) -> None:
    """The keys of one alone are in order by themselves; the service puts the id first."""
    found = find(body, header_value(body, ["whsec_x"], NOW))
    assert found.cause == "signature_mismatch"
    assert found.message.startswith("No signature fits: another secret, or the body was altered.")


@pytest.mark.parametrize(
    ("header", "words"),
    [
        (f"t={NOW - 400},v1={sign(event(), SECRET, NOW - 400)}", "400 s ago"),
        (f"t={NOW + 400},v1={sign(event(), SECRET, NOW + 400)}", "400 s in the future"),
        ("t=1", "no v1"),
        ("", "There is no Svc-Signature header"),
        ("x", "malformed"),
    ],
)
def test_other_reasons_say_what_is_wrong(header: str, words: str) -> None:
    """Each kind of refusal has a sentence of its own, times with their distance."""
    assert words in explain(event(), header)


def test_a_flood_of_forgeries_is_not_looked_at_closely() -> None:
    """R58: finding a cause takes time; after some 20 at once only a few a second are explained."""

    def judged(now: float) -> str:
        verdict = intake.verify(forgery, now)
        assert isinstance(verdict, Rejected)
        return verdict.cause

    intake = Intake([SECRET])
    header = header_value(event(), [SECRET], NOW).encode()
    head = HttpHead(b"POST", b"/", ((b"svc-signature", header),), {b"svc-signature": [header]})
    forgery = HttpRequest(head, event().ljust(2 * 1024 + 204, b"\n"))  # which costs 3.2 of 64 KiB
    causes = [judged(NOW) for _ in range(100)]
    assert causes == ["body_altered"] * 20 + ["signature_mismatch"] * 80
    assert judged(NOW + 0.1) == "signature_mismatch"
    assert [judged(NOW + 1) for _ in range(3)] == ["body_altered"] * 2 + ["signature_mismatch"]
    assert judged(NOW - 99) == "signature_mismatch"  # a clock that is put back gains nothing
