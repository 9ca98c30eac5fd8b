"""`Output`: prints the results and messages of a command in the chosen format.

`cli.framework.session` makes one for each command, as `session.out`; it sends results to the
printer of the format (`human`, `json_format`, `csv_format`) and text to `writer`.
"""

from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TextIO, TypeGuard

from svc.errors import SvcError
from svc.inputs import Format
from svc.render.dump import dump
from svc.render.json_format import Ids, Json, Ndjson
from svc.render.printer import PAGE_SIZE, Objects, Printer
from svc.render.text import escape, wrap_message
from svc.render.writer import Writer

if TYPE_CHECKING:
    from datetime import tzinfo

    from svc.render.paths import FieldPath
    from svc.render.program_name import ProgramName

SearchFunction = Callable[[object], object]

_NOTED_MAX: Final = 200  # of a stream, so that memory stays flat


class Output:
    """Prints results to stdout in the chosen format, and messages to stderr (R61, R72, R75).

    All output is flushed at once. An OSError of a stream is not caught.

    Args:
        color, color_errors: whether stdout and stderr show colours; by default alike.
        width: in columns.
        query, fields: are checked here, before a request is sent.
        now: the service's clock in Unix seconds; `here` is this machine's clock, if it differs.
        tz: the local time zone; by default that of the machine.
        raw: strings that a query has found are printed without quotes.
        on_shown: is called with each object that is printed; with the first ones of a stream.
        secret: returns the API key in use, which is masked in all output.
        workflow: a GitHub runner reads the output.
        program_name: returns the program name, with which suggestions begin.

    Raises:
        UsageError: `query` or `fields` is invalid.
    """

    def __init__(  # noqa: PLR0913  one argument an option of the command line
        self,
        *,
        format: Format,  # noqa: A002  the option's name
        stdout: TextIO,
        stderr: TextIO,
        color: bool,
        width: int,
        quiet: bool = False,
        query: str | None = None,
        fields: tuple[str, ...] = (),
        utc: bool = False,
        now: Callable[[], float],
        here: Callable[[], float] | None = None,
        tz: "tzinfo | None" = None,
        raw_csv: bool = False,
        decimals: bool = False,
        raw: bool = False,
        color_errors: bool | None = None,
        on_shown: Callable[[object], None] = lambda _: None,
        secret: Callable[[], str | None] = lambda: None,
        workflow: bool = False,
        program_name: Callable[[], "ProgramName | None"] = lambda: None,
    ) -> None:
        self.format: Format = format
        self.quiet = quiet
        json = format in ("json", "ndjson")
        self._out = Writer(stdout, json=json, secret=secret, workflow=workflow)
        self._err = Writer(stderr, json=format != "human", secret=secret, workflow=workflow)
        self._wraps_at = width if format == "human" and _is_terminal(stderr) else None
        self._shows_at = width if format == "human" and _is_terminal(stdout) else None
        self._color_errors = color if color_errors is None else color_errors
        self._on_shown = on_shown
        self._search = _search(query)
        self._raw = raw
        self._called = program_name
        self._json = _color(self._out.write) if color and _is_terminal(stdout) else self._out.write
        paths = _paths(fields)
        if format == "human":
            from svc.render.human import Human
            from svc.render.style import Screen

            ellipsis = "..." if self._out.encoding else "…"
            screen = Screen(width, utc, now, here or now, tz, ellipsis)
            self._printer: Printer = Human(self._out.write, self.warn, screen, paths, color=color)
        else:
            self._printer = self._machine(paths, raw_csv=raw_csv, decimals=decimals)

    def _machine(self, paths: "tuple[FieldPath, ...]", *, raw_csv: bool, decimals: bool) -> Printer:
        if self.format == "ndjson":
            return Ndjson(self._json, self.warn, self._out.flush)
        if self.format == "id":
            return Ids(self._out.write, self.warn)
        if self.format == "csv":
            from svc.render.csv_format import Csv

            return Csv(self._out.write, self.warn, paths, raw=raw_csv, decimals=decimals)
        return Json(self._json, self.warn)

    def document(self, data: object) -> None:
        """Prints JSON whatever the format is; for the preview of a request."""
        Json(self._json, self.warn).value(data)
        self._out.flush()

    def _print_found(self, found: object, whole: object) -> None:
        """Prints the result of a query; `raw` strings without quotes, one a line."""
        every = found if isinstance(found, list) else [found]
        texts = [text for text in every if isinstance(text, str)]
        if self._raw and texts and len(texts) == len(every):
            self.line("\n".join(texts))
            return
        from svc.render.query import explain_null

        told = explain_null(whole, paged=_is_list(whole))
        if found is None and self.format == "human":
            self.words(told)
            return
        self._printer.value(found)
        if found is None:
            self.note(told)

    def answer(
        self, text: str, data: object, *, next_command: str | None = None, kind: str = ""
    ) -> None:
        """Prints one object of the service, or a page of a list and the command for the next page.

        `text` is what was sent, `data` the same parsed. `kind` is the kind of a list's objects,
        such as `order`; an empty CSV has the columns of it.
        """
        self._on_shown(data)
        if self._search:
            self._print_found(self._search(data), data)
        elif _is_list(data):
            self._printer.kind = kind
            self._printer.page(text, data)
        else:
            self._printer.one(text, data)
        self._out.flush()
        if next_command:
            self._more(f"Next page: {next_command}")

    def _more(self, words: str) -> None:
        """Prints that there is more: below a table, on stderr for CSV; JSON has `has_more`.

        The result of a query has not, and a sum over one page looks like one over all.
        """
        if self._search:
            self.hint(f"The query has seen this page only. {words}")
        elif self.format != "human":
            if self.format != "json":
                self.hint(words)
        elif not self.quiet:
            self.line("")
            self.words(words)

    def stream(self, objects: Objects, *, kind: str = "", page_size: int | None = None) -> None:
        """Prints the objects of all pages as they arrive; with a query, its result over all.

        `kind` is as in `answer`; `page_size` is the number of objects that arrive at once.

        Raises:
            PartlyDone: a CSV had no column for a field of a later object; all rows are printed.
        """
        try:
            if self._search:
                every = [data for _, data in self._note_shown(objects)]
                self._print_found(self._search(every), every)
            else:
                self._printer.kind = kind
                self._printer.page_size = page_size or PAGE_SIZE
                self._printer.stream(self._note_shown(objects))
        finally:
            self._out.flush()

    def _note_shown(self, objects: Objects) -> Objects:
        for text, data in islice(objects, _NOTED_MAX):
            self._on_shown(data)
            yield text, data
        yield from objects

    def value(self, data: Any, *, name: str | None = None, kind: str = "") -> None:
        """Prints an object or a list that svc has made, in the chosen format.

        These objects have no ids: `name` is what `-o id` prints of them. `kind` is as in `answer`.
        """
        # A query says itself what it wants of the whole result.
        if name is not None and self.format == "id" and not self._search:
            data = [each[name] for each in (data if isinstance(data, list) else [data])]
        self._on_shown(data)
        if self._search:
            self._print_found(self._search(data), data)
        else:
            self._printer.kind = kind
            self._printer.value(data)
        self._out.flush()

    def result(self, data: Any, *lines: str, name: str | None = None) -> None:
        """Prints the result of an action: lines for people, `data` for programs and a query."""
        if self.format != "human" or self._search:
            self.value(data, name=name)
        else:
            for line in lines:
                self.line(line)

    def checkup(self, findings: list[dict[str, Any]]) -> None:
        """Prints findings, each with its verdict and its remedy; `--fields` makes them a table."""
        from svc.render.human import Human

        if isinstance(self._printer, Human) and not self._search:
            self._printer.checkup(findings, self._called())
            self._out.flush()
        else:
            self.value(findings)

    def record(self, data: dict[str, object]) -> None:
        """Prints one typed NDJSON record, in any format, and flushes it."""
        self._out.write(dump(data) + "\n")
        self._out.flush()

    def annotation(self, command: str) -> None:
        """Prints a workflow command for GitHub's runner, which executes it."""
        self._out.flush()
        self._out.write_command(f"{command}\n")
        self._out.flush()

    def line(self, text: str) -> None:
        """Prints a line of plain text on stdout, whatever the format is."""
        self._out.write(escape(text) + "\n")
        self._out.flush()

    def words(self, text: str) -> None:
        """Prints a sentence on stdout, wrapped to the width of the terminal."""
        self.line(self._fit(text, self._shows_at))

    def note(self, text: str) -> None:
        """Prints a message on stderr, unless quiet."""
        if not self.quiet:
            self._print_message(self._fit(escape(text), self._wraps_at))

    def hint(self, text: str, *, reveals: bool = False) -> None:
        """Prints the next step on stderr, unless quiet; `reveals` if it shows a new secret."""
        if not self.quiet:
            from svc.render.style import paint

            fitted = self._fit(escape(text), self._wraps_at)
            painted_hint = paint(fitted, "hint", color=self._color_errors)
            self._print_message(painted_hint, reveals=reveals)

    def warn(self, text: str) -> None:
        """Prints a warning on stderr."""
        self._print_message(self._fit(f"Warning: {escape(text)}", self._wraps_at))

    def error(self, error: SvcError) -> None:
        """Prints an error on stderr: at most four lines for people, else one line of JSON."""
        from svc.render import errors

        if self.format == "human":
            lines = errors.lines(
                error, color=self._color_errors, width=self._wraps_at, program_name=self._called()
            )
            self._write_stderr("\n".join(lines))
        else:
            self._write_stderr(errors.envelope(error))

    def _print_message(self, safe: str, *, reveals: bool = False) -> None:
        """Prints a message; a closed stderr is ignored, so that the result is still printed."""
        with suppress(OSError):
            self._write_stderr(safe, reveals=reveals)

    def _write_stderr(self, safe: str, *, reveals: bool = False) -> None:
        (self._err.write if reveals else self._err.write_masked)(safe + "\n")
        self._err.flush()

    def _fit(self, safe: str, width: int | None) -> str:
        """Wraps a message on a terminal; in a file each message stays on one line."""
        program_name = self._called()
        return "\n".join(
            part for each in safe.split("\n") for part in wrap_message(each, width, program_name)
        )


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except ValueError:  # closed
        return False


def _color(write: Callable[[str], None]) -> Callable[[str], None]:
    from svc.render.style import highlight

    return lambda text: write(highlight(text))


def _search(query: str | None) -> SearchFunction | None:
    if query is None:
        return None
    from svc.render.query import Query

    return Query(query).search


def _paths(fields: tuple[str, ...]) -> "tuple[FieldPath, ...]":
    if not fields:
        return ()
    from svc.render.paths import parse

    return tuple(map(parse, fields))


def _is_list(data: object) -> TypeGuard[dict[str, Any]]:
    """Whether data is a list object, by its marker and its array (spec: List object)."""
    if not isinstance(data, dict) or data.get("object") != "list":
        return False
    return isinstance(data.get("data"), list)
