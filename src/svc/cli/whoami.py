"""`svc whoami`: shows profile, address, mode and key in use, and whether the key is accepted.

It asks the service by `framework.key_check`, and reads from the journal what money limits leave.
"""

from contextlib import suppress
from typing import Any

from svc import api_keys
from svc.cli.framework.app import make_app, verb
from svc.cli.framework.key_check import suggest_fix, try_key
from svc.cli.framework.session import Session
from svc.client.wire.proxy import choose_proxy, proxy_for
from svc.clock import utc
from svc.errors import AuthError, ConfigError, NetworkError, SvcError, Unauthorized
from svc.keys.age import days_old
from svc.keys.resolve import VARIABLE
from svc.money import format_amount
from svc.service.facts import LIMIT_GROUPS

app = make_app()


@verb(app)
def whoami(session: Session) -> None:
    """Show the profile, address, mode and key in use, and whether the service takes the key.

    `origin` is the address of the API: scheme, host and port.

    Ends with 4 if the key is missing or refused, and with 8 if the service cannot be reached; what
    is known is printed all the same.

    $ svc whoami
    $ svc whoami --live
    """
    facts: dict[str, Any] = {
        "object": "whoami",
        "profile": session.settings.profile,
        "origin": session.base_url.origin,
        "mode": session.settings.mode,
        "sandbox": session.settings.sandbox,
    }
    trouble = _key_facts(session, facts) or _service_facts(session, facts)
    if session.format == "human" and facts["key_added"] is None:
        # A sandbox's key, or one of the environment: its age is unknown.
        del facts["key_added"], facts["key_age_days"]
    limits = _limits(session)
    if session.format != "human":
        facts["limits"] = limits
    elif limits:
        facts["limits"] = "; ".join(map(_describe_limit, limits))
    session.out.value(facts, name="profile")
    if trouble is not None:
        raise trouble


def _limits(session: Session) -> list[dict[str, Any]]:
    settings, config = session.settings, session.config
    groups = [
        group for group in LIMIT_GROUPS if config.limits_for(settings.profile, settings.mode, group)
    ]
    if not groups:
        return []
    from svc.cli.framework.delivering import journal_of

    scope = session.scope()
    with suppress(AuthError):
        scope = session.scope(session.key.fingerprint)
    with journal_of(session) as journal:
        book = journal.limits()
        found = []
        for group in groups:
            for one in book.usages(scope, group):
                limit, more = one.limit, book.wait_for(scope, group, one, one.left + 1)
                found.append(
                    {
                        "operation": group,
                        "amount": limit.amount,
                        "currency": limit.currency,
                        "window": limit.window,
                        "left": one.left,
                        "more_at": None if more is None else utc(book.now + more),
                    }
                )
    return found


def _describe_limit(limit: dict[str, Any]) -> str:
    left, whole = (format_amount(limit[name], limit["currency"]) for name in ("left", "amount"))
    more = f", more at {limit['more_at']}" if limit["more_at"] else ""
    return f"{limit['operation']}: {left} left of {whole} a {limit['window']}{more}"


def _key_facts(session: Session, facts: dict[str, Any]) -> SvcError | None:
    """Adds the key; without one, gives the error and leaves the rest open."""
    names = ("key", "key_kind", "key_source", "key_added", "key_age_days")
    facts.update(dict.fromkeys((*names, "proxy", "reachable", "key_accepted", "service_time")))
    try:
        key = session.key
    except AuthError as error:
        facts.update(_variable_facts(session))
        return error
    fact = None if key.source == VARIABLE else session.key_facts.find(session.key_place())
    added = None if fact is None else fact.added_at
    days = None if added is None else days_old(added, session.clock.now())
    values = (key.fingerprint, key.kind, key.source, None if added is None else utc(added), days)
    facts.update(zip(names, values, strict=True))
    return None


def _variable_facts(session: Session) -> dict[str, Any]:
    """What is known of the key in SVC_API_KEY although it may not be used here."""
    text = session.env.get(VARIABLE)
    if not text:
        return {}
    key = api_keys.parse(api_keys.without_line_end(text), VARIABLE)
    return {"key": key.fingerprint, "key_kind": key.kind, "key_source": VARIABLE}


def _service_facts(session: Session, facts: dict[str, Any]) -> SvcError | None:
    settings, address = session.settings, session.base_url
    try:
        proxy = proxy_for(address, choose_proxy(address, settings.proxy, session.env))
        facts["proxy"] = None if proxy is None else str(proxy)
        try_key(session, session.key.secret, session.key.mode)
    except NetworkError as error:
        facts["reachable"] = False
        return error
    except ConfigError as error:
        return error
    except SvcError as error:  # it answered, whatever its answer is worth
        facts["reachable"] = True
        facts["key_accepted"] = False if isinstance(error, Unauthorized) else None
        if isinstance(error, Unauthorized):
            error.hint = suggest_fix(session)
        return error
    facts["reachable"] = facts["key_accepted"] = True
    facts["service_time"] = utc(session.now())
    return None
