"""Asking an address whether a sandbox answers there, by its health check."""

import json
from typing import Any, Final

from svc.sandbox.listening import LOOPBACK
from svc.sandbox.records import RunRecord
from svc.spec import SANDBOX_HEADER, SANDBOX_ROOT

_BODY_MAX: Final = 65536


def health(record: RunRecord, timeout: float = 2.0) -> dict[str, Any] | None:
    """Gives the health answer of a running sandbox, or None when none comes in `timeout` seconds.

    A TLS sandbox must show a certificate that its record vouches for.
    """
    from http.client import HTTPConnection, HTTPException, HTTPSConnection

    if record.certificate is None:
        connection = HTTPConnection(LOOPBACK, record.port, timeout=timeout)
    else:
        from ssl import create_default_context

        context = create_default_context(cafile=record.certificate)
        connection = HTTPSConnection(LOOPBACK, record.port, timeout=timeout, context=context)
    try:
        connection.request("GET", f"{SANDBOX_ROOT}/health", headers={SANDBOX_HEADER: "1"})
        answer = json.loads(connection.getresponse().read(_BODY_MAX))
    except (OSError, HTTPException, ValueError):
        return None
    finally:
        connection.close()
    return answer if isinstance(answer, dict) and answer.get("object") == "sandbox" else None
