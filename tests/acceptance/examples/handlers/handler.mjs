// A webhook handler without a fault, or with the one that is named: handler.mjs PORT [FAULT].
// It keeps what it has done in shop.txt, as handler.py does.
import { createHmac, timingSafeEqual } from "node:crypto";
import { renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";

const [port, fault] = process.argv.slice(2);
const seen = new Set();
const fulfilled = [];
const states = new Map();
const isKnown = (kind) => /^(order\.paid|(payment|refund|payout)\.[a-z]+)$/.test(kind);

function isEqual(given, expected) {
  if (fault === "compared in plain") return given === expected;
  return given.length === expected.length && timingSafeEqual(Buffer.from(given), Buffer.from(expected));
}

function isAuthentic(header, body) {
  const parts = header.split(",").map((part) => part.split("=", 2));
  const time = parts.find(([name]) => name === "t")?.[1] ?? "0";
  const signed = fault === "written again" ? JSON.stringify(JSON.parse(body)) : body;
  const hmac = createHmac("sha256", process.env.SVC_WEBHOOK_SECRET).update(`${time}.`).update(signed);
  const expected = hmac.digest("hex");
  const fits = parts.some(([name, value]) => name === "v1" && isEqual(value ?? "", expected));
  return fits && Math.abs(Date.now() / 1000 - Number(time)) <= 300;
}

function handle(event) {
  if (fault === "crash" && !isKnown(event.type)) process.exit(1);
  if (seen.has(event.id)) return; // nothing else runs between this line and the last one
  seen.add(event.id);
  const object = event.data.object;
  if (event.type === "order.paid") fulfilled.push(`fulfilled ${object.id}`);
  else if (isKnown(event.type) && !(states.get(object.id)?.created > event.created)) states.set(object.id, event);
  const last = [...states].map(([id, { type }]) => `${type} ${id}`);
  const lines = [...[...seen].map((id) => `seen ${id}`), ...fulfilled, ...last, ""];
  writeFileSync("shop.new", lines.join("\n"));
  renameSync("shop.new", "shop.txt");
}

createServer(async (request, response) => {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  const body = Buffer.concat(pieces); // the raw bytes, which the signature is over
  if (fault === "slow") await new Promise((resolve) => setTimeout(resolve, 3000));
  if (!isAuthentic(request.headers["svc-signature"] ?? "", body)) return response.writeHead(400).end();
  handle(JSON.parse(body));
  response.writeHead(200).end();
}).listen(Number(port), "127.0.0.1");
