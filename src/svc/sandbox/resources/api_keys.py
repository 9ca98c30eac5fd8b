"""API keys of the sandbox: creates, rolls, finds and shows them (spec: Authentication).

A key's text is never stored: its id is a keyed digest of the text, so that a request finds its key
by what it sent. `http.auth` finds the key of each request; `control.fixtures` registers the fixed
keys of a new sandbox, and `svc sandbox keys` calls `create` and `roll` by `control`.
"""

from datetime import timedelta
from typing import Final

from svc.sandbox import clock
from svc.sandbox.parameters.kinds import Choice, Integer
from svc.sandbox.parameters.problems import Problem, build_invalid, build_missing
from svc.sandbox.parameters.tables import Object, Parameter, Params
from svc.sandbox.store.documents import Doc, KnownDoc, public
from svc.sandbox.store.transaction import Transaction
from svc.service.facts import (
    KEY_GRACE_MAX_SECONDS,
    KEY_KINDS,
    KEY_PREFIXES,
    NOUNS,
    RESTRICTED_RESOURCES,
    SECRET_PREFIX,
)

KIND: Final = "api_key"
LEVELS: Final = ("none", "read", "write")
_PREFIXES: Final = {"secret": "sk", "publishable": "pk", "restricted": "rk"}
OTHER_SECRETS: Final = (SECRET_PREFIX, NOUNS["order"].prefix)  # whsec_, and a client secret's
_KEY_LENGTH: Final = 20  # shorter than what scanners take for a leaked key

CREATE: Final = (
    Parameter("type", Choice(KEY_KINDS), required=True),
    Parameter(
        "permissions",
        Object(tuple(Parameter(name, Choice(LEVELS)) for name in RESTRICTED_RESOURCES)),
    ),
)
ROLL: Final = (Parameter("expires_in", Integer(0, KEY_GRACE_MAX_SECONDS)),)


def create(tx: Transaction, params: Params) -> Doc:
    """Makes a new key; the answer is the only one that shows it whole, as `secret`."""
    kind, permissions = params["type"], params.get("permissions")
    if kind == "restricted" and permissions is None:
        raise build_missing("permissions")
    if kind != "restricted" and permissions is not None:
        raise build_invalid(
            "parameter_unknown", "permissions", "Only restricted keys have permissions."
        )
    return _issue(tx, kind, permissions)


def roll(tx: Transaction, key: Doc, params: Params) -> Doc:
    """Replaces a key by a new one of its kind; the old one works for `expires_in` seconds more."""
    if key["expires_at"] is not None:
        raise Problem(400, "key_rolled", "This key has been rolled already.")
    fresh = _issue(tx, key["type"], key["permissions"])
    end = tx.now + timedelta(seconds=params.get("expires_in", 0))
    key["expires_at"] = clock.text(end)
    key["_expires"] = clock.micros(end)
    tx.save(key)
    return fresh


def register(tx: Transaction, text: str, kind: str, permissions: Params | None = None) -> Doc:
    """Stores a key whose text is given."""
    fields = {
        "type": kind,
        "key": mask(text),
        "permissions": permissions,
        "expires_at": None,
        "_expires": None,
    }
    key = tx.new(KIND, fields, _identity(tx, text))
    tx.add(key)
    return key


def find(tx: Transaction, text: str) -> KnownDoc | None:
    """The key with this text in this mode, whether it still works or not."""
    return tx.get_cached(KIND, _identity(tx, text))


def has_expired(tx: Transaction, key: KnownDoc) -> bool:
    return key["_expires"] is not None and tx.now_micros >= key["_expires"]


def mask(text: str) -> str:
    """The prefix of a key, or of what is taken for one, and its last four characters."""
    prefix = next(filter(text.startswith, (*KEY_PREFIXES, *OTHER_SECRETS)), "")
    return f"{prefix}…{text[-4:]}"


def _issue(tx: Transaction, kind: str, permissions: Params | None) -> Doc:
    text = tx.ids.new(f"{_PREFIXES[kind]}_{tx.mode}_", _KEY_LENGTH)
    return {**public(register(tx, text, kind, permissions)), "secret": text}


def _identity(tx: Transaction, text: str) -> str:
    return tx.ids.derive("key_", KIND, text)
