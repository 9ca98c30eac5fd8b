"""A fact of the API is read, never copied: the places that name one, with a reason each (R134)."""

import ast
from collections.abc import Iterator
from pathlib import Path

import svc
from svc import service
from svc.service.model import Field

ROOT = Path(svc.__file__).parent
# The description; the sandbox's rules; the sandbox's controls, whose objects are its own; the
# quickstart and the fixtures, which play a shopper.
APART = (
    "service/",
    "sandbox/",
    "cli/sandbox/",
    "cli/quickstart.py",
    "pytest_plugin.py",
    "render/views/sandbox.py",
)
# Words that mean something of svc's own as well: in its errors, its journal, its results, its inbox,
# its options, and the kinds of values (`amount`, `currency`) that the model has.
OWN = set(
    """
    active amount api_version charged code created currency data description disabled duplicate
    enabled events expires_at failed id item livemode message metadata method name none object order pending reason
    retried secret sent sent_at soft state status total type unknown url
    """.split()
)
KINDS = "a kind of value, which the model calls so"
NAMED = {
    "batch/tally.py": ("failure_reason", "names of svc's own results"),
    "batch/templates.py": ("country", KINDS),
    "batch/validate.py": ("amount_total", "of two amounts of a row, which is meant"),
    "cli/batch/report.py": (
        "payment warnings",
        "names of svc's own summary; a file of refunds that names orders in place of payments",
    ),
    "cli/timeline.py": (
        "amount_refunded payment",
        "names of svc's own timeline; what leads to what",
    ),
    "render/views/local.py": ("amount_refunded", "names of svc's own timeline"),
    "cli/commands/tree.py": (
        "card country paid payment visa",
        "names of sets of words that completion has",
    ),
    "cli/framework/control.py": ("client_secret", "what opens a shopper's page of the sandbox"),
    "cli/framework/inputs/__init__.py": ("quantity unit_amount", "the numbers of `--item`"),
    "cli/framework/prompts.py": (
        ("account_holder_name account_number destination iban"),
        "what a person is asked before money moves, as a sentence (R19)",
    ),
    "cli/framework/recent.py": ("amount_total", "what completion says of an id"),
    "cli/mcp/tools.py": ("items", "a word of JSON Schema"),
    "client/contradiction.py": ("account_number iban last4", "spellings of one account (R15)"),
    "client/fields.py": (
        "country payment postal_code quantity unit_amount",
        f"{KINDS}; what people call some fields",
    ),
    "client/operations.py": ("failure_code failure_reason", "why an object failed, of any noun"),
    "client/options.py": ("country", KINDS),
    "delivery/journal/refusals.py": ("payment", "where to see what a refund did (R4)"),
    "delivery/likeness.py": (
        (
            "account_holder_name account_number bank_code bank_name bic city destination iban line1 "
            "line2 payment postal_code reference"
        ),
        "which differences make no other recipient (R5), and which tell payments apart (R115)",
    ),
    "listen/examine/events.py": (
        "amount_captured captured country paid",
        "a made-up object that is paid shows so; a kind of value",
    ),
    "listen/verify/verify.py": (
        "amount_captured amount_total payment",
        "one line for an event of any type, also one that is not described",
    ),
    "render/human/cells.py": (
        "brand card city country duty guaranteed last4 line1 line2 postal_code",
        "an address, a card and a rate in one line each",
    ),
    "render/human/columns.py": ("iban vat", "how an undescribed field reads"),
    "render/views/model.py": (
        (
            "authorized cancelled captured card draft guaranteed lost needs_response paid "
            "processing requires_payment submitted succeeded suspended under_review won"
        ),
        "the colour of a word, whichever object has it",
    ),
    "render/views/service.py": ("card", KINDS),
}


def facts() -> set[str]:
    """The names of fields, and every word that one of them may have."""
    found: set[str] = set()
    for noun in service.nouns():
        fields = [*noun.fields, *(field for action in noun.actions for field in action.fields)]
        for field in every(fields):
            kind = field.kind.entry or field.kind
            found |= {field.name, *kind.words, *kind.answered}
        found |= set(noun.statuses)
    return found


def every(fields: list[Field] | tuple[Field, ...]) -> Iterator[Field]:
    for field in fields:
        yield field
        yield from every(field.kind.inner)


def test_a_fact_is_copied_nowhere_else() -> None:
    """As a text of its own in a module; the list has a reason each, and is to become shorter."""
    wanted = facts() - OWN
    found: dict[str, set[str]] = {}
    for path in ROOT.rglob("*.py"):
        name = path.relative_to(ROOT).as_posix()
        code = "" if name.startswith(APART) else path.read_text(encoding="utf-8")
        if any(f'"{fact}"' in code for fact in wanted):  # else it need not be parsed
            tree = ast.walk(ast.parse(code))
            texts = {each.value for each in tree if isinstance(each, ast.Constant)}
            if copied := {text for text in texts if isinstance(text, str)} & wanted:
                found[name] = copied
    assert len(wanted) > 120
    known = {name: set(words.split()) for name, (words, _) in NAMED.items()}
    assert found == known, "read it of the description, or give a reason here"
    assert len(NAMED) <= 40
    assert facts() >= OWN
