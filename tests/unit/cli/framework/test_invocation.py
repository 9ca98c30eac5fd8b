"""What follows from a command line, its environment and its streams."""

import io
from pathlib import Path

import pytest

from support.on_terminal import TtyStream
from svc.cli.framework.session import Session
from svc.cli.framework.streams import Streams
from svc.delivery.journal.entry import Scope

HERE, SHOP = "https://here.example", "https://shop.example"
PIPES = Streams(io.StringIO(), io.StringIO(), io.StringIO())
TERMINAL = Streams(TtyStream(), TtyStream(), TtyStream())


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """A profile for a shop, and an address in the environment for the others."""
    tmp_path.chmod(0o700)
    (tmp_path / "config.toml").write_text(f'[profiles.shop]\nbase_url = "{SHOP}"\n')
    return {"SVC_CONFIG_DIR": str(tmp_path), "SVC_STATE_DIR": str(tmp_path / "state")}


@pytest.mark.parametrize(
    ("given", "scope", "options"),
    [
        ({"SVC_BASE_URL": HERE}, ("default", "test", HERE), ""),
        ({"SVC_BASE_URL": HERE}, ("default", "live", HERE), " --live"),
        ({"SVC_BASE_URL": HERE, "SVC_MODE": "live"}, ("default", "live", HERE), " --live"),
        ({"SVC_BASE_URL": HERE, "SVC_MODE": "live"}, ("default", "test", HERE), " --test"),
        ({"SVC_BASE_URL": HERE}, ("default", "test", SHOP), f" --base-url {SHOP}"),
        ({}, ("default", "test", HERE), f" --base-url {HERE}"),
        ({}, ("shop", "test", SHOP), " --profile shop"),
        ({}, ("shop", "live", HERE), f" --profile shop --base-url {HERE} --live"),
        ({"SVC_PROFILE": "shop"}, ("shop", "test", SHOP), ""),
        (
            {"SVC_BASE_URL": HERE},
            ("gone", "live", HERE),
            f" --profile gone --base-url {HERE} --live",
        ),
    ],
)
def test_a_hint_has_the_options_that_lead_there_and_no_other(
    env: dict[str, str], given: dict[str, str], scope: tuple[str, str, str], options: str
) -> None:
    """What environment and configuration give is left out; of a profile that is gone, nothing."""
    profile, mode, url = scope
    with Session([], {**env, **given}, PIPES) as session:
        place = Scope(profile, "live" if mode == "live" else "test", url, "")
        assert session.format_command(place, "get x") == f"svc get x{options}"


@pytest.mark.parametrize(
    ("argv", "given", "told"),
    [
        ("", {}, None),
        ("orders -o json", {}, "json"),
        ("orders -o csv", {}, "csv"),
        ("orders --output id", {}, "id"),
        ("orders --output=ndjson", {}, "ndjson"),
        ("orders -o nothing", {}, None),
        ("orders -o", {"SVC_OUTPUT": "csv"}, "csv"),
        ("orders", {"SVC_OUTPUT": "csv"}, "csv"),
        ("orders -o id", {"SVC_OUTPUT": "csv"}, "id"),
    ],
)
def test_an_error_has_the_format_that_was_typed_however_wrong_the_rest_is(
    env: dict[str, str], argv: str, given: dict[str, str], told: str | None
) -> None:
    """Else it is for whoever watches stderr, also where the result goes into a pipe."""
    for stderr, untold in ((io.StringIO(), "json"), (TtyStream(), "human")):
        with Session(argv.split(), {**env, **given}, PIPES._replace(stderr=stderr)) as session:
            assert session.error_format() == (told or untold)


@pytest.mark.parametrize(
    ("streams", "given", "quiet", "is_watched"),
    [
        (TERMINAL, {}, False, True),
        (TERMINAL, {"TERM": "dumb"}, False, False),
        (TERMINAL, {}, True, False),
        (PIPES, {}, False, False),
        (PIPES._replace(stderr=TtyStream()), {}, False, True),
    ],
)
def test_a_live_line_is_for_a_terminal_that_can_show_it(
    env: dict[str, str], streams: Streams, given: dict[str, str], quiet: bool, is_watched: bool
) -> None:
    """As wide as that, and for whoever has not asked for quiet."""
    with Session([], {**env, **given, "COLUMNS": "72"}, streams) as session:
        session.given.everywhere.quiet = quiet
        live = session.make_live_line()
        assert (live.is_watched, live.width) == (is_watched, 72)
        assert session.help_width() == 72
    with Session([], {**env, "COLUMNS": "172"}, streams) as session:
        assert session.help_width() == 100


@pytest.mark.parametrize(
    ("streams", "columns", "width"),
    [(PIPES, "", None), (PIPES, "72", 72), (PIPES, "x", None), (TERMINAL, "72", 72)],
)
def test_a_message_in_a_file_stands_on_one_line(
    env: dict[str, str], streams: Streams, columns: str, width: int | None
) -> None:
    """Unless somebody has said how wide it is."""
    with Session([], {**env, "COLUMNS": columns, "NO_COLOR": "1"}, streams) as session:
        layout = session.layout(streams.stderr)
        assert (layout.width, layout.color, layout.program_name) == (width, False, session.program)


@pytest.mark.parametrize(
    ("argv", "given", "piped", "seen"),
    [
        ("--help", {}, False, True),
        ("--help", {"NO_COLOR": "1"}, False, False),
        ("--help", {"TERM": "dumb"}, False, False),
        ("--help --color never", {}, False, False),
        ("--help --color always", {}, True, True),
        ("--help --color=always", {}, True, True),
        ("--help --color=never", {"FORCE_COLOR": "1"}, False, False),
        ("--help", {"FORCE_COLOR": "1"}, True, True),
    ],
)
def test_help_heeds_the_colour_that_is_typed_behind_it(
    env: dict[str, str], argv: str, given: dict[str, str], piped: bool, seen: bool
) -> None:
    """Which the parser does not reach; on a terminal it is coloured unless that is not wanted."""
    for streams, colored in ((PIPES, piped), (TERMINAL, seen)):
        with Session(argv.split(), {**env, "TERM": "xterm", **given}, streams) as session:
            assert session.help_color() == colored


@pytest.mark.parametrize(("said", "is_workflow"), [("true", True), ("1", False), ("", False)])
def test_a_workflow_of_github_says_that_it_is_one(
    env: dict[str, str], said: str, is_workflow: bool
) -> None:
    """In the one way in which it does."""
    with Session([], {**env, "GITHUB_ACTIONS": said}, PIPES) as session:
        assert session.is_workflow == is_workflow
