#!/bin/bash
# A small MCP server without a tool that anybody calls. Marks of its test keep it from starting, or hold its start.
name=$(basename "$PWD")
if [ -e "$MARKS/fail-$name" ]; then
  echo 'no licence' >&2
  exit 1
fi
while [ -e "$MARKS/hold-$name" ]; do
  touch "$MARKS/held-$name"
  sleep 0.1
done
while read -r line; do
  [[ $line =~ \"id\":([0-9]+) ]] || continue
  case $line in
    *'"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"quiet","version":"1"}}' ;;
    *) result='{"tools":[{"name":"look","inputSchema":{"type":"object"}}]}' ;;
  esac
  echo "{\"jsonrpc\":\"2.0\",\"id\":${BASH_REMATCH[1]},\"result\":$result}"
done
