"""The numbers that help pages name, such as `{key_hours}`, each read from its constant.

Docstrings of commands, help texts of options and the pages of `svc help` hold such names, which
`fill` replaces. `.build/figures.py` writes the figures of the README anew.
"""

import re
from importlib import import_module
from typing import Final

_MINUTE: Final = 60
_HOUR: Final = 3600
_DAY: Final = 86_400
# The module and the name of each constant, and how much of it is one.
FIGURES: Final = {
    "page_objects": ("svc.service.facts", "LIMIT_DEFAULT", 1),
    "event_types": ("svc.service.facts", "EVENT_TYPES", 1),
    "service_hours": ("svc.service.facts", "IDEMPOTENCY_RETENTION_SECONDS", _HOUR),
    "amount_max": ("svc.service.facts", "AMOUNT_MAX", 1),
    "sandbox_port": ("svc.service.facts", "SANDBOX_PORT", 1),
    "inspector_port": ("svc.service.facts", "INSPECTOR_PORT", 1),
    "webhook_seconds": ("svc.service.facts", "WEBHOOK_DEADLINE_SECONDS", 1),
    "retry_hours": ("svc.service.facts", "WEBHOOK_RETRY_WINDOW_SECONDS", _HOUR),
    "signature_minutes": ("svc.service.facts", "SIGNATURE_TOLERANCE_SECONDS", _MINUTE),
    "key_hours": ("svc.client.retry", "KEY_SAFE_SECONDS", _HOUR),
    "request_days": ("svc.delivery.journal.journal", "KEPT_SECONDS", _DAY),
    "recent_minutes": ("svc.delivery.journal.transaction", "RECENT_SECONDS", _MINUTE),
    "done_hours": ("svc.delivery.plan", "EFFECT_OLD_SECONDS", _HOUR),
    "duplicate_days": ("svc.delivery.journal.batches", "DUPLICATE_SECONDS", _DAY),
    "forwarded_days": ("svc.listen.inbox.forgetting", "KEEP_SECONDS", _DAY),
    "late_minutes": ("svc.listen.forward.signing", "LATE_SECONDS", _MINUTE),
    "run_seconds": ("svc.listen.commands", "RUN_SECONDS", 1),
    "remote_port": ("svc.listen.tunnels", "REMOTE_PORT", 1),
    "key_days": ("svc.keys.age", "MAX_AGE_SECONDS", _DAY),
    "warn_days": ("svc.keys.age", "WARN_SECONDS", _DAY),
}


def figure(name: str) -> str:
    """Returns the text of the figure with a name; raises KeyError if there is none."""
    module, constant, unit = FIGURES[name]
    value = getattr(import_module(module), constant)
    return str(len(value) if isinstance(value, tuple) else int(value) // unit)


def fill(text: str) -> str:
    """Puts figures into a text in place of their names."""
    if "{" not in text:
        return text
    return re.sub(rf"{{({'|'.join(FIGURES)})}}", lambda found: figure(found[1]), text)
