"""HTML of svc's own pages: nothing that is shown becomes markup."""

import re
from pathlib import Path

import pytest

import svc
from svc.html import Elements, Markup, MarkupPart, stylesheet

el = Elements(
    lambda text: text.replace("\u202e", "?"), lambda value: value.replace("\u202e", "!")
).el


@pytest.mark.parametrize(
    ("parts", "inside"),
    [
        (("a<b>&\u202e",), "a&lt;b&gt;&amp;?"),
        ((Markup("<b>&\u202e</b>"),), "<b>&\u202e</b>"),
        ((None, "", ["a", None, (Markup("<i>"), "<")]), "a<i>&lt;"),
        ((), ""),
    ],
)
def test_parts_are_escaped_unless_they_are_markup(
    parts: tuple[MarkupPart, ...], inside: str
) -> None:
    """Texts are rewritten first; lists are joined, and what is None is left out."""
    made = el("p", *parts)
    assert (made, type(made)) == (f"<p>{inside}</p>", Markup)


def test_attributes_are_escaped_and_named_as_in_html() -> None:
    """True stands alone, False and None are not there; 0 is a value."""
    made = el(
        "input", for_="a", aria_label='"\u202e<', checked=True, disabled=False, value=0, id=None
    )
    assert made == '<input for="a" aria-label="&quot;!&lt;" checked value="0">'
    assert [el(name) for name in ("link", "meta", "br")] == ["<link>", "<meta>", "<br></br>"]


def test_every_colour_of_the_pages_is_known_in_the_light_and_in_the_dark() -> None:
    """A name that no rule defines would leave a part without its colour; the page's rules come last."""
    shared = stylesheet("")
    light, dark = (re.findall(r"--([a-z-]+):#", part) for part in shared.split("@media", 1))
    assert light == dark
    pages = [path.read_text(encoding="utf-8") for path in Path(svc.__file__).parent.rglob("*.css")]
    assert len(pages) == 2
    used = {name for text in pages for name in re.findall(r"var\(--([a-z-]+)\)", text)}
    own = {name for text in pages for name in re.findall(r"--([a-z-]+):", text)}
    assert used - own == {*light}
    assert shared.startswith(":root{color-scheme:light dark;--page:#f5f6f8;")
    assert stylesheet("p{}") == f"{shared}p{{}}"
