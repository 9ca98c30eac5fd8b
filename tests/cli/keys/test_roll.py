"""`svc keys roll` through the real program: the dashboard is the sandbox's, the keyring a fake."""

import json
import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from support.on_terminal import AtTerminal
from support.orders import CREATE_ORDER as ORDER
from support.ring_file import FakeRing
from support.running import Sandbox, Svc
from svc.api_keys import parse
from svc.clock import SystemClock
from svc.keys.facts import KeyFacts
from svc.keys.places import KeyPlace

DAY = 86_400


class Dashboard:
    """What a merchant does in the dashboard, by the controls of the sandbox."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._control = sandbox.control

    def make(self, kind: str = "secret", mode: str = "test") -> Any:
        body: dict[str, Any] = {"type": kind}
        if kind == "restricted":
            body["permissions"] = {"orders": "write"}
        return self._control("POST", f"/keys?mode={mode}", body)

    def roll(self, identity: str, grace: int = 0) -> str:
        made = self._control("POST", f"/keys/{identity}/roll", {"expires_in": grace})
        return str(made["secret"])

    def listed(self) -> Any:
        return self._control("GET", "/keys")["data"]


@pytest.fixture
def dashboard(sandbox: Sandbox) -> Dashboard:
    return Dashboard(sandbox)


@pytest.fixture
def stored(
    sandbox: Sandbox,
    dashboard: Dashboard,
    fake_ring: FakeRing,
    isolated: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Any:
    """A key in the fake keyring, as `keys add` stores it; that a sandbox answers is not known."""
    monkeypatch.delenv("SVC_API_KEY", raising=False)
    made = dashboard.make()
    place = KeyPlace(sandbox.url, "default", "test")
    fake_ring.path.write_text(json.dumps({f"svc {place.user}": made["secret"]}))
    facts = KeyFacts(isolated / "state" / "state.db", SystemClock())
    key = parse(made["secret"], "the dashboard")
    facts.remember(place, key, "fake_file_ring.Keyring", checked=True)
    return made


@pytest.fixture
def as_sandbox(own_sandbox: Sandbox, isolated: Path, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    """The profile that a started sandbox has: it uses the public constants, without a keyring."""
    folder = isolated / "config"
    folder.mkdir(mode=0o700)
    text = f'[profiles.sandbox]\nbase_url = "{own_sandbox.url}"\nsandbox = true\n'
    (folder / "config.toml").write_text(f'active_profile = "sandbox"\n{text}')
    for name in ("SVC_BASE_URL", "SVC_API_KEY"):
        monkeypatch.delenv(name)
    return own_sandbox


def constant(sandbox: Sandbox) -> Any:
    listed = sandbox.control("GET", "/keys")["data"]
    return next(each for each in listed if each["key"].startswith("sk_test_"))


@pytest.mark.effect_of("keys roll", "--stdin")
def test_the_whole_story_on_a_sandbox(svc: Svc, as_sandbox: Sandbox) -> None:
    """Rolled in its dashboard, swapped in, used from then on; the old one ends by its clock."""
    svc.ok("sandbox", "advance", "20d")
    order = svc.ok(*ORDER)["id"]
    identity = svc.ok("sandbox", "keys", "list")["data"][0]["id"]
    fresh = svc("sandbox", "keys", "roll", identity, "--grace", "24h", "--query", "secret")
    secret = fresh.json
    rolled = svc.ok("keys", "roll", "--grace", "24h", "--stdin", stdin=f"{secret}\n")
    assert (rolled["old_key_works"], rolled["same_account"]) == (True, True)
    assert rolled["fingerprint"].endswith(secret[-4:])
    (ends,) = [key["expires_at"] for key in svc.ok("sandbox", "keys", "list")["data"][:1]]
    told, due = map(datetime.fromisoformat, (rolled["old_key_ends"], ends))
    assert abs(told - due) < timedelta(minutes=1)

    assert svc.ok("orders", "list")["data"][0]["id"] == order
    assert svc.ok("whoami")["key"] == rolled["fingerprint"]
    (shown,) = svc.ok("keys", "remind")
    assert (shown["old_key_ends_by"], shown["status"]) == (rolled["old_key_ends"], "ok")

    old = {"SVC_API_KEY": "sk_test_sandbox"}
    assert svc("orders", "list", env=old).code == 0
    svc.ok("sandbox", "advance", "24h")
    ended = svc("orders", "list", env=old)
    assert (ended.code, ended.error["status"], ended.error["code"]) == (4, 401, "api_key_expired")
    assert svc.ok("orders", "list")["data"][0]["id"] == order
    again = svc.ok("sandbox", "keys", "roll", fresh_id(svc), "--query", "secret")
    assert svc.ok("keys", "roll", "--stdin", stdin=again)["old_key_works"] is False
    assert svc.ok("orders", "list")["data"][0]["id"] == order


def fresh_id(svc: Svc) -> str:
    """The key of the dashboard that has not been rolled."""
    listed = svc.ok("sandbox", "keys", "list")["data"]
    return str(
        next(each["id"] for each in listed if not each["expires_at"] and each["type"] == "secret")
    )


def test_removing_a_rolled_sandbox_key_returns_to_the_constant(
    svc: Svc, as_sandbox: Sandbox
) -> None:
    """After a reset the sandbox knows its constants again."""
    secret = as_sandbox.control("POST", f"/keys/{constant(as_sandbox)['id']}/roll", {})["secret"]
    svc.ok("keys", "roll", "--stdin", stdin=secret)
    as_sandbox.control("POST", "/reset", {})
    assert svc("orders", "list").code == 4
    svc.ok("keys", "remove")
    assert svc("orders", "list").code == 0


def test_the_new_key_takes_the_old_ones_place(
    svc: Svc, stored: Any, dashboard: Dashboard, fake_ring: FakeRing
) -> None:
    """R36: one item afterwards; what is remembered of the old key is when it ends."""
    secret = dashboard.roll(stored["id"], 7 * DAY)
    rolled = svc.ok("keys", "roll", "--grace", "7d", "--stdin", stdin=secret)
    assert list(fake_ring.items.values()) == [secret]
    assert rolled["old_key"].endswith(stored["secret"][-4:])
    assert rolled["same_account"] is None  # this account has no object yet
    assert svc.ok("keys", "list")[0]["old_key_ends"] == rolled["old_key_ends"]
    assert svc("orders", "list").code == 0


def test_a_new_key_that_cannot_be_noted_is_in_its_place_all_the_same(
    svc: Svc, stored: Any, dashboard: Dashboard, fake_ring: FakeRing, isolated: Path
) -> None:
    """Whoever reads of a full disk would take the old key for the one that is stored."""
    facts = isolated / "state" / "state.db"
    with closing(sqlite3.connect(facts)) as state:
        state.execute(
            "CREATE TRIGGER full BEFORE INSERT ON key_facts BEGIN SELECT RAISE(FAIL, 'x'); END"
        )
        state.commit()
    secret = dashboard.roll(stored["id"])
    rolled = svc("keys", "roll", "--stdin", stdin=secret)
    assert rolled.code == 10
    assert rolled.error["message"].startswith("The new key is in its place, but not noted. ")
    assert list(fake_ring.items.values()) == [secret]


def test_people_are_told_what_was_not_checked(svc: Svc, stored: Any, dashboard: Dashboard) -> None:
    """An account without objects cannot be told from another one."""
    shown = svc("keys", "roll", "--stdin", "-o", "human", stdin=dashboard.roll(stored["id"]))
    assert shown.code == 0
    assert "no object is known from it" in shown.err
    assert stored["secret"] not in shown.out + shown.err


@pytest.mark.parametrize(
    ("grace", "given", "works", "known", "words"),
    [
        (0, (), False, True, ""),
        pytest.param(0, ("--grace", "0"), False, True, "", marks=pytest.mark.slow),
        (0, ("--grace", "1h"), False, True, "works no more"),
        pytest.param(DAY, ("--grace", "24h"), True, True, "", marks=pytest.mark.slow),
        (DAY, (), True, False, "still works; --grace was not given"),
        pytest.param(DAY, ("--grace", "0"), True, False, "still works", marks=pytest.mark.slow),
    ],
)
def test_what_is_seen_of_the_old_key_wins_over_what_is_said(
    svc: Svc,
    stored: Any,
    dashboard: Dashboard,
    grace: int,
    given: tuple[str, ...],
    works: bool,
    known: bool,
    words: str,
) -> None:
    """Spec: immediately up to 7 days; an end that nobody knows is not made up."""
    secret = dashboard.roll(stored["id"], grace)
    rolled = svc("keys", "roll", "--stdin", *given, stdin=secret)
    assert rolled.json["old_key_works"] is works
    assert (rolled.json["old_key_ends"] is not None) is known
    assert words in rolled.err


@pytest.mark.parametrize(
    ("make", "code", "exit_code"),
    [
        pytest.param(lambda old, _: old["secret"], "key_not_new", 4, id="the old key"),
        pytest.param(lambda *_: "sk_live_sandbox", "mode_mismatch", 4, id="other mode"),
        pytest.param(lambda _, d: d.make("restricted")["secret"], "kind_mismatch", 4, id="kind"),
        pytest.param(lambda *_: "pk_test_sandbox", "kind_mismatch", 4, id="publishable"),
        pytest.param(lambda *_: "sk_test_unknown", "api_key_invalid", 4, id="unknown"),
        pytest.param(
            lambda *_: "hunter2", "api_key_invalid", 2, id="no key", marks=pytest.mark.slow
        ),
        pytest.param(lambda *_: "", "api_key_missing", 2, id="nothing", marks=pytest.mark.slow),
    ],
)
def test_what_is_no_successor_is_refused(
    svc: Svc,
    stored: Any,
    dashboard: Dashboard,
    fake_ring: FakeRing,
    make: Any,
    code: str,
    exit_code: int,
) -> None:
    """The old key stays in its place, and no key is repeated."""
    given = make(stored, dashboard)
    refused = svc("keys", "roll", "--stdin", stdin=given)
    assert (refused.code, refused.error["code"], refused.out) == (exit_code, code, "")
    assert not given or given not in refused.err
    assert list(fake_ring.items.values()) == [stored["secret"]]
    assert "rolled" not in svc.ok("keys", "list")[0]


def test_a_key_of_another_account_is_refused(
    svc: Svc, stored: Any, sandbox: Sandbox, dashboard: Dashboard, fake_ring: FakeRing
) -> None:
    """What was made with the old key must be there for the new one; exit 4."""
    order = svc.ok(*ORDER)["id"]
    sandbox.control("POST", "/reset", {"seed": 7})  # from here on it is another account
    secret = dashboard.make()["secret"]
    refused = svc("keys", "roll", "--stdin", stdin=secret)
    assert (refused.code, refused.error["code"]) == (4, "account_mismatch")
    assert order in refused.error["message"]
    assert list(fake_ring.items.values()) == [stored["secret"]]
    taken = svc.ok("keys", "roll", "--stdin", "--no-check", stdin=secret)
    assert (taken["same_account"], taken["checked"]) == (None, None)
    assert svc("orders", "list").code == 0


def test_what_another_key_has_made_tells_nothing_of_the_account(
    svc: Svc, stored: Any, sandbox: Sandbox, dashboard: Dashboard, isolated: Path
) -> None:
    """A key in the environment may be of another account; what it made is no witness."""
    svc.ok(*ORDER, env={"SVC_API_KEY": "sk_test_sandbox"})
    with closing(sqlite3.connect(isolated / "state" / "state.db")) as db, db:
        db.execute("UPDATE requests SET object_id = 'ord_ofAnotherAccount12345678'")
    rolled = svc.ok("keys", "roll", "--stdin", stdin=dashboard.roll(stored["id"]))
    assert rolled["same_account"] is None


def test_a_restricted_key_is_rolled_as_well(
    svc: Svc, stored: Any, dashboard: Dashboard, fake_ring: FakeRing
) -> None:
    """It need not be allowed to list orders; the new one has the same permissions."""
    made = dashboard.make("restricted")
    svc.ok("keys", "add", "--stdin", stdin=made["secret"])
    rolled = svc.ok("keys", "roll", "--stdin", stdin=dashboard.roll(made["id"], DAY))
    assert (rolled["kind"], rolled["old_key_works"]) == ("restricted", True)


def test_a_live_key_of_a_sandbox_is_not_taken(svc: Svc, as_sandbox: Sandbox) -> None:
    """R21: only its public live key goes to this machine; what it was rolled into does not."""
    listed = as_sandbox.control("GET", "/keys?mode=live")["data"]
    (key,) = [each for each in listed if each["type"] == "secret"]
    secret = as_sandbox.control("POST", f"/keys/{key['id']}/roll?mode=live", {})["secret"]
    refused = svc("keys", "roll", "--live", "--stdin", stdin=secret)
    assert (refused.code, refused.error["code"]) == (4, "live_key_refused")


def test_an_old_key_that_has_ended_leaves_the_journal_to_tell(
    svc: Svc, stored: Any, dashboard: Dashboard
) -> None:
    """The usual case with --stdin and no grace: the old key can no longer be asked."""
    svc.ok(*ORDER)
    rolled = svc.ok("keys", "roll", "--stdin", stdin=dashboard.roll(stored["id"]))
    assert (rolled["old_key_works"], rolled["same_account"]) == (False, True)


@pytest.mark.effect_of("keys roll", "--no-check")
def test_a_service_that_is_not_reached_changes_nothing(
    svc: Svc, stored: Any, sandbox: Sandbox, dashboard: Dashboard, fake_ring: FakeRing
) -> None:
    fault = {"match": {"path": "/v1/orders"}, "times": 9, "effect": {"status": 503}}
    secret = dashboard.roll(stored["id"], DAY)
    sandbox.control("POST", "/faults", fault)
    failed = svc("keys", "roll", "--stdin", "--max-time", "1", "-o", "human", stdin=secret)
    assert failed.code == 8
    assert "--no-check" in failed.err
    assert list(fake_ring.items.values()) == [stored["secret"]]


def test_nothing_to_roll_is_an_error(svc: Svc, fake_ring: FakeRing) -> None:
    refused = svc("keys", "roll", "--stdin", "--base-url", "https://api.example.com")
    assert (refused.code, refused.error["code"]) == (4, "api_key_missing")


@pytest.mark.slow
def test_a_request_of_the_old_key_goes_on_under_the_new_one(
    svc: Svc, stored: Any, sandbox: Sandbox, dashboard: Dashboard
) -> None:
    """R3: same idempotency key, no question asked, one order."""
    lost_answer = {"phase": "after", "times": 9, "effect": {"connection": "close"}}
    sandbox.control("POST", "/faults", {"match": {"method": "POST"}, **lost_answer})
    lost = svc(*ORDER, "--max-time", "2")
    assert lost.code == 7, lost.err
    sandbox.control("DELETE", "/faults")
    svc.ok("keys", "roll", "--stdin", stdin=dashboard.roll(stored["id"]))
    resumed = svc.ok("requests", "resume", lost.error["request"])
    assert [each["id"] for each in svc.ok("orders", "list")["data"]] == [resumed["id"]]
    shown = svc.ok("requests", "show", lost.error["request"])
    assert shown["idempotency_key"] == lost.error["idempotency_key"]


# --- what a crash leaves ----------------------------------------------------------------------

DYING = """
import os, signal
from fake_file_ring import Keyring


class DyingKeyring(Keyring):
    # Replaces as the macOS keychain does: delete, then add.
    def set_password(self, service, username, password):
        try:
            self.delete_password(service, username)
        except KeyError:
            pass
        self._count()
        super().set_password(service, username, password)
        self._count()

    def delete_password(self, service, username):
        super().delete_password(service, username)
        self._count()

    def _count(self):
        with open(os.environ["FAKE_RING"] + ".steps", "a") as file:
            file.write("x")
            steps = file.tell()
        if str(steps) == os.environ.get("DIES_AT"):
            os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def dying_ring(fake_ring: FakeRing, isolated: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The fake keyring, which can have the whole program killed between any two of its steps."""
    folder = isolated / "dying"
    folder.mkdir()
    (folder / "dying_ring.py").write_text(DYING)
    monkeypatch.setenv("PYTHONPATH", f"{folder}{os.pathsep}{os.environ['PYTHONPATH']}")
    config = isolated / "config" / "config.toml"
    config.write_text('keyring_backends = ["dying_ring.DyingKeyring"]\n')
    return Path(f"{fake_ring.path}.steps")


@pytest.mark.parametrize(
    "step",
    [pytest.param(step, marks=() if step == 4 else pytest.mark.slow) for step in range(1, 7)],
)
def test_kill_in_the_middle_of_a_roll_leaves_a_working_key(
    svc: Svc,
    sandbox: Sandbox,
    dashboard: Dashboard,
    dying_ring: Path,
    fake_ring: FakeRing,
    monkeypatch: pytest.MonkeyPatch,
    step: int,
) -> None:
    """R36: kill -9 between any two steps, such as delete and add (4), leaves a key.

    The steps: the copy is added; the old one deleted; the new one added; the copy deleted.
    """
    monkeypatch.delenv("SVC_API_KEY", raising=False)
    made = dashboard.make()
    svc.ok("keys", "add", "--stdin", stdin=made["secret"])
    dying_ring.unlink()
    secret = dashboard.roll(made["id"], DAY)
    argv = ("keys", "roll", "--grace", "24h", "--stdin")
    assert svc(*argv, stdin=secret, env={"DIES_AT": str(step)}).code == -9
    assert set(fake_ring.items.values()) <= {made["secret"], secret}
    assert svc("orders", "list").code == 0
    finished = svc("keys", "roll", "--grace", "24h", "--stdin", stdin=secret)
    assert finished.code == 0, finished.err
    assert list(fake_ring.items.values()) == [secret]
    # Where only the note was missing, the old key is gone and cannot be asked any more.
    assert finished.json["old_key_works"] is (None if step >= 3 else True)
    (noted,) = svc.ok("keys", "list")
    assert (noted["fingerprint"][-4:], noted["old_key"][-4:]) == (secret[-4:], made["secret"][-4:])


def test_of_two_rolls_at_once_the_later_one_is_refused(
    svc: Svc, stored: Any, dashboard: Dashboard, fake_ring: FakeRing
) -> None:
    """R36: a key that is older than the stored one by now does not take its place."""
    older = dashboard.roll(stored["id"], DAY)
    listed = dashboard.listed()
    newer = dashboard.roll(
        next(each["id"] for each in listed if each["key"][-4:] == older[-4:]), DAY
    )
    waiting = subprocess.Popen(
        [sys.executable, "-m", "svc", "keys", "roll", "--stdin"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not any(call.endswith("|new") for call in fake_ring.calls):  # it has read the old key
        assert waiting.poll() is None
        time.sleep(0.01)
    svc.ok("keys", "roll", "--stdin", stdin=newer)
    out, err = waiting.communicate(older)
    assert (waiting.returncode, out) == (4, "")
    assert json.loads(err.splitlines()[-1])["error"]["code"] == "key_changed"
    assert list(fake_ring.items.values()) == [newer]
    assert svc.ok("keys", "list")[0]["fingerprint"][-4:] == newer[-4:]


def test_a_new_key_that_was_left_behind_is_taken_up(
    svc: Svc, stored: Any, sandbox: Sandbox, dashboard: Dashboard, fake_ring: FakeRing
) -> None:
    """It was shown once, and nobody may have it any more: the keyring does."""
    secret = dashboard.roll(stored["id"])
    place = f"svc {sandbox.url}|default|test"
    fake_ring.path.write_text(f'{{"{place}": "{stored["secret"]}", "{place}|new": "{secret}"}}')
    assert svc("orders", "list").code == 4
    gone_on = svc("keys", "roll")
    assert gone_on.code == 0, gone_on.err
    assert "An earlier roll was interrupted" in gone_on.err
    assert fake_ring.items == {place: secret}
    assert svc("orders", "list").code == 0


# --- a person at a terminal -------------------------------------------------------------------


@pytest.mark.effect_of("keys roll", "--dashboard")
def test_a_person_is_led_to_the_dashboard(
    at_terminal: AtTerminal,
    stored: Any,
    dashboard: Dashboard,
    fake_ring: FakeRing,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The page is opened, the key typed unseen; the browser is told the address and no key."""
    browser = tmp_path / "browser"
    seen = tmp_path / "seen"
    browser.write_text(f'#!/bin/sh\n{{ echo "$1"; env; }} > {seen}.part\nmv {seen}.part {seen}\n')
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", str(browser))
    monkeypatch.setenv("SVC_API_KEY", "sk_test_4eC39HqLyjWDarjtT1zdp7dc")
    secret = dashboard.roll(stored["id"])
    page = "https://dashboard.example.com/keys"
    done = at_terminal(f"{secret}\n", "keys", "roll", "--dashboard", page)
    assert done.code == 0, done.out
    assert page in done.out
    assert secret not in done.out
    assert list(fake_ring.items.values()) == [secret]
    told = seen.read_text()
    assert told.splitlines()[0] == page
    assert "4eC39" not in told
    assert "SVC_API_KEY is set" in done.out


@pytest.mark.parametrize(
    ("typed", "known"), [("9d\n24h\n", True), pytest.param("\n", False, marks=pytest.mark.slow)]
)
def test_a_person_is_asked_how_long_the_old_key_works(
    at_terminal: AtTerminal, svc: Svc, stored: Any, dashboard: Dashboard, typed: str, known: bool
) -> None:
    """It was chosen in the dashboard and cannot be seen from here; what cannot be is asked again."""
    secret = dashboard.roll(stored["id"], DAY)
    done = at_terminal(f"{secret}\n{typed}", "keys", "roll")
    assert done.code == 0, done.out
    assert ("--grace must be at most 7d" in done.out) is known
    assert (svc.ok("keys", "list")[0]["old_key_ends"] is not None) is known


def test_no_page_is_opened_where_nobody_is(
    svc: Svc, stored: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a pipe the address is said, and what is missing is the key: exit 2."""
    monkeypatch.setenv("BROWSER", f"{sys.executable} -c raise")
    refused = svc("keys", "roll", "--dashboard", "https://dashboard.example.com", "-o", "human")
    assert refused.code == 2
    assert "https://dashboard.example.com" in refused.err
    assert "svc keys roll --stdin" in refused.err


def test_the_sandboxes_own_command_is_named(svc: Svc, as_sandbox: Sandbox) -> None:
    """The dashboard of a sandbox is a command; it is shown with the key's id."""
    shown = svc("keys", "roll", "-o", "human")
    identity = constant(as_sandbox)["id"]
    assert f"svc sandbox keys roll {identity}" in shown.err
    refused = svc("keys", "roll", env={"SVC_API_KEY": "sk_test_4eC39HqLyjWDarjtT1zdp7dc"})
    assert (refused.code, refused.error["code"]) == (4, "key_in_environment")
    svc.ok("config", "set", "profiles.sandbox.base_url", "http://127.0.0.1:9")
    away = svc("keys", "roll", "--no-check", "--live", "-o", "human").err
    assert "svc sandbox keys roll KEY_ID --grace 24h --profile sandbox --live" in away


def test_what_is_kept_of_a_sandbox_key_is_in_its_table_only(
    svc: Svc, as_sandbox: Sandbox, isolated: Path
) -> None:
    """The notes of keys hold no key; a sandbox's is test data and lies apart."""
    secret = as_sandbox.control("POST", f"/keys/{constant(as_sandbox)['id']}/roll", {})["secret"]
    told = svc("keys", "roll", "--stdin", "-o", "human", stdin=secret)
    assert "is kept in the state database" in told.err
    assert "svc keys remove" in told.err
    with closing(sqlite3.connect(isolated / "state" / "state.db")) as db:
        assert secret not in str(db.execute("SELECT * FROM key_facts").fetchall())
        assert db.execute("SELECT secret FROM sandbox_keys").fetchall() == [(secret,)]
        svc.ok("keys", "remove")
        assert db.execute("SELECT * FROM sandbox_keys").fetchall() == []
