#!/bin/sh
# Starts a program that takes its secrets by variables alone:
#   with-secrets.sh NAME=/file [NAME=/file ...] -- program [arguments]
# So no secret stands in the compose file, in the container's description or on a command line.
set -eu
while [ "$1" != "--" ]; do
  file=${1#*=}
  [ -r "$file" ] || { echo "with-secrets: ${1%%=*}: $file cannot be read." >&2; exit 1; }
  export "${1%%=*}=$(cat "$file")"
  shift
done
shift
exec "$@"
