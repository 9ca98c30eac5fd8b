"""Reading the configuration: what it means, and which line is wrong where it means nothing."""

import os
import stat
from pathlib import Path

import pytest

from svc.base_url import BaseUrl
from svc.config import Profile, load
from svc.config.reading import BYTES_MAX
from svc.errors import ConfigError, ExitCode, LocalError

STRANGER = 47_110  # a user that no machine has
GOOD = """\
# the shop's accounts
active_profile = "shop"
output = "json"
color = "never"
max_time = 12.5
cache = false
keyring_backends = ["corp.rings.Vault"]

[profiles.shop]
base_url = "https://api.example.com/eu"
api_version = "2026-03-01"
auth = "basic"
proxy = "http://proxy.example:3128"
ca_bundle = "/etc/ssl/corp.pem"

[profiles.sandbox]
base_url = "http://127.0.0.1:4242"
sandbox = true
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = tmp_path / "svc"
    folder.mkdir(mode=0o700)
    return folder / "config.toml"


def written(path: Path, data: str | bytes) -> Path:
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    path.chmod(0o600)
    return path


def refusal(path: Path, data: str | bytes) -> ConfigError:
    """Loads a wrong file and checks what holds for all of them: exit 2, nothing changed."""
    written(path, data)
    before = path.read_bytes()
    with pytest.raises(ConfigError) as caught:
        load(path)
    assert caught.value.exit_code == ExitCode.USAGE
    assert path.read_bytes() == before
    assert sorted(path.parent.iterdir()) == [path]
    return caught.value


def test_a_missing_file_is_an_empty_configuration(path: Path) -> None:
    """Nothing has to be set up first: there is a profile named default, with nothing in it."""
    config = load(path)
    assert config.active == Profile("default")
    assert dict(config.profiles) == {}
    assert not path.exists()


def test_every_known_name_is_read(path: Path) -> None:
    """All settings and all fields of a profile come back as typed values."""
    config = load(written(path, GOOD))
    assert (config.output, config.color, config.max_time) == ("json", "never", 12.5)
    assert config.cache is False
    assert config.keyring_backends == ("corp.rings.Vault",)
    assert config.active == Profile(
        "shop",
        base_url=BaseUrl.parse("https://api.example.com/eu"),
        api_version="2026-03-01",
        auth="basic",
        proxy="http://proxy.example:3128",
        ca_bundle="/etc/ssl/corp.pem",
    )
    assert config.profile("sandbox").sandbox


def test_an_unknown_profile_is_refused_with_the_known_ones(path: Path) -> None:
    """A mistyped profile names what there is, and the nearest."""
    with pytest.raises(ConfigError) as caught:
        load(written(path, GOOD)).profile("shpo")
    assert "sandbox, shop" in caught.value.message
    assert caught.value.message.endswith(" Did you mean 'shop'?")
    assert caught.value.hint == "Those that there are: svc profiles list"


def test_an_active_profile_that_is_gone_is_refused_only_when_used(path: Path) -> None:
    """Another profile still works, so that the mistake can be mended."""
    config = load(written(path, GOOD.replace('"shop"', '"gone"')))
    assert config.profile("shop").name == "shop"
    with pytest.raises(ConfigError, match="active_profile is 'gone'") as caught:
        _ = config.active
    assert "svc profiles use" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        pytest.param('output = "js', 1, "no TOML", id="cut inside text"),
        pytest.param('output = "json"\n[profiles.sho', 2, "no TOML", id="cut inside a header"),
        pytest.param('output = "json"\nmax_time =', 2, "no TOML", id="cut before a value"),
        pytest.param("output: json\n", 1, "no TOML", id="YAML"),
        pytest.param("---\nprofiles:\n  - shop\n", 1, "no TOML", id="more YAML"),
        pytest.param('output = "json"\noutput = "csv"\n', 2, "no TOML", id="twice"),
        pytest.param('output = "json"\r\ncolor = "auto"\r\n', 1, "carriage return", id="CRLF"),
        pytest.param('color = "auto"\noutput = "json"\r\n', 2, "carriage return", id="one CR"),
        pytest.param(b'\xef\xbb\xbfoutput = "json"\n', 1, "byte order mark", id="BOM"),
        pytest.param(b'# fine\noutput = "\xff"\n', 2, "not UTF-8", id="Latin-1"),
        pytest.param(b'# fine\noutput = "a\0b"\n', 2, "no TOML", id="NUL"),
        pytest.param("# x\n" * 2_500_000, BYTES_MAX // 4 + 1, "goes on past", id="10 MB"),
        pytest.param("x = " + "[" * 100_000, None, "", id="nested"),
        pytest.param("max_time = " + "9" * 5_000, 1, "no TOML", id="a huge number"),
        pytest.param('# c\noutptu = "json"\n', 2, "outptu is not known", id="unknown setting"),
        pytest.param(
            'output = "xml"\n',
            1,
            "output is 'xml'. Use one of: human, json, ndjson, csv, id.",
            id="unknown format",
        ),
        pytest.param("\n\nmax_time = -1\n", 3, "max_time must be", id="negative time"),
        pytest.param("max_time = nan\n", 1, "max_time must be", id="no number"),
        pytest.param("max_time = true\n", 1, "max_time must be", id="a flag for a time"),
        pytest.param('cache = "no"\n', 1, "cache must be true or false", id="no flag"),
        pytest.param('keyring_backends = "a.B"\n', 1, "must be a list", id="no list"),
        pytest.param('keyring_backends = ["a;b"]\n', 1, "must be a list", id="no class"),
        pytest.param(
            'active_profile = "a b"\n', 1, "is not a profile name", id="a space in a name"
        ),
        pytest.param('profiles = "x"\n', 1, "one table for each", id="no tables"),
        pytest.param("[profiles]\nshop = 3\n", 2, "must be a table", id="no table"),
        pytest.param(
            '[profiles."a|b"]\nbase_url = "https://h.example"\n',
            1,
            "is not a profile name",
            id="bar",
        ),
        pytest.param('[profiles.shop]\nauth = "basic"\n', 1, "has no base_url", id="no address"),
        pytest.param(
            '[profiles.shop]\nbase_url = "https://h.example"\nauth = "digest"\n',
            3,
            "profiles.shop.auth is 'digest'. Use one of: bearer, basic.",
            id="unknown auth",
        ),
        pytest.param(
            'profiles.shop.base_url = "ftp://h.example"\n', 1, "base_url is refused", id="ftp"
        ),
        pytest.param(
            "[profiles.shop]\nbase_url = 4242\n", 2, "base_url must be text", id="a port only"
        ),
        pytest.param(
            '[profiles.a]\nbase_url = "https://h.example"\n\n'
            '[profiles.b]\nbase_url = "https://h.example"\nca_bundle = "corp.pem"\n',
            6,
            "profiles.b.ca_bundle must be the absolute path",
            id="relative path",
        ),
        *(
            pytest.param(
                f'[profiles.a]\nbase_url = "https://h.example"\nkey_command = {value}\n',
                3,
                "key_command must be a program with its arguments",
                id=f"key_command {value}",
            )
            for value in ("4", '""', '"op\\u0007 read"', '"op \\"read"')
        ),
        pytest.param(
            '[profiles.a]\nbase_url = "https://h.example"\napi_version = 2026-03-01\n',
            3,
            "api_version must be a date",
            id="a TOML date",
        ),
    ],
)
def test_a_wrong_file_is_refused_by_line(
    path: Path, text: str | bytes, line: int | None, words: str
) -> None:
    """Half-written, CRLF, BOM, 10 MB, YAML, unknown names and values: exit 2, line named."""
    error = refusal(path, text)
    assert words in error.message
    place = f"{path}, line {line}: " if line else str(path)
    assert error.message.startswith(place)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ('outptu = "json"\n', "Did you mean output?"),
        ('[profiles.a]\nbase_ulr = "x"\n', "Did you mean base_url?"),
        ('api_key = "sk_live_4eC39HqLyjWDarjtT1zdp7dc"\n', "API keys are not kept in this file"),
    ],
)
def test_an_unknown_name_gets_advice(path: Path, text: str, hint: str) -> None:
    """The nearest known name is offered, and a key's value is not repeated."""
    error = refusal(path, text)
    assert hint in str(error.hint)
    assert "4eC39" not in error.message


def test_an_address_with_a_password_is_refused_without_showing_it(path: Path) -> None:
    """R39: the error does not print what should never have been in the file."""
    error = refusal(path, '[profiles.a]\nbase_url = "https://joe:hunter2@h.example"\n')
    assert "user name" in error.message
    assert "hunter2" not in error.message


def test_a_name_from_the_file_cannot_reach_the_terminal_raw(path: Path) -> None:
    """R61: an escape sequence in a name is shown as text."""
    assert "\x1b" not in refusal(path, '"\\u001b[31m" = 1\n').message


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write_is_refused(path: Path, mode: int) -> None:
    """Who can write it chooses where requests go, so it is not believed."""
    written(path, GOOD).chmod(mode)
    with pytest.raises(LocalError, match="changed by other users") as caught:
        load(path)
    assert caught.value.exit_code == ExitCode.LOCAL
    assert f"chmod 600 '{path}'" in str(caught.value.hint)


@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777, 0o1777])
def test_a_folder_that_others_may_write_is_refused(path: Path, mode: int) -> None:
    """R104: who can write the folder puts another file in the place of ours."""
    written(path, GOOD)
    path.parent.chmod(mode)
    with pytest.raises(LocalError, match=f"{path.parent} can be changed") as caught:
        load(path)
    assert caught.value.exit_code == ExitCode.LOCAL
    assert caught.value.hint == f"Run: chmod 700 '{path.parent}'"


@pytest.mark.parametrize("mode", [0o755, 0o700, 0o500])
def test_a_folder_that_others_may_read_is_fine(path: Path, mode: int) -> None:
    """No secret stands in it."""
    written(path, GOOD)
    path.parent.chmod(mode)
    assert load(path).active.name == "shop"


def give_away(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes a file somebody else's; who is not root becomes somebody else himself."""
    if os.geteuid() == 0:
        os.chown(path, STRANGER, STRANGER, follow_symlinks=False)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: STRANGER)


@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_another_user_owns_is_not_believed(
    path: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R104: he wrote it, whatever its mode says now."""
    theirs = written(path, GOOD) if what == "file" else path.parent
    give_away(theirs, monkeypatch)
    with pytest.raises(LocalError, match="belongs to another user") as caught:
        load(path)
    assert caught.value.exit_code == ExitCode.LOCAL
    mode = 600 if what == "file" else 700
    assert f"&& chmod {mode} '" in str(caught.value.hint)


def test_another_users_link_to_a_folder_of_ours_is_not_followed(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R104: it may lead to what we once downloaded from him."""
    written(path, GOOD)
    link = tmp_path / "link"
    link.symlink_to(path.parent)
    assert load(link / path.name).active.name == "shop"
    give_away(link, monkeypatch)
    with pytest.raises(LocalError, match="belongs to another user"):
        load(link / path.name)


def test_what_root_owns_is_believed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R104: an administrator, or a container's image, may have put it there."""
    real = Path.stat

    def roots(self: Path, **how: bool) -> os.stat_result:
        facts = list(real(self, **how))
        facts[stat.ST_UID] = 0
        return os.stat_result(facts)

    written(path, GOOD)
    monkeypatch.setattr(Path, "stat", roots)
    monkeypatch.setattr(os, "fstat", lambda handle: roots(path))
    monkeypatch.setattr(os, "geteuid", lambda: STRANGER)
    assert load(path).active.name == "shop"


def test_a_folder_in_its_place_is_refused(path: Path) -> None:
    """The message says what the system says."""
    path.mkdir()
    with pytest.raises(ConfigError, match="cannot be read: is a directory"):
        load(path)


@pytest.mark.parametrize(
    ("address", "known"),
    [
        ("http://127.0.0.1:4242", True),
        ("http://127.0.0.1:4242/v9", True),
        ("http://127.0.0.1:4243", False),
        ("https://api.example.com", False),
    ],
)
def test_a_sandbox_is_known_by_the_address_of_its_profile(
    path: Path, address: str, known: bool
) -> None:
    """SVC_BASE_URL from `svc sandbox env` reaches the same sandbox as its profile does."""
    assert load(written(path, GOOD)).is_sandbox(BaseUrl.parse(address)) is known


def test_a_remote_address_is_never_a_sandbox(path: Path) -> None:
    """R21: the sandbox's public keys are for this machine, whatever a profile says."""
    text = '[profiles.x]\nbase_url = "https://api.example.com"\nsandbox = true\n'
    config = load(written(path, text))
    assert not config.is_sandbox(BaseUrl.parse("https://api.example.com"))
