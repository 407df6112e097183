#!/bin/sh
# A queue in PostgreSQL, with which `weft bench coordinator` compares the coordinator:
#
#   postgresql.sh start FOLDER                       starts a server in FOLDER, on a socket there
#   postgresql.sh measure FOLDER CONNECTIONS SECONDS prints lifecycles a second
#   postgresql.sh stop FOLDER                        stops the server
#
# A lifecycle has three statements, each with its own durable commit (by default, synchronous_commit and fsync are on):
# insert, claim with FOR UPDATE SKIP LOCKED, and complete. Exit code 3: PostgreSQL is not installed (apt-get install
# postgresql).
set -eu
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
[ -n "$bin" ] && [ -x "$bin/initdb" ] && [ -x "$bin/pgbench" ] || { echo "PostgreSQL is not installed" >&2; exit 3; }
folder=$2
# PostgreSQL's server refuses to run as root.
as() { if [ "$(id -u)" = 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi; }

case $1 in
  start)
    mkdir -p "$folder"
    if [ "$(id -u)" = 0 ]; then
      chown postgres "$folder"
      chmod a+x "$(dirname "$folder")"
    fi
    as "$bin/initdb" -D "$folder/data" -A trust -U weft >/dev/null
    as "$bin/pg_ctl" -D "$folder/data" -s -w -l "$folder/log" \
      -o "-c listen_addresses='' -c unix_socket_directories='$folder' -c max_connections=200 -c shared_buffers=512MB" start
    as psql -q -h "$folder" -U weft postgres <<'SQL'
CREATE TABLE jobs (id bigserial PRIMARY KEY, state smallint NOT NULL DEFAULT 0, payload bytea NOT NULL, result bytea);
CREATE INDEX jobs_waiting ON jobs (id) WHERE state = 0;
-- So that no claim finds all that waits locked by others.
INSERT INTO jobs (payload) SELECT decode(repeat('ab', 200), 'hex') FROM generate_series(1, 1000);
SQL
    ;;
  measure)
    cat >"$folder/lifecycle.sql" <<'SQL'
INSERT INTO jobs (payload) VALUES (decode(repeat('ab', 200), 'hex'));
UPDATE jobs SET state = 1 WHERE id = (SELECT id FROM jobs WHERE state = 0 ORDER BY id FOR UPDATE SKIP LOCKED LIMIT 1) RETURNING id \gset
UPDATE jobs SET state = 2, result = decode(repeat('cd', 16), 'hex') WHERE id = :id;
SQL
    chmod a+r "$folder/lifecycle.sql"
    as "$bin/pgbench" -h "$folder" -U weft -n -M prepared -c "$3" -j 2 -T "$4" -f "$folder/lifecycle.sql" postgres 2>"$folder/errors" |
      sed -n 's/^tps = \([0-9.]*\).*/\1/p'
    ;;
  stop)
    as "$bin/pg_ctl" -D "$folder/data" -s -m immediate stop
    ;;
esac
