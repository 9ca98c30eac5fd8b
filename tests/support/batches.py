"""Files of rows, and what the sandbox made of them."""

import json
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from support.forks.program import Begun, Forking
from support.running import Result, Sandbox, Svc

HEAD = (
    "amount,currency,shipping[country],shipping[postal_code],items[0][name],items[0][quantity],"
    "items[0][unit_amount],metadata[ref]"
)
CARD = {"number": "4242424242424242", "exp_month": 12, "exp_year": 2040, "cvc": "123"}


def order_line(number: int, amount: int | str = 12900) -> str:
    return f"{amount},EUR,DE,10115,Linen jacket,1,12900,A-{number}"


def orders_file(folder: Path, numbers: Iterable[int], name: str = "orders.csv") -> Path:
    """A CSV of orders, told apart by `metadata[ref]`."""
    path = folder / name
    path.write_text("\n".join([HEAD, *map(order_line, numbers)]) + "\n")
    return path


def results_of(path: Path) -> list[dict[str, Any]]:
    """The lines of the results file beside a file."""
    text = path.with_name(f"{path.name}.results.ndjson").read_text()
    return [json.loads(line) for line in text.splitlines()]


def beside(path: Path) -> list[str]:
    """What lies beside a file and its results."""
    results_of(path)
    names = {entry.name for entry in path.parent.iterdir()}
    return sorted(names - {path.name, f"{path.name}.results.ndjson"})


def outcomes_of(path: Path) -> list[str]:
    return [line["outcome"] for line in results_of(path)]


def made(svc: Svc) -> list[dict[str, Any]]:
    """Every order that the service has, oldest first."""
    found = svc("orders", "list", "--all", "-o", "ndjson")
    assert found.code == 0, found.err
    return [json.loads(line) for line in reversed(found.out.splitlines())]


def refs(svc: Svc) -> list[str]:
    """What tells the orders apart, sorted."""
    return sorted(order["metadata"]["ref"] for order in made(svc))


def drop_a_tenth(sandbox: Sandbox, requests: int) -> None:
    """Commits every tenth order or so and then drops the connection."""
    for number in range(requests // 10):
        rule = {
            "match": {"method": "POST", "path": "/v1/orders"},
            "skip": 9 * number + number % 7,
            "phase": "after",
            "effect": {"connection": "close"},
        }
        assert "id" in sandbox.control("POST", "/faults", rule)


def dropped(sandbox: Sandbox) -> int:
    """How many answers were dropped."""
    return sum(rule["fired"] for rule in sandbox.control("GET", "/faults")["data"])


def dying(forking: Forking, point: str, nth: int, *argv: str) -> int:
    """Runs the program until it is killed at a point; gives its end."""
    return forking.run((point, str(nth), *argv), os.environ, entry="support.kills.dying").code


def ended(process: "Begun | subprocess.Popen[str]") -> Result:
    """Waits for a started program."""
    out, err = process.communicate()
    assert "Traceback" not in err, err
    return Result(process.returncode, out, err)
