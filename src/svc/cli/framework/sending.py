"""What a command does that sends a typed request: build, show, confirm, send, print.

The commands of `nouns`, `svc get` and `svc post` call `send_read`, `send_list` or `send_write`: a
call or what makes one in, the printed answer out. `svc requests resume` ends with `finish`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from svc import service
from svc.cli.framework.session import Session
from svc.client.call import Call, check_id
from svc.client.operations import failure_of, find_undocumented_status, retrieval
from svc.clock import utc
from svc.errors import CheckFailed, LocalError, UsageError, build_wrong_choice
from svc.inputs import split_list
from svc.service.facts import ID_PREFIXES, IDEMPOTENCY_HEADER, LIMIT_MAX
from svc.service.model import Field

if TYPE_CHECKING:
    from svc.client.client import Client
    from svc.client.polling import Settling
    from svc.client.reply import Reply
    from svc.render.output import Output


MakeCall = Callable[..., Call]

_DAY: Final = 86_400


def send_read(session: Session, call: Call) -> None:
    """Sends a GET and prints its answer: an object, or a list as the service sent it."""
    out = session.out
    if _is_shown_instead(session, call):
        return
    with session.client() as client:
        reply = client.send(call)
    show_reply(session, out, call, reply)


def send_awaited(session: Session, kind: str, identifier: str, until: str | None) -> None:
    """Reads an object again and again until it has a status of `until`, then prints it.

    Without `until` it waits for any final status that means no failure.

    Raises:
        UsageError: objects of the kind have no such status.
        CheckFailed: the object has another final status, or the time is up.
    """
    from svc.client.polling import find_settling

    named = split_list(until)
    settling = find_settling(kind, named)
    for word in named:
        if word not in settling.known:
            raise build_wrong_choice("--until", word, settling.known)
    out, call = session.out, retrieval(kind, identifier)
    if _is_shown_instead(session, call):
        return
    end = session.clock.monotonic() + session.settings.max_time
    with session.client() as client:
        reply = _wait_settled(session, client, client.send(call), settling, end)
    show_reply(session, out, call, reply)
    status = str(reply.data.get("status"))
    if status not in settling.wanted:
        raise CheckFailed(
            f"The {kind} {identifier} has ended as {status!r}, not as "
            f"{' or '.join(settling.wanted)}.",
            code="ended_otherwise",
        )


def send_write(
    session: Session,
    make: MakeCall,
    *,
    settles: str | None = None,
    changes: bool = False,
    always: bool = False,
    over_limit: bool,
) -> None:
    """Builds a POST from the fields given as options, `-d` and `--body`, then shows it or sends it.

    `make` turns the body into a call. `settles` names the kind of object whose final status is
    waited for (--wait). With `changes` an empty body is refused. With `always` (`svc post`) a POST
    is confirmed in live mode even where no money is known to move (promise R19). With `over_limit`
    a person is asked to go beyond a limit.
    """
    asked = session.given.write
    from svc.cli.framework.inputs import build_body

    read = session.read_file
    body = build_body(base=asked.body, typed=session.given.fields, data=asked.data or (), read=read)
    if changes and not body:
        raise UsageError("There is nothing to change.", hint="Give an option, -d or --body")
    call = make(body, **_choose_encoding(session))
    _check(session, call, is_raw=always)
    if _is_shown_instead(session, call):
        return
    from svc.cli.framework.delivering import send_recorded
    from svc.cli.framework.prompts import confirm_money, go_over_limit

    out = session.out  # a mistake in --query or --fields is found before anything is sent
    until = session.clock.monotonic() + session.settings.max_time
    with session.client() as client:
        asked_at = session.clock.monotonic()
        go_over_limit(session, asked=over_limit)
        confirm_money(session, call, client=client, always=always)
        until += session.clock.monotonic() - asked_at  # how long a person thinks does not count
        sent = send_recorded(
            session,
            client,
            call,
            idempotency_key=asked.idempotency_key,
            new_request=asked.new_request,
        )
        report_answer(session, sent.reply)
        end = _end(session, client, call, sent.reply, settles, until)
        finish(session, out, call, end, sent.unsaved)


def _check(session: Session, call: Call, *, is_raw: bool) -> None:
    from svc.client.fields import Incomplete, check_body

    typed, is_form = session.given.write.data or (), call.encoding == "form"
    try:
        check_body(call.operation, call.body or {}, is_form=is_form, is_raw=is_raw, typed=typed)
    except Incomplete as error:
        from svc.cli.framework.fields import in_options

        session.prepare(call, None)  # a secret in it is told first, and then not repeated
        command = f"svc {call.operation.replace('.', ' ')}"
        raise in_options(error, command, session.argv) from None


def _is_shown_instead(session: Session, call: Call) -> bool:
    """Shows a request in place of sending it, where that was asked for."""
    asked = session.given.preview
    if asked.curl:
        # A person's has each option on a line of its own; every shell goes on after a backslash.
        between = " \\\n    " if session.streams.person_reads else " "
        session.out.line(between.join(curl_command(session, call)))
    elif asked.dry_run and session.format == "human":
        session.out.document(request_as_data(session, call))
    elif asked.dry_run:
        session.out.value(request_as_data(session, call))
    return asked.curl or asked.dry_run


def send_due(
    session: Session,
    make: MakeCall,
    given: Mapping[str, str | None],
    deadline: Field,
    due: str,
) -> None:
    """Prints every object whose deadline comes within a duration, by the service's clock.

    Of whole days the last is counted to its end, since deadlines are: what is due "in 14 days" is
    due within 14 days.
    """
    from svc.cli.framework.inputs.times import seconds_of
    from svc.render.human.cells import parse

    within = seconds_of(due, "--due")
    session.given.listing.all = True

    def is_due(data: Any) -> bool:
        moment, now = parse(str(data.get(deadline.name))), session.now()
        last = now + within
        last += -last % _DAY if within % _DAY == 0 else 0
        return moment is not None and now < moment.timestamp() <= last

    status = given.get("status") or deadline.due_while
    send_list(session, make, {**given, "status": status}, wanted=is_due)


def send_list(
    session: Session,
    make: MakeCall,
    given: Mapping[str, str | None],
    *,
    wanted: Callable[[Any], bool] | None = None,
) -> None:
    """Prints one page as it was sent, or with `--all` and `--max` every object that is `wanted`."""
    filters = {name: _filter(name, one) for name, one in given.items() if one is not None}
    asked = session.given.listing
    if asked.limit is not None and not 1 <= asked.limit <= LIMIT_MAX:
        most = f"--max {asked.limit}" if asked.limit > 0 else "--max N"
        raise UsageError(
            f"--limit is {asked.limit}; a page has 1 to {LIMIT_MAX} objects.",
            param="--limit",
            hint=f"{most} follows pages, --all gives every object",
        )
    if asked.max is not None and asked.max < 1:
        raise UsageError("--max must be 1 or more.", param="--max")
    from svc.client.fields import check_filters

    every = asked.all or asked.max is not None
    call = make(_query(session, filters, every=every))
    check_filters(call.path, filters)
    shown = session.given.preview
    if not every or shown.dry_run or shown.curl:
        send_read(session, call)
        return
    from svc.cli.framework.progress import count_shown
    from svc.client.pages import pages

    session.prepare_long_run()
    out = session.out
    live = None if session.streams.person_reads else session.make_live_line()
    with session.client() as client, count_shown(live) as count:
        items = (each for page in pages(client, call, max_items=asked.max) for each in page.items)
        chosen = (each for each in items if wanted is None or wanted(each.data))
        found = count((each.text, each.data) for each in chosen)
        out.stream(found, kind=_kind_of(session, call), page_size=asked.limit)


def _filter(name: str, value: str) -> str:
    """A filter of a list, of which an id is checked."""
    if name in ID_PREFIXES or name == "starting_after":
        return check_id(value, f"--{name.replace('_', '-')}")
    return value


def show_reply(session: Session, out: "Output", call: Call, reply: "Reply") -> None:
    """Prints one answer; where a query fails, the hint sends nothing again (promise R120)."""
    from svc.client.contradiction import id_in

    data = reply.data
    try:
        if reply.text:
            is_list = isinstance(data, dict) and data.get("object") == "list"
            following = _next_command(session, data, call.path) if is_list else None
            out.answer(reply.text, data, next_command=following, kind=_kind_of(session, call))
        elif session.format == "human":
            out.words(f"Done. The service answered {reply.status} without content.")
        elif session.format in ("json", "ndjson"):
            out.value(None)  # one document, also for a reader of JSON (promise R72)
    except LocalError as error:
        if error.param == "query":
            error.hint = _where_it_is(session, data) or error.hint
            if call.method == "POST":
                made = f" and gave {known}" if (known := id_in(data)) else ""
                error.message = f"{error.message} The request was carried out{made}."
                error.outcome = "done"
        raise


def _kind_of(session: Session, call: Call) -> str:
    """What the objects of a list are, for a CSV; empty where its path is not a documented one."""
    if session.format != "csv":
        return ""
    resource = service.resource_at(call.path)
    return resource.name if resource is not None and resource.path == call.path else ""


def _where_it_is(session: Session, data: object) -> str | None:
    """The command that retrieves an answered object; None where the API has none."""
    from svc.client import find
    from svc.client.contradiction import id_in

    identifier = id_in(data)
    try:
        return session.command(f"get {identifier}") if find.retrieve(identifier or "") else None
    except UsageError:
        return None


def report_answer(session: Session, reply: "Reply") -> None:
    """Prints warnings about the answer to a POST on stderr (promises R117, R119).

    A person also reads there that the request was carried out before.
    """
    from svc.client.contradiction import id_in

    for warning in reply.warnings:
        session.out.warn(f"{warning}.")
    if session.format == "human" and reply.replayed_earlier:
        at = reply.created_at if reply.creates else None
        when = "" if at is None else f", at {utc(at)}"
        session.out.note(
            f"{id_in(reply.data) or 'It'} was done before{when}. Nothing was done now."
        )


def finish(
    session: Session, out: "Output", call: Call, reply: "Reply", unsaved: LocalError | None
) -> None:
    """Prints the answer to a POST, and raises where it means failure (promise R117).

    `unsaved` is the error with which the journal failed to record the answer, or None.

    Raises:
        CheckFailed: the answer has a status that means failure.
        LocalError: `unsaved`.
    """
    show_reply(session, out, call, reply)
    status = find_undocumented_status(call, reply.data)
    if status is not None and session.format == "human":
        name = reply.data.get("id", "the object")
        out.warn(f"The status of {name} is {status!r}, which is not documented.")
    if reply.failure is None:
        if unsaved is not None:
            raise unsaved
        return
    if unsaved is not None:
        out.warn(unsaved.message)
    raise CheckFailed(
        f"{call.method} {call.path} did not succeed: {reply.failure}.",
        code="object_failed",
        outcome="failed",
        request_id=reply.request_id,
        idempotency_key=reply.idempotency_key,
        hint=_where_it_is(session, reply.data),
    )


def _choose_encoding(session: Session) -> dict[str, str]:
    asked = session.given.write
    if asked.form and asked.json_body:
        raise UsageError("--form and --json-body exclude each other.")
    if asked.form:
        return {"encoding": "form"}
    return {"encoding": "json"} if asked.json_body else {}


def params_of(session: Session, texts: Sequence[str] | None) -> dict[str, str]:
    """Parses `--param NAME=VALUE` options to the parameters of a query."""
    if not texts:
        return {}
    from svc.cli.framework.inputs import pairs_of

    return pairs_of(texts, "--param", read=session.read_file)


def _query(
    session: Session, filters: Mapping[str, str], *, every: bool
) -> tuple[tuple[str, str], ...]:
    asked = session.given.listing
    after = asked.starting_after
    cursor = None if after is None else _filter("starting_after", after)
    limit = asked.limit if asked.limit is not None or not every else LIMIT_MAX
    known = {
        "limit": None if limit is None else str(limit),
        "starting_after": cursor,
        **filters,
        **_collect_created(session),
        **params_of(session, asked.param),
    }
    return tuple((name, value) for name, value in known.items() if value is not None)


def _collect_created(session: Session) -> Mapping[str, str]:
    asked = session.given.listing
    given = {name: getattr(asked, f"created_{name}") for name in ("gte", "gt", "lte", "lt")}
    if not any(given.values()):
        return {}
    from svc.cli.framework.control import moments
    from svc.cli.framework.inputs.times import filters

    return filters(given, moments(session).read)


def _next_command(session: Session, page: Mapping[str, Any], path: str) -> str | None:
    """The command line of the next page: this one, begun behind the last object shown.

    `path` is the one that `svc get` was given; it takes the cursor as a parameter of the query.
    """
    objects = page.get("data") or []
    if not page.get("has_more") or not objects or not isinstance(objects[-1], dict):
        return None
    import shlex

    from svc.cli.framework.inputs import without

    cursor = str(objects[-1].get("id"))
    if any(word.partition("?")[0] == path for word in session.argv):
        kept = without(session.argv, "--param", "starting_after=")
        return shlex.join(["svc", *kept, "--param", f"starting_after={cursor}"])
    kept = without(session.argv, "--starting-after")
    return shlex.join(["svc", *kept, "--starting-after", cursor])


def _end(
    session: Session,
    client: "Client",
    call: Call,
    reply: "Reply",
    settles: str | None,
    until: float,
) -> "Reply":
    """The answer to a POST, or where `settles` names what it makes, the object as it ends."""
    if settles is None:
        return reply
    from svc.client.polling import find_settling

    ended = _wait_settled(session, client, reply, find_settling(settles), until)
    ended = ended._replace(
        failure=failure_of(call, ended.data), idempotency_key=reply.idempotency_key
    )
    if ended.failure is not None:
        from svc.cli.framework.delivering import record_failure

        record_failure(session, ended)
    return ended


def _wait_settled(
    session: Session, client: "Client", reply: "Reply", settling: "Settling", until: float
) -> "Reply":
    """Waits for the final state, at most until then on the monotonic clock."""
    from svc.cli.framework.control import is_sandbox
    from svc.client.polling import wait

    def tell(status: str, known: bool) -> None:
        if session.format != "human":
            return  # stderr holds one error object or nothing (promise R73)
        session.waiting.hide()
        session.out.note(f"{reply.data['id']} is {status}{'' if known else ' (unknown to svc)'}")

    left = max(until - session.clock.monotonic(), 0)
    identifier = reply.data["id"]
    what: tuple[str, ...] = (f" for {identifier}", " to settle")
    hint = f"Look again later: {session.command(f'get {identifier}')}"
    if is_sandbox(session):
        # Days pass in a sandbox only when its clock is advanced.
        hint = f"Turn the sandbox's clock: {session.command('sandbox advance --until idle')}"
        what = (*what, "; svc sandbox advance --until idle brings what is due")
    try:
        with session.waiting.until(lambda: what):
            return wait(client, reply, settling, seconds=left, on_status=tell, hint=hint)
    except CheckFailed:
        # It was made all the same: a script needs its id (promise R72).
        session.out.answer(reply.text, reply.data)
        raise


_HIDDEN = "(redacted)"
# The same input shows the same bytes (promise R74); the real key is made when it is sent.
_NO_KEY_YET = "new-for-each-request"
_KEY = """printf 'Authorization: Bearer %s\\n' "$SVC_API_KEY\""""


def request_as_data(session: Session, call: Call) -> dict[str, Any]:
    """Returns a request as data for --dry-run: method, url, headers without the key, body."""
    from svc.client.request import parse_body

    given = session.given.write.idempotency_key or _NO_KEY_YET
    prepared = session.prepare(call, None if call.method == "GET" else given)
    scheme = "Basic" if session.settings.auth == "basic" else "Bearer"
    return {
        "method": prepared.method,
        "url": prepared.url,
        "headers": {"Authorization": f"{scheme} {_HIDDEN}", **dict(prepared.headers)},
        "body": parse_body(prepared.body.decode()),
    }


def curl_command(session: Session, call: Call) -> list[str]:
    """Returns the request as a curl command for bash, zsh and fish, in parts of an option each.

    The key comes from `$SVC_API_KEY` through a pipe: every user of the machine can read a program's
    arguments, and `printf` is none, but a part of the shell.
    """
    prepared = session.prepare(call, session.given.write.idempotency_key)
    parts = [f"{_KEY} | curl", "--header @-"]
    parts.append(f"--request {prepared.method} {_quote(prepared.url)}")
    for name, value in prepared.headers:
        if name in (IDEMPOTENCY_HEADER, "Content-Type", "Svc-Version"):
            parts.append(f"--header {_quote(f'{name}: {value}')}")
    if prepared.body:
        parts.append(f"--data-binary {_quote(prepared.body.decode())}")
    return parts


def _quote(word: str) -> str:
    """Quotes a word as the shells do, but for fish no backslash that it would take away."""
    from shlex import quote

    return re.sub(r"\\(?=\\|'|$)", lambda _: "'\"\\\\\"'", quote(word))
