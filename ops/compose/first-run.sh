#!/bin/sh
# Makes the secrets of an installation: sh ops/compose/first-run.sh [folder]
# Again after an upgrade: makes those that the new version brings. What is there is never changed, and what was there
# once is never made anew.
#
# Keep them with the backups, apart from them: without secrets_key the keys of data sources cannot be read again,
# without participant_key people are no longer recognised.
set -eu
umask 077
folder=${1:-"$(dirname "$0")/../secrets"}
# Made under another name, so that one that is interrupted leaves nothing half.
partial="$folder.partial.$$"
trap 'rm -rf "$partial"' EXIT
mkdir -p "$partial"
made=
# What later versions brought.
later='report_database_password report_database_url metrics_token runner_host_key'

# 48 random bytes as 64 letters and digits; what base64 has beside those is left out of more than enough.
random() {
  head -c 128 /dev/urandom | base64 | tr -d '/+=\n' | cut -c "1-$1"
}
put() {
  [ ! -e "$folder/$1" ] || return 0
  case " $later " in
    *" $1 "*) ;;
    *)
      if [ -e "$folder" ]; then
        echo "first-run: $folder/$1 is missing: take it from your copy of the secrets. A new one would not fit the data." >&2
        exit 1
      fi
      ;;
  esac
  printf '%s\n' "$2" > "$partial/$1"
  # Containers run as users of their own and get these files as they are; the folder is what keeps others out.
  chmod 0444 "$partial/$1"
  made="$made $1"
}
# A password, and an address with it.
put_login() {
  put "$2" "$(random 40)"
  if [ -e "$folder/$2" ]; then password=$(cat "$folder/$2"); else password=$(cat "$partial/$2"); fi
  put "$3" "postgresql://$1:$password@postgres:5432/$4"
}

put_login postgres postgres_password postgres_url postgres
put_login sdp_migrate owner_database_password owner_database_url platform
put_login sdp_app application_database_password database_url platform
put_login sdp_report report_database_password report_database_url platform
put temporal_database_password "$(random 40)"
put s3_access_key_id "$(random 20)"
put s3_secret_access_key "$(random 40)"
put token_key "$(random 64)"
put secrets_key "$(random 64)"
put participant_key "$(random 64)"
put auth_service_key "$(random 64)"
put metrics_token "$(random 40)"
put runner_host_key "$(random 64)"
put admin_password "$(random 24)"

if [ ! -e "$folder" ]; then
  chmod 0700 "$partial"
  mv "$partial" "$folder"
  trap - EXIT
  echo "The secrets are in $folder. The first administrator is admin, with the password in $folder/admin_password."
elif [ -z "$made" ]; then
  echo "$folder is there already, and stays as it is."
else
  # -n: files that another process has made meanwhile are kept.
  for name in $made; do mv -n "$partial/$name" "$folder/$name"; done
  echo "New in $folder:$made. What was there stays as it is."
fi
