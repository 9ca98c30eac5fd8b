"""The new key of a roll: taken from a person or a pipe, and checked before it is stored."""

from svc import api_keys
from svc.api_keys import ApiKey
from svc.cli.framework.inputs.times import seconds_of
from svc.cli.framework.key_check import check_new_key
from svc.cli.framework.prompts import read_secret
from svc.cli.framework.session import Session
from svc.cli.keys.old_key import Before, OldKey, is_same_account
from svc.errors import AuthError, UsageError
from svc.keys.places import KeyPlace
from svc.spec import KEY_GRACE_MAX_SECONDS


def take(session: Session, old: OldKey, *, stdin: bool) -> ApiKey:
    """Reads the new key; without a pipe, one that an earlier roll left behind is taken up.

    Raises:
        UsageError: it is no key, or nobody is there to type it.
        AuthError: it is the old key, or of another mode or kind.
    """
    if old.left_over is not None and not stdin:
        session.out.note("An earlier roll was cut off; it is gone on with, with its new key.")
        text = old.left_over
    else:
        place = old.place
        prompt = f"New {place.mode} key for {place.origin} (profile {place.profile}): "
        text = read_secret(session, prompt, stdin=stdin, command="svc keys roll")
    key = api_keys.parse(text, "The input")
    _refuse_unlike(key, old)
    api_keys.refuse_live_key_here(key, "This", session.base_url)
    return key


def check(session: Session, new: ApiKey, place: KeyPlace, before: Before) -> bool | None:
    """Has the service take the new key; says whether it is of the old one's account, or None.

    Raises:
        AuthError: the service does not know it, or it is of another account.
        NetworkError, ServerError: it cannot be asked.
    """
    check_new_key(session, new.secret, new.mode, new.fingerprint)
    return is_same_account(session, new.secret, place, before)


def grace_of(text: str | None) -> int | None:
    """Reads how long the old key works on, in seconds; None where it is not said.

    Raises:
        UsageError: it is no duration, or more than the service allows (spec: Limits).
    """
    if text is None:
        return None
    seconds = seconds_of(text, "--grace")
    if seconds > KEY_GRACE_MAX_SECONDS:
        raise UsageError("--grace is at most 7d.", param="--grace")
    return seconds


def ask_grace(session: Session) -> int | None:
    """Asks a person what was chosen in the dashboard; only there is it known."""
    stderr = session.streams.stderr
    while True:
        stderr.write("The old key still works. For how long, as chosen (such as 24h; at most 7d): ")
        stderr.flush()
        answer = session.streams.stdin.readline().strip()
        try:
            return grace_of(answer or None)
        except UsageError as error:
            session.out.note(error.message)


def _refuse_unlike(key: ApiKey, old: OldKey) -> None:
    if key.secret == old.key.secret and old.was_noted:
        raise _refusal(
            f"This is the key that is stored already ({key.fingerprint}).",
            "key_not_new",
            "Roll it in the dashboard first, and give the key that is shown there",
        )
    if key.mode != old.key.mode:
        raise _refusal(
            f"This is a {key.mode} key ({key.fingerprint}); the one that is rolled "
            f"({old.key.fingerprint}) is a {old.key.mode} key.",
            "mode_mismatch",
            f"Give the new {old.key.mode} key",
        )
    if key.kind != old.key.kind:
        raise _refusal(
            f"This is a {key.kind} key ({key.fingerprint}); the one that is rolled "
            f"({old.key.fingerprint}) is a {old.key.kind} key.",
            "kind_mismatch",
            f"Give the new {old.key.kind} key; to store another kind: svc keys add",
        )


def _refusal(message: str, code: str, hint: str) -> AuthError:
    return AuthError(f"Nothing was stored. {message}", code=code, outcome="not_sent", hint=hint)
