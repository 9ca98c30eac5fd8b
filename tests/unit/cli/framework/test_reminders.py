"""What is said of a key or a signing secret that is to be replaced, or that is not yet."""

import json
from collections.abc import Iterator
from pathlib import Path

from support.suite.golden import hold_golden
from svc.cli.framework.reminders import annotations, build_finding, build_view
from svc.keys.age import SecretRecord, assess_age

DAY = 86_400
KEY = SecretRecord("api_key", "sk_live_…p7dc", "shop", "https://a.example", "live", 0.0)
JUDGED = (
    *((KEY, days) for days in (1.5, 75, 76, 89.9, 90)),
    (SecretRecord("signing_secret", "we_1", "shop", "", "test", 0.0), 91),
    (SecretRecord("api_key", "sk", "shop", "", "test", 0.0, variable=True), 91),
    (SecretRecord("api_key", "sk", "shop", "", "test", None), 91),
    (SecretRecord("api_key", "sk", "shop", "", "test", 0.0, test_data=True), 91),
    (SecretRecord("api_key", "sk", "shop", "", "test", 90.0 * DAY, "sk_old", 92.0 * DAY), 91),
    (SecretRecord("api_key", "sk", "shop", "", "test", 90.0 * DAY, "sk_old"), 91),
)


def describe(record: SecretRecord, days: float) -> Iterator[str]:
    age = assess_age(record, days * DAY, max_age=90 * DAY, warn=14 * DAY)
    finding = build_finding(age)
    yield f"{days} days: {finding['status']} {finding['name']}"
    yield f"  {finding['detail']} -> {finding['fix']}"
    yield f"  {json.dumps(build_view(age), ensure_ascii=False)}"
    yield from (f"  {line}" for line in annotations([age]))


def test_each_kind_of_secret_has_its_words_at_each_age() -> None:
    """A fortnight before it is due the next step is said; a variable's is the user's own."""
    said = "".join(f"{line}\n" for record, days in JUDGED for line in describe(record, days))
    hold_golden(Path(__file__).with_name("reminders.txt"), said)
