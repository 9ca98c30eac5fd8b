"""API keys and signing secrets as values: parsed, shortened for display, refused in a wrong place.

An `ApiKey` tells its kind (secret, restricted, publishable) and its mode from its prefix. `keys`
parses the keys that it stores and finds. A `Client` calls `refuse_out_of_place` for its key and
`refuse_secrets` for each request: no key leaves for the wrong address, no secret in a body. `cli`,
`keys` and `listen` take secrets out of the environment of programs that they start.
"""

import re
from binascii import b2a_base64
from collections.abc import Mapping
from typing import Final, NamedTuple

from svc.base_url import BaseUrl
from svc.errors import AuthError, UsageError
from svc.redaction import mask
from svc.service.facts import (
    KEY_PREFIX_LENGTH,
    KEY_PREFIXES,
    KEY_PREFIXES_IN_BASE64,
    SANDBOX_KEYS,
    SECRET_PREFIX,
    Auth,
    KeyKind,
    Mode,
)

_LENGTH_MAX: Final = 512

KEY_VARIABLE: Final = "SVC_API_KEY"
SIGNING_VARIABLE: Final = "SVC_WEBHOOK_SECRET"
LOG_VARIABLE: Final = "SVC_LOG_CREDENTIALS"
HELD_BACK: Final = (KEY_VARIABLE, SIGNING_VARIABLE, LOG_VARIABLE)

# Secret and restricted keys and signing secrets as the service writes them, and as Basic
# authentication has them. A word that ends so, such as `risk_live_`, is none.
_ENCODED: Final = tuple(
    encoded.encode()
    for encoded, prefix in KEY_PREFIXES_IN_BASE64.items()
    if KEY_PREFIXES[prefix][0] != "publishable"
)
_LIKE_SECRET = (
    rb"(?<![0-9A-Za-z])(?:(?:sk|rk)_(?:test|live)_|whsec_)[0-9A-Za-z]{6,}"
    rb"|(?:%b)[0-9A-Za-z+/]{5,}" % b"|".join(_ENCODED)
)
_ESCAPE = rb"%[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\."
_SIGNS = (b"k_", b"whsec_", *_ENCODED)


def without_secrets(env: Mapping[str, str]) -> dict[str, str]:
    """Returns an environment for another program, without svc's keys and secrets (R43)."""
    return {name: value for name, value in env.items() if name not in HELD_BACK}


class ApiKey(NamedTuple):
    """A key whose text has the form of one; it never shows its secret by itself (promise R39)."""

    secret: str
    kind: KeyKind
    mode: Mode

    @property
    def fingerprint(self) -> str:
        """Prefix and last four; of a short key the prefix only."""
        return fingerprint(self.secret)

    @property
    def is_public_constant(self) -> bool:
        """True for the sandbox's own keys, which everybody knows (promise R21)."""
        return self.secret in SANDBOX_KEYS.values()

    def __repr__(self) -> str:
        return f"ApiKey({self.fingerprint})"


def parse(text: str, source: str) -> ApiKey:
    """Parses the text of a key; its prefix tells kind and mode.

    `source` names in errors where the text came from, such as `SVC_API_KEY`.

    Raises:
        UsageError: the text is no key, or has characters that no key has (promise R44).
    """
    _check_characters(text, source, "key")
    known = KEY_PREFIXES.get(text[:KEY_PREFIX_LENGTH])
    if known is None or text in KEY_PREFIXES:
        raise UsageError(
            f"{source} holds no API key: a key begins with sk_, rk_ or pk_, and then test_ or "
            "live_.",
            code="api_key_invalid",
            hint="Copy the whole key from the dashboard",
        )
    return ApiKey(text, *known)


def parse_to_send(text: str) -> ApiKey:
    """Parses a key that is about to be sent; raises AuthError: it is no key, nothing was sent."""
    try:
        return parse(text, "This")
    except UsageError as error:
        raise _refusal(error.message, error.code, error.hint) from None


def parse_signing_secret(text: str, source: str) -> str:
    """Returns `text` if it has the form of a webhook endpoint's signing secret (promise R48).

    Raises:
        UsageError: the text is empty, padded, or does not begin with `whsec_`.
    """
    _check_characters(text, source, "signing secret")
    if not text.startswith(SECRET_PREFIX) or text == SECRET_PREFIX:
        raise UsageError(
            f"{source} holds no signing secret: it begins with {SECRET_PREFIX}.",
            code="secret_invalid",
            hint="It was shown once, when the webhook endpoint was registered",
        )
    return text


def without_line_end(text: str) -> str:
    """Removes one line end after a secret from a pipe, file or variable; nothing else (R44)."""
    return text.removesuffix("\n")


def fingerprint(secret: str) -> str:
    """Shows the prefix and at most the last four characters of a key or a signing secret."""
    prefix = next((each for each in (*KEY_PREFIXES, SECRET_PREFIX) if secret.startswith(each)), "")
    return prefix + mask(secret.removeprefix(prefix))


def refuse_out_of_place(key: ApiKey, source: str, mode: Mode, address: BaseUrl) -> None:
    """Refuses a key that must not be sent to an address for a mode.

    `source` says where the key is from, such as `SVC_API_KEY`; it begins a sentence.

    Raises:
        AuthError: the key is publishable, of the other mode, or a live key for this machine.
    """
    refuse_publishable(key, source)
    refuse_other_mode(key, source, mode)
    refuse_live_key_here(key, source, address)


def refuse_plain_http(address: BaseUrl, key: ApiKey | None = None) -> None:
    """Raises UsageError where a key would leave this machine in clear (promise R21).

    The sandbox's own keys may, which are public: a sandbox in another container speaks plain HTTP.
    """
    if address.is_clear and (key is None or not key.is_public_constant):
        raise UsageError(
            f"{address.origin} would carry the key in clear.",
            code="https_required",
            param="base_url",
            hint="Use https://; plain http is for this machine, and for a sandbox elsewhere with "
            "its public key (svc help sandbox)",
        )


def refuse_publishable(key: ApiKey, source: str) -> None:
    """Raises AuthError on a key that can neither read nor change data (promise R30)."""
    if key.kind == "publishable":
        raise _refusal(
            f"{source} is a publishable key ({key.fingerprint}), which cannot read or change data.",
            "secret_key_required",
            f"Use a secret (sk_) or a restricted key (rk_) of {key.mode} mode",
        )


def refuse_other_kinds(key: ApiKey, source: str, mode: Mode) -> None:
    """Raises AuthError on any but a publishable key, the only kind that the checkout takes."""
    if key.kind != "publishable":
        raise _refusal(
            f"{source} is not a publishable key ({key.fingerprint}); the checkout accepts no "
            "other kind.",
            "publishable_key_required",
            f"Use a pk_{mode}_ key: svc sandbox keys create --type publishable",
        )


def refuse_other_mode(key: ApiKey, source: str, mode: Mode) -> None:
    """Raises AuthError on a key of the other mode (promise R30)."""
    if key.mode != mode:
        way = "add --live" if mode == "test" else "leave out --live"
        raise _refusal(
            f"{source} is a {key.mode} key ({key.fingerprint}), but the mode is {mode}.",
            "mode_mismatch",
            f"Use a {mode} key, or {way}",
        )


def refuse_live_key_here(key: ApiKey, source: str, address: BaseUrl) -> None:
    """Raises AuthError on a live key for this machine, the sandbox's own excepted (R21)."""
    if address.is_loopback and key.mode == "live" and not key.is_public_constant:
        raise _refusal(
            f"{source} is a live key ({key.fingerprint}); it is not sent to {address.origin}, "
            "which is this machine and not the service.",
            "live_key_refused",
            "Use a test key, or choose the service: --profile NAME or --base-url URL",
        )


def authorization(api_key: str, auth: Auth) -> str:
    """The value of `Authorization`: the key as bearer, or as user name with an empty password."""
    if auth == "bearer":
        return f"Bearer {api_key}"
    return "Basic " + b2a_base64(f"{api_key}:".encode("ascii"), newline=False).decode("ascii")


def refuse_secrets(api_key: str, *parts: bytes | str | None) -> None:
    """Refuses a request that has a secret outside of its key's header (promises R28, R45, R100).

    That is the key in use, empty where it is not known, and whatever looks like one.

    Raises:
        AuthError: a part of the request holds one; nothing was recorded or sent.
    """
    forms = _forms(api_key)
    # No form has a line feed in it, and none goes on behind one.
    whole = b"\n".join(map(_bytes, parts))
    if any(map(whole.__contains__, forms)) or _looks_secret(whole):
        raise AuthError(
            "The request holds a secret in its path, query, body or idempotency key.",
            code="secret_in_request",
            outcome="not_sent",
            hint="Take it out: a key is sent in the Authorization header only",
        )


def _forms(api_key: str) -> list[bytes]:
    """How a key is written: as it is, and as Basic authentication has it, up to the colon."""
    plain = api_key.encode()
    return [plain, b2a_base64(plain, newline=False)[: len(plain) // 3 * 4]] if plain else []


def _bytes(part: bytes | str | None) -> bytes:
    return part.encode() if isinstance(part, str) else part or b""


def _looks_secret(part: bytes) -> bool:
    # Nearly every request ends here: a search for plain text costs next to nothing.
    if not any(map(part.__contains__, _SIGNS)):
        return False
    # The end of an escape, as of `%2F` or `\\n`, is no letter before a prefix.
    return re.search(_LIKE_SECRET, re.sub(_ESCAPE, b" ", part)) is not None


def _refusal(message: str, code: str | None, hint: str | None) -> AuthError:
    return AuthError(message, code=code, outcome="not_sent", hint=hint)


def _check_characters(text: str, source: str, what: str) -> None:
    if not text:
        raise UsageError(f"{source} holds no {what}: it is empty.", code=f"{_code(what)}_missing")
    if len(text) > _LENGTH_MAX or not all("!" <= mark <= "~" for mark in text):
        raise UsageError(
            f"{source} holds no usable {what}: it has spaces, line ends or characters that are "
            "not ASCII, or is too long.",
            code=f"{_code(what)}_invalid",
            hint=f"Give the {what} alone, on one line",
        )


def _code(what: str) -> str:
    return "api_key" if what == "key" else "secret"
