#!/bin/sh
# The last line of the answer names the address with the most failures, repeats counted, and their number.
export LC_ALL=C
fail() { echo "$1"; exit 1; }
expected=$(awk '
  /Failed password/ {
    times = 1
    for (i = 1; i <= NF; i++) {
      if ($i == "repeated") times = $(i + 1)
      if ($i == "from") address = $(i + 1)
    }
    count[address] += times
  }
  END { for (a in count) if (count[a] > most) { most = count[a]; top = a } print top, most }
' "$ASSAY_GRADER/auth.log")
given=$(tr -d '`*\r' < "$ASSAY_ANSWER" | awk 'NF { line = $1 " " $2; extra = NF - 2 } END { print line (extra > 0 ? " ..." : "") }')
[ "$given" = "$expected" ] || fail "the answer should end with '$expected', it ends with '$given'"
