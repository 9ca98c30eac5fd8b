"""From a request to a verdict: authentic or not, before anything else looks at it (promise R46)."""

from collections.abc import Sequence
from typing import Final

from svc import signature
from svc.errors import SignatureError
from svc.listen.delivery import Delivery, Facts, passed_on, read_facts
from svc.listen.diagnosis import diagnose
from svc.listen.framing import Request
from svc.listen.records import Rejected
from svc.spec import SIGNATURE_HEADER

_SECRETS_MAX: Final = 2  # during rotation (promise R48)
_REMEMBERED: Final = 10_000


class Intake:
    """Verifies requests with the secrets of one endpoint."""

    def __init__(self, secrets: Sequence[str]) -> None:
        """Takes one secret, or two while one is being replaced.

        Raises:
            SignatureError: none, too many, or one that cannot be a signing secret (R48).
        """
        if not 1 <= len(secrets) <= _SECRETS_MAX:
            raise SignatureError("secret_invalid", "One or two signing secrets are needed.")
        for secret in secrets:
            signature.check_secret(secret)
        self._secrets = tuple(secrets)

    def judge(self, request: Request, now: float) -> Delivery | Rejected:
        """Verifies the raw bytes, then reads what they say; `now` is in unix seconds."""
        values = request.head.values(_HEADER)
        try:
            signature.verify(request.body, values, self._secrets, int(now))
        except SignatureError as error:
            message = diagnose(error, request.body, values, self._secrets)
            headers = request.head.headers
            return Rejected(now, error.reason, message, len(request.body), headers)
        return Delivery(
            request.body, passed_on(request.head.headers), now, read_facts(request.body)
        )


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
