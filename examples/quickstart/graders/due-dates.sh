#!/bin/sh
# Due dates over month ends, end-of-month terms, and the state on 1 March 2026.
fail() { echo "$1"; exit 1; }
[ -f due.csv ] || fail 'due.csv is missing'
[ "$(cat due.csv)" = "$(cat "$ASSAY_GRADER/expected.csv")" ] || fail 'due.csv differs from the expected table'
