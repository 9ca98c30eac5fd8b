"""Finds the command line that a wrong one was meant to be; loaded after an error or by `batch`.

Typed words may be misspelt, be another tool's, stand in the singular or the wrong way round. Begin
with `find_lines`, which tries these readings in turn; the tables say what other tools call a
command. `invocation` calls it when the parser has refused a command line, `app` for `svc batch`:
typed words in, an error with the line to type out. `svc help` asks it about an unknown topic.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from shlex import join
from typing import Any, Final, NamedTuple

from svc.cli.framework.options import options_of
from svc.cli.framework.registry import COMMANDS, EVENT_VERBS, SHORT_NAMES, load
from svc.errors import UsageError, use_one_of
from svc.nearest import explain_meant, find_near_words, slips
from svc.service.facts import API_ROOT, ID_PREFIXES

_LISTED: Final = ("orders", "payments", "refunds", "payouts", "disputes")
# What other tools call a word after `svc`, in the singular; the likelier meaning first.
NOUNS_ELSEWHERE: Final = {
    "account": ("profiles",),
    "api": ("get",),
    "auth": ("keys",),
    "charge": ("payments",),
    "chargeback": ("disputes",),
    "check": ("doctor",),
    "endpoint": ("webhook-endpoints",),
    "landed-cost": ("landed-cost-quotes",),
    "me": ("whoami",),
    "mock": ("sandbox",),
    "server": ("sandbox",),
    "setting": ("config",),
    "status": ("whoami",),
    "transfer": ("payouts",),
    "tutorial": ("quickstart",),
    "webhook": ("webhook-endpoints", "events"),
}
# What one tool calls so and another otherwise: a word that a noun lacks means one that it has.
SAME_VERB: Final = tuple(
    line.split()
    for line in (
        "list ls all index search",
        "retrieve show get view describe cat info fetch read inspect",
        "create add new make register send",
        "cancel remove forget clear delete rm del drop destroy void",
        "update set edit modify change patch",
        "start run up launch begin serve",
        "stop down end quit kill",
        "roll rotate renew",
        "use switch select activate",
        "replay resend retry redeliver resume continue",
    )
)
# One or two words, and the command that they mean; behind an option at the end belongs an id.
OTHER_TOOLS_WORDS: Final = {
    **{f"{word} wait": f"{word} retrieve --wait" for word in _LISTED},
    "config list": "config get",
    "disputes answer": "disputes update",
    "disputes evidence": "disputes update",
    "disputes submit": "disputes update",
    "find": "timeline",
    "history": "timeline",
    "login": "keys add",
    "logout": "keys remove",
    "logs": "sandbox requests",
    "open": "sandbox checkout",
    "orders history": "timeline",
    "orders pay": "sandbox pay",
    "orders refund": "payments list --order",
    "payments refund": "refunds create --payment",
    "profiles show": "profiles list",
    "refund": "refunds create --payment",
    "start": "sandbox start",
    "stop": "sandbox stop",
    "verify": "events verify",
}
_OF_ORDER: Final = "It is of an order; of which: svc payments retrieve ID --query order --raw"
_BUG: Final = "What to attach to a report of a bug: svc doctor --report"
_ENDPOINTS: Final = "The API has no call that shows them; of a sandbox: svc sandbox endpoints list"
_INSTALL: Final = "Install it anew as you did: pipx, uv tool or pip, each from its newer source"
# What is no command: how to do it all the same.
OTHERWISE: Final = {
    **{f"{word} export": f"svc {word} list --all -o csv > {word}.csv" for word in _LISTED},
    **dict.fromkeys(("payments cancel", "payments capture"), _OF_ORDER),
    **dict.fromkeys(("webhook-endpoints list", "webhook-endpoints retrieve"), _ENDPOINTS),
    **dict.fromkeys(("bug", "report"), _BUG),
    **dict.fromkeys(("update", "upgrade"), _INSTALL),
    "disputes due": "svc disputes list --due 7d",
    "events list": "Those that a listener has received: svc events inbox; those that a sandbox "
    "has made: svc sandbox events",
    "export": "A list as a file: svc orders list --all -o csv > orders.csv",
    "migrate": "svc help moving",
    "payments create": "A shopper pays an order; at a sandbox: svc sandbox pay ORDER",
    "version": "svc --version",
}
_WORDS: Final = {**OTHER_TOOLS_WORDS, **OTHERWISE}
_GROUPS_SEARCHED: Final = ("sandbox", "events", "keys", "requests", "profiles", "orders")
_VERBS_NAMED: Final = 12  # more are a page of help
_LINES_NAMED: Final = 4
# Never suggested: who adds one has moved to live mode, or has confirmed before being asked.
_NEVER_MEANT: Final = frozenset(
    (
        "--live --yes --force --new-request --again --blank-means-all --no-check "
        "--allow-remote-forward"
    ).split()
)
# What one command calls so, and another otherwise.
_SAME_OPTION: Final = {
    "--limit": "--max",
    "--since": "--created-gte",
    "--created-since": "--created-gte",
    "--created-gte": "--since",
    "--file": "--evidence",
    "--until": "--created-lte",
}


class CommandWords(NamedTuple):
    """A command line in parts.

    Attributes:
        words: the command and its first arguments.
        options: the global options before, among and behind these.
        rest: all from the first other option on.
    """

    words: list[str]
    options: list[str]
    rest: list[str]


class Suggestion(NamedTuple):
    """What may have been meant: the command's name, and the line to type.

    Where nothing but advice is known the name is empty and the line is the advice.
    """

    name: str
    line: str


class _LineReading(NamedTuple):
    """A command by its words and the arguments behind it, or the key of a table."""

    path: tuple[str, ...]
    arguments: list[str]
    key: str = ""


def refuse_command(argv: Sequence[str], context: Any) -> UsageError:
    """Refuses a line whose first words are no command, with the line that was probably meant."""
    typed = split_line(argv)
    if typed.words[0] == "help":
        typed = CommandWords(typed.words[1:], [*typed.options, "--help"], typed.rest)
    found = find_lines(typed)
    wrong = " ".join(typed.words[: len(context.command_path.split())])
    names = explain_meant(f"svc {each.name}" for each in found if each.name)
    if found:
        lines = "; or: ".join(each.line for each in found)
        return UsageError(f"No such command {wrong!r}.{names}", hint=lines)
    verbs = context.command.list_commands(context)
    few = context.parent is not None and len(verbs) <= _VERBS_NAMED
    choices = f" {use_one_of(verbs)}." if few else ""
    hint = f"What there is: {context.command_path} --help"
    return UsageError(f"No such command {wrong!r}.{choices}", hint=hint)


def check_operation(argv: Sequence[str]) -> None:
    """Refuses `svc batch` with an unknown operation; raises UsageError with the line meant."""
    from svc.batch.operations import names

    typed = split_line(argv)
    if typed.words[1:2] and typed.words[1] not in names():
        found = find_lines(typed)
        if found:
            near = explain_meant(f"svc {each.name}" for each in found)
            wrong = f"OPERATION is {typed.words[1]!r}.{near}"
            # Of several none is to be guessed.
            hint = found[0].line if len(found) == 1 else "What they do: svc batch --help"
            raise UsageError(wrong, param="OPERATION", hint=hint)


def split_line(argv: Sequence[str]) -> CommandWords:
    """Splits a command line to words, global options and the rest from another option on."""
    flags = {name: each.is_flag for each in options_of("everywhere") for name in _names(each)}
    typed, rest = CommandWords([], [], []), list(argv)
    while rest:
        name, given, _ = rest[0].partition("=")
        if name not in flags and name.startswith("-"):
            break
        taken = rest[: 1 if given or flags.get(name, True) else 2]
        (typed.options if name in flags else typed.words).extend(taken)
        del rest[: len(taken)]
    return typed._replace(rest=rest)


def find_lines(typed: CommandWords) -> list[Suggestion]:
    """Lists what may have been meant, the likeliest first: by two words, then by the first."""
    orders = list(_orders_of(typed.words))
    typed_so = orders[:1]
    for read, tried in ((_read_two, orders), (_read_first, typed_so), (_read_anywhere, typed_so)):
        for words in tried:
            found = list(dict.fromkeys(_suggest(each, typed) for each in read(words)))
            if found:
                return found if len(found) <= _LINES_NAMED else []
    return []


def _orders_of(words: Sequence[str]) -> Iterator[Sequence[str]]:
    """The words as they were typed, then as they may belong: noun, verb, id."""
    first, *more = words or [""]
    yield [first, *more]
    parts = first.replace(":", ".").replace("/", ".").split(".")
    if len(parts) > 1 and all(part.isidentifier() for part in parts):
        yield [*parts, *more]
    if more and is_id(first):
        yield [_noun_of(first), more[0], first, *more[1:]]
    if more and is_id(more[0]):
        yield [_noun_of(more[0]), first, *more]
    elif more:
        yield [more[0], first, *more[1:]]


def _read_two(words: Sequence[str]) -> Iterator[_LineReading]:
    """Takes the first word for a noun and the second for what is done with it."""
    first, *more = words
    for noun in _nouns_near(first) if more else ():
        yield from _read_verb(noun, more)


def _read_verb(noun: str, more: Sequence[str]) -> Iterator[_LineReading]:
    word, *arguments = more
    if noun == "batch":
        yield from _read_operation(more)
        return
    verbs = _verbs_of((noun,))
    if not verbs:
        yield _LineReading((noun,), list(more))
    elif word == "help":
        yield _LineReading((noun,), ["--help"])
    elif is_id(word) and _noun_of(word) == noun:
        yield _LineReading(
            (noun, next(each for each in ("retrieve", "show") if each in verbs)), [word]
        )
    keys = [key.partition(" ")[2] for key in _WORDS if key.startswith(f"{noun} ")]
    for verb in _verbs_near(word, [*verbs, *keys]) if verbs else ():
        if verb in keys:
            yield _LineReading((), arguments, f"{noun} {verb}")
        else:
            yield from _read_below((noun, verb), arguments)


def _read_below(path: tuple[str, ...], more: list[str]) -> Iterator[_LineReading]:
    """Goes on below a group within a group, as `events log` is one."""
    verbs = _verbs_of(path)
    if not (verbs and more):
        yield _LineReading(path, more)
    for verb in _verbs_near(more[0], verbs) if more else ():
        yield from _read_below((*path, verb), more[1:])


def _read_operation(more: Sequence[str]) -> Iterator[_LineReading]:
    """Takes `refunds create`, `create refunds`, `refund.create` or `refunds` for an operation."""
    from svc.batch.operations import names

    spelled = [each.replace(":", ".").replace("/", ".").replace("-", ".") for each in more]
    both = (spelled[:2], spelled[1::-1]) if len(more) > 1 else ()
    for count, tried in ((2, [".".join(pair) for pair in both]), (1, spelled[:1])):
        found = [name for each in tried for name in find_near_words(each, names()) if "." in each]
        if found:
            yield from (_LineReading(("batch", name), list(more[count:])) for name in found)
            return
    for noun in _nouns_near(more[0]):
        own = [name for name in names() if name.startswith(f"{noun}.")]
        yield from (_LineReading(("batch", name), list(more[1:])) for name in own)


def _read_first(words: Sequence[str]) -> Iterator[_LineReading]:
    """Takes the first word for a whole command, or an id or a path for what is to be shown."""
    first, *more = words
    keys = [key for key in _WORDS if " " not in key]
    if first.lstrip("/").startswith(f"{API_ROOT[1:]}/"):
        yield _LineReading(("get",), [f"/{first.lstrip('/')}", *more])
    elif first.startswith("rq_"):
        yield _LineReading(("requests", "show"), [first])
    elif is_id(first):
        yield _LineReading(("get",), [first])
    found = _near_or_same(first, keys)
    yield from (_LineReading((), more, key) for key in found)
    for noun in _nouns_near(first) if not found else ():
        if not more:
            yield _LineReading((noun,), [])
        elif is_id(more[0]):
            yield _LineReading((noun, "list"), [f"--{_noun_of(more[0])[:-1]}", *more])


def _read_anywhere(words: Sequence[str]) -> Iterator[_LineReading]:
    """Finds a verb among those of all groups, by itself or behind a noun that has none such."""
    first, *more = words
    word, arguments = (more[0], more[1:]) if first in COMMANDS and more else (first, more)
    if first in COMMANDS and word in _verbs_of((first,)):
        return  # what is wrong stands further on
    for noun in _GROUPS_SEARCHED:
        verbs = _verbs_of((noun,))
        for verb in [word] if word in verbs else verbs:
            if slips(word, verb, 1) <= 1 < len(word):
                yield _LineReading((noun, verb), list(arguments))


def _nouns_near(word: str) -> Iterator[str]:
    """The words after `svc` that a word may mean."""
    ours = (*COMMANDS, *SHORT_NAMES)
    meanings: dict[str, tuple[str, ...]] = {name: (name,) for name in ours}
    meanings |= {name.removesuffix("s"): (name,) for name in ours}
    for name, nouns in NOUNS_ELSEWHERE.items():
        meanings |= {name: nouns, f"{name}s": nouns}
    for name in _near_or_same(word.casefold().replace("_", "-"), meanings):
        yield from meanings[name]


def _verbs_near(word: str, verbs: Sequence[str]) -> list[str]:
    """Those of a noun's verbs that are meant: the same, another tool's word for it, or a slip."""
    word = word.casefold()
    same = [verb for line in SAME_VERB if word in line for verb in line if verb in verbs]
    if word in verbs or same:
        return [word] if word in verbs else same
    others = {each: verb for line in SAME_VERB for verb in line if verb in verbs for each in line}
    return find_near_words(word, verbs) or [others[near] for near in find_near_words(word, others)]


def _near_or_same(word: str, known: Iterable[str]) -> list[str]:
    names = list(known)
    return [word] if word in names else find_near_words(word, names)


def _verbs_of(path: tuple[str, ...]) -> list[str]:
    return list(getattr(_command(path), "commands", ()))


@cache
def _command(path: tuple[str, ...]) -> Any:
    """The command that a path begins with, whose verbs and options can be read."""
    noun, *verbs = path
    command = load(SHORT_NAMES.get(noun, noun))
    for depth, verb in enumerate(verbs):
        lazy = noun == "events" and depth == 0 and verb in EVENT_VERBS
        command = load(noun, verb) if lazy else getattr(command, "commands", {}).get(verb, command)
    return command


def _suggest(reading: _LineReading, typed: CommandWords) -> Suggestion:
    there = _WORDS.get(reading.key, "")
    ids = [word for word in (*reading.arguments, *typed.rest) if is_id(word)][:1] or ["ID"]
    if reading.key in OTHERWISE:
        return Suggestion("", there.replace(" ID ", f" {join(ids)} "))
    name, dashes, option = there.partition(" --")
    path = reading.path or tuple(name.split())
    command = _command(path)
    asked = [f"--{option}"] if dashes and f"--{option}" not in typed.rest else []
    if asked and not any(each.is_flag for each in command.params if asked[0] in each.opts):
        asked += ids
    others = [word for word in reading.arguments if word not in asked]
    others = _fit(command, [*path[path.index(command.name) + 1 :], *others], typed.rest)
    words = [*path[: path.index(command.name) + 1], *asked, *others]
    rest = [word for word in typed.rest if word not in asked]
    line = ("svc", *words, *typed.options, *correct_options(command, rest))
    return Suggestion(" ".join(path), join(line))


def _fit(command: Any, arguments: Sequence[str], rest: Sequence[str]) -> list[str]:
    """The arguments as a command takes them: a number is its amount; names stand for the others."""
    needed = [each for each in command.params if each.param_type_name == "argument"]
    room = len(arguments) if any(each.nargs < 0 for each in needed) else len(needed)
    # What it has no place for was another tool's word, such as `tail`; an id or a number is meant.
    arguments = [
        word
        for place, word in enumerate(arguments)
        if place < room or word[:1] == "-" or word.isdigit() or is_id(word)
    ]
    names = _options_of(command)
    if "--amount" in names and "--amount" not in rest:
        words = (("--amount", word) if word.isdigit() else (word,) for word in arguments)
        arguments = [part for parts in words for part in parts]
    missing = [each for each in needed[len(arguments) :] if each.required]
    given = any(not word.startswith("-") for word in rest)
    return [*arguments, *(() if given else (str(each.metavar or each.name) for each in missing))]


def correct_options(command: Any, words: Iterable[str]) -> list[str]:
    """Replaces each unknown option by the command's one near option, where there is just one."""
    known = _options_of(command)
    corrected = []
    for word in words:
        name, equals, value = word.partition("=")
        near = near_options(name, known) if word.startswith("--") and name not in known else []
        corrected.append(f"{near[0]}{equals}{value}" if len(near) == 1 else word)
    return corrected


def near_options(name: str, known: Iterable[str]) -> list[str]:
    """Lists the known options that a mistyped option may have been meant for."""
    offered = [each for each in known if each.startswith("--") and each not in _NEVER_MEANT]
    same = _SAME_OPTION.get(name, "")
    return [same] if same in offered else find_near_words(name, offered)


def refuse_option(error: Any, argv: Sequence[str], value: str | None) -> UsageError:
    """Builds the error for an unknown option; `argv` is the typed line, `value` follows it."""
    wrong, context = str(error.option_name), error.ctx
    known = _options_of(context.command) if context is not None else []
    near = near_options(wrong, known)
    message = f"No such option: {wrong}.{explain_meant(near)}"
    if wrong[1:2].isdigit():
        typed = next((word for word in argv if word.startswith(wrong)), wrong)
        message = f"{typed} is negative; a duration or a number here is positive."
    where = context.command_path if context is not None else "svc"
    line = option_for(context, value) if value else None
    if line is None and len(near) == 1:
        line = join(("svc", *correct_options(context.command, argv)))
    if line is None and not near and "--starting-after" in known:
        line = f"What a list has no option for, --query finds with --all: {where} --help"
    return UsageError(
        message, param=wrong, hint=line or f"See its arguments and options: {where} --help"
    )


def option_for(context: Any, word: str) -> str | None:
    """Returns the hint for an id in the wrong place, such as `svc payments list --order ID`.

    None where the command has no use for the id.
    """
    if not is_id(word) or context is None:
        return None
    kind, above = _noun_of(word).removesuffix("s"), context.parent
    word = join([word])
    if context.command_path.startswith("svc payouts") and kind == "order":
        return f"No payout belongs to an order; its payments: svc payments list --order {word}"
    if f"--{kind}" in _options_of(context.command):
        return f"{context.command_path} --{kind} {word}"
    if kind == "order" and "--payment" in _options_of(context.command):
        return f"It takes a payment; those of the order: svc payments list --order {word}"
    if above is not None and above.info_name == f"{kind}s":
        return f"{above.command_path} retrieve {word}"
    return None


def is_id(word: str) -> bool:
    """Whether a word looks like the id of an object."""
    return word.startswith(tuple(ID_PREFIXES.values()))


def _noun_of(identifier: str) -> str:
    """The noun whose id it is, as it is typed after `svc`."""
    kinds = (kind for kind, prefix in ID_PREFIXES.items() if identifier.startswith(prefix))
    return f"{next(kinds)}s".replace("_", "-")


def _names(option: Any) -> tuple[str, ...]:
    return (*option.opts, *option.secondary_opts)


def _options_of(command: Any) -> list[str]:
    return [name for each in command.params for name in _names(each)]
