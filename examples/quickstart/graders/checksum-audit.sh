#!/bin/sh
# Changed, missing and unlisted files of a release, by its checksum list.
export LC_ALL=C
fail() { echo "$1"; exit 1; }
[ -f audit.txt ] || fail 'audit.txt is missing'
expected='changed conf/app.conf
changed docs/change log.txt
extra bin/debug.sh
extra conf/app.conf.bak
missing conf/limits.conf'
[ "$(cat audit.txt)" = "$expected" ] || fail 'audit.txt does not name exactly the five differences'
[ "$(cat release/conf/app.conf)" = "$(cat "$ASSAY_GRADER/app.conf")" ] || fail 'the release itself was touched'
