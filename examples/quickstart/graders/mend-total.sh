#!/bin/sh
# Runs the mended script on folders that nobody has shown to the agent.
export LC_ALL=C
fail() { echo "$1"; exit 1; }
[ -f total.sh ] || fail 'total.sh is missing'
hidden=$(mktemp -d)
trap 'rm -rf "$hidden"' EXIT
mkdir "$hidden/two words" "$hidden/empty" "$hidden/zeros"
printf '7\n100\n' > "$hidden/two words/a b.txt"
printf '1000\n0019' > "$hidden/two words/*.txt"
printf '5000\n' > "$hidden/two words/notes.md"
printf '08\n-09\n0\n11' > "$hidden/zeros/x.txt"
total() { env -i PATH="$PATH" LC_ALL=C timeout 5 bash total.sh "$1" < /dev/null; }
[ "$(total "$hidden/two words")" = 1126 ] || fail 'wrong with spaces in names'
[ "$(total "$hidden/zeros")" = 10 ] || fail 'wrong with leading zeros or a last line without a newline'
[ "$(total "$hidden/empty")" = 0 ] || fail 'an empty folder should give 0'
