"""What a handler has answered, as words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.cli.events.screen.lines import words_of

DJANGO = b"""<!DOCTYPE html>
<html lang="en"><head><title>KeyError
          at /webhooks</title><style>body{}</style></head><body><h1>KeyError</h1></body></html>"""
EXPRESS = b"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Error</title>
</head>
<body>
<pre>Error: no order &quot;ord_1&quot;<br> &nbsp; &nbsp;at /app/index.js:9:9<br></pre>
</body>
</html>
"""
NGINX = b"<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n</body>\r\n</html>"
FLASK = (
    b"<!doctype html>\n<html lang=en>\n<title>500 Internal Server Error</title>\n"
    b"<h1>Internal Server Error</h1>\n<p>The server has met an error.</p>\n"
)
RAILS = (
    b"<html><head><title>Error</title></head><body><h1>Internal Server Error</h1>\n"
    b"<p>No such table: orders</p></body></html>"
)


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        pytest.param(DJANGO, "KeyError at /webhooks", id="django"),
        pytest.param(EXPRESS, 'Error: no order "ord_1"', id="express"),
        pytest.param(RAILS, "No such table: orders", id="rails"),
        pytest.param(NGINX, "502 Bad Gateway", id="nginx"),
        pytest.param(FLASK, "500 Internal Server Error", id="flask"),
        pytest.param(b'{"detail":"bad signature"}', "bad signature", id="fastapi"),
        pytest.param(b'{"error":{"code":1,"message":"no order"}}', "no order", id="nested"),
        pytest.param(b'{"ok":false}', '{"ok":false}', id="other-json"),
        pytest.param(b"oops\nat line 3", "oops", id="text"),
        pytest.param(b" \n", "", id="blank"),
        pytest.param(b"<html><script>x()", "", id="cut-off"),
    ],
)
def test_a_page_is_its_title_or_its_text(reply: bytes, words: str) -> None:
    assert words_of(reply) == words


@given(st.binary(max_size=200))
def test_any_answer_is_one_line(reply: bytes) -> None:
    assert "\n" not in words_of(reply)
