"""The users of a team's log: a file that its servers include, and what each is to be handed."""

import re
from pathlib import Path

import pytest

from support.running import Result, Svc
from svc.listen.log.users import Users

KEY = "logkey_" + "k" * 43


@pytest.mark.effect_of("events log user add", "--group", "--log", "--role")
def test_a_user_is_added_renewed_and_removed(  # noqa: PLR0915  one story
    svc: Svc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its password is shown once; what a server and the member need beside it is said."""
    monkeypatch.chdir(tmp_path)
    file = Path("users.conf")

    def run(*argv: str, **env: str) -> Result:
        done = svc("events", "log", "user", *argv, env=env)
        assert done.code == 0, done.err
        return done

    def roles() -> dict[str, tuple[str, str]]:
        return {one.name: (one.role, one.group) for one in Users.parse(file.read_text(), "").users}

    anna = run("add", "anna", "--log", "shop")
    assert re.fullmatch(r"anna:[0-9a-f]{40}\n", anna.out)
    assert "reload; twice" in " ".join(anna.err.split())
    assert "svc events log create --print-key" in " ".join(anna.err.split())
    assert file.stat().st_mode & 0o777 == 0o640
    job = run("add", "ci", "--role", "job", SVC_LOG_CREDENTIALS=KEY)
    assert (job.out.splitlines()[1:], "print-key" in job.err) == ([KEY], False)
    run("add", "night", "--role", "job", "--group", "ci")
    run("add", "root", "--role", "admin")
    jobs = {"ci": ("job", "ci"), "night": ("job", "ci"), "root": ("admin", "")}
    assert roles() == {"anna": ("laptop", ""), **jobs}
    before = file.read_text()
    renewed = run("rotate", "anna", SVC_LOG_CREDENTIALS="admin:pw")
    assert renewed.out.startswith("anna:")
    assert renewed.out != anna.out
    assert len({*before.splitlines()} - {*file.read_text().splitlines()}) == 2  # note and login
    told = " ".join(renewed.err.split())
    assert ("reload." in told, "twice" in told, "print-key" in told) == (True, False, True)
    again = svc("events", "log", "user", "add", "ci")
    assert (again.code, again.error["param"]) == (2, "NAME")
    assert "svc events log user rotate ci" in again.error["message"]
    gone = run("remove", "anna")
    assert gone.json == {"object": "log_user", "name": "anna", "removed": True}
    assert "nats-server --signal reload." in " ".join(gone.err.split())
    assert roles() == jobs
