#!/bin/sh
# The first line of each address stays, untouched and in order; contacts without an address all stay.
export LC_ALL=C
fail() { echo "$1"; exit 1; }
[ -f unique.csv ] || fail 'unique.csv is missing'
expected=$(awk -F, '
  { key = tolower($2); gsub(/^[ \t]+|[ \t]+$/, "", key) }
  NR == 1 || key == "" || !seen[key]++
' "$ASSAY_GRADER/contacts.csv")
[ "$(cat unique.csv)" = "$expected" ] || fail 'unique.csv does not hold the right contacts'
