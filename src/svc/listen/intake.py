"""From a request to a verdict: authentic or not, before anything else looks at it (promise R46)."""

from collections.abc import Sequence
from typing import Final

from svc import signature
from svc.errors import SignatureError
from svc.listen.delivery import Delivery, Facts, passed_on, read_facts
from svc.listen.diagnosis import Finding, Known, diagnose
from svc.listen.framing import Request
from svc.listen.records import Rejected
from svc.spec import SIGNATURE_HEADER

_SECRETS_MAX: Final = 2  # during rotation (promise R48)
_REMEMBERED: Final = 10_000
# Looking for a cause takes 5 ms a KiB: a flood of forgeries must not hold up good deliveries.
_MOST_KIB: Final = 64.0
_KIB_A_SECOND: Final = 8.0


class Intake:
    """Verifies requests with the secrets of one endpoint.

    What does not verify is looked at closely, but no more than 64 KiB at once and 8 a second.
    """

    def __init__(self, secrets: Sequence[str], known: Sequence[Known] = ()) -> None:
        """Takes one secret, or two while one is being replaced; `known` ones only explain.

        Raises:
            SignatureError: none, too many, or one that cannot be a signing secret (R48).
        """
        if not 1 <= len(secrets) <= _SECRETS_MAX:
            raise SignatureError("secret_invalid", "One or two signing secrets are needed.")
        for secret in secrets:
            signature.check_secret(secret)
        self._secrets = tuple(secrets)
        self._known = tuple(known)
        self._allowed = _MOST_KIB
        self._looked_at = 0.0

    def judge(self, request: Request, now: float) -> Delivery | Rejected:
        """Verifies the raw bytes, then reads what they say; `now` is in unix seconds."""
        values = request.head.values(_HEADER)
        try:
            signature.verify(request.body, values, self._secrets, int(now))
        except SignatureError as error:
            found = self._explain(error, request.body, values, now)
            headers, size = request.head.headers, len(request.body)
            return Rejected(now, error.reason, found.message, size, headers, found.cause)
        facts = read_facts(request.body)
        return Delivery(request.body, passed_on(request.head.headers, facts.id), now, facts)

    def _explain(
        self, error: SignatureError, body: bytes, values: Sequence[bytes], now: float
    ) -> Finding:
        gained = max(now - self._looked_at, 0.0) * _KIB_A_SECOND
        self._allowed, self._looked_at = min(self._allowed + gained, _MOST_KIB), now
        cost = 1 + len(body) / 1024
        if self._allowed < cost:
            return Finding(error.reason, error.message)
        self._allowed -= cost
        return diagnose(error, body, values, self._secrets, self._known)


class Sequencer:
    """Notices an event that is older than one seen before of the same object (promise R60)."""

    def __init__(self) -> None:
        self._newest: dict[str, str] = {}

    def is_late(self, facts: Facts) -> bool:
        """Says whether a newer change of the object came before this one."""
        if not facts.object_id or not facts.created:
            return False
        newest = self._newest.pop(facts.object_id, "")
        self._newest[facts.object_id] = max(newest, facts.created)
        if len(self._newest) > _REMEMBERED:
            del self._newest[next(iter(self._newest))]
        return facts.created < newest


_HEADER: Final = SIGNATURE_HEADER.lower().encode()
