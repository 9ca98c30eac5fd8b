"""What a key is, read from its text alone (spec: Authentication)."""

from typing import Final, Literal, NamedTuple, TypeAlias

from svc.errors import UsageError
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
