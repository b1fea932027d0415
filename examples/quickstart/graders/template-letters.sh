#!/bin/sh
# One point for each letter that is right to the byte; no other file may lie in out.
export LC_ALL=C
right=0
total=4
tail -n +2 "$ASSAY_GRADER/people.tsv" > "$ASSAY_GRADER/rows.tsv"
while IFS='	' read -r reference name amount due note; do
  cat > "$ASSAY_GRADER/letter.out" <<LETTER
Dear $name,

the invoice $reference of $amount is due on $due.
Please name $reference when you pay, $name.

Note: $note
{{sender}} is a field that our mail program fills in later.
LETTER
  cmp -s "out/$reference.txt" "$ASSAY_GRADER/letter.out" && right=$((right + 1))
done < "$ASSAY_GRADER/rows.tsv"
[ "$(ls out 2> /dev/null | wc -l)" -le 4 ] || right=0
echo "{\"score\": $(awk -v r="$right" -v n="$total" 'BEGIN { printf "%.4f", r / n }'), \"explanation\": \"$right of $total letters are right\"}" > "$ASSAY_GRADER/report.json"
[ "$right" = "$total" ]
