#!/bin/sh
# Counts sessions: a gap of more than 1800 seconds starts a new one.
export LC_ALL=C
fail() { echo "$1"; exit 1; }
[ -f sessions.txt ] || fail 'sessions.txt is missing'
expected=$(tail -n +2 "$ASSAY_GRADER/events.csv" | sort -t, -k2,2 -k1,1n | awk -F, '
  $2 != user || $1 - last > 1800 { sessions[$2]++; start = $1 }
  { user = $2; last = $1; if (last - start > longest[user] + 0) longest[user] = last - start }
  END { for (u in sessions) print u, sessions[u], longest[u] + 0 }
' | sort)
[ "$(cat sessions.txt)" = "$expected" ] || fail 'sessions.txt does not hold the right sessions'
