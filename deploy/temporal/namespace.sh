#!/bin/sh
# Sees to it that the namespace is there, keeps closed workflows long enough, and knows Assay's search attributes.
# May be run again at any time. Address and namespace come from TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE.
set -eu

retention=${RETENTION:-30d}

tries=60
until temporal operator cluster health >/dev/null 2>&1; do
  tries=$((tries - 1))
  if [ "$tries" -le 0 ]; then
    echo "Temporal at $TEMPORAL_ADDRESS does not answer." >&2
    exit 1
  fi
  sleep 1
done

if temporal operator namespace describe >/dev/null 2>&1; then
  temporal operator namespace update --retention "$retention"
else
  temporal operator namespace create --retention "$retention"
fi

# A new namespace is known to all parts of the server after some seconds.
add_attribute() {
  left=30
  until temporal operator search-attribute list | grep -q "^ *$1 "; do
    temporal operator search-attribute create --name "$1" --type "$2" || true
    left=$((left - 1))
    if [ "$left" -le 0 ]; then
      echo "The search attribute $1 ($2) could not be made." >&2
      exit 1
    fi
    sleep 1
  done
}

add_attribute AssayRun Keyword
add_attribute AssayRequest Keyword
add_attribute AssayOutcome Keyword
add_attribute AssayModel KeywordList
add_attribute AssayCase KeywordList
echo "The namespace $TEMPORAL_NAMESPACE is ready."
