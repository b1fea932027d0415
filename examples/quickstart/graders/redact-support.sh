#!/bin/sh
# The redacted thread, byte for byte, and the original untouched.
export LC_ALL=C
fail() { echo "$1"; exit 1; }
[ -f redacted.txt ] || fail 'redacted.txt is missing'
cmp -s thread.txt "$ASSAY_GRADER/thread.txt" || fail 'thread.txt was changed'
cmp -s redacted.txt "$ASSAY_GRADER/expected.txt" || fail 'redacted.txt differs from the expected text'
