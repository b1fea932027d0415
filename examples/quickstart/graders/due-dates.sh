#!/bin/sh
# Due dates over month ends, end-of-month terms, and the state on 1 March 2026.
export LC_ALL=C
fail() { echo "$1"; exit 1; }
[ -f due.csv ] || fail 'due.csv is missing'
expected=$(echo number,due,state; tail -n +2 "$ASSAY_GRADER/invoices.csv" | while IFS=, read -r number issued terms paid; do
  if [ "$terms" = eom ]; then
    due=$(date -u -d "${issued%-*}-01 + 1 month - 1 day" +%F)
  else
    due=$(date -u -d "$issued + $terms days" +%F)
  fi
  if [ -n "$paid" ]; then state=paid
  elif [ "$(echo "$due" | tr -d -)" -lt 20260301 ]; then state=overdue
  else state=open; fi
  echo "$number,$due,$state"
done | sort -t, -k2,2 -k1,1)
[ "$(cat due.csv)" = "$expected" ] || fail 'due.csv differs from the expected table'
