#!/bin/sh
# Counts the status that follows the quoted request, so that odd requests do not shift it.
export LC_ALL=C
fail() { echo "$1"; exit 1; }
[ -f status.txt ] || fail 'status.txt is missing'
expected=$(awk -F'"' '{ split($3, part, " "); count[part[1]]++ } END { for (s in count) print s, count[s] }' \
  "$ASSAY_GRADER/access.log" | sort)
[ "$(cat status.txt)" = "$expected" ] || fail 'status.txt does not hold the right counts'
