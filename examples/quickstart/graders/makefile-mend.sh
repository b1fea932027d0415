#!/bin/sh
# Reads the Makefile as make would: recipes behind tabs, prerequisites, phony targets.
export LC_ALL=C
fail() { echo "$1"; exit 1; }
[ -f Makefile ] || fail 'Makefile is missing'
rules=$(awk '
  /^\t/ { command = $0; sub(/^\t[ \t]*[@-]*/, "", command); gsub(/[ \t]+/, " ", command)
          if (target != "") recipe[target] = recipe[target] command ";"; next }
  /^[ \t]*(#|$)/ { next }
  /^ / { print "a recipe line begins with spaces: " $0; next }
  /:/ { target = $0; sub(/[ \t]*:.*/, "", target); rest = $0; sub(/^[^:]*:/, "", rest)
        n = split(rest, word, " "); for (i = 1; i <= n; i++) needs[target, word[i]] = 1 }
  END {
    print "report:", recipe["report.txt"], (("report.txt", "sales.csv") in needs), (("report.txt", "totals.awk") in needs)
    print "summary:", recipe["summary.txt"], (("summary.txt", "report.txt") in needs), (("summary.txt", "header.txt") in needs)
    print "all:", (("all", "summary.txt") in needs)
    print "clean:", recipe["clean"], ((".PHONY", "clean") in needs), ((".PHONY", "all") in needs)
  }
' Makefile)
expected='report: awk -f totals.awk sales.csv > report.txt; 1 1
summary: cat header.txt report.txt > summary.txt; 1 1
all: 1
clean: rm -f report.txt summary.txt; 1 1'
[ "$rules" = "$expected" ] || fail "make would read: $rules"
