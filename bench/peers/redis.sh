#!/bin/sh
# A queue in Redis, with which `weft bench coordinator` compares the coordinator:
#
#   redis.sh start FOLDER                       starts a server in FOLDER, on a socket there
#   redis.sh measure FOLDER CONNECTIONS SECONDS prints lifecycles a second
#   redis.sh stop FOLDER                        stops the server
#
# A lifecycle has three commands, each durable before it is answered (appendfsync always): submit (LPUSH), claim (LMOVE
# to the list of running jobs), and complete (RPOP from that list). redis-benchmark sends all commands of one kind
# before the next kind, one command at a time on each connection. The result is computed from the time of all three
# kinds. Exit code 3: Redis is not installed (apt-get install redis-server).
set -eu
command -v redis-server >/dev/null && command -v redis-benchmark >/dev/null || { echo "Redis is not installed" >&2; exit 3; }
folder=$2

case $1 in
  start)
    mkdir -p "$folder"
    redis-server --port 0 --unixsocket "$folder/socket" --dir "$folder" --daemonize yes --logfile "$folder/log" --pidfile "$folder/pid" \
      --appendonly yes --appendfsync always --save '' --auto-aof-rewrite-percentage 0 >/dev/null
    for _ in $(seq 100); do
      redis-cli -s "$folder/socket" ping >/dev/null 2>&1 && exit 0
      sleep 0.1
    done
    echo "Redis does not start" >&2
    exit 1
    ;;
  measure)
    payload=$(printf 'ab%.0s' $(seq 100))
    rate() { redis-benchmark -s "$folder/socket" -c "$2" -n "$1" --csv "$3" "$4" ${5+"$5"} ${6+"$6"} ${7+"$7"} | tail -n 1 | cut -d '"' -f 4; }
    # A short trial shows how many commands take the given time.
    trial=$(rate 2000 "$3" LPUSH waiting "$payload")
    redis-cli -s "$folder/socket" del waiting >/dev/null
    count=$(awk "BEGIN { printf \"%d\", $trial * $4 / 3 + 64 }")
    push=$(rate "$count" "$3" LPUSH waiting "$payload")
    claim=$(rate "$count" "$3" LMOVE waiting running RIGHT LEFT)
    complete=$(rate "$count" "$3" RPOP running)
    awk "BEGIN { printf \"%.1f\\n\", 1 / (1 / $push + 1 / $claim + 1 / $complete) }"
    ;;
  stop)
    redis-cli -s "$folder/socket" shutdown nosave >/dev/null 2>&1 || true
    ;;
esac
