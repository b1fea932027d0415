#!/bin/sh
# The array of products with the right types; layout is free.
export LC_ALL=C
fail() { echo "$1"; exit 1; }
minify() {
  awk '
    function flush() {
      if (token ~ /^-?[0-9]+\.[0-9]+$/) { sub(/0+$/, "", token); sub(/\.$/, "", token) }
      printf "%s", token
      token = ""
    }
    {
      line = $0 "\n"
      for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1)
        if (quoted) {
          printf "%s", c
          if (escaped) escaped = 0
          else if (c == "\\") escaped = 1
          else if (c == "\"") quoted = 0
        } else if (c ~ /[-+.0-9A-Za-z]/) token = token c
        else {
          flush()
          if (c == "\"") quoted = 1
          if (c !~ /[ \t\r\n]/) printf "%s", c
        }
      }
    }
    END { flush(); print "" }
  ' "$1"
}
[ -f products.json ] || fail 'products.json is missing'
[ "$(minify products.json)" = "$(minify "$ASSAY_GRADER/expected.json")" ] || fail 'products.json is not the expected array'
