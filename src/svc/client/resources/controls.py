"""The sandbox's controls as calls, for `SandboxClient.send`."""

from svc.client.call import Body, Call, QueryParams, query_of, segment
from svc.service.facts import SANDBOX_ROOT


def in_mode(call: Call, mode: str) -> Call:
    """The same control in a mode; without it a control works in test mode.

    Not for the checkout, whose key says the mode, nor for the clock, which both modes share.
    """
    return call._replace(query=(*call.query, ("mode", mode))) if mode != "test" else call


def checkout_pay(body: Body) -> Call:
    """Plays the browser checkout; send it with a publishable key, accept 402."""
    return Call("POST", f"{SANDBOX_ROOT}/checkout/pay", body=body)


def checkout_url(order: str) -> Call:
    """Where an order's checkout page is."""
    return Call("GET", f"{SANDBOX_ROOT}/orders/{segment(order)}/checkout_url")


def settle_payment(payment: str, body: Body) -> Call:
    """Finishes a processing payment: `to` is `captured` or `failed`."""
    return Call("POST", f"{SANDBOX_ROOT}/payments/{segment(payment)}/transition", body=body)


def settle_refund(refund: str, body: Body) -> Call:
    """Finishes a pending refund: `to` is `succeeded` or `failed`."""
    return Call("POST", f"{SANDBOX_ROOT}/refunds/{segment(refund)}/transition", body=body)


def settle_payout(payout: str, body: Body) -> Call:
    """Moves a payout one legal step: `to` is `sent`, `paid` or `failed`."""
    return Call("POST", f"{SANDBOX_ROOT}/payouts/{segment(payout)}/transition", body=body)


def open_dispute(body: Body) -> Call:
    """Disputes a captured `payment`."""
    return Call("POST", f"{SANDBOX_ROOT}/disputes", body=body)


def decide_dispute(dispute: str, outcome: str) -> Call:
    """Decides a dispute under review: `won` or `lost`."""
    path = f"{SANDBOX_ROOT}/disputes/{segment(dispute)}/decide"
    return Call("POST", path, body={"outcome": outcome})


def lint() -> Call:
    """Looks at what the integration has done, and sends its receivers a badly signed delivery."""
    return Call("POST", f"{SANDBOX_ROOT}/lint")


def charge_customs(order: str, charged: int) -> Call:
    """Has customs charge a paid order, in minor units of its currency."""
    path = f"{SANDBOX_ROOT}/orders/{segment(order)}/customs"
    return Call("POST", path, body={"charged": charged})


def settings(params: QueryParams) -> Call:
    """Reads the settings: the account's, or `of` one key or order."""
    return Call("GET", f"{SANDBOX_ROOT}/settings", query=query_of(params))


def change_settings(body: Body) -> Call:
    """Changes any of the settings (assumptions: Settings)."""
    return Call("POST", f"{SANDBOX_ROOT}/settings", body=body)


def keys() -> Call:
    """Lists the keys; secrets are masked."""
    return Call("GET", f"{SANDBOX_ROOT}/keys")


def create_key(body: Body) -> Call:
    """Creates a key of a `type`, with `permissions` for a restricted one."""
    return Call("POST", f"{SANDBOX_ROOT}/keys", body=body)


def roll_key(key: str, expires_in: int = 0) -> Call:
    """Replaces a key; the old one works for `expires_in` seconds more."""
    path = f"{SANDBOX_ROOT}/keys/{segment(key)}/roll"
    return Call("POST", path, body={"expires_in": expires_in})


def endpoints() -> Call:
    """Lists the webhook endpoints."""
    return Call("GET", f"{SANDBOX_ROOT}/webhook_endpoints")


def enable_endpoint(endpoint: str) -> Call:
    """Enables a webhook endpoint."""
    return Call("POST", f"{SANDBOX_ROOT}/webhook_endpoints/{segment(endpoint)}/enable")


def disable_endpoint(endpoint: str) -> Call:
    """Disables a webhook endpoint."""
    return Call("POST", f"{SANDBOX_ROOT}/webhook_endpoints/{segment(endpoint)}/disable")


def delete_endpoint(endpoint: str) -> Call:
    """Deletes a webhook endpoint."""
    return Call("DELETE", f"{SANDBOX_ROOT}/webhook_endpoints/{segment(endpoint)}")


def roll_endpoint_secret(endpoint: str, expires_in: int) -> Call:
    """Replaces a signing secret; the old one signs along for `expires_in` seconds more."""
    path = f"{SANDBOX_ROOT}/webhook_endpoints/{segment(endpoint)}/roll_secret"
    return Call("POST", path, body={"expires_in": expires_in})


def events(params: QueryParams = ()) -> Call:
    """Lists events: `type`, `limit`, `starting_after`."""
    return Call("GET", f"{SANDBOX_ROOT}/events", query=query_of(params))


def trigger(event_type: str, overrides: Body | None = None) -> Call:
    """Makes the objects whose change emits an event of a type."""
    body: dict[str, object] = {"type": event_type}
    if overrides:
        body["overrides"] = overrides
    return Call("POST", f"{SANDBOX_ROOT}/events/trigger", body=body)


def deliveries(params: QueryParams = ()) -> Call:
    """Lists webhook attempts: `event`, `endpoint`, `status`, `limit`, `starting_after`."""
    return Call("GET", f"{SANDBOX_ROOT}/deliveries", query=query_of(params))


def resend(event: str, endpoint: str | None = None) -> Call:
    """Delivers an event once more now."""
    body = {} if endpoint is None else {"endpoint": endpoint}
    return Call("POST", f"{SANDBOX_ROOT}/events/{segment(event)}/resend", body=body)


def clock() -> Call:
    """Reads the sandbox's clock."""
    return Call("GET", f"{SANDBOX_ROOT}/clock")


def set_clock(body: Body) -> Call:
    """Sets `mode` (`realtime` or `frozen`) and `now`."""
    return Call("POST", f"{SANDBOX_ROOT}/clock", body=body)


def advance(body: Body) -> Call:
    """Moves the clock by `seconds`, `to` a time, or `until` `next` or `idle`."""
    return Call("POST", f"{SANDBOX_ROOT}/clock/advance", body=body)


def faults(kind: str = "faults") -> Call:
    """Lists fault rules; `kind` is `faults` or `webhook_faults`."""
    return Call("GET", f"{SANDBOX_ROOT}/{segment(kind)}")


def add_fault(body: Body, kind: str = "faults") -> Call:
    """Adds a fault rule."""
    return Call("POST", f"{SANDBOX_ROOT}/{segment(kind)}", body=body)


def clear_faults(rule: str | None = None, kind: str = "faults") -> Call:
    """Removes one fault rule or all of them."""
    path = f"{SANDBOX_ROOT}/{segment(kind)}"
    return Call("DELETE", path if rule is None else f"{path}/{segment(rule)}")


def requests(params: QueryParams = ()) -> Call:
    """Lists the logged requests: `limit`, `method`, `path`, `status`, `since`, `until`, `body`."""
    return Call("GET", f"{SANDBOX_ROOT}/requests", query=query_of(params))


def clear_requests() -> Call:
    """Forgets the logged requests."""
    return Call("DELETE", f"{SANDBOX_ROOT}/requests")


def verify_requests(body: Body) -> Call:
    """Counts the logged requests that fit, against a `count`."""
    return Call("POST", f"{SANDBOX_ROOT}/requests/verify", body=body)


def emails(params: QueryParams = ()) -> Call:
    """Lists the mails that the service would have sent: `limit`, `starting_after`."""
    return Call("GET", f"{SANDBOX_ROOT}/emails", query=query_of(params))


def balances() -> Call:
    """Shows the balances."""
    return Call("GET", f"{SANDBOX_ROOT}/balances")


def set_balance(body: Body) -> Call:
    """Sets the balance of a `currency` to `amount` minor units."""
    return Call("POST", f"{SANDBOX_ROOT}/balances", body=body)


def reset(body: Body | None = None) -> Call:
    """Drops all state; `seed` and `fixture` may be given."""
    return Call("POST", f"{SANDBOX_ROOT}/reset", body=body)


def export() -> Call:
    """Reads the whole state."""
    return Call("GET", f"{SANDBOX_ROOT}/export")


def restore(body: Body) -> Call:
    """Puts a state back that `export` gave."""
    return Call("POST", f"{SANDBOX_ROOT}/import", body=body)
