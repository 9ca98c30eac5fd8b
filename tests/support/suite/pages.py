"""What every page of ours is held to, wherever a test fetches one."""

import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

_ROOT: Final = Path(__file__).parents[3] / "src/svc"
# One that is unknown is drawn all the same, and means nothing to a screen reader.
_ELEMENTS: Final = frozenset(
    "a article aside bdi body button code dd details div dl dt em fieldset footer form h1 h2 h3 "
    "head header html iframe input kbd label legend li link main meta nav ol option p pre script "
    "search section select small span strong summary table tbody td th thead time title tr "
    "ul".split()
)
_ATTRIBUTES: Final = frozenset(
    "accept-charset action alt autocapitalize autocomplete autofocus checked class content charset datetime "
    "defer disabled dir enterkeyhint for form formaction hidden href hreflang id inputmode lang "
    "maxlength media method minlength name novalidate open pattern placeholder rel required role "
    "selected spellcheck src tabindex target title type value".split()
)
# What a browser does not know it takes for nothing said.
_WORDS: Final = {
    "aria-current": ("true", "page"),
    "aria-hidden": ("true",),
    "aria-invalid": ("true",),
    "aria-live": ("polite",),
    "autocapitalize": ("characters",),
    "autocomplete": ("off", "cc-number", "cc-exp", "cc-csc"),
    "inputmode": ("numeric",),
    "method": ("post",),
    "rel": ("icon", "next", "stylesheet"),
    "role": ("alert", "group", "search", "status"),
    "spellcheck": ("false",),
    "tabindex": ("-1", "0"),
    "type": ("checkbox", "hidden", "image/svg+xml", "radio", "search", "submit", "text"),
}
_REFERENCES: Final = ("for", "form", "aria-describedby", "aria-labelledby", "aria-controls")
# They look like all.
_PLAIN: Final = frozenset("headers home order payload processing raw test".split())


@cache
def _styled(folder: str) -> frozenset[str]:
    text = (_ROOT / folder / "style.css").read_text(encoding="utf-8")
    return frozenset(re.findall(r"\.([a-z][\w-]*)", text)) | _PLAIN


@cache
def _asked_for(folder: str) -> frozenset[str]:
    """The ids that the stylesheet or a script of these pages looks for."""
    style = (_ROOT / folder / "style.css").read_text(encoding="utf-8")
    scripts = [path.read_text(encoding="utf-8") for path in (_ROOT / folder).glob("*.js")]
    return frozenset(
        re.findall(r"#([a-z][\w-]*)", style) + re.findall(r'"#?([a-z][\w-]*)', "".join(scripts))
    )


class _PageReader(HTMLParser):
    def __init__(self, folder: str) -> None:
        super().__init__()
        self._styled = _styled(folder)
        self.ids: list[str] = []
        self.meant: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in _ELEMENTS, f"no element of HTML: {tag}"
        for name, value in attrs:
            known = name in _ATTRIBUTES or name.startswith(("aria-", "data-"))
            assert known, f"no attribute of HTML: {name}"
            words = (value or "").split()
            assert value in _WORDS.get(name, (value,)), f"no {name} of HTML: {value}"
            if name == "class":
                assert self._styled.issuperset(words), f"without a style: {words}"
            elif name == "id":
                self.ids += words
            elif name in _REFERENCES:
                self.meant.update(words)


def hold_page(body: str, folder: str) -> None:
    """Fails where a page has what browsers do not know, or names what is not there.

    `folder` has its stylesheet: a class that this does not know leaves a part to stand as it may. An
    id is there for somebody: a label, another part, the stylesheet or a script.
    """
    if not body.startswith("<!doctype html>"):
        return
    reader = _PageReader(folder)
    reader.feed(body)
    assert len(reader.ids) == len(set(reader.ids)), reader.ids
    assert reader.meant <= set(reader.ids), reader.meant - set(reader.ids)
    # Of the forms of all ways to pay that of the card has a button elsewhere.
    needless = {one for one in reader.ids if not one.startswith("pay-")}
    needless -= reader.meant | _asked_for(folder)
    assert not needless, needless
