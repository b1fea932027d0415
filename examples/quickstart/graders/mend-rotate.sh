#!/bin/sh
# Runs the mended script on backups that nobody has shown to the agent.
export LC_ALL=C
fail() { echo "$1"; exit 1; }
[ -f rotate.sh ] || fail 'rotate.sh is missing'
hidden=$(mktemp -d)
trap 'rm -rf "$hidden"' EXIT
folder="$hidden/my backups"
mkdir "$folder"
for day in 2025-12-31 2026-01-02 2026-01-10 2025-11-30; do : > "$folder/backup-$day.tar"; done
touch "$folder/backup-notes.txt" "$folder/backup-2024-01-01.tar.part" "$folder/other.tar"
rotate() { env -i PATH="$PATH" LC_ALL=C timeout 5 bash rotate.sh "$1" "$2" < /dev/null; }
left() { ls "$folder" | tr '\n' ' '; }
others='backup-2024-01-01.tar.part'
[ -z "$(rotate "$folder" 9)" ] || fail 'nothing is to be deleted when there are fewer backups than are kept'
[ "$(rotate "$folder" 2)" = "$(printf 'backup-2025-11-30.tar\nbackup-2025-12-31.tar')" ] || fail 'wrong files or order with KEEP 2'
[ "$(left)" = "$others backup-2026-01-02.tar backup-2026-01-10.tar backup-notes.txt other.tar " ] || fail "left behind: $(left)"
rotate "$folder" 0 > /dev/null
[ "$(left)" = "$others backup-notes.txt other.tar " ] || fail 'KEEP 0 should delete every backup and nothing else'
