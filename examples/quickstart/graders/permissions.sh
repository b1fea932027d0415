#!/bin/sh
# One point for each folder and file whose mode follows the policy.
export LC_ALL=C
right=0
total=0
while read -r mode path; do
  total=$((total + 1))
  [ "$(ls -ld "site$path" 2> /dev/null | cut -c1-10)" = "$mode" ] && right=$((right + 1))
done <<'TABLE'
drwxr-xr-x /
drwxr-xr-x /lib
drwx------ /keys
drwxr-xr-x /pages
-rwxr-xr-x /deploy.sh
-rwxr-xr-x /pages/build.sh
-rw-r--r-- /lib/colours.sh
-rw------- /keys/site.pub
-rw------- /keys/renew.sh
-rw-r--r-- /pages/index.html
-rw-r--r-- /pages/about us.html
TABLE
echo "{\"score\": $(awk -v r="$right" -v n="$total" 'BEGIN { printf "%.4f", r / n }'), \"explanation\": \"$right of $total modes are right\"}" > "$ASSAY_GRADER/report.json"
[ "$right" = "$total" ]
