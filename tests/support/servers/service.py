"""A stand-in for a Secret Service, on a real D-Bus: it says no in ways that a real one cannot be had to.

It keeps nothing. GNOME Keyring itself is tested beside it; its windows need a desktop.
"""

import threading
from contextlib import suppress
from typing import Any

from jeepney import (  # type: ignore[import-untyped]
    DBusAddress,
    HeaderFields,
    MessageType,
    message_bus,
    new_error,
    new_method_return,
    new_signal,
)
from jeepney.io.blocking import Proxy, open_dbus_connection  # type: ignore[import-untyped]

NAME = "org.freedesktop.secrets"
COLLECTION = "/org/freedesktop/secrets/collection/login"
ITEM = f"{COLLECTION}/1"
PROMPT = "/org/freedesktop/secrets/prompt/1"
SECRET = "sk_test_sandbox"


class StandIn:
    """Answers on the bus until it is closed.

    Args:
        manner: `unlocked` (a person unlocks it), `dismissed` (closes its window), `silent` (nobody answers its window),
            `denied` (it does not give the secret out) or `hung` (it stops answering half-way).
    """

    def __init__(self, manner: str) -> None:
        self._manner = manner
        self._locked = manner in ("unlocked", "dismissed", "silent")
        self.calls: list[str] = []
        self._bus = open_dbus_connection()
        Proxy(message_bus, self._bus).RequestName(NAME)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def close(self) -> None:
        self._ended.set()
        self._thread.join()
        self._bus.close()

    def _serve(self) -> None:
        while not self._ended.is_set():
            with suppress(TimeoutError):
                message = self._bus.receive(timeout=0.05)
                if message.header.message_type is MessageType.method_call:
                    self._answer(message)

    def _answer(self, message: Any) -> None:
        method = message.header.fields[HeaderFields.member]
        self.calls.append(method)
        if method == "GetSecret" and self._manner != "unlocked":
            if self._manner == "denied":
                error = "org.freedesktop.DBus.Error.AccessDenied"
                self._bus.send(new_error(message, error, "s", ("no",)))
            return  # hung: no answer at all
        signature, body = self._reply(method)
        self._bus.send(new_method_return(message, signature, body))
        if method == "Prompt" and self._manner in ("unlocked", "dismissed"):
            self._locked = self._manner == "dismissed"
            prompt = DBusAddress(PROMPT, NAME, "org.freedesktop.Secret.Prompt")
            # To everybody on the bus, as most services do; GNOME Keyring tells the asker alone.
            self._bus.send(new_signal(prompt, "Completed", "bv", (self._locked, ("s", ""))))

    def _reply(self, method: str) -> tuple[str | None, tuple[Any, ...]]:
        replies: dict[str, tuple[str | None, tuple[Any, ...]]] = {
            "ReadAlias": ("o", (COLLECTION,)),
            "Get": ("v", (("b", self._locked),)),
            "Unlock": ("aoo", ([], PROMPT)),
            "Prompt": (None, ()),
            "SearchItems": ("ao", ([ITEM],)),
            "OpenSession": ("vo", (("s", ""), "/session")),
            "GetSecret": ("(oayays)", (("/session", b"", SECRET.encode(), "text/plain"),)),
        }
        return replies[method]
