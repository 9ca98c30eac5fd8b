#!/bin/sh
# A webhook handler for CGI with the fault that is named: handler.sh FAULT (the body on stdin).
# It keeps what it has done in shop.txt, as handler.py does.
set -eu

body=$(mktemp)
trap 'rm -f "$body"' EXIT
cat >"$body" # the raw bytes, which the signature is over

answer() { # STATUS
  printf 'Status: %s\n\n' "$1"
  exit
}

is_authentic() {
  time=$(printf '%s' "$HTTP_SVC_SIGNATURE" | sed -n 's/.*t=\([0-9]*\).*/\1/p')
  age=$(($(date +%s) - ${time:-0}))
  signed=$({ printf '%s.' "$time"; cat "$body"; } |
    openssl dgst -sha256 -hmac "$SVC_WEBHOOK_SECRET" -r | cut -d' ' -f1)
  [ "$age" -le 300 ] && [ "$age" -ge -300 ] || return 1
  case ",$HTTP_SVC_SIGNATURE," in *",v1=$signed,"*) ;; *) return 1 ;; esac
}

[ "$1" = 'no check of the signature' ] || is_authentic || answer 400
kind=$(grep -o '"type": *"[a-z_]*\.[a-z_]*"' "$body" | cut -d'"' -f4)
mkdir -p seen states
mkdir "seen/$(grep -o 'evt_[A-Za-z0-9]*' "$body")" 2>/dev/null || answer 200 # once, also at once
case $kind in
order.paid) echo "fulfilled $(grep -o 'ord_[A-Za-z0-9]*' "$body" | head -n 1)" >>fulfilled.txt ;;
payment.*) object=$(grep -o 'pay_[A-Za-z0-9]*' "$body" | head -n 1) ;;
refund.*) object=$(grep -o 'rf_[A-Za-z0-9]*' "$body" | head -n 1) ;;
payout.*) object=$(grep -o 'po_[A-Za-z0-9]*' "$body" | head -n 1) ;;
esac
if [ "${object:-}" ]; then
  created=$(grep -o '"created": *"[^"]*"' "$body" | cut -d'"' -f4 | sort | tail -n 1)
  old=$(cut -d' ' -f1 "states/$object" 2>/dev/null || true)
  newest=$(printf '%s\n%s\n' "$old" "$created" | sort | tail -n 1)
  if [ "$1" = 'wrong order' ] || [ "$newest" = "$created" ]; then
    echo "$created $kind $object" >"states/$object"
  fi
fi
cat fulfilled.txt states/* 2>/dev/null | sed 's/^20[^ ]* //' >"$body.new" || true
mv "$body.new" shop.txt
answer 200
