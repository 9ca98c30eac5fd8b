"use strict";

// Mounts the checkout in a page of your own:
//
//   <div id="checkout"></div>
//   <script src="http://127.0.0.1:4242/checkout.js"></script>
//   <script>
//     SvcCheckout.mount("#checkout", { key: "pk_test_...", clientSecret: "ord_..._secret_..." });
//   </script>
//
// More options: `returnUrl`, where the shopper goes then; `language`, such as "de"; `onOutcome`, a
// function that is given the order's status: paid, authorized, processing or cancelled. The frame
// has an origin of its own: the page around it sees no card. Do not fulfil on the outcome, which
// anybody can make up: fulfilment follows the webhook event order.paid.
(() => {
  const origin = new URL(document.currentScript.src).origin;
  const NEAR = /^(localhost|[a-z0-9.-]+\.localhost|127\.0\.0\.1)$/;

  const complaint = (element, key, clientSecret) => {
    if (!element) return "there is no element to mount it in.";
    if (!key) return "give the publishable key: { key: \"pk_test_...\" }.";
    if (!/^pk_/.test(key)) return "it takes a publishable key; secret keys stay on the server.";
    if (!clientSecret) return "give the order's client secret: { clientSecret }.";
    if (!NEAR.test(location.hostname)) return "the sandbox's is for pages of this machine alone.";
    return null;
  };

  const mount = (place, { key, clientSecret, returnUrl, language, onOutcome } = {}) => {
    const element = typeof place === "string" ? document.querySelector(place) : place;
    const wrong = complaint(element, key, clientSecret);
    if (wrong) throw new Error(`The checkout is not mounted: ${wrong}`);

    const address = new URL(`/checkout/${encodeURIComponent(clientSecret)}`, origin);
    address.searchParams.set("key", key);
    address.searchParams.set("parent", location.origin);
    if (language) address.searchParams.set("lang", language);
    const frame = document.createElement("iframe");
    Object.assign(frame, { src: address.href, title: "Checkout", width: "100%", height: "800" });
    frame.setAttribute("frameborder", "0");

    let told;
    const hear = (event) => {
      if (event.origin !== origin || event.source !== frame.contentWindow) return;
      const { type, outcome } = event.data ?? {};
      if (type !== "svc.checkout" || outcome === told) return;
      told = outcome;
      onOutcome?.(outcome);
      if (!returnUrl) return;
      const back = new URL(returnUrl, location.href);
      back.searchParams.set("order", clientSecret.split("_secret_")[0]);
      back.searchParams.set("outcome", outcome);
      location.assign(back);
    };
    window.addEventListener("message", hear);
    element.replaceChildren(frame);
    const unmount = () => {
      window.removeEventListener("message", hear);
      frame.remove();
    };
    return { unmount };
  };

  window.SvcCheckout = { mount };
})();
