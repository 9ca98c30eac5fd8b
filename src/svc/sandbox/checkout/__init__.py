"""The checkout page, where a shopper sees an order and pays it (spec: What the service does).

Begin with `app`, its routes. `visit` finds the order of a request, `attempt` tries to pay it by the
steps of `resources.shopper`; `pages` puts pages together of `forms`, `layout` and `developer`,
which build them with `html` in one of the `languages`. `checkout.js` mounts the page in a page of
the shop's own. `home` is the page at `/`. `sandbox.app` passes the requests of browsers to `app`;
`control` builds addresses of the page with `visit`.
"""
