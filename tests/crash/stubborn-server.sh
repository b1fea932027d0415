#!/bin/bash
# A server of tools that ends neither with its input nor when it is told to, and starts a process in a group of its own.
# Its tool writes down the step and the cell of its arguments; where it waits, it waits for the file `go`.
trap '' TERM HUP INT
setsid sleep 1000 </dev/null >/dev/null 2>&1 &
echo "$$ $!" >> "$MARKS/servers"
while true; do
  read -r line || exec sleep 1000
  [[ $line =~ \"id\":([0-9]+) ]] || continue
  id=${BASH_REMATCH[1]}
  case $line in
    *'"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"stubborn","version":"1"}}' ;;
    *'"tools/call"'*)
      [[ $line =~ \"cell\":\"([a-z-]+)\" ]] && cell=${BASH_REMATCH[1]}
      [[ $line =~ \"step\":([0-9]+) ]] && echo "${BASH_REMATCH[1]}" >> "$MARKS/$cell"
      if [[ $line == *'"waits":true'* ]]; then
        until [ -e "$MARKS/go" ]; do sleep 0.1; done
      fi
      result='{"content":[{"type":"text","text":"here"}]}'
      ;;
    *) result='{"tools":[{"name":"work","inputSchema":{"type":"object"}}]}' ;;
  esac
  echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$result}"
done
