#!/bin/sh
# Adds the amounts by region with a reader that knows quoted fields.
export LC_ALL=C
fail() { echo "$1"; exit 1; }
[ -f totals.csv ] || fail 'totals.csv is missing'
expected=$(echo region,total; awk '
  function split_csv(line, field,    n, i, c, quoted) {
    n = 1; field[1] = ""; quoted = 0
    for (i = 1; i <= length(line); i++) {
      c = substr(line, i, 1)
      if (c == "\"") quoted = !quoted
      else if (c == "," && !quoted) field[++n] = ""
      else field[n] = field[n] c
    }
  }
  NR > 1 {
    split_csv($0, f)
    if (f[5] == "cancelled") next
    gsub(/,/, "", f[6])
    sum[f[3]] += f[6]
  }
  END { for (r in sum) printf "%s,%.2f\n", r, sum[r] }
' "$ASSAY_GRADER/orders.csv" | sort)
[ "$(cat totals.csv)" = "$expected" ] || fail 'totals.csv does not hold the right totals'
