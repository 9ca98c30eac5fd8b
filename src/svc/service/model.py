"""The types by which `service` describes the API: kinds of values, fields, actions, resources.

Each noun's file makes one `Resource` of them: `Kind` says what a value may be, `Field` what is
known of one field, `Action` of one verb. The readers are `cli` (commands, options), `client`
(checks of bodies and answers), `batch`, `render` (views, CSV columns), `listen.examine` and the
sandbox (schemas, rules). Plain NamedTuples with look-ups: every command loads them at its start.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from svc.service.facts import AMOUNT_MAX, API_ROOT, NOUNS

ValueType: TypeAlias = Literal[
    "text",
    "identifier",
    "choice",
    "amount",
    "integer",
    "boolean",
    "timestamp",
    "rate",
    "currency",
    "country",
    "tariff_code",
    "url",
    "event_type",
    "object",
    "list",
    "free",
]


class Kind(NamedTuple):
    """What a value may be.

    Attributes:
        minimum, maximum: bounds of a number; `maximum` also limits the characters of a text and
            the entries of a list.
        words: the words of a choice; of a country, codes beyond ISO 3166-1.
        answered: further words of a choice, which only answers have.
        of: the name of the object that an identifier names, or that is embedded whole.
        fields: the fields of an object.
        entry: the kind of a list's entries.
        currency: the field beside an amount that holds the amount's currency.
        pattern, shape: the form of a text, as a regular expression and in words.
        unique: no two entries of a list are equal.
        one_of: groups of fields, of which an object has exactly one.
        merged: an update changes only those fields of the object that the request names.
    """

    type: ValueType
    minimum: int = 0
    maximum: int = 0
    words: tuple[str, ...] = ()
    answered: tuple[str, ...] = ()
    of: str = ""
    fields: tuple["Field", ...] = ()
    entry: "Kind | None" = None
    currency: str = ""
    pattern: str = ""
    shape: str = ""
    unique: bool = False
    one_of: tuple[tuple[str, ...], ...] = ()
    merged: bool = False

    @property
    def inner(self) -> tuple["Field", ...]:
        """The fields of an object, or of each entry of a list."""
        return self.entry.fields if self.entry else self.fields


class Field(NamedTuple):
    """One field of an object: where it may be given, what proves an answer, how people see it.

    Attributes:
        help: the line of the field's option in help; `{words}` stands for the words of its kind.
        option: the option that gives the field, with a name for the value: `--amount N`.
        given: verbs whose request may have the field, separated by spaces; empty for a field that
            only answers have. A field inside an object may be given wherever the object may,
            unless it is `made`.
        required: a request that creates an object must have the field.
        assumed: the specification does not show that the field is required: the sandbox enforces
            it, the client sends the request and lets the service refuse it.
        clearable: an empty value counts as an absent one; where false, it is refused.
        default: the value in a new object where the request gave none.
        example: an example of a value, as JSON has it.
        nullable: an answer may have null.
        made: inside an object, a field that only answers have.
        answered: when answers have the field: "always", "never", "given" (only where the request
            gave it), "create" (only in the answer to the creation).
        answered_as: the field of the answer that has this field's value, where named otherwise.
        proof: how the client compares an answer's value with the request's. "same": with another
            value it is the answer to another request (promise R93); "equal": another value
            contradicts the request (promise R15); empty: it is not compared.
        label: the field's name for people.
        column: its place in the table of a list, and its rank: where the screen is too narrow,
            columns are dropped by rank, the highest first.
        card: its place among the lines by which one object is shown, 0 for none, or among its
            parts.
        lifted: its label where a field inside an object is shown among those around the object.
        fallback: the field that is shown where this one has no value.
        shown: the style in which a value is shown, where its kind does not say so.
        during: the only status in which the field is shown.
        due_while: the status in which the field is a deadline, by which lists can be filtered.
        part_of: the amount of which this amount was returned; lists show that beside the status.
        csv: the field whose column stands before this one in CSV, where that is not the field
            before; "-" for no column.
    """

    name: str
    kind: Kind
    help: str = ""
    option: str = ""
    given: str = ""
    required: bool = False
    assumed: bool = False
    clearable: bool = True
    default: Any = None
    example: Any = None
    nullable: bool = False
    made: bool = False
    answered: Literal["always", "never", "given", "create"] = "always"
    answered_as: str = ""
    proof: Literal["", "same", "equal"] = ""
    label: str = ""
    column: tuple[int, int] | None = None
    card: int = 0
    lifted: str = ""
    fallback: str = ""
    shown: str = ""
    during: str = ""
    due_while: str = ""
    part_of: str = ""
    csv: str = ""

    def is_given(self, verb: str) -> bool:
        """Whether a request of this verb may have the field."""
        return verb in self.given.split()

    @property
    def is_needed(self) -> bool:
        """Whether the client itself refuses to send a creation without the field."""
        return self.required and not self.assumed


class Action(NamedTuple):
    """One verb of a resource: a method on its path.

    Attributes:
        summary: what the action does, for help and OpenAPI.
        example: the words behind the verb in the example of the command's help.
        more: further sentences of help.
        fields: fields that the request may have beside those of the resource.
        step: the end of the action's path, such as `/cancel`.
        answers: names that the answer's `object` may have, where not the resource's own.
        encoding: the encoding of the request's body.
        money: where the action moves money: what it does, as the question before it says, with the
            objects that the request names in braces. Empty where no money moves.
        money_of: which of these objects the money belongs to, such as the payment of a refund.
        fails: fields of the answer, each with the values that mean that what was asked for has
            failed (promise R117).
        only_with: the field of the request that must be true for `money` and `fails` to count.
        whole: a request without an amount moves all that is left.
        settles: the object that the action makes reaches a final status by itself.
        limit: the setting `limits.GROUP` under which the moved amount is counted; empty for none.
        many: a batch can carry the action out for every row of a file.
        rows: what a person is asked to confirm of a batch in live mode; empty where no money moves.
        total: the field of the answer that a batch adds up.
        twice: the same request sent twice has its effect twice, without an idempotency key.
        permission: the resource that a restricted key must be allowed, if not the action's own.
        refuses: error codes beyond those of its fields: what states and relations forbid.
        assumed: the specification does not show the action.
    """

    verb: str
    summary: str
    example: str = ""
    more: str = ""
    fields: tuple[Field, ...] = ()
    step: str = ""
    answers: tuple[str, ...] = ()
    encoding: Literal["json", "form"] = "json"
    money: str = ""
    money_of: str = ""
    fails: tuple[tuple[str, tuple[str, ...]], ...] = ()
    only_with: str = ""
    whole: bool = False
    settles: bool = False
    limit: str = ""
    many: bool = False
    rows: str = ""
    total: str = ""
    twice: bool = False
    permission: str = ""
    refuses: tuple[str, ...] = ()
    assumed: bool = False

    @property
    def method(self) -> Literal["GET", "POST"]:
        """The HTTP method of the action."""
        return "GET" if self.verb in ("retrieve", "list") else "POST"

    @property
    def is_on_one(self) -> bool:
        """Whether the action's path has the id of one object."""
        return self.verb not in ("create", "list")


class Implied(NamedTuple):
    """An event that the state of an object shows to have been sent (spec: Events).

    Attributes:
        event: the type of the event.
        at: the field with the time of the event; empty where no field has it.
        given: the field whose value shows that it was sent, where `at` does not.
        status: the only status that shows it; empty for every status.
    """

    event: str
    at: str = ""
    given: str = ""
    status: str = ""

    def is_shown_by(self, data: Mapping[str, Any]) -> bool:
        """Whether an object has the status and the fields that show the event."""
        fields = [name for name in (self.at, self.given) if name]
        has_fields = all(data.get(name) is not None for name in fields)
        return has_fields and self.status in ("", data.get("status"))


class Resource(NamedTuple):
    """One noun of the API.

    Attributes:
        name: the name of the objects, as their field `object` says.
        title: the name of one object for people.
        section: the section of the specification.
        fields: all fields but `object`, in the order of answers.
        path: the path of the list; an object's path is this and the object's id.
        actions: the verbs, in the order of the specification.
        final: the statuses that end a wait.
        failures: the statuses that mean that the object failed.
        headline: the field that people read as the object's status.
        short: the title in an operation's id, where not `title`.
        implies: the events that an object's state shows to have been sent.
        money: the fields of the amount that an object had and of what is gone of it, where a POST
            moves what is left; the second may be empty.
    """

    name: str
    title: str
    section: str
    fields: tuple[Field, ...]
    path: str = ""
    actions: tuple[Action, ...] = ()
    final: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    headline: str = "status"
    short: str = ""
    implies: tuple[Implied, ...] = ()
    money: tuple[str, str] = ("amount", "")

    @property
    def word(self) -> str:
        """The word of the noun's commands, such as `landed-cost-quotes`."""
        return f"{self.name}s".replace("_", "-")

    @property
    def prefix(self) -> str:
        """What the ids of the noun's objects begin with, such as `ord_`."""
        return NOUNS[self.name].prefix

    @property
    def permission(self) -> str:
        """The resource that a restricted key must be allowed, such as `orders`."""
        known = NOUNS[self.name]
        return known.permission or (f"{self.name}s" if known.summary else "")

    @property
    def statuses(self) -> tuple[str, ...]:
        """All statuses that are known: the words of the field `status`."""
        return next((field.kind.words for field in self.fields if field.name == "status"), ())

    def action(self, verb: str) -> Action | None:
        """The action of this verb; None where it has none."""
        return next((each for each in self.actions if each.verb == verb), None)

    def list_given(self, verb: str) -> tuple[Field, ...]:
        """The fields that a request of this verb may have."""
        action = self.action(verb)
        own = action.fields if action is not None else ()
        return (*own, *(field for field in self.fields if field.is_given(verb)))

    def path_of(self, action: Action) -> str:
        """The path of an action, with `*` for the id of what it is about."""
        return f"{self.path}/*{action.step}" if action.is_on_one else self.path


TEXT: Final = Kind("text", maximum=500)
BOOLEAN: Final = Kind("boolean")
TIMESTAMP: Final = Kind("timestamp")
CURRENCY: Final = Kind("currency")
COUNTRY: Final = Kind("country")
RATE: Final = Kind("rate")
FREE: Final = Kind("free")  # names and texts of the caller's own
LAST4: Final = Kind("text", pattern="[0-9A-Za-z]{4}", shape="4 letters or digits")


def text(maximum: int) -> Kind:
    """A text of at most so many characters."""
    return Kind("text", maximum=maximum)


def build_shape(pattern: str, shape: str) -> Kind:
    """A text of a fixed form: a regular expression, and the same in words."""
    return Kind("text", pattern=pattern, shape=shape)


def amount(minimum: int = 1, currency: str = "currency") -> Kind:
    """An amount in the minor unit of the currency that stands beside it."""
    return Kind("amount", minimum, AMOUNT_MAX, currency=currency)


def integer(minimum: int, maximum: int) -> Kind:
    """A whole number that is not an amount of money."""
    return Kind("integer", minimum, maximum)


def identifier(of: str) -> Kind:
    """The id of an object with this name."""
    return Kind("identifier", of=of)


def choice(*words: str, answered: tuple[str, ...] = ()) -> Kind:
    """One of a few words; `answered` are those that answers alone have."""
    return Kind("choice", words=words, answered=answered)


def group(*fields: Field, one_of: tuple[tuple[str, ...], ...] = (), merged: bool = False) -> Kind:
    """An object inside another one."""
    return Kind("object", fields=fields, one_of=one_of, merged=merged)


def embed(of: str) -> Kind:
    """An object with this name, whole, inside another object."""
    return Kind("object", of=of)


def list_of(entry: Kind, maximum: int, *, unique: bool = False) -> Kind:
    """A list with at most so many entries."""
    return Kind("list", 1, maximum, entry=entry, unique=unique)


def collection(name: str) -> str:
    """The path of a list."""
    return f"{API_ROOT}/{name}"


def build_id_field(name: str) -> Field:
    """The field `id` of an object of this name."""
    return Field("id", identifier(name), label="ID", column=(1, 0))


def status(*words: str) -> Field:
    """The field `status` of an object with these states."""
    return Field("status", choice(*words), given="list", label="Status", column=(10, 0), csv="id")


CREATED: Final = Field("created", TIMESTAMP, label="Created", column=(30, 1), card=100)
LIVEMODE: Final = Field("livemode", BOOLEAN)
AMOUNT: Final = Field(
    "amount",
    amount(),
    "The amount in minor units: 12900 is 129.00 EUR.",
    "--amount N",
    clearable=False,
    proof="equal",
    label="Amount",
    card=10,
)
GIVEN_CURRENCY: Final = Field(
    "currency",
    CURRENCY,
    "The currency, an ISO 4217 code such as EUR.",
    "--currency CODE",
    "create",
    required=True,
    example="EUR",
    proof="equal",
)
METADATA: Final = Field(
    "metadata", FREE, "A note of your own, repeatable.", "--metadata KEY=TEXT", label="Metadata"
)
