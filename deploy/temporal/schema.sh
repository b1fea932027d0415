#!/bin/sh
# Makes Temporal's databases where they are missing and brings their schemas up to date. May be run again at any time.
set -eu

schemas=${SCHEMA_DIR:-/etc/temporal/schema/postgresql/v12}

tool() {
  database=$1
  shift
  temporal-sql-tool --plugin "$SQL_PLUGIN" --ep "$SQL_HOST" --port "$SQL_PORT" --user "$SQL_USER" --db "$database" "$@"
}

prepare() {
  database=$1 versions=$2
  # Both say that it is there already when it is.
  tool "$database" create
  if ! tool "$database" update-schema --schema-dir "$versions"; then
    # A database without a schema has no version to update from.
    tool "$database" setup-schema --version 0.0
    tool "$database" update-schema --schema-dir "$versions"
  fi
}

prepare temporal "$schemas/temporal/versioned"
prepare temporal_visibility "$schemas/visibility/versioned"
echo 'The schemas are up to date.'
