"""The checkout page, where a shopper sees an order and pays it (spec: What the service does).

Begin with `app`, its routes. A `visit` is who comes and what for, an `attempt` a try to pay by the
steps of `resources.shopper`; `pages` draw it of `forms`, `layout` and `html`. `checkout.js` mounts
it in a page of the shop's own. `home` is the page at `/`. `sandbox.app` serves it; `control` takes
addresses from it.
"""
