"""`svc sandbox requests`, `lint` and `logs`: what programs sent to the sandbox, its warnings.

`requests` and `lint` call controls of the running sandbox: it remembers the API requests that it
answered, and `lint` names those that the real service would punish. `logs` reads the log file of
the sandbox's process.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from svc.cli.framework.app import make_app, verb
from svc.cli.framework.control import ask, call_and_show
from svc.cli.framework.inputs import BodyFields, without_empty
from svc.cli.framework.local_sandbox import log_of
from svc.cli.framework.options import flag, option
from svc.cli.framework.session import Session
from svc.cli.sandbox.served import RequestLines
from svc.cli.sandbox.shared import PORT
from svc.client.sandbox import control_call
from svc.errors import CheckFailed, UsageError, name_failure
from svc.service.facts import LIMIT_DEFAULT

app = make_app()

FOLLOW: Final = flag("--follow", "Go on with what comes, until Ctrl-C.")
_LOOK_SECONDS: Final = 0.5  # between looks
_FIRST: Final = 10  # of those that were there before, as `tail -f` shows them
_FEW: Final = 50  # are asked for at first; all that a sandbox remembers only if these are new
_ALL: Final = 1000


@verb(app)
def requests(
    session: Session,
    path: str | None = option("GLOB", "Only these paths, such as '/v1/refunds*'."),
    method: str | None = option("METHOD", "Only these: GET or POST."),
    status: int | None = option("STATUS", "Only those answered with this status."),
    body: str | None = option("TEXT", "Only those whose body holds this text."),
    since: str | None = option("TIME", "Only from this time in the sandbox on."),
    until: str | None = option("TIME", "Only up to this time in the sandbox."),
    limit: int | None = option("1..1000", "How many at most.", show_default=str(LIMIT_DEFAULT)),
    verify: int | None = option("N", "Count them; the exit code is 11 if there are not N."),
    clear: bool = flag("--clear", "Forget all requests so far."),
    follow: bool = FOLLOW,
) -> None:
    """List the latest API requests, newest first. Keys and account numbers are masked.

    The sandbox remembers 1000 of them until it is reset or stopped. With --follow the latest 10
    (or --limit) come first, oldest on top, and then each further one until Ctrl-C.

    $ svc sandbox requests --path '/v1/orders*'
    $ svc sandbox requests --method POST --path /v1/refunds --status 200 --verify 0
    $ svc sandbox requests --follow
    """
    which = without_empty(
        method=method, path=path, status=status, body=body, since=since, until=until
    )
    if clear:
        call_and_show(session, "DELETE", "requests")
        return
    if verify is not None:
        _verify(session, {**which, "count": verify})
        return
    if not follow:
        call_and_show(session, "GET", "requests", params={**which, **without_empty(limit=limit)})
        return
    _refuse_whole(session)
    session.prepare_long_run()
    lines = RequestLines(session) if session.format == "human" else None
    for entry in _as_they_come(session, which, limit or _FIRST):
        if lines is None:
            session.out.record(entry)
        else:
            _tell(lines, entry)


def _verify(session: Session, body: BodyFields) -> None:
    """Says whether so many requests fit; raises CheckFailed: there are more or fewer."""
    reply = ask(session, control_call("POST", "requests", "verify", body=body))
    if session.format != "human":
        session.out.answer(reply.text, reply.data)
    found, wanted = reply.data["found"], reply.data["wanted"]
    if not reply.data["ok"]:
        raise CheckFailed(f"{found} requests match, not {wanted}.", code="requests_differ")
    session.out.note(f"{found} requests match.")


def _as_they_come(session: Session, which: BodyFields, first: int) -> Iterator[dict[str, Any]]:
    """Returns the latest few, oldest first, then each further one; never ends by itself."""
    found = _list_latest(session, which, first)
    seen = _mark(found)
    while True:
        yield from reversed(found)
        session.clock.sleep(_LOOK_SECONDS)
        found = _behind(seen, _list_latest(session, which, _FEW))
        if len(found) == _FEW:
            found = _behind(seen, _list_latest(session, which, _ALL))
        seen = _mark(found) or seen


def _list_latest(session: Session, which: BodyFields, limit: int) -> list[dict[str, Any]]:
    query = {**which, "limit": limit}
    return list(ask(session, control_call("GET", "requests", params=query)).data["data"])


def _mark(found: list[dict[str, Any]]) -> tuple[str, str] | None:
    """What tells the newest one from every other: a sandbox that is reset repeats its ids."""
    return (found[0]["id"], found[0]["created"]) if found else None


def _behind(seen: tuple[str, str] | None, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    marks = [(one["id"], one["created"]) for one in found]
    return found[: marks.index(seen)] if seen in marks else found


def _tell(lines: RequestLines, entry: dict[str, Any]) -> None:
    from svc.render.human.cells import parse

    moment = parse(entry["created"])
    more = "  ".join(filter(None, (entry["error_code"], "replayed" if entry["replayed"] else None)))
    at = 0.0 if moment is None else moment.timestamp()
    lines.show(at, entry["method"], entry["path"], entry["status"] or None, more)


@verb(app)
def lint(session: Session) -> None:
    """List what a stricter service or a bad day would punish. The exit code is 11 if there is any.

    It looks at the latest 1000 requests and deliveries, and sends each receiver one delivery whose
    signature is wrong.

    $ svc sandbox lint
    """
    found = ask(session, control_call("POST", "lint"))
    if session.format != "human":
        session.out.answer(found.text, found.data)
    for each in found.data["findings"] if session.format == "human" else ():
        session.out.line(f"{each['rule']} ({each['count']}): {each['message']}")
        session.out.line(f"  {', '.join(each['examples'])}")
    if found.data["findings"]:
        kinds = len(found.data["findings"])
        told = "1 kind of mistake was" if kinds == 1 else f"{kinds} kinds of mistakes were"
        raise CheckFailed(f"{told} found.", code="lint_findings")
    session.out.note(
        f"Nothing was found in {found.data['requests']} requests"
        f" and {found.data['deliveries']} deliveries."
    )


@verb(app)
def logs(session: Session, port: int | None = PORT, follow: bool = FOLLOW) -> None:
    """Show a sandbox's warnings and errors; with --follow further ones as they come.

    $ svc sandbox logs
    $ svc sandbox logs --follow
    """
    if follow:
        _refuse_whole(session)
    path = log_of(session.paths.sandbox_dir, port)
    lines = _read(path, 0).decode("utf-8", "replace").splitlines()
    if follow:
        session.prepare_long_run()
        if session.format == "human" and not path.stat().st_size:
            session.out.note(f"The log {path} is still empty.")
        for line in _lines_as_they_come(session, path):
            if session.format == "human":
                session.out.line(line)
            else:
                session.out.record({"object": "log_line", "file": str(path), "line": line})
    else:
        shown = {"object": "log", "file": str(path), "lines": lines}
        session.out.result(shown, *(lines or [f"Nothing is written in {path}."]))


def _lines_as_they_come(session: Session, path: Path) -> Iterator[str]:
    """Returns each whole line that is there or is written later; never ends by itself."""
    read, rest = 0, b""
    while True:
        if path.stat().st_size < read:  # a new run of the sandbox begins a long log anew
            read, rest = 0, b""
        part = _read(path, read)
        read += len(part)
        *lines, rest = (rest + part).split(b"\n")
        for line in lines:
            yield line.decode("utf-8", "replace")
        session.clock.sleep(_LOOK_SECONDS)


def _read(path: Path, start: int) -> bytes:
    with name_failure(f"The log {path} cannot be read"), path.open("rb") as file:
        file.seek(start)
        return file.read()


def _refuse_whole(session: Session) -> None:
    """Refuses with --follow what needs a whole result; in a pipe each one is a line of NDJSON.

    Raises:
        UsageError: another format was asked for, or a query.
    """
    wanted = session.settings.output
    if wanted not in (None, "human", "ndjson"):
        raise UsageError(
            f"--follow cannot print {wanted}.", param="--output", hint="Use -o human or -o ndjson"
        )
    if session.given.everywhere.query or session.given.everywhere.fields:
        raise UsageError(
            "--follow prints what comes; --query and --fields need a whole result.",
            hint="Pipe -o ndjson into jq",
        )
