"""Carrying one `/v1` request out in one world, from its idempotency key on."""

from dataclasses import dataclass
from typing import Final

from svc.sandbox import idempotency, params
from svc.sandbox.bodies import Given, Tree, decode_body, decode_query
from svc.sandbox.documents import compact
from svc.sandbox.exchange import Reply, Request
from svc.sandbox.operations import Operation, target_of
from svc.sandbox.problems import Problem, unknown
from svc.sandbox.world import World

POST: Final = "POST"


@dataclass(frozen=True, slots=True)
class Execution:
    """A decoded request, ready to run. `stray` names query parameters of a POST."""

    operation: Operation
    identity: str
    path: str
    tree: Tree
    stray: Tree
    settings: params.Settings

    def run(self, world: World) -> Reply:
        """Checks the parameters against the object and the state, and carries the request out."""
        target = target_of(world, self.operation, self.identity)
        fields = self.operation.fields
        if self.settings["unknown_parameters"] == "reject":
            self._refuse_stray()
            params.refuse_unknown(fields, self.tree)
        clean = params.check(fields, self.tree, self.settings, partial=self.operation.partial)
        return Reply(200, compact(self.operation.run(world, target, clean)))

    def run_once(self, world: World, key: str, *, mine: bool) -> Reply:
        """The same under an idempotency key: replayed, or stored with its effects."""
        print_ = idempotency.fingerprint(self.operation.method, self.path, self.tree)
        reply = idempotency.replay(world, key, print_, mine=mine)
        if reply is None:
            reply = self.run(world)
            idempotency.keep(world, key, print_, reply)
        return reply

    def _refuse_stray(self) -> None:
        # An amount in the address must not silently become "all of it".
        if self.stray:
            raise unknown(min(self.stray), " A POST takes its parameters in the body.")


def decode(
    request: Request, operation: Operation, identity: str, settings: params.Settings
) -> Execution:
    """Decodes body and query; raises Problem for what cannot be read."""
    query = decode_query(request.query)
    given, stray = query, {}
    if operation.method == POST:
        given, stray = _body(request), query.tree
    tree = params.coerce(operation.fields, given)
    return Execution(operation, identity, request.path, tree, stray, settings)


def _body(request: Request) -> Given:
    if isinstance(request.body, Problem):
        raise request.body
    return decode_body(request.header("content-type"), request.body)
