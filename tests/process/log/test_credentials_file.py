"""A member with a NATS credentials file, at a server in operator mode."""

import base64
import binascii
import json
import time
from pathlib import Path
from typing import Any, Final

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from support.listening import TargetServer
from support.team.log import KEY, connect, laptop, make_streams, publish, wait_for
from support.team.servers import servers
from svc.errors import AuthError

pytestmark = pytest.mark.usefixtures("needed")
_SEED: Final = 18 << 3
OPERATOR, ACCOUNT, USER = 14 << 3, 0, 20 << 3
ENDLESS = dict.fromkeys(("subs", "data", "payload", "imports", "exports", "conn", "leaf"), -1)
WITH_STREAMS = dict.fromkeys(("mem_storage", "disk_storage", "streams", "consumer"), -1)


def b32(data: bytes) -> str:
    checked = data + binascii.crc_hqx(data, 0).to_bytes(2, "little")
    return base64.b32encode(checked).decode().rstrip("=")


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


class Nkey:
    """A key as NATS writes it: a letter says what it is of."""

    def __init__(self, kind: int) -> None:
        self._key = Ed25519PrivateKey.generate()
        self.public = b32(bytes([kind]) + self._key.public_key().public_bytes_raw())
        head = bytes([_SEED | (kind >> 5), (kind & 31) << 3])
        self.seed = b32(head + self._key.private_bytes_raw())

    def vouch(self, whose: str, name: str, **of: Any) -> str:
        claims = {"jti": "1", "iat": int(time.time()), "iss": self.public, "name": name}
        claims |= {"sub": whose, "nats": {**of, "version": 2}}
        head = {"typ": "JWT", "alg": "ed25519-nkey"}
        text = ".".join(b64(json.dumps(one).encode()) for one in (head, claims))
        return f"{text}.{b64(self._key.sign(text.encode()))}"


def test_credentials_file_lets_in_whom_it_is_of(tmp_path: Path) -> None:
    """R127: its seed signs what the server asks, and is not sent; another one's is refused."""
    team, shop, system, anna = Nkey(OPERATOR), Nkey(ACCOUNT), Nkey(ACCOUNT), Nkey(USER)
    limits = {**ENDLESS, "wildcards": True}
    accounts = "\n".join(
        f"{one.public}: {team.vouch(one.public, name, type='account', limits=limits | more)}"
        for one, name, more in ((shop, "shop", WITH_STREAMS), (system, "system", {}))
    )
    config = f"""
operator: {team.vouch(team.public, "team", type="operator")}
system_account: {system.public}
resolver: MEMORY
resolver_preload: {{
{accounts}
}}
"""
    token = shop.vouch(anna.public, "anna", type="user", **dict.fromkeys(ENDLESS, -1))
    file = f"""-----BEGIN NATS USER JWT-----
{token}
------END NATS USER JWT------

-----BEGIN USER NKEY SEED-----
{anna.seed}
------END USER NKEY SEED------
{KEY}
"""
    with servers(tmp_path / "log", more=config) as running, TargetServer() as target:
        make_streams(running, file)
        with connect(running, file) as connection:
            publish(connection, range(3))
        with laptop(running, tmp_path / "a", target.port, credentials=file):
            wait_for(lambda: len(target.ids) == 3)
        stolen = file.replace(anna.seed, Nkey(USER).seed)
        with pytest.raises(AuthError, match="its user anna"), connect(running, stolen):
            pass
