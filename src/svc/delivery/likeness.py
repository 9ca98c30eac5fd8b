"""Computes two digests of a request: of its exact parameters, and one that duplicates share.

The *parameters digest* is that of the exact parameters in any spelling (form, JSON, options); an
idempotency key stands for it. The *likeness* is the digest of the normalised parameters; it finds
duplicates and is never part of a key. The bytes to send are stored separately and sent unchanged.

`batch.validate` computes both for each row, `journal.stored` for each command; the journal, the
results file of a batch and the planner find duplicates by them.
"""

import hashlib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from operator import itemgetter
from typing import Final

from svc.base_url import BaseUrl
from svc.client.call import Encoding
from svc.json_text import ExactNumber, NotJson, parse

_HERE: Final = ("localhost", "127.0.0.1", "::1", "::ffff:7f00:1", "::ffff:127.0.0.1")
_LENGTH: Final = 32
# Where something is made: collections have no id in their path.
_MAKING: Final = frozenset({"orders", "refunds", "payouts", "quotes", "webhook_endpoints"})
_PLAIN_ZEROS: Final = 40
_BETWEEN: Final = "\x1f"
# Fields that people spell in more than one way: names, and numbers that are written in groups.
_WORDED: Final = frozenset(
    {"account_holder_name", "bank_name", "name", "line1", "line2", "city", "state"}
)
# What a merchant writes to tell one payment from another; any other field describes it.
_MARKING: Final = frozenset({"reference", "metadata"})
# Hyphens and dashes that an office program writes for `-`, and characters without a width.
_DASHES: Final = str.maketrans("\u2010\u2011\u2012\u2013\u2014\u2212", "------", "\xad\u200b\ufeff")
_NUMBERED: Final = frozenset({"iban", "account_number", "bic", "bank_code", "postal_code"})


class UnreadableBody(ValueError):  # noqa: N818  it describes a body
    """The stored bytes are not a body that svc has encoded."""


@lru_cache(maxsize=16)  # a list asks for each of its rows
def place_of(base_url: str) -> str:
    """Normalises an address for comparison: the three names of this machine are equal."""
    url = BaseUrl.parse(base_url)
    return str(url._replace(host="localhost") if url.host in _HERE else url)


def is_making(path: str) -> bool:
    """Whether a POST creates an object, rather than changing the object that its path names."""
    return path.rsplit("/", 1)[-1] in _MAKING


def likenesses(
    base_url: str, mode: str, path: str, fields: Mapping[str, object]
) -> tuple[str, str]:
    """The parameters digest and the likeness of a POST, 32 hexadecimal digits each.

    For the first (R91, R114) names are sorted, numbers count by their exact value, and scalars are
    compared as text, since a form has only text: 500, 500.0, 5e2 and "500" are equal. In a request
    that creates an object, null equals an absent field. The account is no part of it, because a
    key does not name one: see `entry.KeyEquivalence`.

    For the second, the likeness (R5, R115), names of people, places and banks are compared in NFKC,
    without case and with single blanks; account numbers and bank codes without blanks and case; any
    other text without blanks around it, since ids and references differ by a letter's case.
    """
    pairs = list_pairs(path, fields)
    exact = _digest_pairs(base_url, mode, path, pairs)
    folded = [(names, fold(names[-1], text)) for names, text in pairs]
    return exact, exact if folded == pairs else _digest_pairs(base_url, mode, path, folded)


def row_likeness(row_id: str) -> str:
    """The likeness of a row that has an id of its own, such as an invoice number."""
    return digest_parts(f"{format_part('row-id')}{format_part(row_id.strip())}")


def subject_of(path: str, fields: Mapping[str, object]) -> str:
    """The subject of a POST that can have its effect twice; empty for any other POST.

    The subject is the payment of a refund, the order of a capture, the account number of a payout.
    Of two requests with one subject, one may be a corrected version of the other (promise R115).
    """
    kind, about = path.rsplit("/", 1)[-1], None
    if kind == "refunds":
        about = fields.get("payment")
    elif kind == "capture":
        about = path.split("/")[-2]
    elif kind == "payouts" and isinstance(destination := fields.get("destination"), Mapping):
        number = destination.get("iban") or destination.get("account_number")
        about = None if number is None else fold("iban", str(number))
    return f"{kind}:{str(about).strip()}" if about else ""


def about_of(subject: str) -> str:
    """The digest of a subject, which a results file may contain; empty for an empty subject."""
    return _digest(subject.encode()) if subject else ""


def effect_of(subject: str, amount: int | None) -> str:
    """The digest of what a POST moves: its subject and the amount; empty if either is not known.

    Two requests of one effect and different likenesses may be one payment in other words.
    """
    return _digest(f"{subject}:{amount}".encode()) if subject and amount is not None else ""


def read_marks(
    path: str, encoding: Encoding, body: bytes, *, row_id: str | None, key: str | None
) -> tuple[tuple[str, str], ...]:
    """Reads what tells a request of a batch from others of the same effect, as names and values.

    Its reference and metadata, and the id and idempotency key of its row's own. But for the key,
    another case, hyphen or number of blanks is another spelling of the same.
    """
    said = read_folded(path, encoding, body)
    marks = [(name, text) for name, text in said if name.partition(_BETWEEN)[0] in _MARKING]
    marks.append(("--row-id", row_id or ""))
    marks = [(name, fold("name", text.translate(_DASHES))) for name, text in marks]
    return tuple((name, text) for name, text in (*marks, ("--idempotency-key", key or "")) if text)


def read_folded(path: str, encoding: Encoding, body: bytes) -> list[tuple[str, str]]:
    """Reads the parameters of the likeness, by joined names; none if the bytes are unreadable."""
    try:
        pairs = list_pairs(path, fields_of(encoding, body))
    except UnreadableBody:
        return []
    return [(join_names(names), fold(names[-1], text)) for names, text in pairs]


def read_subject(path: str, encoding: Encoding, body: bytes) -> str:
    """Reads from the bytes of a POST its subject, as `subject_of`; empty if it is not known."""
    try:
        return subject_of(path, fields_of(encoding, body))
    except UnreadableBody:
        return ""


def read_effect(path: str, encoding: Encoding, body: bytes, amount: int | None) -> str:
    """Reads from the bytes of a POST what it moves, as `effect_of`; empty if it is not known."""
    return effect_of(read_subject(path, encoding, body), amount)


def are_told_apart(marks: Iterable[tuple[str, str]], others: Iterable[tuple[str, str]]) -> bool:
    """Whether a mark, or parameter, of two requests differs; what only one has tells nothing."""
    said, other = dict(marks), dict(others)
    return any(said[name] != other[name] for name in said.keys() & other.keys())


def list_pairs(path: str, fields: Mapping[str, object]) -> list[tuple[tuple[str, ...], str]]:
    """Lists the parameters that both digests are of: the names of each, and its text, in order."""
    pairs: list[tuple[tuple[str, ...], str]] = []
    _spread(pairs, (), fields, drop=is_making(path))
    pairs.sort(key=itemgetter(0))
    return pairs


def _digest_pairs(
    base_url: str, mode: str, path: str, pairs: Iterable[tuple[tuple[str, ...], str]]
) -> str:
    parts = list_parts_of_place(base_url, mode, path)
    for names, text in pairs:
        parts += [join_names(names), text]
    return digest_parts("".join(map(format_part, parts)))


def list_parts_of_place(base_url: str, mode: str, path: str) -> list[str]:
    """The first parts of both digests: where a request goes."""
    return [place_of(base_url), mode, "POST", path]


def join_names(names: tuple[str, ...]) -> str:
    """The part of both digests that names a parameter."""
    return _BETWEEN.join(names)


def digest_parts(told: str) -> str:
    """The digest of parts that `format_part` has formatted, one after the other."""
    return _digest(told.encode("utf-8", "surrogatepass"))


def format_part(part: str) -> str:
    """Formats a part after its length in bytes, so that different lists of parts differ."""
    size = len(part) if part.isascii() else len(part.encode("utf-8", "surrogatepass"))
    return f"{size}:{part}"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:_LENGTH]


def fold(name: str, text: str) -> str:
    """Normalises the text of a parameter for the likeness; `name` ends its path."""
    if name in _WORDED and text:
        if not text.isascii():
            from unicodedata import normalize

            text = normalize("NFKC", text)
        return " ".join(text.split()).casefold()
    if name in _NUMBERED:
        return "".join(text.split()).casefold()
    return text.strip()


def fields_of(encoding: Encoding, body: bytes) -> dict[str, object]:
    """Parses stored bytes to nested fields; raises UnreadableBody: invalid in this encoding."""
    try:
        text = body.decode("utf-8")
        found = _form(text) if encoding == "form" else parse(text or "{}")
    except (UnicodeDecodeError, NotJson) as error:
        raise UnreadableBody(str(error)) from None
    if not isinstance(found, dict):
        raise UnreadableBody("it is no object")
    return found


def _spread(
    pairs: list[tuple[tuple[str, ...], str]], names: tuple[str, ...], value: object, *, drop: bool
) -> None:
    if isinstance(value, (list, tuple)):
        inside: Iterable[tuple[object, object]] = enumerate(value)
    elif isinstance(value, (dict, Mapping)):  # a dict is known at once, a Mapping is asked
        inside = value.items()
    else:
        if value is not None or not drop:
            pairs.append((names, _text(value)))
        return
    if not value and names and not drop:
        pairs.append((names, "{}"))
    for name, inner in inside:
        kind = type(inner)
        if kind is str or kind is int:  # nearly all there is
            pairs.append(((*names, str(name)), str(inner)))
        else:
            _spread(pairs, (*names, str(name)), inner, drop=drop)


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    return _number(value.text if isinstance(value, ExactNumber) else repr(value))


def _number(text: str) -> str:
    """Formats a number by its exact value, without exponent and insignificant zeros."""
    from decimal import Decimal

    sign, digits, exponent = Decimal(text).as_tuple()
    if not isinstance(exponent, int):
        return text
    plain = "".join(map(str, digits))
    kept = plain.rstrip("0")
    exponent += len(plain) - len(kept)
    kept = kept.lstrip("0")
    if not kept:
        return "0"
    minus = "-" if sign else ""
    if 0 <= exponent <= _PLAIN_ZEROS:
        return f"{minus}{kept}{'0' * exponent}"
    return f"{minus}{kept}e{exponent}"


def _form(text: str) -> dict[str, object]:
    """Parses a form to nested fields by its bracket paths; `list[]` appends."""
    from urllib.parse import parse_qsl

    found: dict[str, object] = {}
    for name, value in parse_qsl(text, keep_blank_values=True):
        head, *rest = name.replace("]", "").split("[")
        here, last = found, head
        for part in rest:
            inner = here.setdefault(last, {})
            if not isinstance(inner, dict):
                raise UnreadableBody(f"{name} is inside a field that has a plain value")
            here, last = inner, part or str(len(inner))
        if last in here:
            raise UnreadableBody(f"{name} appears twice")
        here[last] = value
    return found
