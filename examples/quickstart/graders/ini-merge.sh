#!/bin/sh
# The merged file, line by line; spaces at line ends and blank lines at the end are free.
export LC_ALL=C
fail() { echo "$1"; exit 1; }
[ -f merged.ini ] || fail 'merged.ini is missing'
given=$(sed 's/[[:space:]]*$//' merged.ini)
[ "$given" = "$(cat "$ASSAY_GRADER/expected.ini")" ] || fail 'merged.ini is not the merged configuration'
