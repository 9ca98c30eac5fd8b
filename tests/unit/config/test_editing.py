"""Changing the configuration: whole or not at all, comments kept, no write through a link."""

import os
import stat
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.suite.drawing import examples
from svc.config import editing, load
from svc.config.editing import write_atomically
from svc.errors import ConfigError, ExitCode, LocalError

pytestmark = pytest.mark.smoke

URL = "https://api.example.com"

COMMENTED = """\
# our accounts
output = 'json' # for jq

# the shop
[profiles.shop] # main
base_url = 'https://api.example.com' # eu

[profiles.outlet]
base_url = "https://outlet.example.com"
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "svc" / "config.toml"


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(mode=0o700, exist_ok=True)
    path.write_text(text)
    path.chmod(0o600)
    return path


def test_the_first_profile_makes_file_and_folder_private(path: Path) -> None:
    """R66, R67: the folder is 0700 and the file 0600, whatever the umask; the profile is active."""
    old = os.umask(0)
    try:
        config = editing.create_profile(path, "shop", {"base_url": URL})
    finally:
        os.umask(old)
    assert config.active.name == "shop"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert load(path) == config


def test_a_later_profile_does_not_become_active(path: Path) -> None:
    """Creating a profile never switches accounts."""
    editing.create_profile(path, "shop", {"base_url": URL})
    config = editing.create_profile(path, "sandbox", {"base_url": URL, "sandbox": True})
    assert config.active.name == "shop"


def test_comments_survive_every_change(path: Path) -> None:
    """What a person wrote beside a setting stays there."""
    written(path, COMMENTED)
    editing.use_profile(path, "shop")
    editing.set_value(path, "profiles.shop.auth", "basic")
    editing.set_value(path, "output", "csv")
    editing.remove_profile(path, "outlet")
    text = path.read_text()
    for comment in ("# our accounts", "# for jq", "# the shop", "# main", "# eu"):
        assert comment in text
    config = load(path)
    assert (config.output, config.active.auth) == ("csv", "basic")
    assert list(config.profiles) == ["shop"]


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("output", "ndjson", "ndjson"),
        ("cache", "false", False),
        ("max_time", "90", 90),
        ("max_time", "1.5", 1.5),
        ("keyring_backends", "a.B, c.d.E", ["a.B", "c.d.E"]),
        ("active_profile", "outlet", "outlet"),
        ("profiles.shop.sandbox", "true", True),
        ("profiles.shop.ca_bundle", "/etc/ca.pem", "/etc/ca.pem"),
        ("profiles.new.base_url", "https://new.example", "https://new.example"),
    ],
)
def test_a_value_set_from_text_has_its_type(path: Path, name: str, text: str, value: Any) -> None:
    """`svc config set` takes text and writes a flag, a number, a list or text."""
    editing.set_value(written(path, COMMENTED), name, text)
    found: Any = tomllib.loads(path.read_text())
    for part in name.split("."):
        found = found[part]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("change", "words", "hint"),
    [
        (
            lambda p: editing.set_value(p, "output", "xml"),
            "output is 'xml'. Use one of: human, json, ndjson, csv, id.",
            "",
        ),
        (lambda p: editing.set_value(p, "cache", "no"), "cache must be true or false", ""),
        (lambda p: editing.set_value(p, "max_time", "soon"), "max_time must be a number", ""),
        (
            lambda p: editing.set_value(p, "profiles.new.auth", "basic"),
            "There is no profile 'new'",
            "Create it: svc profiles create new --base-url URL",
        ),
        (
            lambda p: editing.set_value(p, "profiles.shop.base_url", "http:x"),
            "base_url is refused",
            "",
        ),
        (lambda p: editing.set_value(p, "active_profile", "gone"), "no profile 'gone'", "create"),
        (lambda p: editing.remove_value(p, "color"), "color is not set", ""),
        (lambda p: editing.remove_value(p, "profiles.gone.auth"), "is not set", ""),
        (lambda p: editing.remove_value(p, "profiles.shop.base_url"), "has no base_url", ""),
        (lambda p: editing.use_profile(p, "gone"), "no profile 'gone'", "create gone"),
        (lambda p: editing.remove_profile(p, "gone"), "no profile 'gone'", ""),
        (
            lambda p: editing.create_profile(p, "a|b", {"base_url": URL}),
            "is not a profile name",
            "",
        ),
        (lambda p: editing.create_profile(p, "x", {"auth": "basic"}), "has no base_url", ""),
        (
            lambda p: editing.create_profile(p, "shop", {"base_url": URL}),
            "a profile 'shop' already",
            "svc profiles use shop",
        ),
        (
            lambda p: editing.create_profile(p, "shop", {"base_url": URL, "key_command": "op a"}),
            "a profile 'shop' already",
            "svc config set profiles.shop.key_command 'op a'",
        ),
    ],
)
def test_a_wrong_change_is_refused_and_nothing_is_written(
    path: Path, change: Callable[[Path], object], words: str, hint: str
) -> None:
    """What would not be understood when read again is not written in the first place."""
    written(path, COMMENTED)
    with pytest.raises(ConfigError, match=words) as caught:
        change(path)
    assert hint in str(caught.value.hint)
    assert path.read_text() == COMMENTED
    assert sorted(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("field", ["base_url", "limits.live.refunds"])
def test_a_key_is_no_name_of_a_profile(path: Path, field: str) -> None:
    """R39: typed in the wrong place, it would stand in the file in clear."""
    key = "sk_live_4eC39HqLyjWDarjtT1zdp7dc"
    with pytest.raises(ConfigError, match="svc keys add"):
        editing.create_profile(path, key, {"base_url": URL})
    with pytest.raises(ConfigError, match="svc keys add"):
        editing.set_value(path, f"profiles.{key}.{field}", "1 EUR")
    assert not path.exists()


def test_a_replaced_profile_keeps_what_is_not_given_anew(path: Path) -> None:
    """A sandbox started again on another port moves its profile there."""
    editing.create_profile(path, "sandbox", {"base_url": "http://127.0.0.1:1", "sandbox": True})
    config = editing.create_profile(
        path, "sandbox", {"base_url": "http://127.0.0.1:2"}, replace=True
    )
    assert str(config.profile("sandbox").base_url) == "http://127.0.0.1:2"
    assert config.profile("sandbox").sandbox


def test_removing_the_active_profile_leaves_none_active(path: Path) -> None:
    """No other account is picked in its stead."""
    editing.create_profile(path, "shop", {"base_url": URL})
    config = editing.remove_profile(path, "shop")
    assert config.active_profile is None
    assert dict(config.profiles) == {}
    assert editing.create_profile(path, "next", {"base_url": URL}).active.name == "next"


def test_unset_brings_the_default_back(path: Path) -> None:
    """A setting that is taken out is as if it had never been there."""
    config = editing.remove_value(written(path, COMMENTED), "output")
    assert config.output is None


@pytest.mark.parametrize("damage", ['output = "js', 'output = "json"\r\n', "output: json\n"])
def test_a_damaged_file_is_kept(path: Path, damage: str) -> None:
    """R67: a change to a file that is not understood is refused; the file stays."""
    written(path, "")
    path.write_bytes(damage.encode())
    with pytest.raises(ConfigError, match="line 1"):
        editing.set_value(path, "color", "never")
    assert path.read_bytes() == damage.encode()


def test_a_symbolic_link_is_not_written_through(path: Path, tmp_path: Path) -> None:
    """R65: neither the link nor its target changes."""
    target = tmp_path / "target.toml"
    target.write_text(COMMENTED)
    path.parent.mkdir(mode=0o700)
    path.symlink_to(target)
    with pytest.raises(LocalError, match="symbolic link") as caught:
        editing.set_value(path, "color", "never")
    assert caught.value.exit_code == ExitCode.LOCAL
    assert path.is_symlink()
    assert target.read_text() == COMMENTED


def test_a_linked_folder_is_not_written_into(path: Path, tmp_path: Path) -> None:
    """R65: the same for the parent."""
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    path.parent.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(LocalError, match="is a symbolic link"):
        editing.set_value(path, "color", "never")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_folder_that_others_may_write_is_refused(path: Path) -> None:
    """Whoever can put a file there could replace ours."""
    path.parent.mkdir()
    path.parent.chmod(0o770)
    with pytest.raises(LocalError, match="changed by other users") as caught:
        editing.set_value(path, "color", "never")
    assert "chmod 700" in str(caught.value.hint)


@pytest.mark.parametrize("step", ["write", "fsync", "replace"])
def test_a_failing_disk_keeps_the_old_file(
    path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """R66: at whichever step the disk fails, the old file is whole and no temporary one stays."""

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    written(path, COMMENTED)
    where = {"write": (os, "fdopen"), "fsync": (os, "fsync"), "replace": (Path, "replace")}[step]
    monkeypatch.setattr(*where, fail)
    with pytest.raises(LocalError, match="no space left on device"):
        editing.set_value(path, "color", "never")
    assert path.read_text() == COMMENTED
    assert sorted(path.parent.iterdir()) == [path]


def test_a_change_that_changes_nothing_does_not_touch_the_file(path: Path) -> None:
    """Setting what is set already leaves the very same file."""
    editing.set_value(path, "color", "never")
    before = path.stat()
    editing.set_value(path, "color", "never")
    assert path.stat().st_ino == before.st_ino


def test_a_writer_that_was_killed_leaves_nothing_in_the_way(path: Path) -> None:
    """Its temporary file is replaced by the next one's."""
    written(path, COMMENTED)
    path.with_name("config.toml.new").write_text("half a fi")
    assert editing.set_value(path, "color", "never").color == "never"
    assert sorted(path.parent.iterdir()) == [path]


def test_two_that_write_one_file_at_once_do_not_meet(tmp_path: Path) -> None:
    """As two exports of a sandbox to one file: each writes a whole one, and the later remains."""
    path = tmp_path / "state.json"

    def write_while_another_does(file: BinaryIO) -> None:
        file.write(b"the first ")
        write_atomically(path, "the second")
        assert path.read_bytes() == b"the second"
        file.write(b"goes on")

    write_atomically(path, write_while_another_does)
    assert path.read_bytes() == b"the first goes on"
    assert list(tmp_path.iterdir()) == [path]


WORDS = st.text(st.characters(codec="utf-8", categories=("L", "N", "P")), max_size=10)
LINES = st.one_of(
    st.just(""),
    WORDS.map(lambda text: f"# {text}"),
    WORDS.map(lambda text: f"   # {text}"),
)


@settings(
    max_examples=examples(0.6),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    comments=st.lists(LINES, min_size=6, max_size=6),
    inline=st.sampled_from(
        [
            "[profiles.a]\nbase_url = 'https://a.example'",
            "profiles.a.base_url = 'https://a.example'",
        ]
    ),
    name=st.sampled_from(["color", "profiles.a.auth", "profiles.z.base_url"]),
)
def test_a_change_changes_one_value_only(
    tmp_path: Path, comments: list[str], inline: str, name: str
) -> None:
    """Whatever layout and comments a file has, all other values and all comments are as before."""
    value = {"color": "never", "profiles.a.auth": "basic"}.get(name, "https://z.example")
    top = ["output = 'json'", "max_time = 5", inline]
    text = "".join(f"{comments[n]}\n{top[n]}\n{comments[n + 3]}\n" for n in range(3))
    path = written(tmp_path / "c" / "config.toml", text)
    editing.set_value(path, name, value)
    expected: Any = tomllib.loads(text)
    *tables, last = name.split(".")
    table = expected
    for part in tables:
        table = table.setdefault(part, {})
    table[last] = value
    after = path.read_text()
    assert tomllib.loads(after) == expected
    for comment in comments:
        assert comment.strip() in after


TOP = "active_profile, output, color, max_time, cache, keyring_backends, profiles.NAME.FIELD"
GROUPS = "refunds payouts captures disputes".split()
PART = ", ".join(f"{{0}}{mode}{group}" for mode in ("", "test.", "live.") for group in GROUPS)
FIELDS = "base_url api_version auth sandbox proxy ca_bundle key_command".split()


@pytest.mark.parametrize(
    ("name", "near", "known"),
    [
        *(("colour", " Did you mean 'color'?", TOP), ("x", "", TOP), ("", "", TOP)),
        *(("output.x", " Did you mean 'output'?", TOP), ("profiles.shop", "", TOP)),
        ("profiles", " Did you mean 'profiles.NAME.FIELD'?", TOP),
        ("profiles.shop.auth.x", "", TOP),
        ("profiles.s.limits", "", ", ".join(f"profiles.s.{one}" for one in FIELDS)),
        ("limits.refund", " Did you mean 'limits.refunds'?", PART.format("limits.")),
        ("profiles.s.limits.live.x", "", PART.format("profiles.s.limits.")),
    ],
)
def test_an_unknown_name_is_answered_with_all_that_there_are(
    name: str, near: str, known: str
) -> None:
    """As each is typed: of the file, of a profile, or of a table of limits."""
    with pytest.raises(ConfigError) as refused:
        editing.set_value(Path("never.toml"), name, "1")
    known += ", limits.refunds" if known is TOP else ""
    assert refused.value.message == f"NAME is {name!r}.{near} Use one of: {known}."
    assert (refused.value.code, refused.value.param) == ("setting_unknown", "NAME")
