"""Idempotency keys in the sandbox: one stored result for each, replayed byte for byte (R81).

`requests` uses it for each POST with a key: a known key with the same parameters gets the stored
answer, a new key's request is carried out and its answer stored in the same transaction. A key that
belongs to another request is refused with 400, one whose first request still runs with 409.
"""

import hashlib
import json
import re
from typing import Any, Final, Self, TypeAlias

from svc.sandbox.http.exchange import HttpReply
from svc.sandbox.parameters.bodies import DecodedTree
from svc.sandbox.parameters.problems import Problem
from svc.sandbox.store.transaction import Transaction
from svc.service.facts import IDEMPOTENCY_HEADER, IDEMPOTENCY_KEY_MAX, REPLAYED_HEADER

_TYPE: Final = "idempotency_error"
KEY_PATTERN: Final = rf"[!-~]{{1,{IDEMPOTENCY_KEY_MAX}}}"
_KEY: Final = re.compile(KEY_PATTERN)
_CANONICAL: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), check_circular=False)


# The state of the sandbox and the mode that it is for, and the key.
ClaimedKey: TypeAlias = tuple[tuple[str, str], str]


class KeyClaim:
    """One request's claim to a key: holds it during the block, if no other request does.

    `held` are the keys whose first request is running. `finished` says that the key has a stored
    result: it may be replayed any number of times at once, so it is not held. A caller that calls
    `replay` without a pause after this may pass false: `replay` then releases it.
    """

    __slots__ = ("_held", "_holds", "_place", "_wanted")

    def __init__(
        self, held: set[ClaimedKey], space: tuple[str, str], key: str | None, *, finished: bool
    ) -> None:
        self._held = held
        self._place = (space, key or "")
        self._wanted = key is not None and not finished
        self._holds = False

    def __enter__(self) -> Self:
        if self._wanted:
            self.hold()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    @property
    def free(self) -> bool:
        """Whether no other request holds the key now."""
        return self._holds or self._place not in self._held

    def hold(self) -> None:
        """Holds the key from here on, if it is free."""
        if self.free:
            self._holds = True
            self._held.add(self._place)

    def release(self) -> None:
        """Releases the key: its request is done, or has a stored result from before."""
        if self._holds:
            self._holds = False
            self._held.discard(self._place)


def check_key(key: str | None, *, required: bool) -> str | None:
    """Returns the key of a POST; raises Problem: it is invalid, or missing and `required`."""
    if key is None and required:
        message = f"A POST needs {IDEMPOTENCY_HEADER} while require_idempotency_key is true."
        raise Problem(400, "idempotency_key_missing", message)
    if key is not None and not _KEY.fullmatch(key):
        most = IDEMPOTENCY_KEY_MAX
        message = f"An idempotency key has 1 to {most} printable ASCII characters and no spaces."
        raise Problem(400, "idempotency_key_invalid", message)
    return key


def fingerprint(method: str, path: str, tree: DecodedTree) -> str:
    """A digest of method, path and parameters, the same for JSON and for a form."""
    content = _CANONICAL.encode(tree)
    if "null" in content:
        content = _CANONICAL.encode(_normalize(tree))
    return hashlib.sha256(f"{method} {path}\n{content}".encode()).hexdigest()


def replay(tx: Transaction, key: str, print_: str, claim: KeyClaim) -> HttpReply | None:
    """The stored result of a key, or None if the request is to be carried out.

    `print_` is the request's fingerprint; where None is returned, `claim` holds the key.

    Raises:
        Problem: the key was used for something else, or its first request is running.
    """
    if not claim.free:  # also while a fault rule holds the answer of a change that is on disk
        message = "A request with this idempotency key is running; try again."
        raise Problem(409, "idempotency_key_in_use", message)
    claim.hold()
    stored = tx.get_result(key)
    if stored is None:
        return None
    claim.release()
    if stored.fingerprint != print_:
        message = "This idempotency key was used for another request."
        raise Problem(400, "idempotency_key_reused", message, type=_TYPE)
    return HttpReply(stored.status, stored.body, ((REPLAYED_HEADER, "true"),))


def _normalize(value: Any) -> Any:
    """`null` in JSON says what an empty value says in a form."""
    if isinstance(value, dict):
        return {key: _normalize(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_normalize(entry) for entry in value]
    return "" if value is None else value
