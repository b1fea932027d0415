#!/bin/sh
# Rows and columns change places, and empty cells stay where they belong.
export LC_ALL=C
fail() { echo "$1"; exit 1; }
[ -f by-day.tsv ] || fail 'by-day.tsv is missing'
awk -F'\t' '
  { for (i = 1; i <= 6; i++) cell[NR, i] = $i }
  END { for (i = 1; i <= 6; i++) for (j = 1; j <= NR; j++) printf "%s%s", cell[j, i], (j < NR ? "\t" : "\n") }
' "$ASSAY_GRADER/hours.tsv" > "$ASSAY_GRADER/expected.tsv"
cmp -s by-day.tsv "$ASSAY_GRADER/expected.tsv" || fail 'by-day.tsv is not the transposed table, byte for byte'
