#!/bin/sh
# The last line of the answer names the entry that does not balance, and by how much.
export LC_ALL=C
fail() { echo "$1"; exit 1; }
expected=$(awk -F, '
  NR > 1 { sum[$2] += $4 - $5 }
  END { for (e in sum) { d = sum[e] < 0 ? -sum[e] : sum[e]; if (d > 0.004) printf "%s %.2f\n", e, d } }
' "$ASSAY_GRADER/ledger.csv")
given=$(tr -d '`*\r' < "$ASSAY_ANSWER" | awk 'NF { line = $1 " " $2; extra = NF - 2 } END { print line (extra > 0 ? " ..." : "") }')
[ "$given" = "$expected" ] || fail "the answer should end with '$expected', it ends with '$given'"
