"""The command line: parsing, asking, printing; every call goes through `svc.client`.

A folder or a file here is a word after `svc`; what words share is in `framework`. Nothing but
`svc.__main__` imports this room. Begin with `main.py`. One command, `svc refunds create --payment
pay_x`, from its entry to its exit code:

1. `main.py`: `main` makes a `Session` over `framework/streams.py`, and is the one place where an
   error, or a signal, becomes an exit code.
2. `framework/app.py`: `Root` finds the noun in `framework/registry.py`, whose `load` makes it of
   the description in `svc.service.refunds`; it imports a module for any other word, only it. What
   is no command is refused with the line that was meant (`framework/suggestions.py`).
3. `framework/nouns.py`: each `Action` is a command with its help, example and options, and a topic
   of help is a page that `help/page.py` reads; as a `WritingVerb` it takes `-d`, `--dry-run` and
   the rest, which `framework/options.py` declares and puts into `session.given`.
4. `framework/sending.py`: `send_write` lays `--body`, options and `-d` over each other by
   `framework/inputs`, shows the request instead if that was asked, and makes the client.
5. `framework/session.py`: settings, key, state, client and output, each made when first asked for.
6. `framework/prompts.py`: `confirm_money`, before money moves in live mode.
7. `svc.delivery.send`: the request is on the disk before it is sent, how it ended afterwards.
8. `svc/client`: prepared once, sent, tried again with the same key, judged; a reply or an error.
9. `svc/render`: `session.out` prints the reply as a person's block, JSON, CSV or an id.
10. `main.py`: ids that were shown are kept for completion; the exit code is returned. What failed
    is told by `framework/errors.py`, with the next command to type.

Promises, such as "promise R1", stand by their numbers in tests/PROMISES.md.
"""
