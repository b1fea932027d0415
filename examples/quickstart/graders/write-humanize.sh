#!/bin/sh
# Runs the new script on numbers around every edge.
export LC_ALL=C
fail() { echo "$1"; exit 1; }
[ -f humanize.sh ] || fail 'humanize.sh is missing'
human() { env -i PATH="$PATH" LC_ALL=C timeout 5 bash humanize.sh "$@" < /dev/null 2> /dev/null; }
while IFS='|' read -r bytes text; do
  given=$(human "$bytes")
  [ "$given" = "$text" ] || fail "$bytes gives '$given', not '$text'"
done <<'TABLE'
0|0 B
1|1 B
1023|1023 B
1024|1.0 KiB
1536|1.5 KiB
1587|1.5 KiB
1588|1.6 KiB
1048524|1023.9 KiB
1048525|1.0 MiB
1048576|1.0 MiB
3221225472|3.0 GiB
1099511627775|1.0 TiB
2251799813685248|2048.0 TiB
TABLE
for wrong in '' abc -5 1.5 '7 7'; do
  human "$wrong" > /dev/null
  [ $? -eq 2 ] || fail "'$wrong' should end with exit code 2"
done
