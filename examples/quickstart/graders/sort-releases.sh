#!/bin/sh
# Semantic order: a pre-release comes before its release, numbers count as numbers.
export LC_ALL=C
fail() { echo "$1"; exit 1; }
[ -f ordered.txt ] || fail 'ordered.txt is missing'
expected='v0.9.12 v0.10.0 v1.0.0-alpha v1.0.0-beta v1.0.0-rc.1 v1.0.0-rc.2 v1.0.0-rc.10 v1.0.0 v1.2.0 v1.2.9
v1.2.10 v1.9.3 v1.10.0-rc.1 v1.10.0 v2.0.0-beta.2 v2.0.0-beta.11 v2.0.0'
[ "$(cat ordered.txt)" = "$(printf '%s\n' $expected)" ] || fail 'ordered.txt is not in semantic order'
