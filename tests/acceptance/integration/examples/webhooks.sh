#!/bin/sh
# Tests a webhook handler: an order is paid in a sandbox, and the handler has
# to take order.paid.
set -eu
PORT=${PORT:-3000}
export PORT

port=$(svc sandbox start --detach --port 0 --db :memory: --query port)
trap 'svc sandbox stop --port "$port" >/dev/null' EXIT
eval "$(svc sandbox env --port "$port")"

# The listener runs the command once it is ready, with the signing secret in
# its environment, and ends when the event has been taken. It exits with 11 if
# that takes longer, if a delivery is rejected or not taken, or if the command
# fails.
svc events listen -o ndjson --forward-to "$PORT/webhooks" \
  --until order.paid --timeout 60 --strict \
  --exec 'python3 handler.py & svc sandbox trigger order.paid -o id' \
  >events.ndjson

test -s paid.txt
echo "order.paid was taken: $(cat paid.txt)"
