#!/bin/sh
# Brings Temporal's databases to the schema of its version. The tool takes its password from SQL_PASSWORD.
set -eu
for name in temporal visibility; do
  case $name in temporal) database=temporal ;; *) database=temporal_visibility ;; esac
  tool() {
    temporal-sql-tool --plugin postgres12_pgx --endpoint "$POSTGRES_SEEDS" --port "$DB_PORT" \
      --user "$POSTGRES_USER" --database "$database" "$@"
  }
  tool setup-schema --version 0.0
  tool update-schema --schema-name "postgresql/v12/$name"
done
