"""The README's picture shows what the program prints."""

import html
import re

import pytest

from acceptance.session import PICTURE, drawn, session

MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
VARYING = (
    (r"\b(ord|pay|rf|dp)_[0-9A-Za-z]{16,}", r"\1_ID"),
    (r"127\.0\.0\.1:\d+", "127.0.0.1:PORT"),
    (r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}(:\d{2})?", "TIME"),
    (rf"\d{{2}} {MONTH} \d{{2}}:\d{{2}}", "TIME"),
    (rf"\d{{2}} {MONTH}, ", "DAY, "),
    (r"\bin \d+ days\b", "in N days"),
    (r"\bpid \d+", "pid N"),
)


def words(picture: str) -> list[str]:
    """The text of a picture, each run of spaces as one."""
    found = html.unescape(" ".join(re.findall(r"<text[^>]*>([^<]*)</text>", picture)))
    text = found.replace("\xa0", " ")
    for pattern, stand_in in VARYING:
        text = re.sub(pattern, stand_in, text)
    return text.split()


@pytest.mark.slow
def test_the_picture_is_what_the_program_prints() -> None:
    """Drawn anew it says the same; `python tests/acceptance/session.py` writes it."""
    assert words(PICTURE.read_text(encoding="utf-8")) == words(drawn(session()))


def test_the_picture_loads_nothing() -> None:
    """No font and no script from anywhere: it is looked at in mail and in browsers."""
    picture = PICTURE.read_text(encoding="utf-8")
    links = set(re.findall(r"https?://[^\s\"'<]+", picture))
    name = "http://www.w3.org/2000/svg"
    assert name in links
    assert {link for link in links if "127.0.0.1" not in link} <= {
        name,
        "https://www.textualize.io",
    }
    assert "<script" not in picture
