"""Answers of the inspector, and the headers that keep other pages away from them."""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from svc.listen.inspector.markup import Markup

_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
_ALWAYS: Final = (
    ("Content-Security-Policy", _POLICY),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cache-Control", "no-store"),
    ("Connection", "close"),
)

Line = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer; `streams` leaves it open for what is still to happen."""

    status: int
    body: bytes = b""
    lines: tuple[Line, ...] = ()
    streams: bool = False

    def to_bytes(self) -> bytes:
        """Gives what goes over the wire."""
        size = () if self.streams else (("Content-Length", str(len(self.body))),)
        lines = "".join(f"{name}: {value}\r\n" for name, value in (*self.lines, *size, *_ALWAYS))
        phrase = HTTPStatus(self.status).phrase
        return f"HTTP/1.1 {self.status} {phrase}\r\n{lines}\r\n".encode("latin-1") + self.body


def page(content: Markup, status: int = 200) -> Answer:
    """Sends a whole document."""
    return of_kind("text/html; charset=utf-8", f"<!doctype html>{content}".encode(), status)


def of_kind(kind: str, body: bytes, status: int = 200) -> Answer:
    """Sends a file."""
    return Answer(status, body, (("Content-Type", kind),))


def see_other(path: str) -> Answer:
    """Sends the browser on with a GET; `path` is one of our own."""
    return Answer(303, lines=(("Location", path),))


def stream() -> Answer:
    """Begins server-sent events; the browser comes back two seconds after it lost them."""
    return Answer(200, b"retry: 2000\n\n", (("Content-Type", "text/event-stream"),), streams=True)
