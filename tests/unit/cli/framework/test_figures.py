"""The numbers that help pages name."""

from svc.cli.framework.figures import FIGURES, figure, fill

# In the unit of its name: the specification's hours, days and ports, and our own.
SAID = """
page_objects 25, event_types 18, amount_max 999999999999, service_hours 24, key_hours 23
retry_hours 72, done_hours 12, signature_minutes 5, recent_minutes 10, late_minutes 4
webhook_seconds 10, run_seconds 60, request_days 90, duplicate_days 7, forwarded_days 30
key_days 90, warn_days 14, sandbox_port 4242, remote_port 4243, inspector_port 4244
"""


def test_each_figure_is_what_the_documents_say() -> None:
    """And none but a figure is filled in."""
    said = SAID.replace(",", "").split()
    assert {name: figure(name) for name in FIGURES} == dict(zip(said[::2], said[1::2], strict=True))
    assert fill("{key_hours} of {service_hours} h, {other}") == "23 of 24 h, {other}"
