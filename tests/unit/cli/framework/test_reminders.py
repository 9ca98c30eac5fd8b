"""What is said of a key or a signing secret that is to be replaced, or that is not yet."""

import pytest

from svc.cli.framework.reminders import annotations, build_finding, build_view, title
from svc.keys.age import SecretAge, SecretRecord, assess_age

DAY = 86_400
KEY = SecretRecord("api_key", "sk_live_…p7dc", "shop", "https://a.example", "live", 0.0)
ROLL = "svc keys roll --profile shop --live"


def judged(record: SecretRecord, days: float) -> SecretAge:
    return assess_age(record, days * DAY, max_age=90 * DAY, warn=14 * DAY)


@pytest.mark.parametrize(
    ("days", "status", "said", "fix"),
    [
        (1.5, "ok", "1 day old, due 1970-04-01", None),
        (75, "ok", "75 days old, due 1970-04-01", None),
        (77, "due", "77 days old, due 1970-04-01", ROLL),
        (90, "overdue", "90 days old, due since 1970-04-01", ROLL),
    ],
)
def test_an_age_is_said_with_the_day_on_which_it_is_too_much(
    days: float, status: str, said: str, fix: str | None
) -> None:
    """And with the next step from a fortnight before on."""
    found = build_finding(judged(KEY, days))
    where = "live key of profile shop (https://a.example)"
    assert found == {
        "name": "sk_live_…p7dc",
        "status": status,
        "detail": f"{where}; {said}",
        "fix": fix,
    }
    view = build_view(judged(KEY, days))
    assert (view["status"], view["next"], view["due"]) == (status, fix, "1970-04-01T00:00:00Z")
    assert (view["age_days"], view["since"]) == (int(days), "1970-01-01T00:00:00Z")
    assert (view["old_key"], view["old_key_ends_by"]) == (None, None)
    told = f"{title(KEY)}, {said}. {ROLL}"
    level = {"overdue": "::error title=API key overdue", "due": "::warning title=API key due"}
    assert list(annotations([judged(KEY, days)])) == (
        [f"{level[status]}::{told}"] if status in level else []
    )


@pytest.mark.parametrize(
    ("record", "detail", "fix"),
    [
        (
            SecretRecord("signing_secret", "we_1", "shop", "", "test", 0.0),
            "test signing secret of profile shop; 91 days old, due since 1970-04-01",
            "Roll the secret in the dashboard, and give the receiver the new one",
        ),
        (
            SecretRecord("api_key", "sk", "shop", "", "test", 0.0, variable=True),
            "test key in SVC_API_KEY; 91 days old, due since 1970-04-01",
            "Roll the key in the dashboard, and set SVC_API_KEY anew where it is kept",
        ),
        (
            SecretRecord("api_key", "sk", "s", "", "test", None),
            "test key of profile s; of unknown age",
            None,
        ),
        (
            SecretRecord("api_key", "sk", "s", "", "test", 0.0, test_data=True),
            (
                "test key of profile s; 91 days old, never due: the sandbox's test data, which is gone "
                "once that is reset"
            ),
            None,
        ),
        (
            SecretRecord("api_key", "sk", "s", "", "test", 90.0 * DAY, "sk_old", 92.0 * DAY),
            (
                "test key of profile s; 1 day old, due 1970-06-30; the old key sk_old works until "
                "1970-04-03T00:00:00Z"
            ),
            None,
        ),
        (
            SecretRecord("api_key", "sk", "s", "", "test", 90.0 * DAY, "sk_old"),
            (
                "test key of profile s; 1 day old, due 1970-06-30; the old key sk_old works until, at "
                "the latest, 1970-04-08T00:00:00Z"
            ),
            None,
        ),
    ],
)
def test_each_kind_of_secret_has_its_words(
    record: SecretRecord, detail: str, fix: str | None
) -> None:
    """A variable's is nobody's but the user's, and a sandbox's is test data."""
    found, view = build_finding(judged(record, 91)), build_view(judged(record, 91))
    assert (found["detail"], found["fix"], view["next"]) == (detail, fix, fix)
    assert view["old_key"] == record.old_name
    assert view["source"] == ("SVC_API_KEY" if record.variable else "keyring")
    assert (view["origin"], view["gone_with_reset"]) == (None, record.test_data)
    ending = [line for line in annotations([judged(record, 91)]) if "Old API key ends" in line]
    assert [line.split("::")[1] for line in ending] == (
        ["warning title=Old API key ends"] if record.old_name else []
    )
