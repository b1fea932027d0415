#!/bin/sh
# The file after the change, byte for byte.
export LC_ALL=C
fail() { echo "$1"; exit 1; }
cmp -s server.conf "$ASSAY_GRADER/expected.conf" || fail 'server.conf is not what the diff makes of it'
