#!/bin/sh
# Every customer once, also those without orders; orders of nobody apart.
export LC_ALL=C
fail() { echo "$1"; exit 1; }
[ -f report.tsv ] || fail 'report.tsv is missing'
[ -f orphans.txt ] || fail 'orphans.txt is missing'
report=$(awk -F'\t' '
  FNR == 1 { next }
  NR == FNR { count[$2]++; sum[$2] += $3; next }
  { printf "%s\t%s\t%d\t%.2f\n", $1, $2, count[$1], sum[$1] }
' "$ASSAY_GRADER/orders.tsv" "$ASSAY_GRADER/customers.tsv" | sort -n)
orphans=$(awk -F'\t' '
  FNR == 1 { next }
  NR == FNR { known[$1] = 1; next }
  !($2 in known) { print $1 }
' "$ASSAY_GRADER/customers.tsv" "$ASSAY_GRADER/orders.tsv" | sort)
[ "$(cat report.tsv)" = "$report" ] || fail 'report.tsv is not the joined table'
[ "$(cat orphans.txt)" = "$orphans" ] || fail 'orphans.txt does not list the orders without a customer'
