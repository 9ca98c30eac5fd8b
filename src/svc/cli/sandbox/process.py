"""`svc sandbox start`, `stop` and `status`: the sandbox as a process, here or in background.

The server is `svc.sandbox.process`, which leaves a record of each running sandbox (process,
address, database, log), by which `stop` and `status` find it. `launch` and `served`
prepare and print.
"""

import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from svc import __version__
from svc.cli.framework.app import make_app, verb
from svc.cli.framework.local_sandbox import find_running_sandbox
from svc.cli.framework.options import flag, option
from svc.cli.framework.session import Session
from svc.cli.sandbox.compare.saved import settings_like
from svc.cli.sandbox.exported import ALLOW_REMOTE, read_state
from svc.cli.sandbox.launch import (
    ALLOW_HOST,
    BIND,
    certificate_for,
    forget,
    reach_of,
    repoint_profile,
    report_ready,
    warn_of_reach,
)
from svc.cli.sandbox.served import RequestLines, RequestsShown
from svc.cli.sandbox.shared import FIXTURE_NAME, LIKE_PROFILE, PORT, SEED
from svc.errors import CheckFailed, LocalError, UsageError, build_wrong_choice, system_words
from svc.paths import NoFolder
from svc.sandbox.options import LOOPBACK, MEMORY, LaunchOptions
from svc.sandbox.process import launch
from svc.sandbox.process.records import RunRecord, health, list_running
from svc.service.facts import SANDBOX_PORT
from svc.system.files import make_private

app = make_app()

_SERVING_PORT: Final = option(
    "PORT",
    "The port on loopback; 0 lets the system choose.",
    min=0,
    max=65_535,
    default=SANDBOX_PORT,
)


@verb(app)
def start(
    session: Session,
    port: int = _SERVING_PORT,
    db: str | None = option("FILE", "The file that holds it, or :memory: for none."),
    seed: int | None = SEED,
    fixture: str | None = FIXTURE_NAME,
    detach: bool = flag("--detach", "Run it in the background."),
    tls: bool = flag("--tls", "Speak https, with a certificate made for it."),
    certificate: str | None = option("FILE", "Speak https with a certificate of your own (PEM)."),
    private_key: str | None = option("FILE", "The private key of that certificate (PEM)."),
    like: str | None = LIKE_PROFILE,
    strict_https: bool = flag("--strict-https", "Answer plain HTTP with 401."),
    bind: str = BIND,
    allow_host: list[str] | None = ALLOW_HOST,
    import_: str | None = option("FILE", "Begin with the state that export wrote.", "--import"),
    allow_remote: bool = ALLOW_REMOTE,
    ready_file: str | None = option("FILE", "Write its URL here once it answers."),
) -> None:
    """Start the service on this machine. Ctrl-C stops it; its data stays in one file.

    $ svc sandbox start --detach
    $ svc sandbox start --db :memory: --fixture demo
    $ svc sandbox start --bind 0.0.0.0 --allow-host svc
    $ svc sandbox start --like shop

    --ca-bundle is for receivers of webhooks, too: for https with a certificate of your own.
    """
    _refuse_two_beginnings(import_, fixture=fixture, seed=seed)
    address, hosts = reach_of(bind, allow_host or (), tls=tls)
    folder = None if db == MEMORY and not tls else session.paths.sandbox_dir
    bundle = session.settings.ca_bundle
    options = LaunchOptions(
        db=_database(folder, db),
        port=port,
        state_dir=_records(session, folder),
        seed=seed,
        fixture=fixture,
        strict_https=strict_https,
        bind=address,
        hosts=hosts,
        state=_state(session, import_, allow_remote=allow_remote),
        settings=settings_like(session, like),
        ca_bundle=None if bundle is None else str(Path(bundle).absolute()),
        **certificate_for(session, folder, tls=tls, own=(certificate, private_key)),
    )
    _start(session, options, None if ready_file is None else Path(ready_file), detach=detach)


def _refuse_two_beginnings(state: str | None, *, fixture: str | None, seed: int | None) -> None:
    for name, value in (("--fixture", fixture), ("--seed", seed)):
        if state is not None and value is not None:
            raise UsageError(f"--import and {name} exclude each other.", param=name)


def _state(session: Session, file: str | None, *, allow_remote: bool) -> str | None:
    """The absolute path of a state to begin with, once it was read and agreed to."""
    if file is None:
        return None
    read_state(session, file, allow_remote=allow_remote)
    return str(Path(file).absolute())


@verb(app)
def stop(
    session: Session,
    port: int | None = PORT,
    every: bool = flag("--all", "Stop all sandboxes that are running."),
) -> None:
    """Stop a running sandbox; its data stays.

    $ svc sandbox stop
    """
    folder = session.paths.sandbox_dir
    found = [each for each in list_running(folder) if port in (None, each.port)]
    if found and not every:
        found = [find_running_sandbox(folder, port)]
    if not found and port is not None:
        _refuse_unrecorded(port)
    ended = [_stop(session, folder, record) for record in found]
    session.out.result(ended, *(f"{each['url']} {each['result']}." for each in ended), name="url")
    if not ended:
        where = "" if port is None else f" on port {port}"
        session.out.note(f"No sandbox is running{where}.")


def _refuse_unrecorded(port: int) -> None:
    """Says of a sandbox that has left no note of itself, as in a read-only home, that it runs."""
    unknown = RunRecord(0, port, f"http://{LOOPBACK}:{port}", "", "", "")
    if health(unknown) is not None:
        raise CheckFailed(
            f"A sandbox runs on port {port}, but svc has no record of it in this home folder.",
            code="sandbox_not_recorded",
            hint="Stop it where it was started, with Ctrl-C",
        )


@verb(app)
def status(session: Session) -> None:
    """Show the sandboxes that are running. The exit code is 11 when none is.

    $ svc sandbox status || svc sandbox start --detach
    """
    found = list_running(session.paths.sandbox_dir)
    shown = [_build_view(record) for record in found]
    if session.format != "human":
        session.out.value(shown, name="url", kind="sandbox")
    for each in shown if session.format == "human" else ():
        session.out.value(each)
    if not found:
        raise CheckFailed(
            "No sandbox is running.",
            code="sandbox_not_running",
            hint="svc sandbox start --detach",
        )


def _start(
    session: Session, options: LaunchOptions, ready_file: Path | None, *, detach: bool
) -> None:
    _check_fixture(options.fixture)
    there = _holder(options)
    if there is not None and health(there):
        repoint_profile(session, there)
        raise _build_already(there, options)
    _warn_of_ignored(session, options)
    forget(ready_file)

    def ready(record: RunRecord) -> None:
        report_ready(session, record, ready_file, detached=detach)
        if record.bind is not None:
            warn_of_reach(session, record, options.hosts)

    try:
        if detach:
            with session.waiting.until(lambda: (" for the sandbox to start",)):
                record = launch.start(options, session.env, session.clock)
            ready(record)
        else:
            _serve(session, options, ready)
    except LocalError as error:
        # One that was just starting: it answers by now, or holds what we wanted.
        there = _holder(options) if error.code in ("port_taken", "sandbox_file_in_use") else None
        if there is None:
            raise
        raise _build_already(there, options) from error


def _check_fixture(name: str | None) -> None:
    if name is None:
        return
    from svc.sandbox.control.fixtures import FIXTURES

    if name not in FIXTURES:
        raise build_wrong_choice("--fixture", name, FIXTURES)


def _warn_of_ignored(session: Session, options: LaunchOptions) -> None:
    """Says so when a sandbox that exists already cannot take what only new ones take."""
    given = {"--seed": options.seed, "--fixture": options.fixture, "--import": options.state}
    ignored = [f"{name} {value}" for name, value in given.items() if value is not None]
    path = Path(options.db)
    if ignored and options.db != MEMORY and path.exists() and path.stat().st_size:
        words = " ".join(ignored)
        way = "reset" if options.state is None else "import"
        words = words.removeprefix("--import ")
        session.out.warn(f"{path} exists and stays as it is. Begin anew: svc sandbox {way} {words}")


def _serve(session: Session, options: LaunchOptions, ready: Callable[[RunRecord], None]) -> None:
    from svc.sandbox.app import SandboxApp
    from svc.sandbox.process.serve import serve  # the web server: only who serves pays for it

    session.prepare_long_run()
    watched = session.format == "human" and session.streams.person_reads
    quiet = bool(session.given.everywhere.quiet)
    if not watched or quiet:
        serve(SandboxApp(options), ready)
        return

    def tell(method: str, path: str, status: int | None, milliseconds: float) -> None:
        shown.show(session.clock.now(), method, path, status, f"{milliseconds:.0f} ms")

    with closing(RequestsShown(RequestLines(session))) as shown:
        serve(SandboxApp(options, on_served=tell), ready)


def _holder(options: LaunchOptions) -> RunRecord | None:
    """The running sandbox that has the file or the port that a new one would need."""
    found = list_running(options.folder) if options.state_dir else []
    same_file = [each for each in found if each.db == options.db != MEMORY]
    same_port = [each for each in found if each.port == options.port]
    return next(iter(same_file + same_port), None)


def _build_already(there: RunRecord, options: LaunchOptions) -> LocalError:
    same_file = there.db == options.db != MEMORY
    version = (health(there) or {}).get("version", __version__)
    other = "" if version == __version__ else f"; it is svc {version} and this is svc {__version__}"
    return LocalError(
        f"A sandbox is already running at {there.url} (pid {there.pid}){other}.",
        code="sandbox_running" if same_file else "port_taken",
        hint="svc sandbox stop ends it; another beside it: svc sandbox start --port 0 --db FILE",
    )


def _records(session: Session, folder: Path | None) -> str:
    """The folder of run records and logs; one in memory does without where none can be written."""
    if folder is not None:
        return str(folder)
    try:
        folder = session.paths.sandbox_dir
        make_private(folder)
        if os.access(folder, os.W_OK):
            return str(folder)
        reason = f"{folder} cannot be written"
    except NoFolder as error:
        reason = error.message.rstrip(".")
    except OSError as error:
        reason = f"{folder} cannot be made ({system_words(error)})"
    session.out.warn(f"{reason}: svc sandbox status, logs and stop will not know this sandbox.")
    return ""


def _database(folder: Path | None, db: str | None) -> str:
    if db == MEMORY or folder is None:
        return MEMORY
    return str(folder / "sandbox.db" if db is None else Path(db).absolute())


def _stop(session: Session, folder: Path, record: RunRecord) -> dict[str, Any]:
    with session.waiting.until(lambda: (f" for {record.url}", " to stop")):
        result = launch.stop(folder, record, session.clock)
    if record.db == MEMORY:
        # Ids and signing secrets of one in memory are gone with it.
        from svc.cli.framework.recent import forget_origin
        from svc.listen.endpoints import forget_test_data

        forget_origin(session.paths.cache_dir / "recent", record.url)
        if session.paths.has_state:
            forget_test_data(session.state(), record.url)
    shown = {"object": "sandbox_process", "url": record.url, "port": record.port}
    return {**shown, "pid": record.pid, "result": result}


def _build_view(record: RunRecord) -> dict[str, Any]:
    answer = health(record)
    about = answer or {}
    return {
        "object": "sandbox_process",
        "status": "running" if answer else "not answering",
        **record._asdict(),
        "now": about.get("now"),
        "version": about.get("version"),
    }
