// A small shop's backend in Node, without any package: orders, webhooks, refunds, disputes. With a
// sandbox, after eval "$(svc sandbox env)":
//   svc events listen --forward-to 3000/webhooks --exec 'SVC_API_KEY=sk_test_sandbox PORT=3000 node shop.mjs'
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const { SVC_BASE_URL, SVC_API_KEY, SVC_WEBHOOK_SECRET, PORT } = process.env;
const TOLERANCE_SECONDS = 300;
const state = { fulfilled: [], payments: {}, refunded: [], disputed: [] };
const seen = new Set(); // the same event may be delivered more than once

async function post(path, body, key) {
  const headers = { Authorization: `Bearer ${SVC_API_KEY}`, "Idempotency-Key": key };
  if (!(body instanceof URLSearchParams)) {
    headers["Content-Type"] = "application/json";
    body = JSON.stringify(body);
  }
  const answer = await fetch(SVC_BASE_URL + path, { method: "POST", headers, body });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

function isAuthentic(header, body) {
  const parts = header.split(",").map((part) => part.split("=", 2));
  const time = parts.find(([name]) => name === "t")?.[1] ?? "0";
  const signed = createHmac("sha256", SVC_WEBHOOK_SECRET).update(`${time}.`).update(body).digest();
  const good = parts.some(([name, value]) => {
    const given = Buffer.from(value ?? "", "hex");
    return name === "v1" && given.length === signed.length && timingSafeEqual(given, signed);
  });
  return good && Math.abs(Date.now() / 1000 - Number(time)) <= TOLERANCE_SECONDS;
}

async function handle(event) {
  const object = event.data.object;
  if (event.type === "order.paid") state.fulfilled.push(object.id);
  if (event.type === "payment.captured") state.payments[object.order] = object.id;
  if (event.type === "refund.succeeded") state.refunded.push(object.id);
  if (event.type === "dispute.opened") {
    const evidence = { "evidence[tracking_number]": "1Z999", submit: "true" };
    await post(`/v1/disputes/${object.id}`, new URLSearchParams(evidence), event.id);
    state.disputed.push(object.id);
  }
}

const routes = {
  "GET /": async () => state,
  "POST /orders": async ({ amount, cart }) => {
    const items = [{ name: "Linen jacket", quantity: 1, unit_amount: amount }];
    const shipping = { country: "DE", postal_code: "10115" };
    return post("/v1/orders", { amount, currency: "EUR", items, shipping }, `cart-${cart}`);
  },
  "POST /refunds": async ({ order, amount }) =>
    post("/v1/refunds", { payment: state.payments[order], amount }, `refund-${order}-${amount}`),
};

createServer(async (request, response) => {
  const answer = (status, data) => {
    response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(data));
  };
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  const body = Buffer.concat(pieces); // the raw bytes, which the signature is over
  try {
    if (request.url === "/webhooks") {
      if (!isAuthentic(request.headers["svc-signature"] ?? "", body)) return answer(400, {});
      const event = JSON.parse(body);
      if (!seen.has(event.id)) {
        await handle(event);
        seen.add(event.id);
      }
      return answer(200, {});
    }
    const route = routes[`${request.method} ${request.url}`];
    answer(route ? 200 : 404, route ? await route(JSON.parse(body.length ? body : "{}")) : {});
  } catch (error) {
    answer(500, { error: error.message }); // the service delivers the event again
  }
}).listen(Number(PORT), "127.0.0.1");
