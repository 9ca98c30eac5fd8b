"""Text that others wrote never acts on a terminal, in any format (promises R61, R62)."""

import csv
import io
import json
import re
import unicodedata
from typing import Any

import pytest

from svc.errors import ApiError
from svc.inputs import Format
from svc.redaction import UNSAFE
from svc.render.csv_format import restore
from svc.render.dump import escape_token
from svc.render.text import escape, one_line

HOSTILE = [
    "\x1b[31mred\x1b[0m",
    "\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\",
    "\x1b]52;c;cm0gLXJmIC8=\x07",
    "\x1b]0;title\x07",
    "\x1bP1$r0m\x1b\\",
    "\x1b_apc\x1b\\",
    "\x1b^pm\x1b\\",
    "\x1b[2J\x1b[H",
    "\x1b[?1049h",
    "\x1bc",
    "\x1b",
    "\x9b31m",
    "\x9d8;;https://evil.example\x9c",
    "\x90q\x9c",
    "\x85next line",
    "\x00nul",
    "\x07bell",
    "over\x08\x08\x08\x08back",
    "fake\rreturn",
    "line\nbreak",
    "line\r\nbreak",
    "tab\tstop",
    "\x0bvertical",
    "\x0cform",
    "\x0e\x0fshift",
    "\x7fdelete",
    "\x80\x9f",
    "\u202egnp.exe",
    "\u202d\u202c",
    "\u2066isolate\u2069",
    "\u2067\u2068",
    "\u202a\u202b",
    "\u200bzero",
    "\u200c\u200d",
    "\u200e\u200f",
    "\u061c",
    "\ufeffbom",
    "\u2028line\u2029paragraph",
    "\u2060\u2061\u2064",
    "\u206a\u206f",
    "\ufff9a\ufffab\ufffb",
    "\U000e0041\U000e007f",
    "\ud800",
    "\udfff tail",
    "pair \ud83d apart \ude00",
    "[bold]markup[/bold]",
    "[/foo]",
    "[link=https://evil.example]x[/link]",
    "[@click=app.bell]x[/]",
    ":smile: :warning:",
    "\\[escaped]",
    "{{template}} ${HOME} `id` $(id)",
    "%s %d %n",
    '"quoted", "twice"',
    "it's; DROP TABLE",
    "</script><script>alert(1)</script>",
    '=HYPERLINK("https://evil.example")',
    "+1+cmd|' /C calc'!A0",
    "@SUM(A1)",
    "-2+3",
    "'=already",
    "\\u{1b}[31m",
    "\uff37\uff29\uff24\uff25 株式会社 🎌 é é",
    "x" * 5000,
]
FORMATS = "json ndjson csv id human".split()
ACTS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2060-\u2069\u200b-\u200f\ud800-\udfff]"
)
ITEM = {"name": "x", "quantity": 1, "unit_amount": 1}


def infested(text: str) -> dict[str, Any]:
    """Puts a text everywhere that an order has one, and where it has none."""
    return {
        "id": text,
        "object": "order",
        "status": text,
        "amount": 100,
        "currency": text,
        "shipping": {"country": text, text: text},
        "items": [ITEM | {"name": text, text: text}],
        "methods": [text, text],
        "landed_cost": {"duty": 1, "currency": text, "quote": text},
        "created": text,
        "metadata": {text: text},
        text: [{text: {text: text}}],
        "livemode": text,
    }


def test_there_are_64_strings() -> None:
    """R62 names the number."""
    assert len(set(HOSTILE)) == 64


@pytest.mark.parametrize(("form", "width"), [("human", 20), *((form, 80) for form in FORMATS)])
def test_nothing_hostile_gets_out(printed: Any, form: Format, width: int) -> None:
    """No ESC, C1, bidi control or lone surrogate of the data reaches stdout (R61)."""
    for text in HOSTILE:
        data = infested(text)
        out = "".join(
            [
                printed(form, width).one(data),
                printed(form, width).one(data | {"object": "unheard_of"}),
                printed(form, width).page(data, data, next_command=f"svc {text}"),
                printed(form, width).stream([data]),
                printed(form, width).value([data]),
                printed(form, width).value([text]),
                printed(form, width).value({text: text}),
                printed(form, width).value([{"id": text, text: {"a": text}}]),
                printed(form, width, fields=("id", "amount", "metadata")).page(data),
                printed(form, width, query="[id, metadata]").one(data),
            ]
        )
        assert not ACTS.search(out.replace("\r\n", "\n")), repr(text)
        out.encode()


def test_color_adds_only_our_own_sequences(printed: Any) -> None:
    """With colour every ESC begins one of ours, so none came from the data (R61)."""
    for text in HOSTILE:
        out = printed("human", color=True).one(infested(text))
        ours = re.sub(r"\x1b\[[0-9;]*m", "", out)
        assert ours == printed("human", color=False).one(infested(text)), repr(text)
        assert not ACTS.search(ours), repr(text)


@pytest.mark.parametrize("form", FORMATS)
def test_messages_are_as_safe_as_results(printed: Any, form: Format) -> None:
    """What a server says in an error, a note or a line cannot act either (R61)."""
    for text in HOSTILE:
        output = printed(form)
        error = ApiError(text, status=400, code=text, param=text, request_id=text, hint=text)
        output.output.error(error)
        output.output.note(text)
        output.output.hint(text)
        output.output.warn(text)
        output.output.line(text)
        output.output.record({text: text})
        assert not ACTS.search(output.out + output.err), repr(text)
        if form == "human":
            output = printed(form)
            output.output.error(error)
            assert output.err.count("\n") <= 4, repr(text)


@pytest.mark.parametrize("form", ["json", "ndjson"])
def test_json_is_lossless(printed: Any, form: Format) -> None:
    """What is escaped comes back as it was (R61)."""
    for text in HOSTILE:
        data = infested(text)
        assert json.loads(printed(form).one(data)) == data
        assert json.loads(printed(form).stream([data])) == (data if form == "ndjson" else [data])
        assert json.loads(printed(form).value({"a": text})) == {"a": text}


def test_ndjson_lines_are_lines_for_every_reader(printed: Any) -> None:
    """A line separator of Unicode inside a text does not end a line for readers that know it."""
    for text in HOSTILE:
        assert len(printed("ndjson").stream([infested(text)] * 2).splitlines()) == 2, repr(text)


def test_csv_is_lossless() -> None:
    """What is shown as an escape in a cell comes back as it was (R64)."""
    from svc.render.csv_format import cell, row

    for text in HOSTILE:
        rows = list(csv.reader(io.StringIO(row(["a", cell(text), "b"]), newline="")))
        assert [restore(value) for value in rows[0]] == ["a", text, "b"], repr(text)


def test_markup_and_emoji_codes_stay_text(printed: Any) -> None:
    """Data never goes through markup (R62)."""
    for text in ("[bold]x[/bold]", "[/foo]", ":smile:", "\\[x]"):
        assert text in printed("human", color=True).one({"object": "order", "note": text})


RULE = [
    *range(0x20),
    *range(0x7F, 0xA0),
    *range(0x200B, 0x2010),
    *(code for code in range(0x202A, 0x206A) if unicodedata.category(chr(code)) in ("Cf", "Cn")),
    *(0xD800, 0xDBFF, 0xDC00, 0xDFFF),
    *(0x00AD, 0x180E, 0x115F, 0x1160, 0x3164, 0xFFA0),
]


@pytest.mark.parametrize("code", RULE)
def test_every_character_of_the_rule_is_shown(code: int) -> None:
    """R61 names the ranges; tab and line feed may stay where text has several lines."""
    char = chr(code)
    shown = f"\\u{{{code:x}}}"
    assert one_line(f"a{char}b") == f"a{shown}b"
    assert escape(f"a{char}b") == (f"a{char}b" if char in "\t\n" else f"a{shown}b")
    assert char not in escape_token(f'"a{char}b"')


def test_ordinary_text_of_the_world_is_left_alone() -> None:
    """Escaping is for what acts, not for what is foreign."""
    for text in (
        "株式会社",
        "Łódź",
        "שלום",
        "مرحبا",
        "😀 🇩🇪",
        "a\u00a0b",
        "e\u0301",
        "ﬁ",
        "½",
        "27″",
        "5‰",
    ):
        assert escape(text) == text
        assert not re.search(UNSAFE, text)
