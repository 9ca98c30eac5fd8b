"""What the surface keeps beside the store, and forgets with every reset and restart.

On purpose: fault rules and the log belong to a run of somebody's tests and not to the account. A
restart is the way out of rules that make the sandbox unusable, and no request costs a write more.
"""

from dataclasses import dataclass, field

from svc.sandbox.faults import Faults
from svc.sandbox.requests_log import RequestLog
from svc.sandbox.webhook_faults import WebhookFaults


@dataclass(frozen=True, slots=True)
class Memory:
    """The fault rules and the log of requests."""

    faults: Faults = field(default_factory=Faults)
    webhook_faults: WebhookFaults = field(default_factory=WebhookFaults)
    log: RequestLog = field(default_factory=RequestLog)

    def forget(self) -> None:
        self.faults.remove()
        self.webhook_faults.remove()
        self.log.clear()
