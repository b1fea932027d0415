#!/bin/sh
# One point for each right line; a line too many, or lines out of order, takes the points for all.
export LC_ALL=C
right=0
total=$(grep -c '' "$ASSAY_GRADER/expected.conf")
if [ "$(head -n 1 new.conf 2> /dev/null)" = 'format: 2' ] && [ "$(sed 1d new.conf)" = "$(sed 1d new.conf | sort)" ]; then
  right=$(grep -cxF -f "$ASSAY_GRADER/expected.conf" new.conf)
  [ "$(grep -c '' new.conf)" -le "$total" ] || right=0
  [ "$(sort new.conf | uniq -d)" = '' ] || right=0
fi
echo "{\"score\": $(awk -v r="$right" -v n="$total" 'BEGIN { printf "%.4f", r / n }'), \"explanation\": \"$right of $total lines are right\"}" > "$ASSAY_GRADER/report.json"
[ "$right" = "$total" ]
