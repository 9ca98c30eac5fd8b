"""The control that shows the log of `/v1` requests."""

from svc.sandbox.checks import Integer, Text
from svc.sandbox.control_call import Call, Control
from svc.sandbox.documents import Doc
from svc.sandbox.params import Field
from svc.sandbox.requests_log import KEPT, RequestLog
from svc.spec import LIMIT_DEFAULT


def controls(log: RequestLog) -> tuple[Control, ...]:
    """The controls over one log."""

    async def show(call: Call) -> Doc:
        limit = int(call.params.get("limit", LIMIT_DEFAULT))
        return log.page(limit, call.params.get("path"))

    fields = (Field("limit", Integer(1, KEPT)), Field("path", Text()))
    return (Control("GET", "/requests", show, fields),)
