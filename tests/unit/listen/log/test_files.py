"""The files that svc writes for the servers of a log, as they read them."""

import hmac
import re
from dataclasses import replace
from pathlib import Path

import bcrypt
import pytest

from support.suite.golden import hold_golden
from svc.listen.log import proof, template
from svc.listen.log.template import GIB, Cluster
from svc.listen.log.users import ROLES, User, Users

USERS = Users("shop", "test", tuple(User(f"u-{role}", role, "e2e", f"#{role}") for role in ROLES))
THREE = Cluster("shop", "test", template.EXAMPLE_HOSTS, 24 * GIB, trial=False, single=False)


def test_files_of_a_log_are_written_as_agreed() -> None:
    told = [USERS.text()]
    for cluster in (THREE, replace(THREE, trial=True), replace(THREE, single=True)):
        secrets = re.sub(r"\b([kr])[0-9a-f]{48}\b", r"\1(48 digits)", template.environment(cluster))
        told += [template.configuration(cluster, 2), secrets]
    told.append(template.unit(THREE))
    hold_golden(Path(__file__).with_name("files.txt"), "\n----\n".join(told))


def test_users_are_read_as_they_were_written() -> None:
    assert Users.parse(USERS.text(), "users.conf") == USERS
    assert USERS.remove("u-laptop").users == tuple(
        one for one in USERS.users if one.role != "laptop"
    )


@pytest.mark.parametrize(
    ("role", "group", "queue"), [("job", "", "ben"), ("job", "e2e", "e2e"), ("laptop", "", "")]
)
def test_user_has_a_password_of_its_own_and_a_job_its_queue(
    role: str, group: str, queue: str
) -> None:
    """The file has the password's hash alone."""
    more, password = USERS.add("ben", role, group)  # type: ignore[arg-type]
    ben = more.users[-1]
    assert (ben.name, ben.role, ben.group, more.users[:-1]) == ("ben", role, queue, USERS.users)
    assert re.fullmatch("[0-9a-f]{40}", password)
    assert bcrypt.checkpw(password.encode(), ben.hashed.encode())
    rotated, other = more.rotate("ben")
    assert [one.name for one in rotated.users] == [one.name for one in more.users]
    assert bcrypt.checkpw(other.encode(), rotated.users[-1].hashed.encode())
    assert not bcrypt.checkpw(password.encode(), rotated.users[-1].hashed.encode())
    assert rotated.users[:-1] == USERS.users


def test_a_log_has_room_for_a_week_of_its_events() -> None:
    """Whole GiB, ten at least, and a fifth more on each disk: 1,600 bytes an event."""
    week = 7 * 24 * 60 * 1600
    least = 10 * GIB // week
    assert [template.bytes_for(n) // GIB for n in (1, least, least + 1, 10_000)] == [
        10,
        10,
        11,
        151,
    ]
    assert [template.file_bytes_for(n) // GIB for n in (1, 10_000)] == [12, 182]


def test_a_key_of_a_log_is_told_by_its_fingerprint() -> None:
    key, other = proof.make_key(), proof.make_key()
    assert proof.KEY.fullmatch(key)
    assert key != other
    assert re.fullmatch("[0-9a-f]{16}", proof.fingerprint(key))
    assert proof.fingerprint(key) != proof.fingerprint(other)
    joined = b"svc-receiver-proof-1" + b"\0\0\0\0\0\0\0\1a" + b"\0\0\0\0\0\0\0\2bc"
    made = hmac.new(key.encode(), joined, "sha256").hexdigest()  # by any version of svc
    assert proof.prove(key, [b"a", b"bc"]) == made
    assert not proof.is_proved([key], [b"a", b"bc"], proof.prove(key, [b"ab", b"c"]))
    assert proof.is_proved([other, key], [b"a", b"bc"], proof.prove(key, [b"a", b"bc"]))
