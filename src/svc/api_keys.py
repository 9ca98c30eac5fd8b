"""What a key is, read from its text, and what must not be sent where (spec: Authentication)."""

import re
from binascii import b2a_base64
from typing import Final, Literal, NamedTuple, TypeAlias

from svc.base_url import BaseUrl
from svc.errors import AuthError, UsageError
from svc.redaction import masked
from svc.spec import KEY_PREFIXES, SANDBOX_KEYS, SECRET_PREFIX

Kind: TypeAlias = Literal["secret", "publishable", "restricted"]
Mode: TypeAlias = Literal["test", "live"]

_KINDS: Final[dict[str, Kind]] = {"sk": "secret", "pk": "publishable", "rk": "restricted"}
_LENGTH_MAX: Final = 512

SIGNING_VARIABLE: Final = "SVC_WEBHOOK_SECRET"


class ApiKey(NamedTuple):
    """A key whose text has the form of one; it never shows its secret by itself (promise R39)."""

    secret: str
    kind: Kind
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
    """Reads kind and mode from the prefix.

    `source` names in errors where the text came from, such as `SVC_API_KEY`.

    Raises:
        UsageError: it has another form, or characters that no key has (promise R44).
    """
    _check_characters(text, source, "key")
    if not text.startswith(KEY_PREFIXES) or text in KEY_PREFIXES:
        raise UsageError(
            f"{source} holds no API key: a key begins with sk_, rk_ or pk_, and then test_ or "
            "live_.",
            code="api_key_invalid",
            hint="Copy the whole key from the dashboard",
        )
    mode: Mode = "live" if text[2:].startswith("_live_") else "test"
    return ApiKey(text, _KINDS[text[:2]], mode)


def parse_signing_secret(text: str, source: str) -> str:
    """Returns a webhook endpoint's signing secret that has the form of one (promise R48).

    Raises:
        UsageError: it is empty, padded, or does not begin with `whsec_`.
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
    """Takes one line end off a secret from a pipe, file or variable; nothing else (promise R44)."""
    return text.removesuffix("\n")


def fingerprint(secret: str) -> str:
    """Shows the prefix and at most the last four characters of a key or a signing secret."""
    prefix = next((each for each in (*KEY_PREFIXES, SECRET_PREFIX) if secret.startswith(each)), "")
    return prefix + masked(secret.removeprefix(prefix))


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


Auth: TypeAlias = Literal["bearer", "basic"]

# Secret and restricted keys and signing secrets as the service writes them, and as Basic
# authentication has them. A word that ends so, such as `risk_live_`, is none.
_LIKE_SECRET = (
    rb"(?<![0-9A-Za-z])(?:(?:sk|rk)_(?:test|live)_|whsec_)[0-9A-Za-z]{6,}"
    rb"|(?:c2t|cmt)f(?:dGVzd|bGl2Z)[0-9A-Za-z+/]{6,}"
)
_ESCAPE = rb"%[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\."
_SIGNS = (b"k_", b"whsec_", b"c2tf", b"cmtf")
_PUBLIC_KEYS = frozenset(SANDBOX_KEYS.values())


def check(base_url: BaseUrl, api_key: str, mode: Mode) -> None:
    """Refuses a key that must not be sent to this address or for this mode.

    Raises:
        AuthError: no key, a malformed or publishable one, one of the other mode, a live key for
            this machine (promises R21, R30).
        UsageError: plain http to another machine (promise R21).
    """
    _check_form(api_key)
    if api_key.startswith("pk_"):
        raise AuthError(
            "A publishable key cannot read or change data.",
            code="secret_key_required",
            outcome="not_sent",
            hint="Use a secret key (sk_...) or a restricted key (rk_...).",
        )
    if mode_of(api_key) != mode:
        raise AuthError(
            f"The key is a {mode_of(api_key)} key, but this call is for {mode} mode.",
            code="mode_mismatch",
            outcome="not_sent",
            hint=f"Use a {mode} key, or choose the mode with --{mode_of(api_key)}.",
        )
    _check_place(base_url, api_key)


def mode_of(api_key: str) -> Mode:
    """The mode that a key's prefix states (spec: Authentication)."""
    return "live" if api_key[2:].startswith("_live_") else "test"


def authorization(api_key: str, auth: Auth) -> str:
    """The value of `Authorization`: the key as bearer, or as user name with an empty password."""
    if auth == "bearer":
        return f"Bearer {api_key}"
    return "Basic " + b2a_base64(f"{api_key}:".encode("ascii"), newline=False).decode("ascii")


def refuse_secrets(api_key: str, *parts: bytes | str | None) -> None:
    """Keeps secrets out of everything but the header of the key (promises R28, R45, R100).

    That is the key in use, empty where it is not known, and whatever looks like one.

    Raises:
        AuthError: a part of the request holds one; nothing was recorded or sent.
    """
    forms = _forms(api_key)
    for part in map(_bytes, parts):
        if any(form in part for form in forms) or _looks_secret(part):
            raise AuthError(
                "The request holds a secret in its path, query, body or idempotency key.",
                code="secret_in_request",
                outcome="not_sent",
                hint="Take it out: a key is sent in the Authorization header only",
            )


def publishable(api_key: str) -> str:
    """Returns a publishable key, the only kind that the checkout takes.

    Raises:
        AuthError: on any other key.
    """
    _check_form(api_key)
    if not api_key.startswith("pk_"):
        raise AuthError(
            "The checkout takes a publishable key only.",
            code="publishable_key_required",
            outcome="not_sent",
            hint="Use pk_test_sandbox.",
        )
    return api_key


def _forms(api_key: str) -> list[bytes]:
    """How a key is written: as it is, and as Basic authentication has it, up to the colon."""
    plain = api_key.encode()
    return [plain, b2a_base64(plain, newline=False)[: len(plain) // 3 * 4]] if plain else []


def _bytes(part: bytes | str | None) -> bytes:
    return part.encode() if isinstance(part, str) else part or b""


def _looks_secret(part: bytes) -> bool:
    # Nearly every request ends here: a search for plain text costs next to nothing.
    if not any(sign in part for sign in _SIGNS):
        return False
    # The end of an escape, as of `%2F` or `\\n`, is no letter before a prefix.
    return re.search(_LIKE_SECRET, re.sub(_ESCAPE, b" ", part)) is not None


def _check_form(api_key: str) -> None:
    shaped = api_key.startswith(KEY_PREFIXES) and api_key not in KEY_PREFIXES
    if not shaped or not all("!" <= mark <= "~" for mark in api_key):
        raise AuthError(
            "The API key is missing or malformed." if api_key else "There is no API key.",
            code="api_key_invalid" if api_key else "api_key_missing",
            outcome="not_sent",
            hint="Keys begin with sk_test_, sk_live_, rk_test_ or rk_live_: svc keys add",
        )


def _check_place(base_url: BaseUrl, api_key: str) -> None:
    if base_url.scheme != "https" and not base_url.is_loopback:
        raise UsageError(
            f"{base_url.origin} would carry the key in clear.",
            code="https_required",
            param="base_url",
            hint="Use https://; plain http is for this machine only.",
        )
    public = api_key in _PUBLIC_KEYS
    if base_url.is_loopback and mode_of(api_key) == "live" and not public:
        raise AuthError(
            f"A live key is not sent to {base_url.origin}: that is this machine, not the service.",
            code="live_key_refused",
            outcome="not_sent",
            hint="Use a test key, or the sandbox's own sk_live_sandbox.",
        )
