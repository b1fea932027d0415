/** Ends all but process 1: asks, waits up to 2 s, forces. `-1` is every process of the sandbox but this one. */
export const END_ALL = `trap '' TERM
kill -TERM -1 2>/dev/null
i=0
while [ $i -lt 40 ]; do
  set -- /proc/[0-9]*
  [ $# -le 3 ] && break
  sleep 0.05
  i=$((i+1))
done
kill -KILL -1 2>/dev/null
exit 0`;

/**
 * Ends what was started with the variable $1 (`NAME=value`) and all that descends from it: SIGTERM, 2 s,
 * SIGKILL. Ends with 1 when some are left after 2 more seconds.
 */
export const END_MARKED = `mark=$1
find_all() {
  found=' '
  for e in $(grep -las -- "$mark" /proc/[0-9]*/environ 2>/dev/null); do
    p=\${e#/proc/}; found="$found\${p%%/*} "
  done
  more=1
  while [ $more = 1 ]; do
    more=0
    for s in /proc/[0-9]*/status; do
      p=\${s#/proc/}; p=\${p%%/*}
      case "$found" in *" $p "*) continue;; esac
      parent=
      while read -r key value rest; do [ "$key" = PPid: ] && { parent=$value; break; }; done 2>/dev/null < "$s"
      case "$found" in *" $parent "*) [ -n "$parent" ] && { found="$found$p "; more=1; };; esac
    done
  done
}
i=0
while [ $i -lt 40 ]; do
  find_all
  live=' '
  for p in $found; do
    state=
    while read -r key value rest; do [ "$key" = State: ] && { state=$value; break; }; done 2>/dev/null < /proc/$p/status
    case "$state" in ''|Z|X) ;; *) live="$live$p ";; esac
  done
  [ "$live" = ' ' ] && exit 0
  for p in $live; do
    if [ $i -ge 20 ]; then kill -KILL $p 2>/dev/null
    else case "$told" in *" $p "*) ;; *) kill -TERM $p 2>/dev/null; told="$told $p ";; esac; fi
  done
  sleep 0.1
  i=$((i+1))
done
exit 1`;
