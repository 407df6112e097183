#!/bin/sh
# A queue in Redis, as `weft bench coordinator` compares itself with:
#
#   redis.sh start FOLDER                       a server of its own in FOLDER, on a socket there
#   redis.sh measure FOLDER CONNECTIONS SECONDS prints lifecycles a second
#   redis.sh stop FOLDER
#
# A lifecycle is three commands, each durable before it is answered (appendfsync always): submit (LPUSH), claim (LMOVE to the
# list of those that run), complete (RPOP there). redis-benchmark sends one kind after the other, one command in flight on a
# connection; what counts is the time of all three. Exit 3: Redis is not installed (apt-get install redis-server).
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
    # As many as fill the time at the pace of a short trial.
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
